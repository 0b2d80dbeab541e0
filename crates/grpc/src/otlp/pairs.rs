//! Messages with everything that is known of them, for syslog-ng-otlp(): name-value pairs by their types,
//! priority, tags, both zones, and addresses, in the attributes that AxoSyslog and syslog-ng read.

use super::any_value::{BYTES, put_pair};
use super::record::{begin, put_name, put_times};
use ::record::{Batch, NameId, Peer, Record, Value, ValueType, lookup};
use std::collections::HashSet;
use std::net::IpAddr;
use template::list;
use wire::protobuf::{put_bytes, put_message, put_number};
use wire::sdata::{PREFIX, params, unescape};

/// What stands in the scope, by which the other side knows what it is to do with the attributes.
pub const SCOPE: &str = "@syslog-ng";

/// The names of types, in the order in which they are written.
const TYPES: [(ValueType, &str); 10] = [
    (ValueType::String, "string"),
    (ValueType::Json, "json"),
    (ValueType::Boolean, "boolean"),
    (ValueType::Int, "int"),
    (ValueType::Double, "double"),
    (ValueType::DateTime, "datetime"),
    (ValueType::List, "list"),
    (ValueType::Null, "null"),
    (ValueType::Bytes, "bytes"),
    (ValueType::Protobuf, "protobuf"),
];

/// A type by its name.
pub fn type_named(name: &[u8]) -> Option<ValueType> {
    let name = if name == b"bool" { b"boolean" } else { name };
    TYPES.iter().find(|(_, known)| known.as_bytes() == name).map(|(kind, _)| *kind)
}

fn place(kind: ValueType) -> usize {
    TYPES.iter().position(|(known, _)| *known == kind).unwrap_or_default()
}

/// The scope of all records.
pub fn scope(version: &str) -> Vec<u8> {
    let mut out = Vec::new();
    put_name(&mut out, 1, SCOPE);
    put_name(&mut out, 2, version);
    out
}

/// Writes messages, in buffers that are kept.
#[derive(Default)]
pub struct PairWriter {
    /// Of each type.
    lists: [Vec<u8>; TYPES.len()],
    seen: HashSet<NameId>,
    text: Vec<u8>,
    tags: Vec<u8>,
}

impl PairWriter {
    pub fn put(&mut self, out: &mut Vec<u8>, batch: &Batch, record: &Record) {
        begin(out);
        put_times(out, batch, record);
        self.gather(batch, record);
        let lists = &self.lists;
        put_pair(out, 6, "n", |n| {
            put_message(n, 6, |types| {
                for ((_, name), list) in TYPES.iter().zip(lists).filter(|(_, list)| !list.is_empty()) {
                    put_pair(types, 1, name, |value| put_bytes(value, 6, list));
                }
            });
        });
        self.macros(out, batch, record);
        if let Some(Peer::Inet { remote, local, .. }) = batch.context(record).map(|context| &context.peer) {
            put_pair(out, 6, "sa", |sa| put_message(sa, 6, |pairs| address(pairs, remote.ip())));
            put_pair(out, 6, "da", |da| {
                put_message(da, 6, |pairs| {
                    address(pairs, local.ip());
                    put_pair(pairs, 1, "port", |value| put_number(value, 3, u64::from(local.port())));
                });
            });
        }
    }

    fn macros(&mut self, out: &mut Vec<u8>, batch: &Batch, record: &Record) {
        self.tags.clear();
        let mut first = true;
        for tag in batch.tags(record) {
            list::push(batch.tag_name(tag).as_bytes(), &mut first, &mut self.tags);
        }
        let number = |m: &mut Vec<u8>, name: &str, value: i64| {
            put_pair(m, 1, name, |out| put_number(out, 3, value as u64));
        };
        let tags = &self.tags;
        put_pair(out, 6, "m", |m| {
            put_message(m, 6, |m| {
                number(m, "PRI", i64::from(record.pri));
                put_pair(m, 1, "TAGS", |value| put_bytes(value, BYTES, tags));
                number(m, "STAMP_GMTOFF", i64::from(record.stamp.offset));
                number(m, "RECVD_GMTOFF", i64::from(batch.received_at(record).offset));
            });
        });
    }

    /// Collects all pairs by their types.
    fn gather(&mut self, batch: &Batch, record: &Record) {
        let PairWriter { lists, seen, text, .. } = self;
        lists.iter_mut().for_each(Vec::clear);
        seen.clear();
        let mut add = |name: &str, value: Value<'_>| {
            if let Some(list) = lists.get_mut(place(value.kind)) {
                put_pair(list, 1, name, |out| put_bytes(out, BYTES, value.bytes));
            }
        };
        for (name, value) in batch.fields(record) {
            value.into_iter().for_each(|value| add(batch.name_of(name), value));
        }
        for (name, value) in batch.entries(record) {
            if !seen.insert(name) {
                continue;
            }
            let known = batch.name_of(name);
            // Numbered matches belong to where they were made, the name of the source to its machine.
            if known.is_empty() || is_match(known) || name == NameId::SOURCE {
                continue;
            }
            value.into_iter().for_each(|value| add(known, value));
        }
        if !seen.contains(&NameId::MSGFORMAT) {
            add("MSGFORMAT", Value::string(wire::msgformat(record).as_bytes()));
        }
        if let Some(context) = batch.context(record) {
            let own = [
                (NameId::HOST_FROM, context.host_from.as_bytes()),
                (NameId::TRANSPORT, context.transport.0.as_bytes()),
            ];
            let more = context.values.iter().map(|(name, bytes)| (*name, &**bytes));
            for (name, bytes) in own.into_iter().chain(more).filter(|(name, _)| !seen.contains(name)) {
                add(batch.name_of(name), Value::string(bytes));
            }
        }
        for param in params(batch.bytes(record.sdata)) {
            let [id, name] = [param.id, param.name].map(String::from_utf8_lossy);
            let full = if name.is_empty() { format!("{PREFIX}{id}") } else { format!("{PREFIX}{id}.{name}") };
            let known = batch.names.known(&full).or_else(|| lookup(&full));
            if known.is_none_or(|known| !seen.contains(&known)) {
                add(&full, Value::string(unescape(param.value, text)));
            }
        }
    }
}

fn is_match(name: &str) -> bool {
    name.len() <= 3 && name.bytes().all(|byte| byte.is_ascii_digit())
}

fn address(pairs: &mut Vec<u8>, address: IpAddr) {
    put_pair(pairs, 1, "addr", |value| match address {
        IpAddr::V4(address) => put_bytes(value, BYTES, &address.octets()),
        IpAddr::V6(address) => put_bytes(value, BYTES, &address.octets()),
    });
}
