//! What is known of a sender's stream: the batches under way, and the newest one before which everything is
//! dealt with. Outlives the connection, and through the state file the process, so that a sender that comes
//! back is told what need not be sent again.

use engine::{Acknowledge, Mark, Origin, Wake};
use parking_lot::Mutex;
use state::Live;
use state::Store;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::rltp::{Number, Reached, Start};

/// A stream that was not heard of for so long is forgotten.
const KEPT_SECONDS: u64 = 30 * 86_400;
/// Streams one source remembers; of more, those heard of last.
const STREAMS_MAX: usize = 10_000;

/// After a start, so much of what comes is taken batch by batch: of what came before, the ends of batches are
/// what is known.
const CAREFUL_BYTES: u64 = 32 << 20;

/// Lives as long as a connection of it or a batch from it.
pub struct Stream {
    store: Arc<Store>,
    /// In the state file.
    name: Vec<u8>,
    inner: Mutex<Inner>,
}

/// What is kept of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// The sender's numbering, and the newest batch of it up to which all are dealt with.
    pub run: u64,
    pub acknowledged: u64,
    /// The messages in them.
    pub messages: u64,
    /// The same of its messages, where they have numbers that outlive it.
    pub reached: Reached,
}

#[derive(Default)]
struct Inner {
    known: Known,
    /// Messages of the numbering that were taken.
    taken: u64,
    /// The stream and its numbering, as messages on disk are marked.
    origin: Arc<[u8]>,
    /// Of a stream that was known at the start: bytes that may bring what is on disk already.
    careful_bytes: u64,
    /// The number of the next mark.
    next: u64,
    /// Batches under way by their numbers, and whether they are dealt with.
    waiting: VecDeque<Waiting>,
    /// Connections so far; the last one has the stream.
    claims: u64,
    owner: Option<Owner>,
}

struct Waiting {
    number: u64,
    last: Number,
    /// Messages of the numbering up to its end.
    messages: u64,
    done: bool,
}

struct Owner {
    waker: Arc<dyn Wake>,
    /// It is in its turn, or will have one: it looks by itself.
    attended: bool,
}

static LIVE: Live<Stream> = Live::new();

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// As in the state file, docs/rltp.md.
const VERSION: u8 = 2;
const NUMBERS: usize = 6;
/// Before messages were counted.
const UNCOUNTED: u8 = 1;

/// Version, what is known, seconds since 1970.
fn encode(known: Known, seconds: u64) -> [u8; 1 + 8 * NUMBERS] {
    let mut value = [VERSION; 1 + 8 * NUMBERS];
    let Known { run, acknowledged, messages, reached: Reached { numbering, position } } = known;
    let numbers: [u64; NUMBERS] = [run, acknowledged, numbering, position, seconds, messages];
    let bytes = numbers.map(u64::to_le_bytes);
    value.iter_mut().skip(1).zip(bytes.as_flattened()).for_each(|(to, from)| *to = *from);
    value
}

fn decode(value: &[u8]) -> Option<(Known, u64)> {
    let (version, numbers) = value.split_first()?;
    let (numbers, rest) = numbers.as_chunks::<8>();
    let (numbers, messages) = match (*version, numbers) {
        (VERSION, [numbers @ .., messages]) => (numbers, u64::from_le_bytes(*messages)),
        (UNCOUNTED, numbers) => (numbers, 0),
        _ => return None,
    };
    let numbers = <&[[u8; 8]; NUMBERS - 1]>::try_from(numbers).ok()?;
    let [run, acknowledged, numbering, position, seconds] = numbers.map(u64::from_le_bytes);
    let known = Known { run, acknowledged, messages, reached: Reached { numbering, position } };
    rest.is_empty().then_some((known, seconds))
}

/// The stream and its numbering.
fn origin(name: &[u8], run: u64) -> Arc<[u8]> {
    let mut origin = name.to_vec();
    origin.extend_from_slice(&run.to_le_bytes());
    origin.into()
}

