//! The order of messages that go on from several branches.

use super::Run;

impl Run<'_, '_> {
    /// Puts what went on from the branches that `input` came to into the order of the messages. Mostly each
    /// went on from one branch, as the same record, and `input` is in this order: then nothing is sorted.
    /// `so_many` records were there when they came.
    pub(super) fn in_order(&mut self, input: &[u32], so_many: usize, result: &mut Vec<u32>) {
        if result.len() < 2 {
            return;
        }
        if self.batch.joined() > 0 || self.copied {
            return self.sort(input, so_many, result);
        }
        let mut marks = self.marks();
        for index in result.iter() {
            if let Some(mark) = marks.get_mut(*index as usize) {
                *mark = true;
            }
        }
        let mut ordered = self.selection();
        ordered.extend(input.iter().filter(|index| marks.get(**index as usize).copied().unwrap_or(false)));
        self.put_back(marks, result);
        match ordered.len() == result.len() {
            true => std::mem::swap(&mut ordered, result),
            // There are copies, or a message that went on from two branches.
            false => self.sort(input, so_many, result),
        }
        self.recycle(ordered);
    }

    /// By message; copies of one stay in the order in which they came.
    fn sort(&self, input: &[u32], so_many: usize, result: &mut [u32]) {
        let batch = &*self.batch;
        let mut places = vec![u32::MAX; if self.copied { so_many } else { 0 }];
        for (place, index) in (0u32..).zip(input) {
            if let Some(known) = places.get_mut(*index as usize) {
                *known = place;
            }
        }
        let key = |i: &u32| {
            let rank = batch.records.get(*i as usize).map_or(0, |r| batch.rank(r));
            (rank, places.get(self.entered(*i, so_many)).copied())
        };
        // Mostly few branches left something, one behind the other.
        if !result.is_sorted_by_key(key) {
            result.sort_by_cached_key(key);
        }
    }
}
