//! The tags of a message: the first 64 are bits of its record, others stand in a list of their own.

use super::{Batch, Record};
use crate::Span;
use crate::names::NameId;
use crate::tags::TagId;
use crate::value::ValueType;

/// Tags beyond the first 64 share the entries with values, under names no value has.
pub(super) const TAG_BASE: u32 = 1 << 24;
/// So many of them are put in order without a list.
const FEW: usize = 16;

impl Batch {
    pub fn set_tag(&mut self, index: usize, tag: TagId) {
        self.assign_tag(index, tag, true);
    }

    pub fn clear_tag(&mut self, index: usize, tag: TagId) {
        self.assign_tag(index, tag, false);
    }

    fn assign_tag(&mut self, index: usize, tag: TagId, on: bool) {
        let Some(record) = self.records.get_mut(index) else { return };
        if tag.0 < u64::BITS {
            let bit = 1 << tag.0;
            record.tags.0 = if on { record.tags.0 | bit } else { record.tags.0 & !bit };
            return;
        }
        self.prepend_tag(index, NameId(TAG_BASE + tag.0), Span::EMPTY, on.then_some(ValueType::Null));
    }

    pub fn has_tag(&self, record: &Record, tag: TagId) -> bool {
        if tag.0 < u64::BITS {
            return record.tags.0 & (1 << tag.0) != 0;
        }
        let name = NameId(TAG_BASE + tag.0);
        self.more_tags(record).find(|(n, _)| *n == name).is_some_and(|(_, on)| on)
    }

    /// The number of a tag made from a message; `None` when there is none for it: see [`super::BatchNames`].
    pub fn tag(&mut self, name: &[u8]) -> Option<TagId> {
        self.names.tag(name)
    }

    /// The name of a tag that its messages have.
    pub fn tag_name(&self, tag: TagId) -> &str {
        if tag.is_local() { self.names.tag_name(tag) } else { crate::tags::tag_name(tag) }
    }

    /// All tags of a record: those that configurations know in the order of their numbers, then those made
    /// from messages in the order in which they came first.
    pub fn tags(&self, record: &Record) -> Vec<TagId> {
        let mut tags: Vec<TagId> =
            (0..u64::BITS).filter(|b| record.tags.0 & (1 << b) != 0).map(TagId).collect();
        let (mut decided, mut made): (Vec<NameId>, Vec<TagId>) = Default::default();
        for (name, on) in self.more_tags(record) {
            if name.0 >= TAG_BASE && !decided.contains(&name) {
                decided.push(name);
                let tag = TagId(name.0 - TAG_BASE);
                match tag.is_local() {
                    _ if !on => {}
                    true => made.push(tag),
                    false => tags.push(tag),
                }
            }
        }
        tags.sort_unstable();
        // The newest stand first in the list.
        made.reverse();
        made.sort_by_key(|tag| self.names.tag_rank(*tag));
        tags.extend(made);
        tags
    }

    /// Calls `f` with all tags of a record, in the order of [`Batch::tags`]. Allocates nothing for a few.
    pub fn each_tag(&self, record: &Record, mut f: impl FnMut(TagId)) {
        let (mut met, mut count) = ([NameId(0); FEW], 0);
        let (mut few, mut set) = ([TagId(0); FEW], 0);
        for (name, on) in self.more_tags(record) {
            let tag = match name.0.checked_sub(TAG_BASE) {
                Some(number) if !met.iter().take(count).any(|known| *known == name) => TagId(number),
                // Of an older entry, or of none of its batch.
                _ => continue,
            };
            let (Some(place), false) = (met.get_mut(count), tag.is_local()) else {
                return self.tags(record).into_iter().for_each(f);
            };
            (*place, count) = (name, count + 1);
            if let Some(place) = few.get_mut(set).filter(|_| on) {
                (*place, set) = (tag, set + 1);
            }
        }
        let mut left = record.tags.0;
        while left != 0 {
            f(TagId(left.trailing_zeros()));
            left &= left - 1;
        }
        let few = few.get_mut(..set).unwrap_or_default();
        few.sort_unstable();
        few.iter().for_each(|tag| f(*tag));
    }

    /// Calls `f` with the tags of a record beyond the first 64, in no order, perhaps more than once with one.
    #[inline]
    pub fn each_more_tag(&self, record: &Record, mut f: impl FnMut(TagId)) {
        for tag in self.set_tags(record) {
            match tag {
                Some(tag) => f(tag),
                // What is older may have been taken away.
                None => return self.tags(record).into_iter().for_each(f),
            }
        }
    }

    /// The tags of a record beyond the first 64, the newest first, perhaps some more than once; `None` where
    /// one was taken away.
    #[inline]
    pub fn set_tags<'a>(&'a self, record: &Record) -> impl Iterator<Item = Option<TagId>> + use<'a> {
        let tags = self.more_tags(record);
        tags.filter_map(|(name, on)| Some(on.then_some(TagId(name.0.checked_sub(TAG_BASE)?))))
    }

    fn more_tags<'a>(&'a self, record: &Record) -> impl Iterator<Item = (NameId, bool)> + use<'a> {
        let mut at = record.more_tags;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at.0 as usize)?;
            at = entry.next;
            Some((entry.name, entry.kind.is_some()))
        })
    }
}
