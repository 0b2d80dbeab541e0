//! What comes to sources, kept as it came for whoever asks: with nobody asking, a relaxed load a batch.
//!
//! Each capture has a bound in bytes; whoever asked takes what is there, and what has no room meanwhile is
//! counted as missed.

use crate::source::Source;
use parking_lot::{Condvar, Mutex};
use record::{Batch, Peer, Stamp};
use recording::{Entry, append};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

static OPEN_COUNT: AtomicUsize = AtomicUsize::new(0);
static OPEN: Mutex<Vec<Arc<Shelf>>> = Mutex::new(Vec::new());

/// Where a capture keeps what came.
struct Shelf {
    /// A source statement or one of its drivers; `None`: all.
    source: Option<String>,
    bytes_max: usize,
    caught: Mutex<Caught>,
    more: Condvar,
}

/// What came since it was taken last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caught {
    /// Entries of a recording.
    pub bytes: Vec<u8>,
    pub messages: u64,
    /// Messages for which there was no room.
    pub missed: u64,
}

/// Keeps what comes until it is dropped.
pub struct Capture(Arc<Shelf>);

impl Capture {
    /// `source` is the name of a source statement, or of one of its drivers.
    pub fn begin(source: Option<String>, bytes_max: usize) -> Capture {
        let shelf = Shelf { source, bytes_max, caught: Mutex::default(), more: Condvar::new() };
        let shelf = Arc::new(shelf);
        OPEN.lock().push(Arc::clone(&shelf));
        OPEN_COUNT.fetch_add(1, Ordering::Relaxed);
        Capture(shelf)
    }

    /// What has come; waits for it if there is nothing.
    pub fn take(&self, patience: Duration) -> Caught {
        let mut caught = self.0.caught.lock();
        if caught.messages == 0 && caught.missed == 0 {
            // Woken or not, what is there is taken.
            let _ = self.0.more.wait_for(&mut caught, patience);
        }
        std::mem::take(&mut *caught)
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        OPEN.lock().retain(|open| !Arc::ptr_eq(open, &self.0));
        OPEN_COUNT.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A batch that was read, before anything is done with it.
#[inline]
pub(crate) fn note(source: &Source, batch: &Batch) {
    if OPEN_COUNT.load(Ordering::Relaxed) > 0 {
        keep(source, batch);
    }
}

/// Since 1970.
fn micros(stamp: Stamp) -> i64 {
    stamp.secs.saturating_mul(1_000_000).saturating_add(i64::from(stamp.usec))
}

#[cold]
fn keep(source: &Source, batch: &Batch) {
    // Sources that make whole records have no text of somebody else's.
    if source.settings().is_ready_made() {
        return;
    }
    let open: Vec<Arc<Shelf>> = OPEN.lock().clone();
    let wants = |name: &Option<String>| {
        name.as_ref().is_none_or(|name| **name == *source.group || *name == source.id)
    };
    for shelf in open.iter().filter(|shelf| wants(&shelf.source)) {
        let mut caught = shelf.caught.lock();
        for record in &batch.records {
            if caught.bytes.len() >= shelf.bytes_max {
                caught.missed += 1;
                continue;
            }
            let peer = match batch.context(record).map(|context| &context.peer) {
                Some(Peer::Inet { remote, .. }) => Some(*remote),
                Some(Peer::Local) | None => None,
            };
            let (time, text) = (micros(batch.received), batch.bytes(record.frame));
            append(&mut caught.bytes, &Entry { time, source: &source.id, peer, text });
            caught.messages += 1;
        }
        drop(caught);
        shelf.more.notify_all();
    }
}
