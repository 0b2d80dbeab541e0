//! How many targets share the messages of one key: as many as `worker-partition-buckets()` says, or as its
//! part of the last minute's messages wants.

use engine::program::Scratch;
use parking_lot::Mutex;
use record::{Batch, Demand};
use std::sync::Arc;
use std::time::{Duration, Instant};
use template::Template;

/// Keys are told apart by so many values of their hashes.
const SLOTS: usize = 1024;
/// So long messages are counted before it is looked again.
const WINDOW: Duration = Duration::from_secs(60);
/// At first nothing is known, so the first look comes sooner.
const FIRST_WINDOW: Duration = Duration::from_secs(5);

pub struct Spread {
    /// Otherwise it is seen.
    said: Option<Arc<Template>>,
    state: Mutex<Box<State>>,
}

/// Of each slot of keys.
struct State {
    /// Messages so far that had a choice.
    turns: [u32; SLOTS],
    seen: Seen,
}

/// What was counted.
struct Seen {
    until: Option<Instant>,
    counts: [u32; SLOTS],
    /// Targets of each slot.
    shares: [u16; SLOTS],
}

impl Spread {
    pub fn said(template: Arc<Template>) -> Spread {
        Spread { said: Some(template), state: Mutex::new(Box::new(State::new())) }
    }

    pub fn seen() -> Spread {
        Spread { said: None, state: Mutex::new(Box::new(State::new())) }
    }

    /// For each message of a selection whose keys have these hashes: how far from the first of its `count`
    /// targets the one is whose turn it is.
    pub fn turns(
        &self,
        (batch, selection): (&Batch, &[u32]),
        scratch: &mut Scratch,
        hashes: &[u64],
        count: usize,
        out: &mut Vec<usize>,
    ) {
        out.clear();
        if let Some(template) = &self.said {
            let (mut texts, mut ends, mut start) = (Vec::new(), Vec::new(), 0);
            template.render_selection(batch, selection, scratch.render(), &mut texts, &mut ends);
            for end in ends {
                out.push(width(texts.get(start..end as usize).unwrap_or_default()).min(count));
                start = end as usize;
            }
        }
        let mut state = self.state.lock();
        if self.said.is_none() {
            state.seen.widths(hashes, count, Instant::now(), out);
        }
        state.turn(hashes, out);
    }

    pub fn reads(&self, demand: &mut Demand) {
        self.said.iter().for_each(|template| template.reads(demand));
    }
}

fn slot(hash: u64) -> usize {
    (hash >> 40) as usize % SLOTS
}

impl State {
    fn new() -> State {
        let seen = Seen { until: None, counts: [0; SLOTS], shares: [1; SLOTS] };
        State { turns: [0; SLOTS], seen }
    }

    /// Of each message: from how many targets it may take, to which of them it is.
    fn turn(&mut self, hashes: &[u64], widths: &mut [usize]) {
        for (hash, place) in hashes.iter().zip(widths) {
            let width = (*place).max(1);
            *place = 0;
            if width > 1
                && let Some(turn) = self.turns.get_mut(slot(*hash))
            {
                *place = *turn as usize % width;
                *turn = turn.wrapping_add(1);
            }
        }
    }
}

/// A number from 1 on; what is none is 1.
pub fn width(text: &[u8]) -> usize {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok());
    number.unwrap_or(1).max(1)
}

impl Seen {
    fn widths(&mut self, hashes: &[u64], count: usize, now: Instant, out: &mut Vec<usize>) {
        let until = *self.until.get_or_insert(now + FIRST_WINDOW);
        if now >= until {
            self.share(count);
            self.until = Some(now + WINDOW);
        }
        for hash in hashes {
            let slot = slot(*hash);
            if let Some(seen) = self.counts.get_mut(slot) {
                *seen = seen.saturating_add(1);
            }
            out.push(self.shares.get(slot).map_or(1, |share| usize::from(*share)).min(count));
        }
    }

    /// Each slot gets as much of the targets as it has had of the messages, to the nearest; one at least.
    fn share(&mut self, count: usize) {
        let total: u64 = self.counts.iter().map(|count| u64::from(*count)).sum();
        for (seen, share) in self.counts.iter_mut().zip(&mut self.shares) {
            let part = u64::from(*seen) * count as u64;
            *share = ((part + total / 2) / total.max(1)).clamp(1, count.max(1) as u64) as u16;
            *seen = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_number_is_one() {
        let widths: Vec<usize> = ["3", " 12 ", "0", "", "-1", "x"].map(|t| width(t.as_bytes())).to_vec();
        assert_eq!(widths, [3, 12, 1, 1, 1, 1]);
    }

    #[test]
    fn keys_get_targets_as_they_have_messages() {
        let mut seen = State::new().seen;
        let hash = |key: u64| key << 40;
        // Half of all, a quarter, and 25 with a hundredth each.
        let mut hashes: Vec<u64> = vec![hash(0); 500];
        hashes.extend(vec![hash(1); 250]);
        hashes.extend((0..250).map(|n| hash(2 + n % 25)));
        let (start, mut out) = (Instant::now(), Vec::new());
        let mut widths = |at: Duration| -> Vec<usize> {
            out.clear();
            seen.widths(&hashes, 8, start + at, &mut out);
            [0, 500, 750, 999].map(|n| out[n]).to_vec()
        };
        assert_eq!(widths(Duration::ZERO), [1, 1, 1, 1], "nothing is known yet");
        assert_eq!(widths(FIRST_WINDOW), [4, 2, 1, 1]);
        assert_eq!(widths(FIRST_WINDOW + WINDOW), [4, 2, 1, 1]);
    }

    /// However they come by: here one of each in turns.
    #[test]
    fn each_key_has_turns_of_its_own() {
        let hashes: Vec<u64> = (0..12).map(|n| (n % 2) << 40).collect();
        let mut places = vec![2; 12];
        State::new().turn(&hashes, &mut places);
        assert_eq!(places, [0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn what_is_quiet_gets_one_again() {
        let mut seen = State::new().seen;
        let (start, mut out) = (Instant::now(), Vec::new());
        seen.widths(&[7 << 40; 100], 4, start, &mut out);
        seen.widths(&[9 << 40; 100], 4, start + FIRST_WINDOW, &mut out);
        assert_eq!((out[0], out[100]), (1, 1));
        out.clear();
        seen.widths(&[7 << 40, 9 << 40], 4, start + FIRST_WINDOW + WINDOW, &mut out);
        assert_eq!(out, [1, 4]);
        out.clear();
        seen.widths(&[], 4, start + FIRST_WINDOW + WINDOW * 2, &mut out);
        assert!(out.is_empty());
    }
}