impl Stream {
    fn open(store: &Arc<Store>, name: Vec<u8>) -> Arc<Stream> {
        LIVE.open(store, &name.clone(), || {
            let found = store.get(&name).and_then(|value| decode(&value));
            let careful_bytes = if found.is_some() { CAREFUL_BYTES } else { 0 };
            let (known, _) = found.unwrap_or_default();
            let (taken, origin) = (known.messages, origin(&name, known.run));
            let inner = Mutex::new(Inner { known, taken, origin, careful_bytes, ..Inner::default() });
            Arc::new(Stream { store: Arc::clone(store), name, inner })
        })
    }

    /// Forgets streams that are old or too many.
    pub fn prune(store: &Store, prefix: &[u8]) {
        let now = now();
        let seen = |value: &[u8]| decode(value).map_or(0, |(_, seen)| seen);
        let mut known: Vec<(u64, Vec<u8>)> =
            store.with_prefix(prefix).into_iter().map(|(name, value)| (seen(&value), name)).collect();
        known.sort_unstable_by(|a, b| b.cmp(a));
        let is_old = |seen: u64| seen.saturating_add(KEPT_SECONDS) < now;
        for (_, name) in known
            .iter()
            .enumerate()
            .filter(|(at, (seen, _))| *at >= STREAMS_MAX || is_old(*seen))
            .map(|(_, known)| known)
        {
            store.remove(name);
        }
    }

    fn note(&self, inner: &Inner) {
        self.store.put(&self.name, &encode(inner.known, now()));
    }
}

impl Acknowledge for Stream {
    /// Its connection is closed, so that the sender brings the batch again, and everything behind it.
    fn undone(&self, number: u64) {
        let mut inner = self.inner.lock();
        let Ok(at) = inner.waiting.binary_search_by_key(&number, |batch| batch.number) else { return };
        inner.waiting.truncate(at);
        inner.taken = inner.waiting.back().map_or(inner.known.messages, |batch| batch.messages);
        inner.claims += 1;
        let owner = inner.owner.take();
        drop(inner);
        if let Some(owner) = owner {
            owner.waker.wake();
        }
    }

    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        if let Ok(at) = inner.waiting.binary_search_by_key(&number, |batch| batch.number)
            && let Some(batch) = inner.waiting.get_mut(at)
        {
            batch.done = true;
        }
        let mut moved = false;
        while let Some(batch) = inner.waiting.pop_front_if(|batch| batch.done) {
            inner.known.acknowledged = batch.last.sequence;
            inner.known.messages = batch.messages;
            if batch.last.position != 0 {
                inner.known.reached.position = batch.last.position;
            }
            moved = true;
        }
        if !moved {
            return;
        }
        self.note(&inner);
        let waker = inner.owner.as_mut().filter(|owner| !owner.attended).map(|owner| {
            owner.attended = true;
            Arc::clone(&owner.waker)
        });
        drop(inner);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        LIVE.close(&self.store, std::mem::take(&mut self.name));
    }
}

/// Another connection has the stream now.
#[derive(Debug, PartialEq, Eq)]
pub struct Superseded;

/// One connection's hold on its stream. The newest connection has it: what an older one still brings is not
/// taken.
pub struct Claim {
    stream: Arc<Stream>,
    number: u64,
}

impl Claim {
    /// Takes the stream over. `waker` gives the connection a turn when something happened to it. Whether
    /// another connection had it comes too.
    pub fn new(store: &Arc<Store>, name: Vec<u8>, waker: Arc<dyn Wake>) -> (Claim, bool) {
        let stream = Stream::open(store, name);
        let mut inner = stream.inner.lock();
        inner.claims += 1;
        let number = inner.claims;
        let before = inner.owner.replace(Owner { waker, attended: true });
        drop(inner);
        let had = before.is_some();
        if let Some(before) = before {
            before.waker.wake();
        }
        (Claim { stream, number }, had)
    }

    fn with<T>(&self, act: impl FnOnce(&mut Inner) -> T) -> Result<T, Superseded> {
        let mut inner = self.stream.inner.lock();
        if inner.claims == self.number { Ok(act(&mut inner)) } else { Err(Superseded) }
    }

    /// The connection's turn begins: it need not be woken.
    pub fn attend(&self) {
        let _ = self.with(|inner| inner.owner.iter_mut().for_each(|owner| owner.attended = true));
    }

    /// The turn ends. The newest batch that is dealt with by now, and whether nothing is under way.
    pub fn leave(&self) -> Result<(u64, bool), Superseded> {
        self.with(|inner| {
            inner.owner.iter_mut().for_each(|owner| owner.attended = false);
            (inner.known.acknowledged, inner.waiting.is_empty())
        })
    }

