//! What the workers share: the batches waiting for a free core, who is asleep, and the limits of the process.

use super::handle::WorkerHandle;
use super::leaving::{Count, Leaving};
use super::port::{BATCH_BYTES_KEPT_MAX, PortContext};
use crate::durable::Durable;
use crate::hand_over::{Adopt, Connection};
use crate::lane::{Lane, Turn};
use crate::source::Source;
use crate::window::{Budget, Ticket};
use parking_lot::{Mutex, RwLock};
use record::Batch;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Batches that may wait for a free core, per worker: more would only fill the caches.
const JOBS_PER_WORKER: usize = 2;
const SPARE_MAX: usize = 16;

/// A framed batch on its way to whichever core is free.
pub struct Job {
    pub batch: Batch,
    pub source: Arc<Source>,
    pub lane: Arc<Lane>,
    pub number: u64,
    pub ticket: Ticket,
}

impl Job {
    /// Runs the log paths and hands the output over in the lane's order.
    pub fn run(self, cx: &mut PortContext) {
        let Job { mut batch, source, lane, number, ticket } = self;
        cx.scratch.turn = Some(Turn { lane: Arc::clone(&lane), number });
        let run = || source.process(&mut batch, &mut cx.machine, &mut cx.scratch, &mut cx.lane_outbox);
        // The lane must go on whatever happens to this batch.
        let in_work = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        cx.scratch.turn = None;
        if in_work.is_err() {
            cx.lane_outbox.roll_back();
        }
        let parcels = cx.lane_outbox.take(&ticket);
        // What is not in the parcels was filtered out, or counted as dropped by a panic.
        ticket.settle();
        drop(in_work);
        batch.reset();
        cx.shared.give_back(batch);
        for outlet in lane.finish(number, parcels) {
            outlet.pump();
        }
    }
}

pub struct Shared {
    pub budget: Arc<Budget>,
    /// What destinations keep on disk.
    pub durable: Durable,
    /// Whether batches may go to other workers at all.
    pub sharing: bool,
    workers: OnceLock<Vec<WorkerHandle>>,
    asleep: Vec<AtomicBool>,
    sleepers: AtomicUsize,
    jobs: Mutex<VecDeque<Job>>,
    jobs_waiting: AtomicUsize,
    /// Batches given away since the start.
    given: AtomicU64,
    spare: Mutex<Vec<Batch>>,
    next_worker: AtomicUsize,
    /// Sources whose log paths keep messages.
    stateful: RwLock<Vec<Arc<Source>>>,
    state: OnceLock<Arc<state::Store>>,
    /// Whoever serves the connections of an address, by [`Source::instance`].
    adopters: Mutex<BTreeMap<String, Weak<dyn Adopt>>>,
    leaving: Count,
}

impl Shared {
    pub fn new(workers: usize, budget: Arc<Budget>, sharing: bool) -> Arc<Shared> {
        Arc::new(Shared {
            budget,
            durable: Durable::default(),
            sharing: sharing && workers > 1,
            workers: OnceLock::new(),
            asleep: (0..workers).map(|_| AtomicBool::new(false)).collect(),
            sleepers: AtomicUsize::new(0),
            jobs: Mutex::default(),
            jobs_waiting: AtomicUsize::new(0),
            given: AtomicU64::new(0),
            spare: Mutex::default(),
            next_worker: AtomicUsize::new(0),
            stateful: RwLock::default(),
            state: OnceLock::new(),
            adopters: Mutex::default(),
            leaving: Count::default(),
        })
    }

    /// Called once, before sources are started, when there is something to remember over restarts.
    pub fn set_state(&self, store: state::Store) {
        let _ = self.state.set(Arc::new(store));
    }

    /// Where sources remember how far they have come; without [`Shared::set_state`] only while the process lives.
    pub fn state(&self) -> &Arc<state::Store> {
        self.state.get_or_init(|| Arc::new(state::Store::in_memory()))
    }

    /// A connection is left, and has something to say before it is closed.
    pub fn leaving(&self) -> Leaving {
        self.leaving.enter()
    }

    /// Whether there is such a one.
    pub(crate) fn is_any_leaving(&self) -> bool {
        self.leaving.is_any()
    }

