//! What each receiver is owed, from what senders were told alone, and what became of it.

use super::{FILE, LANES};
use crate::tally::{LANE, Tally};
use std::collections::HashSet;
use std::ops::Range;

/// At least so many bytes has a line of a message.
pub const LINE_BYTES: u64 = 200;

/// What the receivers may not miss. A message that was acknowledged while a destination was there without a
/// break, from before it was sent for the first time until after its sender was told, has to arrive there. Of
/// a file, whose lines are acknowledged to nobody, all lines written since the destination was there for
/// good.
pub struct Owed {
    /// By receiver, then lane: numbers that came while its destination was, perhaps, not there.
    excused: Vec<Vec<Vec<Range<u64>>>>,
    /// By receiver: acknowledged when its destination left.
    left: Vec<Option<Vec<u64>>>,
    /// By receiver: the arrivals of which the order counts; `None` is all.
    pub ordered: Vec<Option<Vec<u64>>>,
    /// Messages that waited in a queue which nobody had: they come when its name comes back.
    pub strays: HashSet<u64>,
}

impl Owed {
    pub fn new(receivers: usize) -> Owed {
        Owed {
            excused: vec![vec![Vec::new(); LANES]; receivers],
            left: vec![None; receivers],
            ordered: vec![None; receivers],
            strays: HashSet::new(),
        }
    }

    /// The destination of a receiver is about to leave, and these are acknowledged.
    pub fn leaves(&mut self, receiver: usize, acknowledged: &[u64]) {
        self.left[receiver].get_or_insert_with(|| acknowledged.to_vec());
    }

    /// It is there, and these are sent. Nothing happens if it never left.
    pub fn comes(&mut self, receiver: usize, sent: &[u64]) {
        let Some(from) = self.left[receiver].take() else { return };
        for lane in 0..LANES {
            self.excused[receiver][lane].push(from[lane]..sent[lane]);
        }
    }

    /// What became of the messages of all lanes at one receiver, which got these numbers; and the first that
    /// are missing.
    pub fn judge(
        &self,
        receiver: usize,
        sent: &[u64],
        acknowledged: &[u64],
        numbers: &[u64],
    ) -> (Tally, Vec<String>) {
        let mut total = Tally::default();
        let mut missing = Vec::new();
        let lanes = |numbers: &[u64]| {
            let mut lanes: Vec<Vec<u64>> = vec![Vec::new(); LANES];
            let mut foreign = 0;
            for number in numbers {
                match lanes.get_mut((number / LANE) as usize) {
                    Some(lane) => lane.push(number % LANE),
                    None => foreign += 1,
                }
            }
            (lanes, foreign)
        };
        let (all, foreign) = lanes(numbers);
        let (mut ordered, _) = lanes(self.ordered[receiver].as_deref().unwrap_or(numbers));
        total.unaccounted += foreign;
        for lane in 0..LANES {
            // All lines of a file are owed: the program reads it again from what it has dealt with.
            let safe = if lane == FILE { sent[lane] } else { acknowledged[lane] };
            // What is not owed may have gone by, and come when a kill makes its source bring it again:
            // nothing is said of when.
            let excused = &self.excused[receiver][lane];
            let is_stray = |number: &u64| self.strays.contains(&(lane as u64 * LANE + number));
            ordered[lane]
                .retain(|number| !excused.iter().any(|range| range.contains(number)) && !is_stray(number));
            let mut tally = Tally::of(sent[lane], 0, &all[lane]);
            tally.acknowledged = safe;
            tally.reordered = Tally::of(sent[lane], 0, &ordered[lane]).reordered;
            if let Some((number, latest, at)) = Tally::first_reordered(&ordered[lane]) {
                missing.push(format!("lane {lane}: {number} behind {latest}, as arrival {at} of it"));
            }
            let lost = self.lost(receiver, lane, safe, &all[lane]);
            tally.lost = lost.len() as u64;
            if let (Some(first), Some(last)) = (lost.first(), lost.last()) {
                missing.push(format!("lane {lane}: {} of {safe}, from {first} to {last}", lost.len()));
            }
            total.add(&tally);
        }
        (total, missing)
    }

    fn lost(&self, receiver: usize, lane: usize, safe: u64, numbers: &[u64]) -> Vec<u64> {
        let mut there = vec![false; safe as usize];
        for number in numbers {
            if let Some(seen) = there.get_mut(*number as usize) {
                *seen = true;
            }
        }
        let excused = &self.excused[receiver][lane];
        (0..safe)
            .filter(|number| !there[*number as usize])
            .filter(|number| !excused.iter().any(|range| range.contains(number)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_while_the_destination_was_away_is_not_owed() {
        let mut owed = Owed::new(1);
        owed.leaves(0, &[3, 0, 0]);
        owed.leaves(0, &[9, 0, 0]);
        owed.comes(0, &[5, 0, 2]);
        let numbers = [0, 1, 5, 2, 0, 2 * LANE + 2, 9 * LANE];
        let (tally, missing) = owed.judge(0, &[7, 0, 4], &[7, 0, 0], &numbers);
        // Of the first lane 3 and 4 are excused, 6 is missing; of the file 0 and 1 are excused, 3 is missing.
        assert_eq!((tally.lost, tally.doubled, tally.reordered, tally.unaccounted), (2, 1, 1, 1));
        assert_eq!(
            missing,
            [
                "lane 0: 2 behind 5, as arrival 3 of it",
                "lane 0: 1 of 7, from 6 to 6",
                "lane 2: 1 of 4, from 3 to 3"
            ]
        );
        // Of what is excused nothing is said of when it comes.
        let numbers_late = [0, 1, 2, 5, 3, 6, 2 * LANE + 2, 2 * LANE, 2 * LANE + 3];
        let (tally, missing) = owed.judge(0, &[7, 0, 4], &[7, 0, 0], &numbers_late);
        assert_eq!((tally.lost, tally.reordered), (0, 0), "{missing:?}");
        // Nor of what a queue without a destination kept.
        owed.strays = [2].into();
        assert_eq!(owed.judge(0, &[7, 0, 4], &[7, 0, 0], &numbers).0.reordered, 0);
        owed.strays.clear();
        // What came behind the letters has no order.
        owed.ordered = vec![Some(numbers[..3].to_vec())];
        assert_eq!(owed.judge(0, &[7, 0, 4], &[7, 0, 0], &numbers).0.reordered, 0);
    }
}
