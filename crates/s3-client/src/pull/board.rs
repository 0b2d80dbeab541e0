//! The board of a source: which objects there are to read, which are being read, which are to be deleted.

use super::hold::{End, Hold, Object};
use super::listing::{Id, Listed};
use super::messages::Messages;
use super::roll::{Opened, Roll, Rule};
use parking_lot::Mutex;
use state::{Live, Store};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::Notify;

/// No more is listed while so many objects wait for a reader.
const PENDING_MAX: usize = 1000;
/// Objects that could not be read and are tried again later; with more, nothing else is read.
const ASIDE_MAX: usize = 1000;
/// Finished objects that wait for being deleted; others are found again by the next look.
const WASTE_MAX: usize = 10_000;

/// Lives as long as anybody reads, or a batch is under way; a source that comes meanwhile goes on with it.
pub struct Board {
    store: Arc<Store>,
    /// In the state file: that of the source.
    name: Vec<u8>,
    inner: Mutex<Inner>,
    /// There is an object to read, or nothing more is to be read.
    pub work: Notify,
    /// There is room for more, or the end has come.
    pub room: Notify,
    /// There is something to delete.
    pub waste: Notify,
    /// Something is to be said to the queue.
    pub said: Notify,
}

struct Inner {
    /// Counts the sources that have had it: only the last one counts.
    turns: u64,
    /// Somebody has it now.
    is_served: bool,
    rule: Rule,
    roll: Roll,
    /// The state file says something of this bucket.
    is_known: bool,
    /// The look that is under way is the first one, and what it finds is not to be read.
    passes_over: bool,
    open: BTreeMap<Id, Arc<Object>>,
    pending: VecDeque<Arc<Object>>,
    aside: Vec<(Instant, Arc<Object>)>,
    waste: VecDeque<(Id, Listed)>,
    /// Those, and what is being deleted.
    wasted: HashSet<Id>,
    messages: Messages,
}

static LIVE: Live<Board> = Live::new();

impl Board {
    /// The board under this name, for a source that begins now: whoever read before does not any more.
    /// Returns the number of its turn.
    pub fn open(store: &Arc<Store>, name: &str, rule: Rule) -> (Arc<Board>, u64) {
        let name = name.as_bytes().to_vec();
        let board = LIVE.open(store, &name, || {
            let (roll, opened, is_known) = Roll::load(store, &name);
            let open = opened.into_iter().map(|Opened { id, found, offset }| {
                (id, Arc::new(Object::new((id, found), store, roll.name_of(&id), offset)))
            });
            let open = open.collect();
            let (pending, aside, waste, wasted) = Default::default();
            let inner = Inner {
                turns: 0,
                is_served: false,
                rule,
                roll,
                is_known,
                passes_over: false,
                open,
                pending,
                aside,
                waste,
                wasted,
                messages: Messages::default(),
            };
            let (work, room, waste, said) = Default::default();
            Arc::new(Board {
                store: Arc::clone(store),
                name: name.clone(),
                inner: Mutex::new(inner),
                work,
                room,
                waste,
                said,
            })
        });
        let mut inner = board.inner.lock();
        inner.turns += 1;
        inner.is_served = true;
        inner.rule = rule;
        inner.roll.set_rule(rule);
        inner.aside.clear();
        (inner.waste, inner.wasted) = Default::default();
        let mut pending: Vec<_> = inner.open.values().filter(|object| object.is_unread()).cloned().collect();
        pending.sort_by(|a, b| a.found.key.cmp(&b.found.key));
        inner.pending = pending.into();
        let turn = inner.turns;
        drop(inner);
        board.call_all();
        (board, turn)
    }

    fn call_all(&self) {
        self.work.notify_waiters();
        self.work.notify_one();
        self.room.notify_one();
        self.waste.notify_waiters();
        self.waste.notify_one();
        self.said.notify_one();
    }

    /// This source reads no more.
    pub fn leave(&self, turn: u64) {
        let mut inner = self.inner.lock();
        if inner.turns == turn {
            inner.turns += 1;
            inner.is_served = false;
        }
        drop(inner);
        self.call_all();
    }

    pub fn is_turn(&self, turn: u64) -> bool {
        self.inner.lock().turns == turn
    }

    /// Whether a source reads now.
    pub fn is_served(&self) -> bool {
        self.inner.lock().is_served
    }

    /// Whether nothing is under way that the queue is to hear of.
    pub fn is_quiet(&self) -> bool {
        let inner = self.inner.lock();
        !inner.messages.has_done() && !inner.open.values().any(|object| object.is_under_way())
    }

    /// Whether the queue has heard of everything, or somebody else looks after that.
    pub fn is_told(&self) -> bool {
        let inner = self.inner.lock();
        inner.is_served || inner.messages.len() == 0
    }

    /// The next object to read.
    pub fn take(self: &Arc<Board>, turn: u64, now: Instant) -> Option<Arc<Hold>> {
        let mut inner = self.inner.lock();
        if inner.turns != turn {
            return None;
        }
        while let Some(at) = inner.aside.iter().position(|(until, _)| *until <= now) {
            let (_, object) = inner.aside.swap_remove(at);
            inner.pending.push_back(object);
        }
        let object = inner.pending.pop_front()?;
        let (is_more, has_room) = (!inner.pending.is_empty(), inner.pending.len() < PENDING_MAX);
        drop(inner);
        if is_more {
            self.work.notify_one();
        }
        if has_room {
            self.room.notify_one();
        }
        Some(Hold::new(self, object))
    }

    /// It cannot be read now.
    pub fn put_aside(&self, hold: &Hold, until: Instant) {
        let mut inner = self.inner.lock();
        if hold.is_current() && inner.open.contains_key(&hold.object.id) {
            inner.aside.push((until, Arc::clone(&hold.object)));
        }
    }

