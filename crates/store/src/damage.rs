//! What is missing of the log: frames of a file that are no longer intact, and files that are not there.

use crate::frame;
use std::collections::BTreeMap;

/// Gaps of one segment that are told apart.
const GAPS_MAX: usize = 10_000;

/// What is missing of a segment, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    pub gaps: Vec<Gap>,
    /// What stands in the gaps where messages stood.
    pub scraps: Vec<Scrap>,
    /// So many gaps are explained, for each queue.
    explained: BTreeMap<u32, usize>,
}

/// Numbers that are missing between intact frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gap {
    pub first: u64,
    pub count: u64,
    /// Messages of each queue among them, as far as that is known.
    pub lost: BTreeMap<u32, u64>,
}

/// What is left of a message that is no longer intact.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scrap {
    /// Where its gap ends.
    pub end: u64,
    /// The queues it was in; 0 where that cannot be told.
    pub queues: u64,
    /// The first bytes.
    pub text: Vec<u8>,
}

/// Numbers between two segments that are in no file.
pub struct Hole {
    pub end: u64,
    pub lost: BTreeMap<u32, u64>,
}

impl Damage {
    pub fn note(&mut self, first: u64, count: u64) {
        let full = self.gaps.len() >= GAPS_MAX;
        match self.gaps.last_mut() {
            Some(last) if full => last.count += count,
            _ => self.gaps.push(Gap { first, count, lost: BTreeMap::new() }),
        }
    }

    /// So many messages of the queue are missing in gaps that were not explained before. Which of several
    /// they were in is not known: the last ones are taken to be full, where less is done. Returns how many do
    /// not fit in.
    pub fn explain(&mut self, id: u32, mut messages: u64) -> u64 {
        let explained = self.explained.entry(id).or_default();
        for gap in self.gaps.get_mut(*explained..).unwrap_or_default().iter_mut().rev() {
            let taken = messages.min(gap.count.saturating_sub(gap.lost.get(&id).copied().unwrap_or(0)));
            if taken > 0 {
                *gap.lost.entry(id).or_default() += taken;
                messages -= taken;
            }
        }
        *explained = self.gaps.len();
        messages
    }

    /// Messages of the queue that are missing in the gaps that end between `from` and `to`.
    pub fn lost(&self, id: u32, from: u64, to: u64) -> u64 {
        let lost = |gap: &Gap| {
            let end = gap.first + gap.count;
            let ahead = end.saturating_sub(from.max(gap.first));
            if (from + 1..=to).contains(&end) {
                gap.lost.get(&id).map_or(0, |lost| ahead.min(*lost))
            } else {
                0
            }
        };
        self.gaps.iter().map(lost).sum()
    }

    /// What is left of messages of the queue in the gaps that end between `from` and `to`.
    pub fn scraps_of(&self, id: u32, from: u64, to: u64) -> impl Iterator<Item = &Scrap> {
        let of_queue = move |scrap: &&Scrap| scrap.queues == 0 || frame::belongs_to(scrap.queues, id);
        self.scraps.iter().filter(move |scrap| (from + 1..=to).contains(&scrap.end)).filter(of_queue)
    }

    /// Messages of the queue that are known to be missing.
    pub fn lost_of(&self, id: u32) -> u64 {
        self.gaps.iter().map(|gap| gap.lost.get(&id).copied().unwrap_or(0)).sum()
    }
}
