//! Names that messages bring: they live as long as their batch and leave no trace behind it, so no peer can
//! fill the process's table. A name that a configuration knows keeps its number of that table; any other gets
//! one that means something in this batch only.

mod order;

use super::TAG_BASE;
use crate::Seed;
use crate::names::{NameId, lookup};
use crate::tags::{TagId, known_tag, rank};
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Names of one batch that no configuration knows; further ones are left out and counted.
pub const BATCH_NAMES_MAX: usize = 1 << 20;
/// Bytes of all of them.
pub const BATCH_NAMES_BYTES_MAX: usize = 64 << 20;
/// Longer names are not made.
pub const NAME_BYTES_MAX: usize = 255;
/// What an emptied table keeps of its memory.
const KEPT_BYTES_MAX: usize = 1 << 20;

static LEFT_OUT: AtomicU64 = AtomicU64::new(0);
/// Lives of batches so far.
static LIVES: AtomicU64 = AtomicU64::new(0);

/// Values and tags that were left out for want of room for their names since the start of the program.
pub fn names_left_out() -> u64 {
    LEFT_OUT.load(Ordering::Relaxed)
}

/// The names one batch has met, with the numbers they have in it.
#[derive(Debug, Default)]
pub struct BatchNames {
    text: String,
    met: Vec<Met>,
    /// Places in `met` plus one, found by hash; its length is a power of two.
    table: Vec<u32>,
    /// What the text of a prefix and a key is put together in.
    whole: Vec<u8>,
    /// The place of the name that was found last.
    last: usize,
    /// The place of the one that came behind it before. Messages of one kind bring their names in one order,
    /// so it mostly comes again.
    next: usize,
    /// What the names in order begin with, and how often that has changed.
    prefix: Vec<u8>,
    prefixes: u32,
    /// Values and tags that were left out for want of room and are not said yet.
    unsaid: u64,
    /// Tells this life of the batch from all others; 0 while it has met no name.
    life: u64,
}

#[derive(Clone, Copy, Debug)]
struct Met {
    hash: u64,
    /// The last eight bytes, the last one highest, with zeros in front of a shorter name.
    tail: u64,
    /// Those of them that belong to the key behind the prefix.
    mask: u64,
    start: u32,
    len: u32,
    id: NameId,
    /// The place of the name that came behind it last.
    follower: u32,
    /// A key stands behind the prefix that was set when `BatchNames::prefixes` was this; 0 when that is not
    /// known, and of tags.
    prefixes: u32,
    /// The length of that key.
    key_len: u32,
    /// Of a tag.
    rank: u32,
    is_tag: bool,
}

impl Met {
    /// Where its name stands in the text.
    fn range(&self) -> Range<usize> {
        self.start as usize..self.start as usize + self.len as usize
    }
}

/// One for the whole process, so that a name has the same hash in every batch.
fn seed() -> Seed {
    static SEED: OnceLock<Seed> = OnceLock::new();
    *SEED.get_or_init(Seed::random)
}

impl BatchNames {
    pub(super) fn clear(&mut self) {
        if self.text.is_empty() && self.met.is_empty() {
            return;
        }
        self.text.clear();
        self.met.clear();
        (self.last, self.next, self.life) = (0, 0, 0);
        if self.capacity() > KEPT_BYTES_MAX {
            *self = BatchNames::default();
        }
        self.table.fill(0);
    }

    /// Tells one life of a batch, in which a number means one name, from all others. 0 while no message has
    /// brought a name.
    #[inline]
    pub fn life(&self) -> u64 {
        self.life
    }

    /// Bytes it has taken from the allocator.
    pub(super) fn capacity(&self) -> usize {
        self.text.capacity()
            + self.met.capacity() * size_of::<Met>()
            + self.table.capacity() * size_of::<u32>()
    }

    /// The number of the name `prefix` + `key`, made when it is new; `None` when it is empty, too long, no
    /// UTF-8 or another word for a macro, and when there is no room, which is counted.
    #[inline]
    pub fn id(&mut self, prefix: &[u8], key: &[u8]) -> Option<NameId> {
        if let Some(id) = self.in_order(prefix, key) {
            return Some(id);
        }
        if prefix.is_empty() {
            return self.find(key);
        }
        let mut whole = std::mem::take(&mut self.whole);
        whole.clear();
        whole.extend_from_slice(prefix);
        whole.extend_from_slice(key);
        let id = self.find(&whole);
        self.whole = whole;
        id
    }

