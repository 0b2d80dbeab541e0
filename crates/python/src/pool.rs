//! The processes that run the Python of a configuration, and who has which.

use crate::child::Child;
use crate::fault::Fault;
use crate::instance::{Failures, Identity, Instance};
use crate::marshal::{Item, Reader};
use crate::output::Output;
use crate::program::Script;
use parking_lot::{Mutex, MutexGuard};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant, SystemTime};

/// While no process can be started, messages wait so long; then they fail, until one can be.
const HOLD_MAX: Duration = Duration::from_secs(15);
/// After a start that failed, so long nobody tries again.
const RETRY: Duration = Duration::from_secs(1);

pub struct Pool {
    program: Script,
    slots: Box<[Slot]>,
    output: OnceLock<Output>,
    instances: Mutex<Vec<Weak<Instance>>>,
    /// The modules that were imported, as their files were then.
    files: Mutex<BTreeMap<PathBuf, Option<FileState>>>,
}

/// Time of the last change, and size.
type FileState = (SystemTime, u64);

#[derive(Default)]
struct Slot {
    seat: Mutex<Chair>,
    /// Instances that are no more: told to the process when somebody has it next.
    ended: Mutex<Vec<u64>>,
    has_ended: AtomicBool,
}

/// The place of a process.
#[derive(Default)]
pub(crate) struct Chair {
    pub(crate) child: Option<Child>,
    failed: Option<(Instant, String)>,
    /// Since when none can be started.
    failing_since: Option<Instant>,
}

impl Chair {
    /// Whether messages wait for a process that cannot be started now.
    pub(crate) fn holds(&self) -> bool {
        self.failing_since.is_some_and(|since| since.elapsed() < HOLD_MAX)
    }
}

static POOLS: Mutex<Vec<Weak<Pool>>> = Mutex::new(Vec::new());
static DEFERRED: AtomicBool = AtomicBool::new(false);

/// No process is started until [`start`]: the program has rights that it is about to give up, and no threads.
pub fn defer() {
    DEFERRED.store(true, Ordering::Release);
}

/// Makes the objects of all classes in the first process of each pool, as the others do when they are used.
/// The error is Python's traceback.
pub fn start() -> Result<(), String> {
    DEFERRED.store(false, Ordering::Release);
    let pools: Vec<_> = POOLS.lock().iter().filter_map(Weak::upgrade).collect();
    pools.iter().try_for_each(|pool| pool.init()).map_err(|fault| fault.to_string())
}

/// Ends all processes, and waits for what they do at their end.
pub fn end() {
    crate::post::end();
    let pools: Vec<_> = POOLS.lock().iter().filter_map(Weak::upgrade).collect();
    for pool in pools {
        let children: Vec<Child> =
            pool.slots.iter().filter_map(|slot| slot.seat.try_lock()?.child.take()).collect();
        Child::end_all(children);
        // The last words of a deinit().
        pool.output.get().into_iter().for_each(Output::catch_up);
    }
}

/// The pool that runs a program: the one there is already, when none of its files has changed.
pub fn pool(program: Script) -> Arc<Pool> {
    let mut pools = POOLS.lock();
    pools.retain(|pool| pool.strong_count() > 0);
    let known = pools.iter().filter_map(Weak::upgrade).find(|pool| pool.program == program);
    if let Some(known) = known.filter(|pool| pool.is_current()) {
        return known;
    }
    let slots = (0..program.processes.max(1)).map(|_| Slot::default()).collect();
    let output = OnceLock::new();
    let pool = Pool { program, slots, output, instances: Mutex::default(), files: Mutex::default() };
    let pool = Arc::new(pool);
    pools.push(Arc::downgrade(&pool));
    pool
}

/// What the classes and functions that are in use have failed for, each name once.
pub fn failures() -> Vec<Failures> {
    let pools: Vec<_> = POOLS.lock().iter().filter_map(Weak::upgrade).collect();
    let mut all: Vec<Failures> = Vec::new();
    for pool in pools {
        let instances: Vec<_> = pool.instances.lock().iter().filter_map(Weak::upgrade).collect();
        for more in instances.iter().map(|instance| instance.failures()) {
            match all.iter_mut().find(|known| known.class == more.class) {
                Some(known) => {
                    (known.raised, known.lost) = (known.raised + more.raised, known.lost + more.lost)
                }
                None => all.push(more),
            }
        }
    }
    all
}

fn state_of(path: &PathBuf) -> Option<FileState> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

impl Pool {
    fn is_current(&self) -> bool {
        self.files.lock().iter().all(|(path, state)| state_of(path) == *state)
    }

    /// Runs the python blocks in the first process, to see whether they can be.
    pub fn check(&self) -> Result<(), Fault> {
        if DEFERRED.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut seat = self.slots[0].seat.lock();
        self.child(&mut seat).map(drop)
    }

    /// Imports a class or function in the first process, to see whether it is there. The instance of the last
    /// configuration goes on when it is the same.
    pub fn load(self: &Arc<Pool>, identity: Identity) -> Result<Arc<Instance>, Fault> {
        let mut instances = self.instances.lock();
        instances.retain(|instance| instance.strong_count() > 0);
        if let Some(known) = instances.iter().filter_map(Weak::upgrade).find(|i| i.identity == identity) {
            return Ok(known);
        }
        let instance = Arc::new(Instance::new(Arc::clone(self), identity));
        if !DEFERRED.load(Ordering::Acquire) {
            self.import(&mut self.slots[0].seat.lock(), &instance)?;
        }
        instances.push(Arc::downgrade(&instance));
        Ok(instance)
    }

    fn import(&self, seat: &mut Chair, instance: &Instance) -> Result<(), Fault> {
        let result = self.child(seat)?.call("load", 3, |out| instance.write_load(out));
        let files = self.settle(seat, result)?;
        self.note_files(&files);
        Ok(())
    }

