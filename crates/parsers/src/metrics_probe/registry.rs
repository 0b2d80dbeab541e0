//! The counters there are, for the process: they outlive reloads, as all statistics do.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

pub type Cell = AtomicU64;

/// Counters in the process; messages of further ones are not counted, and `metrics_probe_left_out_total` says how often.
const METRICS_MAX: usize = 100_000;

type Labels = Vec<(Arc<str>, String)>;
type Cells = BTreeMap<(Arc<str>, Labels), Arc<Cell>>;

/// Locked when a worker meets values for the first time, and to show the counters.
static CELLS: LazyLock<Mutex<Cells>> = LazyLock::new(Mutex::default);
static LEFT_OUT: Cell = Cell::new(0);

/// A counter at one moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metric {
    pub key: String,
    pub labels: Vec<(String, String)>,
    pub value: u64,
}

/// The counter of these labels, made when it is new; `None` when there are too many.
pub fn cell(key: &Arc<str>, labels: Labels) -> Option<Arc<Cell>> {
    let mut cells = CELLS.lock().unwrap_or_else(PoisonError::into_inner);
    let full = cells.len() >= METRICS_MAX;
    match cells.entry((Arc::clone(key), labels)) {
        std::collections::btree_map::Entry::Occupied(known) => Some(Arc::clone(known.get())),
        std::collections::btree_map::Entry::Vacant(_) if full => None,
        std::collections::btree_map::Entry::Vacant(new) => Some(Arc::clone(new.insert(Arc::default()))),
    }
}

/// A batch had messages for a counter there is no room for.
pub fn left_out() {
    LEFT_OUT.fetch_add(1, Ordering::Relaxed);
}

/// All counters, in the order of their names and labels.
pub fn snapshot() -> Vec<Metric> {
    let cells = CELLS.lock().unwrap_or_else(PoisonError::into_inner);
    let metric = |((key, labels), cell): (&(Arc<str>, Labels), &Arc<Cell>)| Metric {
        key: key.to_string(),
        labels: labels.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
        value: cell.load(Ordering::Relaxed),
    };
    let mut metrics: Vec<Metric> = cells.iter().map(metric).collect();
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
