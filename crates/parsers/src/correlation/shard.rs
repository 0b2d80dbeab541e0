//! A part of the contexts, behind one lock: found by key, closed by deadline.

use super::pass::{Entry, Moment, Pass};
use record::{Batch, NameId, Seed};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::Arc;

/// Contexts of one parser; beyond, the one whose time is over first is closed early.
pub(super) const CONTEXTS_MAX: usize = 100_000;
/// Bytes of all messages that one parser keeps; beyond, the same.
pub(super) const CONTEXTS_BYTES_MAX: usize = 256 << 20;
/// Messages in a context; with the last it is closed.
const CONTEXT_MESSAGES_MAX: usize = 10_000;
/// Bytes in a context; the same.
const CONTEXT_BYTES_MAX: usize = 8 << 20;
/// Buffers kept for new contexts, and the largest worth keeping.
const SPARE_MAX: usize = 64;
const SPARE_BYTES_MAX: usize = 64 << 10;
/// Tables for so many contexts are kept.
const TABLE_MIN: usize = 1024;

/// What the allocator adds to the pieces of memory of a context.
const PIECE_BYTES: usize = 128;

/// Names a context as long as the shard is locked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextId(u32);

/// Messages that belong together.
pub struct Context<T> {
    key: Box<[u8]>,
    scope_len: u32,
    /// Copies of the messages, in the order in which they came.
    pub messages: Arc<Batch>,
    /// What the parser keeps with them.
    pub payload: T,
    deadline: i64,
    serial: u64,
    /// The deadline under which the timers know it.
    queued: i64,
    /// Tells it from earlier ones in its place.
    number: u64,
    bytes: usize,
}

impl<T> Context<T> {
    /// The key without its scope, as `$CONTEXT_ID` prints it.
    pub fn id(&self) -> &[u8] {
        self.key.get(self.scope_len as usize..).unwrap_or_default()
    }

    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// The key, the key without its scope, and the messages, which may be changed meanwhile.
    pub fn parts(&mut self) -> (&[u8], &[u8], &mut Arc<Batch>) {
        let id = self.key.get(self.scope_len as usize..).unwrap_or_default();
        (&self.key, id, &mut self.messages)
    }

    /// It is to be closed once the correlation time is past this.
    pub fn deadline(&self) -> i64 {
        self.deadline
    }

    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// Bytes it has taken from the allocator, its places in the tables of the shard with them.
    fn taken(&self) -> usize {
        let tables = size_of::<Option<Context<T>>>() + size_of::<Timer>() + size_of::<(Box<[u8]>, u32)>();
        // Tables have room to grow, and each piece of memory has a head.
        self.messages.capacity() + 2 * self.key.len() + 2 * tables + PIECE_BYTES
    }