    fn find(&mut self, name: &[u8]) -> Option<NameId> {
        let hash = seed().hash(name);
        let known = self.met(name, hash);
        let Some(place) = known else { return self.learn(name, hash) };
        self.follow(place);
        self.met.get(place).map(|met| met.id)
    }

    /// The number of a name, if the batch has met it or a configuration knows it.
    pub fn known(&self, name: &str) -> Option<NameId> {
        let place = self.met(name.as_bytes(), seed().hash(name.as_bytes()));
        place.and_then(|place| self.met.get(place)).map(|met| met.id).or_else(|| lookup(name))
    }

    /// The place of a name that was met before.
    #[inline]
    fn met(&self, name: &[u8], hash: u64) -> Option<usize> {
        let mask = self.table.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while let Some(place) = self.table.get(at).and_then(|place| place.checked_sub(1)) {
            if let Some(met) = self.met.get(place as usize)
                && met.hash == hash
                && self.text_of(met) == name
            {
                return Some(place as usize);
            }
            at = (at + 1) & mask;
        }
        None
    }

    fn text_of(&self, met: &Met) -> &[u8] {
        self.text.as_bytes().get(met.range()).unwrap_or_default()
    }

    #[cold]
    fn learn(&mut self, name: &[u8], hash: u64) -> Option<NameId> {
        if name.len() > NAME_BYTES_MAX || name.is_empty() {
            return None;
        }
        let text = std::str::from_utf8(name).ok()?;
        let known = match text {
            // Other spellings of MESSAGE and HOST are macros: a value of such a name could not be read.
            "MSG" | "MSGONLY" | "FULLHOST" => return None,
            text => lookup(text),
        };
        let place = self.met.len();
        let id = self.keep(text, hash, known);
        self.follow(place);
        id
    }

    /// The number of a tag made from a message, made when it is new; `None` when it is empty or no UTF-8, and
    /// when it is too long or there is no room, which is counted.
    pub(super) fn tag(&mut self, name: &[u8]) -> Option<TagId> {
        // A value may have the same name: it is told apart by its hash.
        let hash = !seed().hash(name);
        let known = self.met(name, hash).and_then(|place| self.met.get(place)).map(|met| met.id);
        let id = known.or_else(|| self.learn_tag(name, hash))?;
        Some(id.local_index().map_or(TagId(id.0.wrapping_sub(TAG_BASE)), TagId::local))
    }

    #[cold]
    fn learn_tag(&mut self, name: &[u8], hash: u64) -> Option<NameId> {
        let text = std::str::from_utf8(name).ok().filter(|name| !name.is_empty())?;
        let known = known_tag(text).map(|tag| NameId(TAG_BASE + tag.0));
        if known.is_none() && name.len() > NAME_BYTES_MAX {
            self.leave_out();
            return None;
        }
        let place = self.met.len();
        let id = self.keep(text, hash, known)?;
        if let Some(met) = self.met.get_mut(place) {
            met.is_tag = true;
            if known.is_none() {
                met.rank = rank(hash);
            }
        }
        Some(id)
    }

    /// Where a tag that was made here stands among its like.
    pub(super) fn tag_rank(&self, tag: TagId) -> u32 {
        tag.local_index().and_then(|index| self.met.get(index)).map_or(u32::MAX, |met| met.rank)
    }

    /// Notes a name. One that configurations know has a number in any case.
    fn keep(&mut self, text: &str, hash: u64, known: Option<NameId>) -> Option<NameId> {
        let name = text.as_bytes();
        let full = self.met.len() >= BATCH_NAMES_MAX || self.text.len() + name.len() > BATCH_NAMES_BYTES_MAX;
        if full {
            if known.is_none() {
                self.leave_out();
            }
            return known;
        }
        if self.life == 0 {
            self.life = 1 + LIVES.fetch_add(1, Ordering::Relaxed);
        }
        let id = known.unwrap_or_else(|| NameId::local(self.met.len(), text));
        let (start, len) = (self.text.len() as u32, name.len() as u32);
        let tail = name.iter().fold(0, |tail, byte| tail >> 8 | u64::from(*byte) << 56);
        // Until another one comes, the name that is made next is expected next.
        let follower = self.met.len() as u32 + 1;
        let met = Met {
            hash,
            tail,
            mask: 0,
            start,
            len,
            id,
            follower,
            prefixes: 0,
            key_len: 0,
            rank: u32::MAX,
            is_tag: false,
        };
        self.text.push_str(text);
        self.met.push(met);
        if self.met.len() * 2 > self.table.len() {
            self.grow();
        } else {
            self.put(hash, self.met.len() as u32);
        }
        Some(id)
    }

