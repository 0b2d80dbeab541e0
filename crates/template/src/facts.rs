//! Prints the macros that are computed: PRI in its forms, tags, addresses, ids, counters.

use crate::macros::Fact;
use crate::{Msg, RenderContext, list, sdata};
use record::{Flags, NameId, Peer, TagId, pri};
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::OnceLock;

/// The value a source with use-uniqid(yes) gives each message: its receive number, decimal.
pub(crate) fn rcptid() -> NameId {
    interned("RCPTID", &RCPTID)
}

/// The value a source with flags(store-raw-message) gives each message.
pub(crate) fn rawmsg() -> NameId {
    interned("RAWMSG", &RAWMSG)
}

static RCPTID: OnceLock<NameId> = OnceLock::new();
static RAWMSG: OnceLock<NameId> = OnceLock::new();

fn interned(name: &str, cell: &OnceLock<NameId>) -> NameId {
    *cell.get_or_init(|| record::intern(name).unwrap_or(NameId(u32::MAX)))
}

pub(crate) fn print(fact: Fact, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) {
    let Msg { batch, record } = msg;
    let (facility, severity) = (record.pri >> 3, record.pri & 7);
    match fact {
        Fact::Facility => match pri::FACILITIES.get(usize::from(facility)) {
            Some(name) => out.extend_from_slice(name.as_bytes()),
            None => put(out, format_args!("{facility:x}")),
        },
        Fact::FacilityNum => number(u64::from(facility), out),
        Fact::Severity => out.extend_from_slice(
            pri::SEVERITIES.get(usize::from(severity)).copied().unwrap_or_default().as_bytes(),
        ),
        Fact::SeverityNum => number(u64::from(severity), out),
        Fact::Pri => number(u64::from(record.pri), out),
        Fact::Tag => put(out, format_args!("{:02x}", record.pri)),
        Fact::BsdTag => {
            out.extend_from_slice(&[b'0' + severity as u8, b'A'.wrapping_add((facility & 31) as u8)])
        }
        Fact::Tags => tags(msg, cx, out),
        Fact::SysUptime => uptime(cx, out),
        Fact::LogHost => out.extend_from_slice(cx.identity.loghost.as_bytes()),
        Fact::Sdata => sdata::print(msg, local_seqnum(msg, cx), &mut cx.sdata, out),
        Fact::RawMsg => {
            if let Some(value) = batch.value(record, rawmsg()) {
                out.extend_from_slice(value.bytes);
            }
        }
        Fact::RawMsgSize => number(u64::from(record.frame.len), out),
        Fact::SeqNum => match local_seqnum(msg, cx) {
            Some(seqnum) => number(sdata::sequence(seqnum), out),
            None if record.flags.has(Flags::LOCAL) => {}
            None => sdata::print_sequence_id(msg, &mut cx.sdata, out),
        },
        Fact::RcptId => {
            if let Some(value) = batch.value(record, rcptid()) {
                out.extend_from_slice(value.bytes);
            }
        }
        Fact::HostId => put(out, format_args!("{:08x}", cx.identity.host_id)),
        Fact::RunId => number(cx.identity.run_id, out),
        Fact::UniqId => {
            let value = batch.value(record, rcptid());
            let id =
                value.and_then(|v| std::str::from_utf8(v.bytes).ok()).and_then(|t| t.parse::<u64>().ok());
            if let Some(id) = id {
                put(out, format_args!("{:08x}@{id:016x}", cx.identity.host_id));
            }
        }
        Fact::MsgFormat => match batch.value(record, NameId::MSGFORMAT) {
            Some(value) => out.extend_from_slice(value.bytes),
            None => out.extend_from_slice(wire::msgformat(record).as_bytes()),
        },
        Fact::ContextId => {
            if let Some(item) = &cx.item {
                out.extend_from_slice(item);
            }
        }
        Fact::Matches => matches(msg, out),
        _ => address(fact, msg, out),
    }
}