    /// It holds as much as one may.
    pub fn is_full(&self) -> bool {
        self.messages.records.len() >= CONTEXT_MESSAGES_MAX || self.bytes >= CONTEXT_BYTES_MAX
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer {
    deadline: i64,
    serial: u64,
    place: u32,
    number: u64,
}

pub struct Shard<T> {
    table: HashMap<Box<[u8]>, u32, Seed>,
    places: Vec<Option<Context<T>>>,
    free: Vec<u32>,
    /// Entries may be late (the deadline was put off since) or dead (the context is gone).
    timers: BinaryHeap<Reverse<Timer>>,
    spare: Vec<Arc<Batch>>,
    numbers: u64,
    bytes: usize,
    contexts_max: usize,
    bytes_max: usize,
}

impl<T> Shard<T> {
    pub(super) fn new(seed: Seed, contexts_max: usize, bytes_max: usize) -> Shard<T> {
        Shard {
            table: HashMap::with_hasher(seed),
            places: Vec::new(),
            free: Vec::new(),
            timers: BinaryHeap::new(),
            spare: Vec::new(),
            numbers: 0,
            bytes: 0,
            contexts_max,
            bytes_max,
        }
    }

    pub fn len(&self) -> usize {
        self.table.len()
    }

    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    pub fn find(&self, key: &[u8]) -> Option<ContextId> {
        self.table.get(key).copied().map(ContextId)
    }

    /// The context of a message, made when there is none.
    pub fn enter(&mut self, pass: &Pass, entry: &Entry, make: impl FnOnce() -> T) -> ContextId {
        match self.find(pass.key(entry)) {
            Some(id) => id,
            None => self.insert(pass.key(entry), Pass::scope_len(entry), make()),
        }
    }

    /// A new context, without a deadline. `scope_len` bytes of the key are its scope.
    pub fn insert(&mut self, key: &[u8], scope_len: u32, payload: T) -> ContextId {
        if let Some(old) = self.find(key) {
            self.remove(old);
        }
        self.numbers += 1;
        let mut context = Context {
            key: key.into(),
            scope_len,
            messages: self.spare.pop().unwrap_or_default(),
            payload,
            deadline: i64::MAX,
            serial: 0,
            queued: i64::MAX,
            number: self.numbers,
            bytes: 0,
        };
        let bytes = context.taken();
        context.bytes = bytes;
        self.bytes += bytes;
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            (self.places.len() - 1) as u32
        });
        self.table.insert(key.into(), place);
        if let Some(slot) = self.places.get_mut(place as usize) {
            *slot = Some(context);
        }
        ContextId(place)
    }

    pub fn get(&self, id: ContextId) -> Option<&Context<T>> {
        self.places.get(id.0 as usize)?.as_ref()
    }

    pub fn get_mut(&mut self, id: ContextId) -> Option<&mut Context<T>> {
        self.places.get_mut(id.0 as usize)?.as_mut()
    }

    /// Adds a copy of a message, with those of its values that `keep` names; its index in the context. `None`
    /// when it has no room.
    pub fn add(
        &mut self,
        id: ContextId,
        batch: &Batch,
        index: u32,
        keep: impl FnMut(NameId) -> bool,
    ) -> Option<usize> {
        let context = self.get_mut(id)?;
        let messages = Arc::get_mut(&mut context.messages)?;
        messages.received = batch.received;
        let added = messages.adopt(batch, batch.records.get(index as usize)?, keep);
        self.measure(id);
        added
    }

    /// Takes note of how large a context has become, after its messages were changed.
    pub fn measure(&mut self, id: ContextId) {
        let Some(context) = self.get_mut(id) else { return };
        let now = context.taken();
        let before = std::mem::replace(&mut context.bytes, now);
        self.bytes = (self.bytes + now).saturating_sub(before);
    }

    /// Closes a context once correlation time is past `deadline`. Of those with one deadline the one that got
    /// it first is closed first, as syslog-ng does.
    pub fn set_deadline(&mut self, id: ContextId, deadline: i64, moment: Moment) {
        let Some(context) = self.get_mut(id) else { return };
        if context.deadline == deadline {
            return;
        }
        (context.deadline, context.serial) = (deadline, moment.serial);
        if deadline < context.queued {
            context.queued = deadline;
            let timer = Timer { deadline, serial: moment.serial, place: id.0, number: context.number };
            self.timers.push(Reverse(timer));
        }
    }

    /// Takes a context out. Give it back with [`Shard::recycle`].
    pub fn remove(&mut self, id: ContextId) -> Option<Context<T>> {
        let context = self.places.get_mut(id.0 as usize)?.take()?;
        self.table.remove(&context.key);
        self.free.push(id.0);
        self.bytes = self.bytes.saturating_sub(context.bytes);
        self.give_back();
        Some(context)
    }

    /// The last context is gone: the tables are given back where they have become large.
    fn give_back(&mut self) {
        if self.table.is_empty() && self.places.capacity() > TABLE_MIN {
            self.table.shrink_to_fit();
            (self.places, self.free, self.timers) = (Vec::new(), Vec::new(), BinaryHeap::new());
        }
    }