    /// Nothing of it is under way, or it is another connection's.
    pub fn is_settled(&self) -> bool {
        self.settled().is_ok_and(|known| known.is_some())
    }

    /// What is known of it; `None` while batches of an earlier connection are under way, which have to come
    /// before those of this one.
    pub fn settled(&self) -> Result<Option<Known>, Superseded> {
        self.with(|inner| inner.waiting.is_empty().then_some(inner.known))
    }

    /// The sender begins with this numbering: the newest batch of it that is dealt with.
    pub fn start(&self, start: Start) -> Result<u64, Superseded> {
        self.with(|inner| {
            let known = &mut inner.known;
            if known.run != start.run {
                (known.run, known.acknowledged, known.messages) = (start.run, 0, 0);
                (inner.taken, inner.careful_bytes) = (0, 0);
                inner.origin = origin(&self.stream.name, start.run);
            }
            if known.reached.numbering != start.numbering {
                known.reached = Reached { numbering: start.numbering, position: 0 };
            }
            self.stream.note(inner);
            inner.known.acknowledged
        })
    }

    /// Everything up to this batch, which is so many messages and bytes, is under way. Not to be dropped
    /// under a lock of the stream.
    pub fn mark(&self, last: Number, span: u32, bytes: usize) -> Result<Mark, Superseded> {
        self.with(|inner| {
            let number = inner.next;
            inner.next += 1;
            let origin = Origin { stream: Arc::clone(&inner.origin), first: inner.taken, span };
            inner.taken += u64::from(span);
            inner.careful_bytes = inner.careful_bytes.saturating_sub(bytes as u64);
            inner.waiting.push_back(Waiting { number, last, messages: inner.taken, done: false });
            Mark::new(Arc::clone(&self.stream) as Arc<dyn Acknowledge>, number).counted(origin)
        })
    }

