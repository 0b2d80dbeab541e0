//! Prints the macros that are computed: PRI in its forms, tags, addresses, ids, counters.

use crate::macros::Fact;
use crate::sink::Sink;
use crate::tags::TagsKey;
use crate::{Msg, RenderContext, list, sdata};
use record::{Flags, NameId, Peer, Value, pri};
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

pub(crate) fn print(fact: Fact, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
    let Msg { batch, record } = msg;
    let (facility, severity) = (record.pri >> 3, record.pri & 7);
    match fact {
        Fact::Facility | Fact::Severity => match name(fact, record.pri) {
            Some(name) => sink.bytes(name.as_bytes()),
            None => put(sink.out(), format_args!("{facility:x}")),
        },
        Fact::FacilityNum => decimal(u64::from(facility), sink),
        Fact::SeverityNum => decimal(u64::from(severity), sink),
        Fact::Pri => decimal(u64::from(record.pri), sink),
        Fact::Tag => put(sink.out(), format_args!("{:02x}", record.pri)),
        Fact::BsdTag => {
            sink.bytes(&[b'0' + severity as u8, b'A'.wrapping_add((facility & 31) as u8)]);
        }
        Fact::Tags => tags(msg, cx, sink),
        Fact::SysUptime => uptime(cx, sink),
        Fact::LogHost => sink.bytes(cx.identity.loghost.as_bytes()),
        Fact::Sdata => sdata::print(msg, local_seqnum(msg, cx), &mut cx.sdata, sink.out()),
        Fact::RawMsg => print_set(batch.value(record, rawmsg()), sink),
        Fact::RcptId => print_set(batch.value(record, rcptid()), sink),
        Fact::RawMsgSize => decimal(u64::from(record.frame.len), sink),
        Fact::SeqNum => match local_seqnum(msg, cx) {
            Some(seqnum) => decimal(sdata::sequence(seqnum), sink),
            None if record.flags.has(Flags::LOCAL) => {}
            None => sdata::print_sequence_id(msg, &mut cx.sdata, sink.out()),
        },
        Fact::HostId => put(sink.out(), format_args!("{:08x}", cx.identity.host_id)),
        Fact::RunId => decimal(cx.identity.run_id, sink),
        Fact::UniqId => {
            let value = batch.value(record, rcptid());
            let id =
                value.and_then(|v| std::str::from_utf8(v.bytes).ok()).and_then(|t| t.parse::<u64>().ok());
            if let Some(id) = id {
                put(sink.out(), format_args!("{:08x}@{id:016x}", cx.identity.host_id));
            }
        }
        Fact::MsgFormat => match batch.value(record, NameId::MSGFORMAT) {
            Some(value) => sink.bytes(value.bytes),
            None => sink.bytes(wire::msgformat(record).as_bytes()),
        },
        Fact::ContextId => {
            sink.bytes(cx.item.as_ref().unwrap_or(&cx.context_id));
        }
        Fact::Matches => matches(msg, sink.out()),
        _ => address(fact, msg, sink),
    }
}

/// The name of a facility or severity, where it has one.
#[inline]
pub(crate) fn name(fact: Fact, pri: u16) -> Option<&'static str> {
    match fact {
        Fact::Facility => pri::FACILITIES.get(usize::from(pri >> 3)).copied(),
        Fact::Severity => pri::SEVERITIES.get(usize::from(pri & 7)).copied(),
        _ => None,
    }
}

fn print_set(value: Option<Value<'_>>, sink: &mut Sink<'_>) {
    if let Some(value) = value {
        sink.bytes(value.bytes);
    }
}

/// The number this destination gives the message: only local ones are numbered here, unless it numbers all.
#[inline]
pub(crate) fn local_seqnum(msg: Msg<'_>, cx: &RenderContext) -> Option<u64> {
    cx.seqnum.filter(|_| cx.number_all || msg.record.flags.has(Flags::LOCAL))
}

fn uptime(cx: &RenderContext, sink: &mut Sink<'_>) {
    let (now, started) = (cx.now(), cx.identity.started);
    let hundredths = now.secs.saturating_sub(started.secs).saturating_mul(100) + i64::from(now.usec / 10_000)
        - i64::from(started.usec / 10_000);
    decimal(hundredths.max(0) as u64, sink);
}