    /// Its reader has gone.
    pub fn give_back(&self, hold: &Hold) {
        if hold.is_current() {
            self.read_again(&hold.object);
        }
    }

    pub fn read_again(&self, object: &Arc<Object>) {
        let mut inner = self.inner.lock();
        let is_there = inner.pending.iter().any(|other| other.id == object.id);
        if !is_there && inner.open.contains_key(&object.id) {
            inner.pending.push_front(Arc::clone(object));
        }
        drop(inner);
        self.work.notify_one();
    }

    /// All of it was read, and all that was read is dealt with.
    pub fn finished(&self, object: &Arc<Object>, end: End) {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        if inner.open.remove(&object.id).is_none() {
            return;
        }
        match end {
            End::Gone => inner.roll.forget_open(&object.id),
            End::Whole | End::Damaged => {
                inner.roll.finish(&object.id, &object.found, end == End::Damaged);
                if inner.roll.goes(&object.id) {
                    inner.throw_away(object.id, object.found.clone());
                }
            }
        }
        inner.messages.finished(&object.id);
        self.waste.notify_one();
        self.room.notify_one();
        self.said.notify_one();
    }

    /// Where the next listing begins: behind this name.
    pub fn cursor(&self) -> Option<String> {
        self.inner.lock().roll.cursor()
    }

    /// A look at the bucket begins, at this time of the server.
    pub fn begin_look(&self, now: u64, after: &str, reads_old: bool) {
        let mut inner = self.inner.lock();
        if !std::mem::replace(&mut inner.is_known, true) {
            inner.roll.begin(if reads_old { 0 } else { now });
            inner.passes_over = !reads_old;
        }
        inner.roll.begin_look(now, after);
    }

    /// The look has come by these, which are wanted, and by `last`. Returns how many are new.
    pub fn put(&self, turn: u64, all: Vec<Listed>, last: Option<&str>) -> usize {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        if inner.turns != turn {
            return 0;
        }
        let mut fresh = Vec::new();
        for found in all {
            let id = found.id();
            if inner.roll.goes(&id) {
                inner.throw_away(id, found);
            } else if inner.open.contains_key(&id) || inner.roll.is_done(&id, &found) {
            } else if inner.passes_over {
                inner.roll.finish(&id, &found, true);
            } else if inner.roll.has_room(&found) {
                fresh.push(found);
            }
        }
        inner.roll.open(fresh.iter(), last);
        let count = self.open_all(inner, fresh);
        if !inner.waste.is_empty() {
            self.waste.notify_one();
        }
        count
    }

    /// These are to be read.
    fn open_all(&self, inner: &mut Inner, fresh: Vec<Listed>) -> usize {
        let count = fresh.len();
        for found in fresh {
            let id = found.id();
            let name = inner.roll.name_of(&id);
            let object = Arc::new(Object::new((id, found), &self.store, name, 0));
            inner.open.insert(id, Arc::clone(&object));
            inner.pending.push_back(object);
        }
        if count > 0 {
            self.work.notify_one();
        }
        count
    }

    /// A message of the queue tells of these, which are wanted. It is answered when all of them are finished,
    /// and the queue gives it to nobody else until then.
    pub fn put_message(&self, receipt: String, all: Vec<Listed>, until: Instant) {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        let (mut fresh, mut waits, mut fresh_ids) = (Vec::new(), Vec::new(), HashSet::new());
        for found in all {
            let id = found.id();
            if inner.open.contains_key(&id) || fresh_ids.contains(&id) {
                waits.push(id);
            } else if !inner.roll.is_done(&id, &found) {
                waits.push(id);
                fresh_ids.insert(id);
                fresh.push(found);
            }
        }
        inner.roll.open(fresh.iter(), None);
        self.open_all(inner, fresh);
        inner.messages.add(receipt, waits, until);
        self.said.notify_one();
    }

    /// For what is known of the messages of the queue.
    pub fn messages<T>(&self, look: impl FnOnce(&mut Messages) -> T) -> T {
        look(&mut self.inner.lock().messages)
    }

    /// What was finished long ago is not remembered any more.
    pub fn age(&self, now: u64) {
        let mut inner = self.inner.lock();
        inner.is_known = true;
        inner.roll.age(now);
    }

    pub fn end_look(&self) {
        let mut inner = self.inner.lock();
        inner.passes_over = false;
        inner.roll.end_look();
    }

    /// Whether more is to be listed.
    pub fn has_room(&self) -> bool {
        let inner = self.inner.lock();
        inner.pending.len() < PENDING_MAX && inner.aside.len() < ASIDE_MAX && inner.waste.len() < WASTE_MAX
    }

    /// The next object to delete.
    pub fn take_waste(&self, turn: u64) -> Option<(Id, Listed)> {
        let mut inner = self.inner.lock();
        let next = if inner.turns == turn { inner.waste.pop_front() } else { None };
        if !inner.waste.is_empty() {
            self.waste.notify_one();
        }
        next
    }

    /// It is deleted, or another one has taken its place.
    pub fn is_gone(&self, id: &Id) {
        let mut inner = self.inner.lock();
        inner.wasted.remove(id);
        inner.roll.forget(id);
        drop(inner);
        self.room.notify_one();
    }

    /// It could not be deleted: the next look finds it again.
    pub fn is_still_there(&self, id: &Id) {
        self.inner.lock().wasted.remove(id);
    }
}

impl Inner {
    fn throw_away(&mut self, id: Id, found: Listed) {
        if self.waste.len() < WASTE_MAX && self.wasted.insert(id) {
            self.waste.push_back((id, found));
        }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        LIVE.close(&self.store, std::mem::take(&mut self.name));
    }
}

#[cfg(test)]
mod tests;
