//! What was set on the way since somebody looked: whoever goes through all values again and again need not
//! begin anew each time.

use super::{Batch, Record};
use crate::names::NameId;
use crate::value::Link;
use std::sync::atomic::{AtomicU64, Ordering};

/// The next life of a batch.
static LIVES: AtomicU64 = AtomicU64::new(1);

pub(super) fn new_life() -> u64 {
    LIVES.fetch_add(1, Ordering::Relaxed)
}

/// What a record's values were at one time. It holds for every record that has come from that one: what was
/// set later stands in front of it.
#[derive(Clone, Copy, Debug)]
pub struct Since {
    life: u64,
    first: Link,
}

impl Default for Since {
    fn default() -> Since {
        Since { life: 0, first: Link::NONE }
    }
}

impl Batch {
    /// What the values of a record are now.
    #[inline]
    pub fn since(&self, record: &Record) -> Since {
        Since { life: self.life, first: record.values }
    }

    /// The names of [`Batch::entries`] that were set or unset later, and whether each is set; all where the
    /// record has not come from the one that was looked at, or not in this life of the batch.
    #[inline]
    pub fn names_since<'a>(
        &'a self,
        record: &Record,
        since: Since,
    ) -> impl Iterator<Item = (NameId, bool)> + use<'a> {
        let is_known = since.life == self.life && self.life != 0;
        let end = if is_known { since.first } else { Link::NONE };
        let mut at = record.values;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at.0 as usize).filter(|_| at != end)?;
            at = entry.next;
            Some((entry.name, entry.kind.is_some()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Span, ValueType, intern};

    #[test]
    fn later_values_are_told() {
        let mut batch = Batch::default();
        batch.reset();
        batch.records.push(Record::new(Span::EMPTY));
        let [a, b, c] = ["since.a", "since.b", "since.c"].map(|name| intern(name).expect("room"));
        let names = |batch: &Batch, index: usize, since| -> Vec<NameId> {
            batch.names_since(&batch.records[index], since).map(|(name, _)| name).collect()
        };
        let nothing = batch.since(&batch.records[0]);
        batch.set(0, a, b"1", ValueType::String);
        let one = batch.since(&batch.records[0]);
        let before = batch.records[0];
        batch.set(0, b, b"2", ValueType::String);
        batch.unset(0, a);
        assert_eq!(names(&batch, 0, one), [a, b]);
        assert_eq!(names(&batch, 0, nothing), [a, b, a]);
        assert_eq!(names(&batch, 0, Since::default()), [a, b, a]);
        let two = batch.since(&batch.records[0]);
        assert_eq!(names(&batch, 0, two), []);
        // A branch was undone: what is set now did not come from there.
        batch.records[0] = before;
        assert_eq!((names(&batch, 0, one), names(&batch, 0, two)), (vec![], vec![a]));
        batch.set(0, c, b"3", ValueType::String);
        assert_eq!((names(&batch, 0, one), names(&batch, 0, two)), (vec![c], vec![c, a]));
        batch.reset();
        batch.records.push(Record::new(Span::EMPTY));
        for name in [a, b, c] {
            batch.set(0, name, b"4", ValueType::String);
        }
        assert_eq!(names(&batch, 0, one), [c, b, a], "another life");
    }
}
