//! A message as bytes, with everything that is known of it: how it waits for a destination that may ask for
//! any of its values, and how it comes back.
//!
//! All numbers are little endian. `version u8 | number u64 | received stamp | stamp | stamp text u32 |
//! priority u16 | flags u16 | frame, HOST, PROGRAM, PID, MSGID, LEGACY_MSGHDR, MESSAGE, SDATA: spans | types
//! of HOST, PROGRAM, PID, MSGID, MESSAGE u8 | IP protocol u8 | source, host from, transport, remote, local,
//! proxy: spans | count u32 of values: name span, type u8, span | count u32 of tags: span | text`. A stamp is
//! `seconds i64 | microseconds u32 | offset i32`, a span `start u32 | length u32` in the text. Of values the
//! newest come first; the type 255 says that the name was unset.

mod packer;
mod unpacker;

use super::Record;
use crate::Span;
use crate::names::NameId;
use crate::stamp::Stamp;
use crate::value::ValueType;
pub use packer::Packer;
pub use unpacker::Unpacker;

const VERSION: u8 = 1;
/// In place of a type: the name was unset.
const UNSET: u8 = u8::MAX;
const FIELDS: [NameId; 5] = [NameId::HOST, NameId::PROGRAM, NameId::PID, NameId::MSGID, NameId::MESSAGE];
const TYPES: [ValueType; 10] = [
    ValueType::String,
    ValueType::Json,
    ValueType::Boolean,
    ValueType::Int,
    ValueType::Double,
    ValueType::DateTime,
    ValueType::List,
    ValueType::Null,
    ValueType::Bytes,
    ValueType::Protobuf,
];

impl ValueType {
    /// What stands for it on disk.
    pub fn number(self) -> u8 {
        TYPES.iter().position(|known| *known == self).map_or(0, |at| at as u8)
    }

    /// A text where nobody knows the number.
    pub fn of_number(number: u8) -> ValueType {
        TYPES.get(usize::from(number)).copied().unwrap_or_default()
    }
}

/// What is left to read.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn span(&mut self) -> Option<Span> {
        Some(Span { start: self.u32()?, len: self.u32()? })
    }

    fn stamp(&mut self) -> Option<Stamp> {
        let secs = i64::from_le_bytes(self.array()?);
        let usec = self.u32().filter(|usec| *usec < 1_000_000)?;
        Some(Stamp { secs, usec, offset: i32::from_le_bytes(self.array()?) })
    }

    /// So many items of so many bytes.
    fn items(&mut self, size: usize) -> Option<Bytes<'a>> {
        let count = self.u32()? as usize;
        let (items, rest) = self.0.split_at_checked(count.checked_mul(size)?)?;
        self.0 = rest;
        Some(Bytes(items))
    }
}

/// Where the spans begin.
const SPANS_AT: usize = 1 + 8 + 16 + 16 + 4 + 2 + 2;
const VALUE_BYTES: usize = 17;
const TAG_BYTES: usize = 8;

/// MESSAGE of a message that was packed.
pub fn packed_message(packed: &[u8]) -> Option<&[u8]> {
    let spans = packed.get(SPANS_AT..)?;
    let message = Bytes(spans.get(6 * TAG_BYTES..)?).span()?;
    let mut rest = Bytes(spans.get(8 * TAG_BYTES + FIELDS.len() + 1 + 6 * TAG_BYTES..)?);
    rest.items(VALUE_BYTES)?;
    rest.items(TAG_BYTES)?;
    Some(message.of(rest.0))
}

/// Bytes of the time stamp of RFC 3164.
const STAMP_TEXT: u32 = 15;

