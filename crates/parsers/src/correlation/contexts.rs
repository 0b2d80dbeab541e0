//! The contexts of a parser: shards, the time they share, and the way of a batch through them.

use super::clock::Clock;
use super::pass::{Moment, Pass};
use super::shard::{CONTEXTS_BYTES_MAX, CONTEXTS_MAX, Context, Shard};
use super::state::{Made, State, StateCounters};
use record::{Batch, Seed, Stamp};
use std::any::Any;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

/// Locks that the contexts of one parser are spread over: several for each core, so that workers seldom meet.
const SHARDS: usize = 16;

/// Bytes of messages that one pass makes of contexts whose time is over. The others wait for the next pass,
/// so that contexts that end together, which may be all of them, are not copied at once.
pub const PORTION_BYTES: usize = 8 << 20;

/// What a parser does with its contexts.
pub trait Handler<T> {
    /// A message has come to the shard of its key.
    fn message(&mut self, shard: &mut Shard<T>, pass: &Pass, entry: &super::Entry);

    /// A context was taken out because its time was over, or for want of room.
    fn closed(&mut self, shard: &mut Shard<T>, context: &mut Context<T>, moment: Moment);

    /// Bytes of the batch at work, what was made in this pass with them.
    fn batch_bytes(&self) -> usize;
}

pub struct Contexts<T> {
    key: Box<str>,
    seed: Seed,
    shards: Box<[Place<T>]>,
    clock: Mutex<Time>,
    closing: AtomicBool,
    /// The last pass has left contexts whose time is over.
    behind: AtomicBool,
    counters: Arc<StateCounters>,
}

struct Place<T> {
    shard: Mutex<Shard<T>>,
    /// Nothing in it is due before; so that quiet shards are not locked.
    next_deadline: AtomicI64,
}

#[derive(Default)]
struct Time {
    clock: Clock,
    serial: u64,
}

