//! Records of syslog-ng-otlp() as the messages that they were at their sender.

use super::pairs::type_named;
use ::record::{Batch, Context, Demand, NameId, Peer, Record, Span, Stamp, TagId, ValueType, intern, lookup};
use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use template::list;
use wire::protobuf::{Malformed, Value, fields};

/// Names remembered; a table that is full starts anew.
const KNOWN_MAX: usize = 1 << 10;
/// Contexts of a batch: beyond these, messages have that of the connection.
const CONTEXTS_MAX: usize = 1 << 15;
/// What templates ask for by another word than its name.
const RAWMSG: &[u8] = b"RAWMSG";
const FIELDS: [NameId; 5] = [NameId::HOST, NameId::MESSAGE, NameId::PROGRAM, NameId::PID, NameId::MSGID];

#[derive(Default)]
pub struct PairReader {
    known: HashMap<Box<[u8]>, NameId>,
    tags: HashMap<Box<[u8]>, TagId>,
    item: Vec<u8>,
    values: Vec<(NameId, Span, ValueType)>,
}

/// Numbers of a record that are not pairs.
#[derive(Default)]
struct Macros<'a> {
    pri: Option<u16>,
    tags: &'a [u8],
    stamp_offset: i32,
    received_offset: i32,
}

impl PairReader {
    pub fn append(&mut self, batch: &mut Batch, bytes: &[u8], demand: &Demand) -> Result<(), Malformed> {
        let index = batch.records.len();
        batch.records.push(Record::new(Span::EMPTY));
        let (mut time, mut observed) = (0, 0);
        let mut macros = Macros::default();
        let mut ends = [None; 2];
        self.values.clear();
        for field in fields(bytes) {
            match field? {
                (1, Value::Fixed64(nanoseconds)) => time = nanoseconds,
                (11, Value::Fixed64(nanoseconds)) => observed = nanoseconds,
                (6, Value::Bytes(attribute)) => {
                    let (name, list) = pair(attribute)?;
                    let list = nested(list, 6)?.unwrap_or_default();
                    match name {
                        b"n" => self.pairs(batch, list, demand)?,
                        b"m" => macros = read_macros(list)?,
                        b"sa" => ends[0] = address(list)?,
                        b"da" => ends[1] = address(list)?,
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        let context = context(batch, ends);
        let received = batch.received;
        if let Some(record) = batch.records.get_mut(index) {
            record.stamp = stamp(time, macros.stamp_offset).unwrap_or(received);
            record.pri = macros.pri.unwrap_or(record.pri);
            record.context = context;
        }
        if let Some(observed) = stamp(observed, macros.received_offset) {
            batch.set_received(index, observed);
        }
        // PROGRAM and PID take the header as received away: it comes behind them.
        self.values.sort_by_key(|(name, ..)| *name == NameId::LEGACY_MSGHDR);
        batch.set_spans(index, self.values.drain(..));
        self.set_tags(batch, index, macros.tags);
        Ok(())
    }

    /// Lists by types, in each of them names and values.
    fn pairs(&mut self, batch: &mut Batch, types: &[u8], demand: &Demand) -> Result<(), Malformed> {
        for field in fields(types) {
            let (1, Value::Bytes(entry)) = field? else { continue };
            let (name, list) = pair(entry)?;
            let kind = type_named(name).unwrap_or_default();
            let Some(list) = nested(list, 6)? else { continue };
            for field in fields(list) {
                let (1, Value::Bytes(entry)) = field? else { continue };
                let (name, value) = pair(entry)?;
                let Some(id) = self.id(batch, name) else { continue };
                let is_read = demand.wants(id)
                    || FIELDS.contains(&id)
                    || id == NameId::LEGACY_MSGHDR
                    || id.is_sdata() && demand.sdata
                    || demand.raw && name == RAWMSG;
                if !is_read {
                    continue;
                }
                // Bytes, or a text.
                let bytes = match nested(value, 7)? {
                    Some(bytes) => bytes,
                    None => nested(value, 1)?.unwrap_or_default(),
                };
                self.values.push((id, batch.append(bytes), kind));
            }
        }
        Ok(())
    }

    fn id(&mut self, batch: &mut Batch, name: &[u8]) -> Option<NameId> {
        if let Some(id) = self.known.get(name) {
            return Some(*id);
        }
        let text = std::str::from_utf8(name).ok()?;
        // Templates that print it know it by its number in the process, which nobody may have asked for yet.
        let known = if name == RAWMSG { intern(text) } else { lookup(text) };
        let Some(id) = known else { return batch.names.id(b"", name) };
        if self.known.len() >= KNOWN_MAX {
            self.known.clear();
        }
        self.known.insert(name.into(), id);
        Some(id)
    }

    fn set_tags(&mut self, batch: &mut Batch, index: usize, tags: &[u8]) {
        let mut items = list::Items::of(tags);
        while items.next_into(&mut self.item) {
            let known = self.tags.get(self.item.as_slice()).copied();
            let Some(tag) = known.or_else(|| batch.tag(&self.item)) else { continue };
            if known.is_none() && !tag.is_local() && self.tags.len() < KNOWN_MAX {
                self.tags.insert(self.item.as_slice().into(), tag);
            }
            batch.set_tag(index, tag);
        }
    }
}

/// Key and value of a `KeyValue`; the value is an `AnyValue`.
fn pair(entry: &[u8]) -> Result<(&[u8], &[u8]), Malformed> {
    let (mut name, mut value) = (&[][..], &[][..]);
    for field in fields(entry) {
        match field? {
            (1, Value::Bytes(bytes)) => name = bytes,
            (2, Value::Bytes(bytes)) => value = bytes,
            _ => {}
        }
    }
    Ok((name, value))
}

/// The bytes of a field.
fn nested(message: &[u8], number: u32) -> Result<Option<&[u8]>, Malformed> {
    let mut found = None;
    for field in fields(message) {
        if let (n, Value::Bytes(bytes)) = field?
            && n == number
        {
            found = Some(bytes);
        }
    }
    Ok(found)
}

fn int(value: &[u8]) -> Result<i64, Malformed> {
    for field in fields(value) {
        if let (3, Value::Varint(number)) = field? {
            return Ok(number as i64);
        }
    }
    Ok(0)
}

/// A day is the most that clocks differ.
fn offset(value: &[u8]) -> Result<i32, Malformed> {
    Ok(i32::try_from(int(value)?).ok().filter(|offset| offset.abs() <= 86_400).unwrap_or_default())
}

fn read_macros(list: &[u8]) -> Result<Macros<'_>, Malformed> {
    let mut macros = Macros::default();
    for field in fields(list) {
        let (1, Value::Bytes(entry)) = field? else { continue };
        let (name, value) = pair(entry)?;
        match name {
            b"PRI" => macros.pri = u16::try_from(int(value)?).ok().filter(|pri| *pri < 1024),
            b"TAGS" => macros.tags = nested(value, 7)?.unwrap_or_default(),
            b"STAMP_GMTOFF" => macros.stamp_offset = offset(value)?,
            b"RECVD_GMTOFF" => macros.received_offset = offset(value)?,
            _ => {}
        }
    }
    Ok(macros)
}

fn address(list: &[u8]) -> Result<Option<SocketAddr>, Malformed> {
    let (mut ip, mut port) = (None, 0);
    for field in fields(list) {
        let (1, Value::Bytes(entry)) = field? else { continue };
        let (name, value) = pair(entry)?;
        match name {
            b"addr" => {
                let bytes = nested(value, 7)?.unwrap_or_default();
                ip = <[u8; 4]>::try_from(bytes)
                    .map(IpAddr::from)
                    .or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from))
                    .ok();
            }
            b"port" => port = u16::try_from(int(value)?).unwrap_or_default(),
            _ => {}
        }
    }
    Ok(ip.map(|ip| SocketAddr::new(ip, port)))
}

fn stamp(nanoseconds: u64, offset: i32) -> Option<Stamp> {
    (nanoseconds > 0).then_some(Stamp {
        secs: (nanoseconds / 1_000_000_000) as i64,
        usec: (nanoseconds % 1_000_000_000 / 1000) as u32,
        offset,
    })
}

/// The place of a context with these ends: mostly that of the message before.
fn context(batch: &mut Batch, ends: [Option<SocketAddr>; 2]) -> u16 {
    let [Some(remote), local] = ends else { return 0 };
    let local = local.unwrap_or(SocketAddr::new(remote.ip(), 0));
    let peer = Peer::Inet { remote, local, proxy: None };
    let last = batch.contexts.len().saturating_sub(1);
    if batch.contexts.last().is_some_and(|context| context.peer == peer) {
        return last as u16;
    }
    let Some(own) = batch.contexts.first().filter(|_| last < CONTEXTS_MAX) else { return 0 };
    let context = Context { peer, ..Context::clone(own) };
    batch.contexts.push(Arc::new(context));
    (last + 1) as u16
}