    /// Whether it may send again what is on disk already, which is told by its batches.
    pub fn is_careful(&self) -> bool {
        self.with(|inner| inner.careful_bytes > 0).unwrap_or(false)
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let _ = self.with(|inner| inner.owner = None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Wakes;

    fn claim(store: &Arc<Store>) -> (Claim, Arc<Wakes>) {
        let woken = Arc::new(Wakes::default());
        (Claim::new(store, b"rltp/a".to_vec(), woken.clone()).0, woken)
    }

    fn start(run: u64) -> Start {
        Start { run, numbering: 1 }
    }

    fn known(run: u64, acknowledged: u64, position: u64) -> Known {
        let messages = acknowledged * 10;
        Known { run, acknowledged, messages, reached: Reached { numbering: 1, position } }
    }

    /// The last one says nothing of its position.
    fn number(sequence: u64) -> Number {
        Number { sequence, position: if sequence == 6 { 0 } else { sequence * 10 } }
    }

    #[test]
    fn what_is_dealt_with_moves_in_order_and_is_kept() {
        let store = Arc::new(Store::in_memory());
        let (one, wakes) = claim(&store);
        assert_eq!((one.settled(), one.start(start(7))), (Ok(Some(Known::default())), Ok(0)));
        let marks = [(3, 30), (5, 20), (6, 10)].map(|(sequence, span)| one.mark(number(sequence), span, 100));
        let marks = marks.map(|mark| mark.expect("mine"));
        assert_eq!(one.leave(), Ok((0, false)));
        let [first, second, third] = marks;
        second.done();
        assert_eq!((one.leave(), wakes.count()), (Ok((0, false)), 0));
        first.done();
        assert_eq!((one.leave(), wakes.count()), (Ok((5, false)), 1));
        one.attend();
        third.done();
        assert_eq!((one.leave(), wakes.count()), (Ok((6, true)), 1), "it is in its turn");
        drop(one);
        let (again, _) = claim(&store);
        assert_eq!((again.settled(), again.start(start(7))), (Ok(Some(known(7, 6, 50))), Ok(6)));
        assert_eq!((again.start(start(8)), again.settled()), (Ok(0), Ok(Some(known(8, 0, 50)))));
        // The messages have other numbers from now on.
        assert_eq!(again.start(Start { run: 8, numbering: 2 }), Ok(0));
        assert_eq!(
            again.settled(),
            Ok(Some(Known { reached: Reached { numbering: 2, position: 0 }, ..known(8, 0, 0) }))
        );
    }

    #[test]
    fn a_newer_connection_waits_for_what_the_older_one_brought_and_takes_no_more_from_it() {
        let store = Arc::new(Store::in_memory());
        let (old, wakes) = claim(&store);
        old.start(start(7)).expect("mine");
        let mark = old.mark(number(1), 10, 100).expect("mine");
        let (new, new_wakes) = claim(&store);
        assert_eq!(wakes.count(), 1);
        assert!(old.mark(number(2), 10, 100).is_err() && old.leave() == Err(Superseded));
        drop(old);
        assert_eq!(new.settled(), Ok(None));
        new.leave().expect("mine");
        mark.done();
        assert_eq!((new.settled(), new_wakes.count()), (Ok(Some(known(7, 1, 10))), 1));
    }

    #[test]
    fn what_is_given_up_ends_the_connection_and_comes_again() {
        let store = Arc::new(Store::in_memory());
        let (one, wakes) = claim(&store);
        one.start(start(7)).expect("mine");
        let marks = [1, 2, 3].map(|sequence| one.mark(number(sequence), 10, 100).expect("mine"));
        one.leave().expect("mine");
        let [first, second, third] = marks;
        drop(second);
        third.done();
        assert_eq!((wakes.count(), one.leave()), (1, Err(Superseded)));
        let (next, _) = claim(&store);
        assert_eq!(next.settled(), Ok(None), "the first is under way still");
        first.done();
        assert_eq!((next.settled(), next.start(start(7))), (Ok(Some(known(7, 1, 10))), Ok(1)));
        assert_eq!(next.stream.inner.lock().taken, 10);
        next.mark(number(2), 10, 100).expect("mine").done();
        assert_eq!(next.leave(), Ok((2, true)));
    }

    #[test]
    fn messages_are_counted_over_the_end_of_the_process() {
        let store = Arc::new(Store::in_memory());
        let (one, _) = claim(&store);
        one.start(start(7)).expect("mine");
        assert!(!one.is_careful(), "nothing of it can be here");
        one.mark(number(1), 10, 100).expect("mine").done();
        // Under way when the process is killed.
        let lost = one.mark(number(2), 5, 100).expect("mine");
        std::mem::forget(lost);
        let copy = Arc::new(Store::in_memory());
        copy.put(b"rltp/a", &store.get(b"rltp/a").expect("noted"));
        let (again, _) = claim(&copy);
        assert_eq!((again.settled(), again.start(start(7))), (Ok(Some(known(7, 1, 10))), Ok(1)));
        assert!(again.is_careful());
        let inner = again.stream.inner.lock();
        assert_eq!((inner.taken, &*inner.origin), (10, &b"rltp/a\x07\0\0\0\0\0\0\0"[..]));
        drop(inner);
        again.mark(number(2), 5, CAREFUL_BYTES as usize).expect("mine").done();
        assert!(!again.is_careful());
        again.start(start(8)).expect("mine");
        assert_eq!(again.stream.inner.lock().taken, 0);
    }

    #[test]
    fn values_without_a_count_are_read() {
        let mut old = encode(known(1, 2, 3), 4).to_vec();
        old.truncate(41);
        old[0] = UNCOUNTED;
        assert_eq!(decode(&old), Some((Known { messages: 0, ..known(1, 2, 3) }, 4)));
        old[0] = VERSION;
        assert_eq!(decode(&old), None);
    }

    #[test]
    fn old_streams_are_forgotten() {
        let store = Store::in_memory();
        store.put(b"p/new", &encode(known(1, 2, 3), now()));
        let old = encode(known(1, 2, 3), now() - KEPT_SECONDS - 10);
        assert_eq!(decode(&old).map(|(known, _)| known), Some(known(1, 2, 3)));
        store.put(b"p/old", &old);
        store.put(b"q/old", &old);
        Stream::prune(&store, b"p/");
        assert_eq!(
            store.with_prefix(b"").into_iter().map(|(n, _)| n).collect::<Vec<_>>(),
            [b"p/new", b"q/old"]
        );
    }
}