    fn note_files(&self, listed: &[u8]) {
        let mut reader = Reader::new(listed);
        let mut files = self.files.lock();
        let Ok(Item::List(count)) = reader.item() else { return };
        for _ in 0..count {
            let Ok(file) = reader.text() else { return };
            let path = PathBuf::from(String::from_utf8_lossy(file).into_owned());
            let state = state_of(&path);
            files.entry(path).or_insert(state);
        }
    }

    /// Makes the objects of all instances in the first process.
    fn init(&self) -> Result<(), Fault> {
        let instances: Vec<_> = self.instances.lock().iter().filter_map(Weak::upgrade).collect();
        let mut seat = self.slots[0].seat.lock();
        for instance in &instances {
            if seat.child.as_ref().is_none_or(|child| !child.known.contains_key(&instance.number)) {
                self.import(&mut seat, instance)?;
                if instance.identity.kind.is_shared() {
                    self.known(&mut seat, instance)?;
                }
            }
        }
        drop(seat);
        if instances.is_empty() { self.check() } else { Ok(()) }
    }

    /// The process of a seat, started when there is none.
    fn child<'s>(&self, seat: &'s mut Chair) -> Result<&'s mut Child, Fault> {
        if seat.child.is_none() {
            if let Some((at, why)) = &seat.failed
                && at.elapsed() < RETRY
            {
                return Err(Fault::CannotStart(why.clone()));
            }
            match self.output().and_then(|output| Child::start(&self.program, &output.writer)) {
                Ok(child) => (seat.child, seat.failed, seat.failing_since) = (Some(child), None, None),
                Err(fault) => {
                    seat.failing_since.get_or_insert_with(Instant::now);
                    seat.failed = Some((Instant::now(), fault.to_string()));
                    return Err(fault);
                }
            }
        }
        seat.child.as_mut().ok_or(Fault::Malformed)
    }

    fn output(&self) -> Result<&Output, Fault> {
        if self.output.get().is_none() {
            let made = Output::new().map_err(|error| Fault::CannotStart(error.to_string()))?;
            // Another may have been faster.
            let _ = self.output.set(made);
        }
        self.output.get().ok_or(Fault::Malformed)
    }

    /// A process of no use any more is killed.
    pub(crate) fn settle<T>(&self, seat: &mut Chair, result: Result<T, Fault>) -> Result<T, Fault> {
        if result.as_ref().is_err_and(Fault::is_fatal)
            && let Some(child) = seat.child.take()
        {
            child.kill();
        }
        result
    }

    /// The process of a seat, with the object of an instance made in it.
    pub(crate) fn known<'s>(&self, seat: &'s mut Chair, instance: &Instance) -> Result<&'s mut Child, Fault> {
        let child = self.child(seat)?;
        if !child.known.contains_key(&instance.number) {
            let made = child.call("init", 6, |out| instance.write_init(out));
            match (&made, self.output.get()) {
                (Ok(_), _) => drop(child.known.insert(instance.number, 0)),
                // What the class has said about it comes first.
                (Err(_), Some(output)) => output.catch_up(),
                (Err(_), None) => {}
            }
            self.settle(seat, made)?;
        }
        seat.child.as_mut().ok_or(Fault::Malformed)
    }

    /// A process that has grown beyond the bound, to be ended: the next batch gets a new one.
    pub(crate) fn outgrown(&self, seat: &mut Chair) -> Option<Child> {
        let limit = self.program.memory_max;
        let used = seat.child.as_mut().filter(|_| limit > 0)?.memory()?;
        if used <= limit {
            return None;
        }
        oplog::limited(
            "python.memory",
            oplog::Level::Warning,
            "A Python process has grown beyond python-memory(), and is replaced",
            &[("bytes", &used), ("limit", &limit)],
        );
        seat.child.take()
    }

    /// The seat of the thread that asks: while there are as many as workers, nobody waits for another.
    pub(crate) fn seat(&self) -> MutexGuard<'_, Chair> {
        thread_local! {
            static MINE: Cell<Option<usize>> = const { Cell::new(None) };
        }
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let mine = MINE.with(|mine| {
            mine.get().unwrap_or_else(|| {
                let new = NEXT.fetch_add(1, Ordering::Relaxed);
                mine.set(Some(new));
                new
            })
        });
        let slot = &self.slots[mine % self.slots.len()];
        let mut seat = slot.seat.lock();
        slot.tell_ended(&mut seat);
        seat
    }

    /// An instance is no more: its objects end.
    pub(crate) fn forget(&self, number: u64) {
        for slot in &self.slots {
            slot.ended.lock().push(number);
            slot.has_ended.store(true, Ordering::Release);
            if let Some(mut seat) = slot.seat.try_lock() {
                slot.tell_ended(&mut seat);
            }
        }
    }
}

impl Slot {
    fn tell_ended(&self, seat: &mut Chair) {
        if !self.has_ended.swap(false, Ordering::Acquire) {
            return;
        }
        for number in std::mem::take(&mut *self.ended.lock()) {
            let Some(child) = seat.child.as_mut() else { continue };
            if child.known.remove(&number).is_some()
                && child.call("drop", 1, |out| crate::marshal::int(number as i64, out)).is_err()
                && let Some(child) = seat.child.take()
            {
                child.kill();
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        let children: Vec<Child> =
            self.slots.iter_mut().filter_map(|s| s.seat.get_mut().child.take()).collect();
        if children.is_empty() {
            return;
        }
        // Their deinit() is not waited for by a worker.
        let ending = std::thread::Builder::new().name("python-end".to_owned());
        let _ = ending.spawn(move || Child::end_all(children));
    }
}
