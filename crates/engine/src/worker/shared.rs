//! What the workers share: batches for whoever is free, emptied ones, what is remembered, and the limits of
//! the process.

use super::handle::WorkerHandle;
use super::jobs::{Job, Jobs};
use super::leaving::{Count, Leaving};
use super::port::BATCH_BYTES_KEPT_MAX;
use crate::durable::Durable;
use crate::friction;
use crate::hand_over::{Adopt, Connection};
use crate::source::Source;
use crate::window::Budget;
use diag::Fault;
use parking_lot::{Mutex, RwLock};
use record::Batch;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

/// Bytes of a connection that are under way while others help its worker, for each worker of the process:
/// enough that all of them find something, little enough that it stays in their caches.
const LANE_BYTES: usize = 384 * 1024;
/// Emptied batches that wait for whoever needs one next, per worker.
const SPARE_PER_WORKER: usize = 3;

pub struct Shared {
    pub budget: Arc<Budget>,
    /// What destinations keep on disk.
    pub durable: Durable,
    /// Whether batches may go to other workers at all.
    pub sharing: bool,
    workers: OnceLock<Vec<WorkerHandle>>,
    jobs: Jobs,
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
            jobs: Jobs::new(workers),
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

    /// Where sources remember how far they have come; without [`Shared::set_state`] only while the process
    /// lives.
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

    /// Goes on with a connection of another process. The fault says why nobody here can.
    pub fn adopt(&self, connection: Connection) -> Result<(), Fault> {
        let adopter = self.adopters.lock().get(&connection.instance).and_then(Weak::upgrade);
        adopter.ok_or_else(|| Fault::misconfigured("nothing listens there any more"))?.adopt(connection)
    }

    /// Called once, when all workers are made.
    pub fn set_workers(&self, handles: Vec<WorkerHandle>) {
        let _ = self.workers.set(handles);
    }

    pub fn workers(&self) -> &[WorkerHandle] {
        self.workers.get().map_or(&[], Vec::as_slice)
    }

    /// The worker for the next connection or outlet, in turn. There is none only before the workers exist.
    pub fn any_worker(&self) -> Result<&WorkerHandle, Fault> {
        let workers = self.workers();
        let next = self.next_worker.fetch_add(1, Ordering::Relaxed) % workers.len().max(1);
        workers.get(next).ok_or_else(|| Fault::bug("there are no workers"))
    }

    /// The sources that are given a tick once a second.
    pub fn set_stateful(&self, sources: Vec<Arc<Source>>) {
        *self.stateful.write() = sources;
    }

    /// Those of them that one worker looks after.
    pub(super) fn stateful(&self, index: usize) -> Vec<Arc<Source>> {
        let sources = self.stateful.read();
        sources.iter().skip(index).step_by(self.workers().len().max(1)).cloned().collect()
    }

    /// Whether a batch given away now would be taken up at once.
    #[inline]
    pub fn finds_help(&self) -> bool {
        self.sharing && self.jobs.finds_help()
    }

    /// Whether there are workers that take batches of others.
    pub fn has_helpers(&self) -> bool {
        self.sharing && self.jobs.has_helpers()
    }

    /// Workers that are not waiting for something to do.
    pub(super) fn awake(&self) -> usize {
        self.jobs.awake()
    }

    /// Whether as many batches wait for a free core as may.
    pub fn is_full(&self) -> bool {
        self.jobs.is_full()
    }

    /// Bytes that a connection may have under way while others help its worker.
    pub fn lane_bytes_max(&self) -> usize {
        LANE_BYTES * self.workers().len()
    }

    /// Batches that went from one worker to others since the start.
    pub fn shared_batches(&self) -> u64 {
        self.jobs.given()
    }

    pub fn give(&self, job: Job) {
        self.jobs.give(job, self.workers());
    }

    /// The batch that waits longest of those this worker has read.
    pub(crate) fn take_own(&self, owner: usize) -> Option<Job> {
        self.jobs.take_own(owner)
    }

    pub(super) fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    pub(super) fn spare_batch(&self) -> Option<Batch> {
        // Only worth a lock when batches travel between workers.
        if !self.sharing {
            return None;
        }
        friction::lock(&self.spare).pop()
    }

    pub(super) fn give_back(&self, mut batch: Batch) {
        batch.reset();
        if batch.capacity() > BATCH_BYTES_KEPT_MAX {
            return;
        }
        let mut spare = friction::lock(&self.spare);
        if spare.len() < SPARE_PER_WORKER * self.workers().len() {
            spare.push(batch);
        }
    }
}
