//! How far a receiver that keeps the place in our queue has got: under which name it keeps it, and whether
//! what it kept is ours.

use crate::disk_buffer::numbering;
use crate::runs::{RUNS_MAX, decode, encode};
use diag::Fault;
use engine::{DiskBuffer, Shared};
use parking_lot::Mutex;
use state::Store;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;
use std::sync::Arc;

/// The queue of a destination, as its receiver knows it.
pub struct Positions {
    /// Of the queue's numbers: another log or another queue has another one.
    pub name: String,
    /// Of this start; at most 63 bits.
    pub run: u64,
    /// All that this queue began and still knows, which a copy of it on another machine does not. A receiver
    /// that knows an older one is told to ask its operator.
    runs: Mutex<Vec<u64>>,
}

impl Positions {
    /// Begins a run, and keeps it before it is used.
    pub fn recall(shared: &Shared, options: &DiskBuffer) -> Result<Positions, Fault> {
        let name = format!("{:016x}", numbering(shared, options, b"")?);
        Ok(Positions::begin(shared.state(), name))
    }

    fn begin(store: &Arc<Store>, name: String) -> Positions {
        let key = format!("positions({name})").into_bytes();
        let mut runs = store.get(&key).as_deref().and_then(decode).unwrap_or_default();
        let run = random();
        if runs.len() >= RUNS_MAX {
            runs.remove(0);
        }
        runs.push(run);
        store.put(&key, &encode(&runs));
        // After a power failure that costs the knowledge of it, somebody is asked.
        let _ = store.sync();
        Positions { name, run, runs: Mutex::new(runs) }
    }

    /// Whether what a receiver kept was kept for this queue, and not for a copy of it.
    pub fn is_own(&self, run: u64) -> bool {
        self.runs.lock().contains(&run)
    }
}

/// Never 0, and no larger than a signed number can be.
fn random() -> u64 {
    let mut bytes = [0; 8];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    let number = match read {
        Ok(()) => u64::from_le_bytes(bytes),
        // Different each time, which is all that is needed.
        Err(_) => std::hash::RandomState::new().build_hasher().finish(),
    };
    (number >> 1).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_kept_for_this_queue_is_its_own() {
        let store = Arc::new(Store::in_memory());
        let first = Positions::begin(&store, "a".to_owned());
        let again = Positions::begin(&store, "a".to_owned());
        assert!(again.is_own(first.run) && again.is_own(again.run) && first.run != again.run);
        assert!(!Positions::begin(&store, "b".to_owned()).is_own(first.run));
        assert!(!Positions::begin(&Arc::new(Store::in_memory()), "a".to_owned()).is_own(first.run), "a copy");
        (0..RUNS_MAX).for_each(|_| drop(Positions::begin(&store, "a".to_owned())));
        assert!(!Positions::begin(&store, "a".to_owned()).is_own(again.run), "long ago");
    }
}