    fn leave_out(&mut self) {
        self.unsaid += 1;
        LEFT_OUT.fetch_add(1, Ordering::Relaxed);
    }

    fn grow(&mut self) {
        let size = (self.met.len() * 4).next_power_of_two().max(64);
        self.table.clear();
        self.table.resize(size, 0);
        for place in 0..self.met.len() {
            if let Some(hash) = self.met.get(place).map(|met| met.hash) {
                self.put(hash, place as u32 + 1);
            }
        }
    }

    fn put(&mut self, hash: u64, place: u32) {
        let mask = self.table.len().wrapping_sub(1);
        let mut at = hash as usize & mask;
        while self.table.get(at).is_some_and(|p| *p > 0) {
            at = (at + 1) & mask;
        }
        if let Some(free) = self.table.get_mut(at) {
            *free = place;
        }
    }

    /// The name of a number that was made here.
    pub(super) fn name(&self, id: NameId) -> &str {
        self.name_at(id.local_index())
    }

    /// The name of a tag that was made here.
    pub(super) fn tag_name(&self, tag: TagId) -> &str {
        self.name_at(tag.local_index())
    }

    fn name_at(&self, index: Option<usize>) -> &str {
        let met = index.and_then(|index| self.met.get(index));
        met.and_then(|met| self.text.get(met.range())).unwrap_or_default()
    }

    #[inline(always)]
    pub(super) fn hash(&self, id: NameId) -> Option<u64> {
        self.met.get(id.local_index()?).map(|met| met.hash)
    }

    /// How many values and tags were left out for want of room since the last call.
    pub fn take_unsaid(&mut self) -> u64 {
        std::mem::take(&mut self.unsaid)
    }
}

/// What stands for a name in every batch and for ever, as far as the process goes: for tables that outlive
/// batches. Never 0.
pub fn name_key(name: &str) -> u64 {
    match lookup(name) {
        Some(id) => known_key(id),
        None => invented_key(seed().hash(name.as_bytes())),
    }
}

#[inline]
pub(super) fn known_key(id: NameId) -> u64 {
    u64::from(id.0) + 1
}

