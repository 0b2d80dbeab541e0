//! Messages that move between batches: copies kept for later, and messages made on the way that join a batch
//! at work.

use super::received::RECEIVED;
use super::{Batch, Record, TAG_BASE};
use crate::Span;
use crate::context::Context;
use crate::names::NameId;
use crate::tags::TagId;
use crate::value::{Entry, Link};
use std::sync::Arc;

/// A record that joined the batch while it was at work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Joined {
    origin: u32,
    /// The message it goes in front of.
    before: u32,
}

/// How far a batch is filled.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    text: usize,
    records: usize,
    entries: usize,
}

impl Batch {
    /// Copies a message of another batch behind the last one of this; of its values those that `keep` names.
    /// The copy has the origin of its place. `None` when there is no more room: a batch's text is bounded to
    /// 4 GiB.
    pub fn adopt(
        &mut self,
        from: &Batch,
        record: &Record,
        mut keep: impl FnMut(NameId) -> bool,
    ) -> Option<usize> {
        // What is copied is never longer than the text it is in, once for each field and value.
        let fields = [record.host, record.program, record.pid, record.msgid, record.msghdr];
        let fields = fields.iter().chain([&record.message, &record.sdata, &record.frame]);
        let values = from.list(record.values).filter(|e| e.kind.is_some());
        let most: u64 = fields.map(|s| u64::from(s.len)).chain(values.map(|e| u64::from(e.span.len))).sum();
        if self.text.len() as u64 + most > super::TEXT_BYTES_MAX as u64 {
            return None;
        }
        let context = match from.contexts.get(record.context as usize) {
            Some(context) => self.place_of(context)?,
            None => u16::MAX,
        };
        let mut copy = *record;
        let mover = Mover { frame: record.frame, start: self.append(from.bytes(record.frame)).start };
        copy.frame.start = mover.start;
        for field in [
            &mut copy.host,
            &mut copy.program,
            &mut copy.pid,
            &mut copy.msgid,
            &mut copy.msghdr,
            &mut copy.message,
            &mut copy.sdata,
        ] {
            *field = mover.span(*field, from, self);
        }
        copy.stamp_text =
            mover.inside(Span { start: record.stamp_text, len: 1 }).map_or(Record::NO_TEXT, |s| s.start);
        copy.context = context;
        copy.held = Link::NONE;
        copy.values = self.adopt_list(from, record.values, &mover, &mut keep);
        // The names may have other numbers here.
        copy.name_bits = super::NameBits::ALL;
        copy.more_tags = self.adopt_list(from, record.more_tags, &mover, &mut |_| true);
        copy.tags.0 |= self.known_by_now(from, record);
        copy.origin = self.records.len() as u32;
        self.records.push(copy);
        Some(self.records.len() - 1)
    }

    /// The bits of tags that were made from a message, and that a configuration has learned since.
    fn known_by_now(&mut self, from: &Batch, record: &Record) -> u64 {
        if !record.has_more_tags() {
            return 0;
        }
        let made = from.tags(record).into_iter().filter(|tag| tag.is_local());
        let own = made.filter_map(|tag| self.names.tag(from.tag_name(tag).as_bytes()));
        own.filter(|tag| tag.0 < u64::BITS).fold(0, |bits, tag| bits | 1 << tag.0)
    }