    /// Keeps the buffers of a context that is gone.
    pub fn recycle(&mut self, context: Context<T>) {
        let mut messages = context.messages;
        if self.spare.len() < SPARE_MAX
            && let Some(batch) = Arc::get_mut(&mut messages)
            && batch.capacity() <= SPARE_BYTES_MAX
        {
            batch.reset();
            self.spare.push(messages);
        }
    }

    /// Takes out a context whose time is over.
    pub(super) fn due(&mut self, now: i64) -> Option<Context<T>> {
        while self.timers.peek()?.0.deadline < now {
            if let Some(context) = self.pop() {
                return Some(context);
            }
        }
        None
    }

    /// Takes out the context of this key if its time is over.
    pub(super) fn overdue(&mut self, key: &[u8], now: i64) -> Option<Context<T>> {
        let id = self.find(key)?;
        (self.get(id)?.deadline < now).then(|| self.remove(id))?
    }

    /// Takes out the next context to close while there are more than there may be.
    pub(super) fn crowded(&mut self) -> Option<Context<T>> {
        while self.table.len() > self.contexts_max || self.bytes > self.bytes_max {
            if self.timers.is_empty() {
                // One without a deadline: any.
                let id = self.table.values().next().copied().map(ContextId)?;
                return self.remove(id);
            }
            if let Some(context) = self.pop() {
                return Some(context);
            }
        }
        None
    }

    /// Takes out any context, in the order of their deadlines.
    pub(super) fn any(&mut self) -> Option<Context<T>> {
        while !self.timers.is_empty() {
            if let Some(context) = self.pop() {
                return Some(context);
            }
        }
        let id = self.table.values().next().copied().map(ContextId)?;
        self.remove(id)
    }

    /// The next timer: its context, unless that is gone or its deadline was put off.
    fn pop(&mut self) -> Option<Context<T>> {
        let Reverse(timer) = self.timers.pop()?;
        let id = ContextId(timer.place);
        let context = self.get_mut(id).filter(|c| c.number == timer.number)?;
        if context.queued != timer.deadline {
            return None;
        }
        if context.deadline > timer.deadline {
            context.queued = context.deadline;
            let again = Timer { deadline: context.deadline, serial: context.serial, ..timer };
            self.timers.push(Reverse(again));
            return None;
        }
        self.remove(id)
    }

    /// The soonest time at which anything may be due.
    pub(super) fn next_deadline(&self) -> i64 {
        self.timers.peek().map_or(i64::MAX, |t| t.0.deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::{Record, Span};

    #[test]
    fn the_bound_is_on_what_was_taken_and_all_is_given_back() {
        const MAX: usize = 4 << 20;
        let mut shard: Shard<()> = Shard::new(Seed::random(), 100_000, MAX);
        let mut batch = Batch::default();
        let mut record = Record::new(Span::EMPTY);
        record.message = batch.append(&[b'x'; 12_000]);
        batch.records.push(record);
        for n in 0..4000u32 {
            let id = shard.insert(&n.to_le_bytes(), 0, ());
            // Small messages make many, the others large ones.
            for _ in 0..if n % 2 == 0 { 1 } else { 5 } {
                shard.add(id, &batch, 0, |_| true);
            }
            while shard.crowded().is_some() {}
            let held: usize = shard.places.iter().flatten().map(|context| context.messages.capacity()).sum();
            assert!(held <= MAX, "{held} bytes are held");
        }
        while let Some(context) = shard.any() {
            shard.recycle(context);
        }
        let spare: usize = shard.spare.iter().map(|batch| batch.capacity()).sum();
        assert!(spare <= SPARE_MAX * SPARE_BYTES_MAX, "{spare} bytes are kept");
        assert_eq!((shard.bytes, shard.len()), (0, 0));
        for n in 0..100_000u32 {
            shard.insert(&n.to_le_bytes(), 0, ());
            while shard.crowded().is_some() {}
        }
        while shard.any().is_some() {}
        assert!(shard.places.capacity() <= TABLE_MIN && shard.table.capacity() <= TABLE_MIN);
    }
}