    /// Connections that another process has served at `instance` are offered to `adopter`, while it lives.
    pub fn adopt_at(&self, instance: &str, adopter: &Arc<dyn Adopt>) {
        self.adopters.lock().insert(instance.to_owned(), Arc::downgrade(adopter));
    }

    /// Goes on with a connection of another process. The error says why nobody here can.
    pub fn adopt(&self, connection: Connection) -> Result<(), String> {
        let adopter = self.adopters.lock().get(&connection.instance).and_then(Weak::upgrade);
        adopter.ok_or("nothing listens there any more")?.adopt(connection)
    }

    /// Called once, when all workers are made.
    pub fn set_workers(&self, handles: Vec<WorkerHandle>) {
        let _ = self.workers.set(handles);
    }

    pub fn workers(&self) -> &[WorkerHandle] {
        self.workers.get().map_or(&[], Vec::as_slice)
    }

    /// The worker for the next connection or outlet, in turn. `None` only before the workers exist.
    pub fn any_worker(&self) -> Option<&WorkerHandle> {
        let workers = self.workers();
        workers.get(self.next_worker.fetch_add(1, Ordering::Relaxed) % workers.len().max(1))
    }

    /// The sources that are given a tick once a second.
    pub fn set_stateful(&self, sources: Vec<Arc<Source>>) {
        *self.stateful.write() = sources;
    }

    /// Those of them that one worker looks after.
    pub(super) fn stateful(&self, index: usize) -> Vec<Arc<Source>> {
        let sources = self.stateful.read();
        sources.iter().skip(index).step_by(self.asleep.len().max(1)).cloned().collect()
    }

    /// Whether a batch given away now would be taken up at once.
    #[inline]
    pub fn has_idle_worker(&self) -> bool {
        self.sharing && self.sleepers.load(Ordering::Relaxed) > 0
    }

    /// Workers that are not waiting for something to do.
    pub(super) fn awake(&self) -> usize {
        self.asleep.len().saturating_sub(self.sleepers.load(Ordering::Relaxed))
    }

    /// Whether another batch may wait for a free core.
    pub fn accepts_jobs(&self) -> bool {
        self.sharing && self.jobs_waiting.load(Ordering::Relaxed) < JOBS_PER_WORKER * self.asleep.len()
    }

    /// Batches that went from one worker to others since the start.
    pub fn shared_batches(&self) -> u64 {
        self.given.load(Ordering::Relaxed)
    }

    pub fn give(&self, job: Job) {
        self.given.fetch_add(1, Ordering::Relaxed);
        self.jobs.lock().push_back(job);
        self.jobs_waiting.fetch_add(1, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) == 0 {
            return;
        }
        for (flag, worker) in self.asleep.iter().zip(self.workers()) {
            if flag.swap(false, Ordering::SeqCst) {
                self.sleepers.fetch_sub(1, Ordering::SeqCst);
                worker.wake();
                return;
            }
        }
    }

    pub(crate) fn take_job(&self) -> Option<Job> {
        if !self.has_jobs() {
            return None;
        }
        let job = self.jobs.lock().pop_front()?;
        self.jobs_waiting.fetch_sub(1, Ordering::SeqCst);
        Some(job)
    }

    pub(super) fn has_jobs(&self) -> bool {
        self.jobs_waiting.load(Ordering::SeqCst) > 0
    }

    /// Notes that a worker is about to wait; `false` when there is work after all.
    pub(super) fn fall_asleep(&self, index: usize) -> bool {
        let Some(flag) = self.asleep.get(index) else { return true };
        flag.store(true, Ordering::SeqCst);
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if self.has_jobs() {
            self.wake_up(index);
            return false;
        }
        true
    }

    pub(super) fn wake_up(&self, index: usize) {
        if self.asleep.get(index).is_some_and(|flag| flag.swap(false, Ordering::SeqCst)) {
            self.sleepers.fetch_sub(1, Ordering::SeqCst);
        }
    }

    pub(super) fn spare_batch(&self) -> Option<Batch> {
        // Only worth a lock when batches travel between workers.
        if !self.sharing {
            return None;
        }
        self.spare.lock().pop()
    }

    pub(super) fn give_back(&self, batch: Batch) {
        if batch.capacity() > BATCH_BYTES_KEPT_MAX {
            return;
        }
        let mut spare = self.spare.lock();
        if spare.len() < SPARE_MAX {
            spare.push(batch);
        }
    }
}