    pub(super) fn list<'a>(&'a self, link: Link) -> impl Iterator<Item = &'a Entry> + use<'a> {
        let mut at = link;
        std::iter::from_fn(move || {
            let entry = self.entries.get(at.0 as usize)?;
            at = entry.next;
            Some(entry)
        })
    }

    /// Copies a list, each name once, in its order.
    fn adopt_list(
        &mut self,
        from: &Batch,
        link: Link,
        mover: &Mover,
        keep: &mut dyn FnMut(NameId) -> bool,
    ) -> Link {
        let first = self.entries.len();
        for entry in from.list(link) {
            if !keep(entry.name) {
                continue;
            }
            // A name of the other batch has another number here.
            let name = match (entry.name.0 < RECEIVED.0, tag_of(entry.name)) {
                (true, _) if entry.name.is_local() => self.names.id(b"", from.name_of(entry.name).as_bytes()),
                (_, Some(tag)) if tag.is_local() => {
                    let own = self.names.tag(from.tag_name(tag).as_bytes());
                    // The others are in the record's word.
                    own.filter(|tag| tag.0 >= u64::BITS).map(|tag| NameId(TAG_BASE + tag.0))
                }
                _ => Some(entry.name),
            };
            let Some(name) = name else { continue };
            if self.entries.get(first..).unwrap_or_default().iter().any(|e| e.name == name) {
                continue;
            }
            let span = if entry.kind.is_some() && entry.name.0 < TAG_BASE {
                mover.span(entry.span, from, self)
            } else {
                Span::EMPTY
            };
            let next = Link(self.entries.len() as u32 + 1);
            self.entries.push(Entry { name, span, next, ..*entry });
        }
        match self.entries.get_mut(first..).and_then(<[Entry]>::last_mut) {
            Some(last) => {
                last.next = Link::NONE;
                Link(first as u32)
            }
            None => Link::NONE,
        }
    }

    /// Index of a context in this batch.
    pub fn place_of(&mut self, context: &Arc<Context>) -> Option<u16> {
        let known = self.contexts.iter().rposition(|c| Arc::ptr_eq(c, context));
        let place = known.unwrap_or_else(|| {
            self.contexts.push(Arc::clone(context));
            self.contexts.len() - 1
        });
        // The last number stands for none.
        u16::try_from(place).ok().filter(|p| *p != u16::MAX)
    }

    /// Gives the last record the place in front of a message, `u32::MAX` for behind them all, as if it had
    /// come in there.
    pub fn join(&mut self, before: u32) -> Option<u32> {
        let origin = u32::try_from(self.records.len().checked_sub(1)?).ok()?;
        self.records.last_mut()?.origin = origin;
        self.joined.push(Joined { origin, before });
        Some(origin)
    }

    /// How many records joined it.
    pub fn joined(&self) -> usize {
        self.joined.len()
    }

    /// Origin of the `at`-th record that joined it.
    pub fn joined_origin(&self, at: usize) -> Option<u32> {
        self.joined.get(at).map(|joined| joined.origin)
    }

    /// Where a record stands among the messages: greater is later.
    #[inline]
    pub fn rank(&self, record: &Record) -> u64 {
        if self.joined.is_empty() {
            return u64::from(record.origin) << 32;
        }
        match self.joined.binary_search_by_key(&record.origin, |j| j.origin) {
            Ok(at) => self.joined.get(at).map_or(0, |j| u64::from(j.before) << 32 | at as u64),
            Err(_) => u64::from(record.origin) << 32 | u64::from(u32::MAX),
        }
    }

    /// How far it is filled, to go back to.
    pub fn mark(&self) -> Mark {
        Mark { text: self.text.len(), records: self.records.len(), entries: self.entries.len() }
    }

    /// Forgets what was added since. Records from before must not have been changed since.
    pub fn back_to(&mut self, mark: Mark) {
        self.text.truncate(mark.text);
        self.records.truncate(mark.records);
        self.entries.truncate(mark.entries);
    }

    /// Bytes it holds.
    pub fn footprint(&self) -> usize {
        self.text.len() + self.records.len() * size_of::<Record>() + self.entries.len() * size_of::<Entry>()
    }

    /// Bytes it has taken from the allocator, what is shared with other batches aside.
    pub fn capacity(&self) -> usize {
        size_of::<Batch>()
            + self.text.capacity()
            + self.records.capacity() * size_of::<Record>()
            + self.entries.capacity() * size_of::<Entry>()
            + self.joined.capacity() * size_of::<Joined>()
            + self.contexts.capacity() * size_of::<Arc<Context>>()
            + self.names.capacity()
    }
}