/// Above all keys of names that are known.
#[inline]
pub(super) fn invented_key(hash: u64) -> u64 {
    hash >> 2 | 1 << 62
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Batch, intern, name_of};

    #[test]
    fn a_name_has_one_number_in_a_batch_and_none_after_it() {
        let known = intern("batch-names.known").expect("room");
        let mut batch = Batch::default();
        let first = batch.names.id(b"batch-names.", b"new-0").expect("room");
        let key = batch.name_key(first);
        for n in 0..10_000 {
            batch.names.id(b"batch-names.", format!("new-{n}").as_bytes());
        }
        assert_eq!(batch.names.id(b"", b"batch-names.new-0"), Some(first));
        assert_eq!(batch.names.id(b"batch-", b"names.known"), Some(known));
        assert_eq!((batch.name_of(first), batch.name_of(known)), ("batch-names.new-0", "batch-names.known"));
        assert_eq!((name_of(first), lookup("batch-names.new-0")), ("", None));
        let last = batch.names.id(b"", b"batch-names.new-9999").expect("room");
        assert_eq!(batch.name_of(last), "batch-names.new-9999");
        batch.reset();
        assert_eq!(batch.name_of(first), "");
        batch.names.id(b"", b"batch-names.other");
        let again = batch.names.id(b"", b"batch-names.new-0").expect("room");
        assert_eq!((batch.name_key(again), name_key("batch-names.new-0")), (key, key));
        assert_ne!(batch.name_key(known), key);
    }

    /// Whatever comes after what: a name has the number it has.
    #[test]
    fn the_order_of_names_decides_nothing() {
        let mut batch = Batch::default();
        let all = ["order.a", "order.ab", "order.b", "order.", "order.abc"];
        let first = all.map(|name| batch.names.id(b"", name.as_bytes()).expect("room"));
        let mut seed = 7usize;
        for _ in 0..1000 {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let (at, split) = ((seed >> 33) % all.len(), (seed >> 45) % 8);
            let (prefix, key) = all[at].split_at(split.min(all[at].len()));
            assert_eq!(batch.names.id(prefix.as_bytes(), key.as_bytes()), Some(first[at]), "{prefix}|{key}");
        }
        let again = all.map(|name| batch.names.id(b"order.", &name.as_bytes()[6..]).expect("room"));
        // Tags stand among the names and may be called the same.
        let tags = ["order.tag", "order.d"].map(|name| batch.tag(name.as_bytes()).expect("room"));
        batch.names.id(b"", b"order.abc");
        let named = ["order.tag", "order.d"].map(|name| batch.names.id(b"", name.as_bytes()).expect("room"));
        assert_eq!(named.map(|id| batch.name_of(id).to_owned()), ["order.tag", "order.d"]);
        assert!(named.iter().all(|id| batch.name_key(*id) == name_key(batch.name_of(*id))));
        assert_eq!(tags.map(|tag| batch.tag_name(tag).to_owned()), ["order.tag", "order.d"]);
        assert_eq!((again, batch.names.known("order.b")), (first, Some(first[2])));
    }

    #[test]
    fn tags_of_messages_live_as_long_as_their_batch() {
        let known = crate::tag_id("batch-names.tag").expect("room");
        let mut batch = Batch::default();
        batch.records.extend([crate::Record::new(crate::Span::EMPTY); 2]);
        let value = batch.names.id(b"", b"web").expect("room");
        let (web, long) = (batch.tag(b"web").expect("room"), [b'x'; NAME_BYTES_MAX + 1]);
        assert_eq!((batch.tag_name(web), batch.name_of(value)), ("web", "web"));
        assert_eq!(batch.names.id(b"", b"web"), Some(value));
        assert_eq!((batch.tag(b"batch-names.tag"), batch.tag(b"web")), (Some(known), Some(web)));
        assert_eq!([batch.tag(b""), batch.tag(b"\xff"), batch.tag(&long)], [None; 3]);
        assert_eq!(batch.names.take_unsaid(), 1, "the long one");
        let msg = batch.tag(b"MSG").expect("a tag may have any name");
        for tag in [msg, known, web] {
            batch.set_tag(0, tag);
        }
        let names = |batch: &Batch, index: usize| -> Vec<String> {
            let tags = batch.tags(&batch.records[index]);
            tags.into_iter().map(|tag| batch.tag_name(tag).to_owned()).collect()
        };
        assert_eq!(
            names(&batch, 0),
            ["batch-names.tag", "web", "MSG"],
            "known ones first, then as they came first"
        );
        batch.clear_tag(0, msg);
        let mut other = Batch::default();
        other.tag(b"another");
        let copy = other.adopt(&batch, &batch.records[0], |_| true).expect("room");
        assert_eq!(names(&other, copy), ["batch-names.tag", "web"]);
        let learned = crate::tag_id("web").expect("room");
        let copy = other.adopt(&batch, &batch.records[0], |_| true).expect("room");
        assert_eq!(names(&other, copy), ["batch-names.tag", "web"]);
        let mut third = Batch::default();
        let copy = third.adopt(&batch, &batch.records[0], |_| true).expect("room");
        assert!(third.has_tag(&third.records[copy], learned), "a configuration knows it now");
        batch.reset();
        assert_eq!(batch.tag_name(web), "");
    }

    #[test]
    fn names_that_are_none() {
        let mut batch = Batch::default();
        let long = [b'x'; NAME_BYTES_MAX + 1];
        for name in [&b""[..], b"MSG", b"FULLHOST", b"\xff", &long] {
            assert_eq!(batch.names.id(b"", name), None);
        }
        assert_eq!(batch.names.id(b"", b"HOST"), Some(NameId::HOST));
        let sdata = batch.names.id(b".SDATA.", b"a.b").expect("room");
        assert!(sdata.is_sdata() && sdata.is_local());
        assert_eq!(batch.name_of(sdata), ".SDATA.a.b");
    }

    #[test]
    fn what_has_no_room_is_left_out_and_counted() {
        let mut batch = Batch::default();
        let before = names_left_out();
        for n in 0..BATCH_NAMES_MAX + 3 {
            batch.names.id(b"left.", n.to_string().as_bytes());
        }
        assert!(names_left_out() - before >= 3);
        assert_eq!((batch.names.take_unsaid(), batch.names.take_unsaid()), (3, 0));
        let known = intern("left.known").expect("room");
        assert_eq!(batch.names.id(b"left.", b"known"), Some(known));
        batch.reset();
        assert!(batch.names.capacity() < KEPT_BYTES_MAX);
    }
}