impl<T: Send + 'static> Contexts<T> {
    /// Contexts known as `key`. With `sharded` false all are behind one lock and see messages in their order,
    /// whatever their keys: for parsers whose contexts reach into one another.
    pub fn new(key: &str, sharded: bool) -> Arc<Contexts<T>> {
        let count = if sharded { SHARDS } else { 1 };
        let seed = Seed::random();
        let place = |_| Place {
            shard: Mutex::new(Shard::new(seed, CONTEXTS_MAX / count, CONTEXTS_BYTES_MAX / count)),
            next_deadline: AtomicI64::new(i64::MAX),
        };
        Arc::new(Contexts {
            key: key.into(),
            seed,
            shards: (0..count).map(place).collect(),
            clock: Mutex::default(),
            closing: AtomicBool::new(false),
            behind: AtomicBool::new(false),
            counters: Arc::default(),
        })
    }

    /// The contexts behind a state, if they are of this kind and as sharded.
    pub fn of(state: Arc<dyn State>, sharded: bool) -> Option<Arc<Contexts<T>>> {
        let contexts: Arc<Contexts<T>> = state.as_any().downcast().ok()?;
        let open = !contexts.closing.load(Relaxed);
        (open && (contexts.shards.len() > 1) == sharded).then_some(contexts)
    }

    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// Begins a batch: clears the pass and takes the correlation time at each selected message. Without one,
    /// time goes on by the clock.
    pub fn begin(&self, pass: &mut Pass, batch: &Batch, selection: &[u32], present: Stamp) {
        self.begin_with(pass, batch, selection, present, |_| true);
    }

    /// The same where only messages at some places of the selection count for the time.
    pub fn begin_with(
        &self,
        pass: &mut Pass,
        batch: &Batch,
        selection: &[u32],
        present: Stamp,
        counts: impl Fn(usize) -> bool,
    ) {
        pass.clear();
        let mut time = lock(&self.clock);
        pass.serial = time.serial;
        time.serial += selection.len() as u64 + 1;
        if selection.is_empty() {
            let now = time.clock.tick(present);
            pass.times.push(now);
            return;
        }
        for (position, index) in selection.iter().enumerate() {
            if !counts(position) {
                pass.times.push(time.clock.now());
                continue;
            }
            let stamp = batch.records.get(*index as usize).map_or(Stamp::default(), |r| r.stamp);
            let now = time.clock.message(stamp, present);
            pass.times.push(now);
        }
    }

    /// Takes the messages of the pass to their contexts, shard by shard, and closes what is due, up to
    /// [`PORTION_BYTES`] of made messages. Returns how many contexts were closed early.
    pub fn run(&self, pass: &mut Pass, handler: &mut dyn Handler<T>) -> usize {
        let mut chains = std::mem::take(&mut pass.chains);
        chains.link(pass.entries(), self.shards.len());
        let closing = self.closing.load(Relaxed);
        let last = pass.times.last().copied().unwrap_or_default();
        let full = handler.batch_bytes() + PORTION_BYTES;
        let (mut early, mut behind) = (0, false);
        for (n, place) in self.shards.iter().enumerate() {
            if !closing && chains.first(n).is_none() && place.next_deadline.load(Relaxed) >= last {
                continue;
            }
            let mut shard = lock(&place.shard);
            let mut at = chains.first(n);
            while let Some(entry) = at.and_then(|i| pass.entries().get(i)) {
                let now = pass.time(entry.position);
                behind |= !expire(&mut shard, now, full, pass, handler);
                // No message comes to a context whose time is over, whatever else has to wait.
                if let Some(context) = shard.overdue(pass.key(entry), now) {
                    close_due(&mut shard, context, pass, handler);
                }
                handler.message(&mut shard, pass, entry);
                while let Some(context) = shard.crowded() {
                    early += usize::from(context.deadline() >= now);
                    close(&mut shard, context, pass.moment(entry), handler);
                }
                at = at.and_then(|i| chains.next(i));
            }
            behind |= !expire(&mut shard, last, full, pass, handler);
            while closing && handler.batch_bytes() < full {
                let Some(context) = shard.any() else { break };
                let moment = Moment { position: u32::MAX, deadline: context.deadline(), serial: 0 };
                close(&mut shard, context, moment, handler);
            }
            behind |= closing && !shard.is_empty();
            place.next_deadline.store(shard.next_deadline(), Relaxed);
        }
        pass.chains = chains;
        self.behind.store(behind, Relaxed);
        early
    }

    /// Adds to the counters, once per batch.
    pub fn count(&self, made: Made, closed_early: usize) {
        self.counters.add(made, closed_early);
    }

    /// Contexts that are open.
    pub fn len(&self) -> usize {
        self.shards.iter().map(|place| lock(&place.shard).len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Closes contexts whose time is over, until the batch has `full` bytes. `false` when some may be left.
fn expire<T>(shard: &mut Shard<T>, now: i64, full: usize, pass: &Pass, handler: &mut dyn Handler<T>) -> bool {
    while handler.batch_bytes() < full {
        let Some(context) = shard.due(now) else { return true };
        close_due(shard, context, pass, handler);
    }
    shard.next_deadline() >= now
}

fn close_due<T>(shard: &mut Shard<T>, context: Context<T>, pass: &Pass, handler: &mut dyn Handler<T>) {
    let deadline = context.deadline();
    let moment = Moment { position: pass.position_after(deadline), deadline, serial: context.serial() };
    close(shard, context, moment, handler);
}

fn close<T>(shard: &mut Shard<T>, mut context: Context<T>, moment: Moment, handler: &mut dyn Handler<T>) {
    handler.closed(shard, &mut context, moment);
    shard.recycle(context);
}

/// A panic in another worker's batch leaves whole contexts: each is changed in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl<T: Send + 'static> State for Contexts<T> {
    fn key(&self) -> &str {
        &self.key
    }

    fn close(&self) {
        self.closing.store(true, Relaxed);
    }

    fn begin_anew(&self) {
        *lock(&self.clock) = Time::default();
        for place in &self.shards {
            let mut shard = lock(&place.shard);
            while let Some(context) = shard.any() {
                shard.recycle(context);
            }
            place.next_deadline.store(i64::MAX, Relaxed);
        }
        self.behind.store(false, Relaxed);
    }

    fn is_behind(&self) -> bool {
        self.behind.load(Relaxed)
    }

    fn counters(&self) -> &Arc<StateCounters> {
        &self.counters
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}
