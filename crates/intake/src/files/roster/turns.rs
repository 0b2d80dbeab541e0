//! A turn for the reader of every file, some at a time: what is known of thousands of files is in no cache,
//! and should be when it is needed.

use crate::files::followed::Followed;
use std::collections::BTreeMap;
use std::hint::black_box;
use std::ops::Bound;
use std::sync::Arc;

/// So many are woken before the first of them has its turn.
const WOKEN: usize = 64;

#[derive(Default)]
pub struct Turns {
    /// In the order in which the files were opened: what is known of them lies in memory so.
    all: BTreeMap<u64, Arc<Followed>>,
    /// The last number that was given out.
    last: u64,
    /// The one that was woken last, while others have yet to be.
    under_way: Option<u64>,
    /// Of those that were woken, how many had read something since the time before.
    grown: usize,
}

impl Turns {
    /// Takes in a file. Returns its place.
    pub fn add(&mut self, followed: &Arc<Followed>) -> u64 {
        self.last += 1;
        self.all.insert(self.last, Arc::clone(followed));
        self.last
    }

    pub fn remove(&mut self, number: u64) {
        self.all.remove(&number);
    }

    /// Everybody is to have a turn: see [`Turns::wake_some`].
    pub fn begin(&mut self) {
        self.under_way = Some(0);
    }

    pub fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Wakes the next ones.
    pub fn wake_some(&mut self) {
        let Some(before) = self.under_way else { return };
        let next = self.all.range((Bound::Excluded(before), Bound::Unbounded)).take(WOKEN);
        // The processor waits for the memory of all of them together.
        black_box(next.clone().filter(|(_, followed)| followed.approach()).count());
        let mut last = None;
        for (number, followed) in next {
            self.grown += usize::from(followed.take_grown());
            followed.wake();
            last = Some(*number);
        }
        self.under_way = last;
    }

    /// How many had read something before they were woken, since that was asked last.
    pub fn take_grown(&mut self) -> usize {
        std::mem::take(&mut self.grown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::acks::Tracker;
    use crate::files::identity::FileId;
    use drivers::testing::Wakes;
    use state::Store;

    #[test]
    fn everybody_has_one_turn_some_at_a_time() {
        const FILES: u64 = 2 * WOKEN as u64 + 10;
        let file = tempfile::NamedTempFile::new().expect("file");
        let store = Arc::new(Store::in_memory());
        let (mut turns, reader) = (Turns::default(), Arc::new(Wakes::default()));
        let mut all = Vec::new();
        for ino in 0..FILES {
            let name = ino.to_string().into_bytes();
            let tracker = Tracker::open(&store, name, &file.path().into(), file.as_file(), &Arc::default()).0;
            let followed = Followed::new(FileId { dev: 1, ino }, tracker, None);
            followed.attach(reader.clone());
            all.push((turns.add(&followed), followed));
        }
        let woken = || reader.take();
        turns.wake_some();
        assert_eq!((woken(), turns.is_under_way()), (0, false));
        turns.begin();
        turns.wake_some();
        assert_eq!((woken(), turns.is_under_way()), (WOKEN, true));
        // One that had its turn and one that had not.
        all[0].1.grew();
        all[WOKEN].1.grew();
        turns.remove(all[1].0);
        turns.remove(all[WOKEN + 1].0);
        while turns.is_under_way() {
            turns.wake_some();
        }
        assert_eq!((woken(), turns.take_grown()), (FILES as usize - WOKEN - 1, 1));
        turns.begin();
        while turns.is_under_way() {
            turns.wake_some();
        }
        assert_eq!((woken(), turns.take_grown(), turns.take_grown()), (FILES as usize - 2, 1, 0));
    }
}
