//! The counters there are, for the process: they outlive reloads, as all statistics do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

pub type Cell = AtomicU64;

/// Counters in the process, whatever stats(max-dynamics()) says; messages of further ones are not counted,
/// and `metrics_probe_left_out_total` says how often.
const METRICS_MAX: usize = 100_000;

type Labels = Vec<(Arc<str>, String)>;
type Cells = BTreeMap<(Arc<str>, Labels), Entry>;

/// A counter, and the least level() of the probes that count in it.
struct Entry {
    cell: Arc<Cell>,
    level: u8,
}

/// Locked when a worker meets values for the first time, and to show the counters.
static CELLS: LazyLock<Mutex<Cells>> = LazyLock::new(Mutex::default);
static LEFT_OUT: Cell = Cell::new(0);
static SAID: AtomicBool = AtomicBool::new(false);
static LEVEL: AtomicU8 = AtomicU8::new(0);
static MAX: AtomicUsize = AtomicUsize::new(METRICS_MAX);

/// What the configuration in effect says: counters up to `level` are counted and shown, at most `max` of
/// them.
pub fn configure(level: u8, max: Option<usize>) {
    LEVEL.store(level, Ordering::Relaxed);
    SAID.store(false, Ordering::Relaxed);
    MAX.store(max.unwrap_or(METRICS_MAX).min(METRICS_MAX), Ordering::Relaxed);
}

/// stats(level()), asked once a batch.
pub fn level() -> u8 {
    LEVEL.load(Ordering::Relaxed)
}

/// A counter at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    pub key: String,
    pub labels: Vec<(String, String)>,
    pub value: u64,
}

/// The counter of these labels, made when it is new; `None` when there are too many, which is said once.
pub fn cell(key: &Arc<str>, labels: Labels, level: u8) -> Option<Arc<Cell>> {
    let mut cells = CELLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = cells.get_mut(&(Arc::clone(key), labels.clone())) {
        known.level = known.level.min(level);
        return Some(Arc::clone(&known.cell));
    }
    let max = MAX.load(Ordering::Relaxed);
    if cells.len() >= max {
        // What is said may be counted itself.
        drop(cells);
        if !SAID.swap(true, Ordering::Relaxed) {
            oplog::warning("No room for another counter", &[("max_dynamics", &max), ("key", key)]);
        }
        return None;
    }
    let entry = Entry { cell: Arc::default(), level };
    let cell = Arc::clone(&entry.cell);
    cells.insert((Arc::clone(key), labels), entry);
    Some(cell)
}

/// A batch had messages for a counter there is no room for.
pub fn left_out() {
    LEFT_OUT.fetch_add(1, Ordering::Relaxed);
}

/// All counters, in the order of their names and labels.
pub fn snapshot() -> Vec<Metric> {
    let cells = CELLS.lock().unwrap_or_else(PoisonError::into_inner);
    let level = level();
    let metric = |((key, labels), entry): (&(Arc<str>, Labels), &Entry)| Metric {
        key: key.to_string(),
        labels: labels.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
        value: entry.cell.load(Ordering::Relaxed),
    };
    let mut metrics: Vec<Metric> =
        cells.iter().filter(|(_, entry)| entry.level <= level).map(metric).collect();
    let left_out = LEFT_OUT.load(Ordering::Relaxed);
    if left_out > 0 {
        metrics.push(Metric {
            key: "metrics_probe_left_out_total".to_owned(),
            labels: Vec::new(),
            value: left_out,
        });
    }
    metrics
}