/// The tag that an entry with this name is about.
fn tag_of(name: NameId) -> Option<TagId> {
    name.0.checked_sub(TAG_BASE).map(TagId)
}

/// Where the frame of a copied message begins in the new batch: what lies in it is not copied again.
struct Mover {
    frame: Span,
    start: u32,
}

impl Mover {
    fn inside(&self, span: Span) -> Option<Span> {
        let offset = span.start.checked_sub(self.frame.start)?;
        (u64::from(offset) + u64::from(span.len) <= u64::from(self.frame.len))
            .then(|| Span { start: self.start + offset, len: span.len })
    }

    fn span(&self, span: Span, from: &Batch, to: &mut Batch) -> Span {
        if span.is_empty() {
            return if span == Span::NOTHING { span } else { Span::EMPTY };
        }
        self.inside(span).unwrap_or_else(|| to.append(from.bytes(span)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Stamp, ValueType, intern, tag_id};

    fn batch() -> Batch {
        let context = Arc::new(Context::local("s", "here", "local+file"));
        let mut batch = Batch::new(b"before<13>app: hello".to_vec(), context, Stamp::default());
        let mut record = Record::new(Span::new(6, 14));
        (record.program, record.message) = (Span::new(10, 3), Span::new(15, 5));
        batch.records.push(record);
        batch
    }

    #[test]
    fn a_copy_stands_on_its_own() {
        let mut from = batch();
        let (a, b, c) = (intern("adopt.a"), intern("adopt.b"), intern("adopt.c"));
        let (a, b, c) = (a.expect("room"), b.expect("room"), c.expect("room"));
        from.set(0, a, b"old", ValueType::String);
        from.set_span(0, b, Span::new(10, 3), ValueType::String);
        from.set(0, a, b"7", ValueType::Int);
        from.set(0, c, b"left", ValueType::String);
        from.set(0, NameId::HOST, b"elsewhere", ValueType::String);
        let tags: Vec<_> = (0..70).filter_map(|n| tag_id(&format!("adopt{n}"))).collect();
        let tag = tags[69];
        from.set_tag(0, tag);
        let mut to = Batch::default();
        to.append(b"something else");
        let record = from.records[0];
        for _ in 0..2 {
            let index = to.adopt(&from, &record, |name| name != c).expect("room");
            let copy = to.records[index];
            let text = |name| to.value(&copy, name).map(|v| (v.bytes.to_vec(), v.kind));
            assert_eq!(text(a), Some((b"7".to_vec(), ValueType::Int)));
            assert_eq!(text(b), Some((b"app".to_vec(), ValueType::String)));
            assert_eq!(text(c), None);
            assert_eq!(text(NameId::HOST), Some((b"elsewhere".to_vec(), ValueType::String)));
            assert_eq!(to.bytes(copy.message), b"hello");
            assert_eq!(to.bytes(copy.frame), b"<13>app: hello");
            assert_eq!(to.pairs(&copy).map(|(n, _)| n).collect::<Vec<_>>(), [a, b]);
            assert!(to.has_tag(&copy, tag));
            assert_eq!(to.context(&copy).map(|c| &*c.host_from), Some("here"));
        }
        assert_eq!(to.contexts.len(), 1);
    }

    #[test]
    fn records_that_join_stand_before_their_message() {
        let mut batch = batch();
        for origin in 1..3 {
            let record = Record { origin, ..batch.records[0] };
            batch.records.push(record);
        }
        for before in [1, u32::MAX, 1] {
            batch.records.push(batch.records[0]);
            batch.join(before);
        }
        let mut order: Vec<usize> = (0..6).collect();
        order.sort_by_key(|i| batch.rank(&batch.records[*i]));
        assert_eq!((order, batch.joined()), (vec![0, 3, 5, 1, 2, 4], 3));
    }
}
