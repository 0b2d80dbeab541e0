//! When a message was received: as its batch, until something on the way says otherwise. The few that differ
//! have an entry of their own, so that a copy of a record stays a snapshot and the others cost one
//! comparison.

use super::{Batch, Record};
use crate::Span;
use crate::names::NameId;
use crate::stamp::Stamp;
use crate::value::{Entry, Link, ValueType};

/// Stands among the tags; no tag and no value has this name.
pub(super) const RECEIVED: NameId = NameId(super::TAG_BASE - 1);

const BYTES: usize = 16;

impl Batch {
    #[inline]
    pub fn received_at(&self, record: &Record) -> Stamp {
        if record.more_tags == Link::NONE {
            return self.received;
        }
        self.changed(record).unwrap_or(self.received)
    }

    fn changed(&self, record: &Record) -> Option<Stamp> {
        let entry = self.list(record.more_tags).find(|entry| entry.name == RECEIVED)?;
        decode(self.bytes(entry.span))
    }

    pub fn set_received(&mut self, index: usize, stamp: Stamp) {
        if index >= self.records.len() {
            return;
        }
        let span = self.append(&encode(stamp));
        self.prepend_tag(index, RECEIVED, span, Some(ValueType::Bytes));
    }

    /// Puts an entry in front of those of a record's tags.
    pub(super) fn prepend_tag(&mut self, index: usize, name: NameId, span: Span, kind: Option<ValueType>) {
        let Some(record) = self.records.get_mut(index) else { return };
        let next = record.more_tags;
        record.more_tags = Link(self.entries.len() as u32);
        self.entries.push(Entry { name, span, kind, next });
    }
}

fn encode(stamp: Stamp) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let parts = stamp
        .secs
        .to_le_bytes()
        .into_iter()
        .chain(stamp.usec.to_le_bytes())
        .chain(stamp.offset.to_le_bytes());
    bytes.iter_mut().zip(parts).for_each(|(to, from)| *to = from);
    bytes
}

fn decode(bytes: &[u8]) -> Option<Stamp> {
    let (secs, rest) = bytes.split_first_chunk()?;
    let (usec, rest) = rest.split_first_chunk()?;
    let (offset, _) = rest.split_first_chunk()?;
    Some(Stamp {
        secs: i64::from_le_bytes(*secs),
        usec: u32::from_le_bytes(*usec),
        offset: i32::from_le_bytes(*offset),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::{intern, tag_id};
    use std::sync::Arc;

    #[test]
    fn each_message_may_have_its_own() {
        let context = Arc::new(Context::local("s", "here", "local+file"));
        let came = Stamp { secs: 100, usec: 1, offset: 0 };
        let mut batch = Batch::new(b"text".to_vec(), context, came);
        batch.records.extend([Record::new(Span::new(0, 4)); 2]);
        let (value, tags): (_, Vec<_>) =
            (intern("received.v"), (0..70).filter_map(|n| tag_id(&format!("rec{n}"))).collect());
        batch.set_tag(0, tags[69]);
        let before = batch.records[0];
        let first = Stamp { secs: -5, usec: 999_999, offset: -3600 };
        batch.set_received(0, first);
        batch.set(0, value.expect("room"), b"x", ValueType::String);
        let changed = Stamp { secs: 7, ..first };
        let snapshot = batch.records[0];
        batch.set_received(0, changed);
        batch.set_received(9, changed);
        assert_eq!(batch.received_at(&batch.records[0]), changed);
        assert_eq!(batch.received_at(&snapshot), first);
        assert_eq!((batch.received_at(&before), batch.received_at(&batch.records[1])), (came, came));
        // It is neither tag nor value.
        assert_eq!(batch.tags(&batch.records[0]), [tags[69]]);
        let mut each = Vec::new();
        batch.each_tag(&batch.records[0], |tag| each.push(tag));
        assert_eq!(each, [tags[69]]);
        assert_eq!(batch.pairs(&batch.records[0]).count(), 1);
        let mut other = Batch::default();
        let copy = other.adopt(&batch, &batch.records[0], |_| false).expect("room");
        assert_eq!(other.received_at(&other.records[copy]), changed);
        assert!(other.has_tag(&other.records[copy], tags[69]));
    }
}
