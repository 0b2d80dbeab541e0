//! Messages that no server answers: each is delivered when its last byte is sent.

use crate::tally::{Judged, Tally};
use flight::Outcome;
use std::collections::VecDeque;

/// Where each ends in the stream of all bytes, and its number, both ascending.
#[derive(Default)]
pub struct Unanswered(VecDeque<(u64, u64)>);

impl Unanswered {
    /// The message of this number ends there.
    pub fn push(&mut self, end: u64, number: u64) {
        self.0.push_back((end, number));
    }

    /// The stream is sent up to this place.
    pub fn sent(&mut self, sent_to: u64, tally: &mut Tally, out: &mut Vec<(u32, Outcome)>) {
        while let Some((_, number)) = self.0.pop_front_if(|(end, _)| *end <= sent_to) {
            tally.judge(number, Judged::Delivered, out);
        }
    }

    /// The connection is gone, and what was on it.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_to_its_end_is_delivered() {
        let (mut unanswered, mut tally, mut out) = (Unanswered::default(), Tally::default(), Vec::new());
        let first = tally.begin(5, 2, 0);
        unanswered.push(10, first);
        unanswered.push(20, first + 1);
        unanswered.sent(19, &mut tally, &mut out);
        assert_eq!((tally.open(), out.len()), (1, 0));
        unanswered.sent(20, &mut tally, &mut out);
        assert_eq!(out, [(5, Outcome::Delivered)]);
    }
}