fn tags(msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
    // The usual message has none.
    if msg.record.tags.0 == 0 && !msg.record.has_more_tags() {
        return;
    }
    // Most messages have tags that others had before.
    let key = TagsKey::of(msg);
    if let Some(text) = key.as_ref().and_then(|key| cx.tags.get(key)) {
        return sink.bytes(text);
    }
    let out = sink.out();
    let (mut first, start) = (true, out.len());
    msg.batch.each_tag(msg.record, |tag| {
        let name = if tag.is_local() { msg.batch.tag_name(tag) } else { cx.tag_name(tag) };
        if !name.is_empty() {
            list::push(name.as_bytes(), &mut first, out);
        }
    });
    if let Some(key) = key {
        cx.tags.set(key, out.get(start..).unwrap_or_default());
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

fn address(fact: Fact, msg: Msg<'_>, sink: &mut Sink<'_>) {
    let context = msg.batch.context(msg.record);
    let protocol = context.map_or(0, |c| c.ip_protocol);
    let (remote, local, proxy) = match context.map(|c| &c.peer) {
        Some(Peer::Inet { remote, local, proxy }) => (Some(remote), Some(local), proxy.as_ref()),
        Some(Peer::Local) | None => (None, None, None),
    };
    match fact {
        Fact::SourceIp => ip(remote, sink),
        Fact::SourcePort => port(remote, sink),
        Fact::DestIp => ip(local, sink),
        Fact::DestPort => port(local, sink),
        Fact::PeerIp => ip(proxy.or(remote), sink),
        Fact::PeerPort => port(proxy.or(remote), sink),
        Fact::IpProto => sink.byte(match remote {
            None => b'0',
            Some(SocketAddr::V4(_)) => b'4',
            Some(SocketAddr::V6(_)) => b'6',
        }),
        Fact::Proto => decimal(u64::from(protocol), sink),
        Fact::ProtoName => sink.bytes(match protocol {
            6 => b"tcp",
            17 => b"udp",
            _ => b"",
        }),
        _ => {}
    }
}

fn ip(address: Option<&SocketAddr>, sink: &mut Sink<'_>) {
    match address.map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), SocketAddr::ip) {
        IpAddr::V4(ip) => {
            let (mut text, mut len) = ([0; IPV4_BYTES], 0);
            for octet in ip.octets() {
                let [digits @ .., size] = OCTETS[usize::from(octet)];
                if let Some(place) = text.get_mut(len..len + 4) {
                    place.copy_from_slice(&[digits[0], digits[1], digits[2], b'.']);
                    if let Some(dot) = place.get_mut(usize::from(size)) {
                        *dot = b'.';
                    }
                }
                len += usize::from(size) + 1;
            }
            sink.padded(&text, len - 1);
        }
        IpAddr::V6(ip) => put(sink.out(), format_args!("{ip}")),
    }
}

/// The longest IPv4 address and a dot.
const IPV4_BYTES: usize = 16;

/// The digits of every octet, and how many.
static OCTETS: [[u8; 4]; 256] = {
    let mut table = [[b'0'; 4]; 256];
    let mut n = 0;
    while n < 256 {
        let digits = [n / 100, n / 10 % 10, n % 10];
        let size = if n < 10 {
            1
        } else if n < 100 {
            2
        } else {
            3
        };
        let mut at = 0;
        while at < size {
            table[n][at] = b'0' + digits[3 - size + at] as u8;
            at += 1;
        }
        table[n][3] = size as u8;
        n += 1;
    }
    table
};

fn port(address: Option<&SocketAddr>, sink: &mut Sink<'_>) {
    decimal(address.map_or(0, |a| u64::from(a.port())), sink);
}

fn decimal(value: u64, sink: &mut Sink<'_>) {
    match OCTETS.get(value as usize) {
        Some([digits @ .., size]) => sink.padded(digits, usize::from(*size)),
        None => number(value, sink.out()),
    }
}

/// A whole number, with blanks in front of it or not.
pub(crate) fn int(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text.trim_ascii_start()).ok()?.parse().ok()
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
