//! The ledger looked at all the time, through the control socket: it has to balance in every answer, whatever
//! happens at that moment.

use crate::trial::ledger_at;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;
use testkit::Ledger;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(5);
/// Of the samples that do not balance, so many are told.
const TOLD_MAX: usize = 3;

/// The rows that do not add up.
pub fn unbalanced(ledger: &Ledger) -> Vec<String> {
    let rows = ledger.sources.iter().chain(&ledger.paths).chain(&ledger.destinations);
    rows.filter(|row| row.received != row.delivered + row.waiting + row.filtered + row.dropped)
        .map(|row| {
            format!(
                "{} ({}): received {}, delivered {}, waiting {}, filtered {}, dropped {}",
                row.name, row.detail, row.received, row.delivered, row.waiting, row.filtered, row.dropped
            )
        })
        .collect()
}

#[derive(Default)]
struct Seen {
    is_over: AtomicBool,
    samples: AtomicU64,
    wrong: Mutex<Vec<String>>,
}

pub struct Sampler {
    seen: Arc<Seen>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    pub fn start(state: PathBuf) -> Sampler {
        let seen: Arc<Seen> = Arc::default();
        let noting = Arc::clone(&seen);
        let thread = std::thread::spawn(move || {
            while !noting.is_over.load(Ordering::SeqCst) {
                if let Some(ledger) = ledger_at(&state) {
                    noting.note(&ledger);
                }
                std::thread::sleep(PAUSE);
            }
        });
        Sampler { seen, thread: Some(thread) }
    }

    /// How many samples were taken, and what was wrong with them.
    pub fn end(&mut self) -> (u64, Vec<String>) {
        self.stop();
        let wrong = std::mem::take(&mut *self.seen.wrong.lock().unwrap_or_else(PoisonError::into_inner));
        let count = wrong.len();
        let told = wrong
            .into_iter()
            .take(TOLD_MAX)
            .map(|text| format!("a sample of {count} does not balance: {text}"));
        (self.seen.samples.load(Ordering::SeqCst), told.collect())
    }

    fn stop(&mut self) {
        self.seen.is_over.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.take() {
            // A panic in it has been printed.
            let _ = thread.join();
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Seen {
    fn note(&self, ledger: &Ledger) {
        self.samples.fetch_add(1, Ordering::SeqCst);
        let wrong = unbalanced(ledger);
        if !wrong.is_empty() {
            self.wrong.lock().unwrap_or_else(PoisonError::into_inner).push(wrong.join("; "));
        }
    }
}