fn fields(record: &mut Record) -> [&mut Span; 7] {
    [
        &mut record.host,
        &mut record.program,
        &mut record.pid,
        &mut record.msgid,
        &mut record.msghdr,
        &mut record.message,
        &mut record.sdata,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Batch;
    use crate::context::{Context, Peer};
    use crate::intern;
    use std::net::SocketAddr;
    use std::sync::Arc;

    fn message() -> Batch {
        let mut context = Context::local("s_net", "peer.example", "rfc3164+tcp");
        let end = |port| SocketAddr::from(([192, 0, 2, 1], port));
        context.peer = Peer::Inet { remote: end(1000), local: end(514), proxy: None };
        context.ip_protocol = 6;
        context.values.push((intern("packed.ctx").expect("room"), (*b"c").into()));
        let received = Stamp { secs: 9, usec: 8, offset: 7200 };
        let mut batch = Batch::new(b"<13>Nov 11 01:02:03 h app: hello".to_vec(), Arc::new(context), received);
        let mut record = Record::new(Span::new(0, 32));
        (record.host, record.program, record.message) =
            (Span::new(20, 1), Span::new(22, 3), Span::new(27, 5));
        (record.stamp_text, record.pri) = (4, 14);
        record.stamp = Stamp { secs: 5, usec: 6, offset: -3600 };
        batch.records.push(record);
        let names = ["packed.a", "packed.b", ".SDATA.packed.c"].map(|name| intern(name).expect("room"));
        batch.set(0, names[0], b"old", ValueType::String);
        batch.set(0, names[0], b"7", ValueType::Int);
        batch.set(0, names[1], b"gone", ValueType::String);
        batch.unset(0, names[1]);
        batch.unset(0, names[2]);
        let own = batch.names.id(b"", b"packed.of.this.batch").expect("room");
        batch.set(0, own, b"own", ValueType::Json);
        batch.set(0, NameId::MESSAGE, b"8.5", ValueType::Double);
        batch.unset(0, NameId::PID);
        let tag = batch.tag(b"packed.tag").expect("room");
        batch.set_tag(0, tag);
        batch
    }

    #[test]
    fn what_is_known_of_a_message_comes_back() {
        let from = message();
        let record = from.records[0];
        let mut packed = Vec::new();
        Packer::default().pack(&from, &record, 42, &mut packed);
        let mut to = Batch::new(b"before".to_vec(), Arc::new(Context::local("", "", "")), from.received);
        let mut unpacker = Unpacker::default();
        for at in 0..2 {
            assert_eq!(unpacker.unpack(&packed, &mut to), Some((at, 42)));
            let copy = to.records[at];
            for name in [NameId::HOST, NameId::PROGRAM, NameId::PID, NameId::MESSAGE, NameId::SOURCE] {
                assert_eq!(to.value(&copy, name), from.value(&record, name), "{name:?}");
            }
            for name in [NameId::HOST_FROM, NameId::TRANSPORT] {
                assert_eq!(to.value(&copy, name), from.value(&record, name), "{name:?}");
            }
            assert_eq!(packed_message(&packed), Some(&b"8.5"[..]));
            let pairs = |batch: &Batch, record: &Record| -> Vec<(String, Vec<u8>, ValueType)> {
                let all = batch.pairs(record);
                all.map(|(n, v)| (batch.name_of(n).to_owned(), v.bytes.to_vec(), v.kind)).collect()
            };
            let mut expected = pairs(&from, &record);
            expected.push(("packed.ctx".to_owned(), b"c".to_vec(), ValueType::String));
            assert_eq!(pairs(&to, &copy), expected);
            let hidden = intern(".SDATA.packed.c").expect("known");
            assert_eq!(to.overridden(&copy, hidden), Some(false));
            assert_eq!((copy.stamp, copy.pri, copy.flags), (record.stamp, record.pri, record.flags));
            assert_eq!(to.received_at(&copy), from.received);
            assert_eq!(to.bytes(copy.frame), from.bytes(record.frame));
            assert_eq!(to.bytes(Span { start: copy.stamp_text, len: 15 }), b"Nov 11 01:02:03");
            let tags: Vec<&str> = to.tags(&copy).into_iter().map(|tag| to.tag_name(tag)).collect();
            assert_eq!(tags, ["packed.tag"]);
            assert_eq!(
                to.context(&copy).map(|c| c.peer.clone()),
                from.context(&record).map(|c| c.peer.clone())
            );
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused() {
        let from = message();
        let mut whole = Vec::new();
        Packer::default().pack(&from, &from.records[0], 1, &mut whole);
        let damaged = (0..whole.len()).flat_map(|at| [0, 1, 0x7f, 0xff].map(|byte| (at, byte, 0)));
        for (at, byte, cut) in damaged.chain((0..whole.len()).map(|cut| (0, 1, cut))) {
            let mut packed = whole.clone();
            packed[at] = byte;
            packed.truncate(whole.len() - cut);
            let mut to = Batch::new(Vec::new(), Arc::new(Context::local("", "", "")), from.received);
            let _ = packed_message(&packed);
            if Unpacker::default().unpack(&packed, &mut to).is_some() {
                let record = to.records[0];
                assert!(to.text.len() <= 4 * packed.len());
                let _ = (to.pairs(&record).count(), to.tags(&record), to.fields(&record));
            }
        }
    }
}
