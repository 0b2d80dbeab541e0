//! Counters that everybody has, added to at the end of a batch.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What one worker has counted since the batch began.
#[derive(Default)]
pub struct Pending(Vec<(Arc<AtomicU64>, u64)>);

impl Pending {
    /// Counts. `place` is where this counter stood last, so that nothing has to be looked for.
    pub fn add(&mut self, counter: &Arc<AtomicU64>, count: u64, place: &mut usize) {
        match self.0.get_mut(*place) {
            Some((known, counted)) if Arc::ptr_eq(known, counter) => *counted = counted.wrapping_add(count),
            _ => {
                *place = self.0.len();
                self.0.push((Arc::clone(counter), count));
            }
        }
    }

    pub(crate) fn settle(&mut self) {
        for (counter, count) in self.0.drain(..) {
            counter.fetch_add(count, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_between_batches() {
        let counters: [Arc<AtomicU64>; 2] = Default::default();
        let (mut pending, mut places) = (Pending::default(), [0; 2]);
        for _ in 0..3 {
            for at in [1, 0, 0, 1, 0] {
                pending.add(&counters[at], 1 + at as u64, &mut places[at]);
            }
            pending.settle();
        }
        assert_eq!(counters.map(|counter| counter.load(Ordering::Relaxed)), [9, 12]);
    }
}