/// The number this destination gives the message: only local ones are numbered here.
#[inline]
pub(crate) fn local_seqnum(msg: Msg<'_>, cx: &RenderContext) -> Option<u64> {
    cx.seqnum.filter(|_| msg.record.flags.has(Flags::LOCAL))
}

fn uptime(cx: &RenderContext, out: &mut Vec<u8>) {
    let (now, started) = (cx.now(), cx.identity.started);
    let hundredths = now.secs.saturating_sub(started.secs).saturating_mul(100) + i64::from(now.usec / 10_000)
        - i64::from(started.usec / 10_000);
    number(hundredths.max(0) as u64, out);
}

fn tags(msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) {
    let mut first = true;
    let mut put = |tag: TagId, cx: &mut RenderContext| {
        let name = cx.tag_name(tag);
        if !name.is_empty() {
            list::push(name.as_bytes(), &mut first, out);
        }
    };
    if cx.many_tags {
        msg.batch.tags(msg.record).into_iter().for_each(|tag| put(tag, cx));
        return;
    }
    let mut left = msg.record.tags.0;
    while left != 0 {
        put(TagId(left.trailing_zeros()), cx);
        left &= left - 1;
    }
}

/// `$1` up to the last match that is set.
fn matches(msg: Msg<'_>, out: &mut Vec<u8>) {
    let set = msg.batch.pairs(msg.record).map(|(name, _)| name.0).filter(|n| *n <= NameId::MATCH_MAX);
    let last = set.max().unwrap_or(0);
    let mut first = true;
    for n in 1..=last {
        let value = msg.batch.value(msg.record, NameId(n));
        list::push(value.map(|v| v.bytes).unwrap_or_default(), &mut first, out);
    }
}

fn address(fact: Fact, msg: Msg<'_>, out: &mut Vec<u8>) {
    let context = msg.batch.context(msg.record);
    let protocol = context.map_or(0, |c| c.ip_protocol);
    let (remote, local, proxy) = match context.map(|c| &c.peer) {
        Some(Peer::Inet { remote, local, proxy }) => (Some(remote), Some(local), proxy.as_ref()),
        Some(Peer::Local) | None => (None, None, None),
    };
    match fact {
        Fact::SourceIp => ip(remote, out),
        Fact::SourcePort => port(remote, out),
        Fact::DestIp => ip(local, out),
        Fact::DestPort => port(local, out),
        Fact::PeerIp => ip(proxy.or(remote), out),
        Fact::PeerPort => port(proxy.or(remote), out),
        Fact::IpProto => out.push(match remote {
            None => b'0',
            Some(SocketAddr::V4(_)) => b'4',
            Some(SocketAddr::V6(_)) => b'6',
        }),
        Fact::Proto => number(u64::from(protocol), out),
        Fact::ProtoName => out.extend_from_slice(match protocol {
            6 => b"tcp",
            17 => b"udp",
            _ => b"",
        }),
        _ => {}
    }
}

fn ip(address: Option<&SocketAddr>, out: &mut Vec<u8>) {
    match address.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), SocketAddr::ip) {
        IpAddr::V4(ip) => {
            for (at, octet) in ip.octets().into_iter().enumerate() {
                if at > 0 {
                    out.push(b'.');
                }
                number(u64::from(octet), out);
            }
        }
        IpAddr::V6(ip) => put(out, format_args!("{ip}")),
    }
}

fn port(address: Option<&SocketAddr>, out: &mut Vec<u8>) {
    number(address.map_or(0, |a| u64::from(a.port())), out);
}

/// Decimal, without the formatting machinery.
#[inline]
pub(crate) fn number(mut value: u64, out: &mut Vec<u8>) {
    if value < 10 {
        out.push(b'0' + value as u8);
        return;
    }
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    while value > 0 && at > 0 {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
    }
    out.extend_from_slice(&digits[at..]);
}

pub(crate) fn put(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // Writing to a vector cannot fail.
    let _ = out.write_fmt(text);
}
