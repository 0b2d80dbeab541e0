//! The job that is a transaction: what of it is in the topics already, and what became of the rest.

use crate::producer::{Fate, Parked, Why};

pub struct Job {
    pub id: u32,
    parked: Option<Parked>,
    numbers: Vec<Option<u64>>,
    messages: usize,
    /// Its first messages that were in the topics already.
    there: usize,
    /// The position behind it.
    pub until: Option<u64>,
    /// What the producer said of it.
    pub fate: Option<Fate>,
    /// Places of messages that somebody follows.
    followed: Vec<usize>,
}

impl Job {
    pub fn new(id: u32, messages: &[&[u8]], numbers: &[Option<u64>], followed: Vec<usize>) -> Job {
        let until = numbers.iter().rev().flatten().next().map(|number| number + 1);
        Job {
            id,
            parked: Some(Parked::new(id, messages)),
            numbers: numbers.to_vec(),
            messages: messages.len(),
            there: 0,
            until,
            fate: None,
            followed,
        }
    }

    pub fn held_bytes(&self) -> usize {
        self.parked.as_ref().map_or(0, |parked| parked.bytes.len())
    }

    /// The followed messages, by their places in what the producer gets of the job.
    pub fn followed(&self) -> impl Iterator<Item = usize> {
        self.followed.iter().filter_map(|place| place.checked_sub(self.there))
    }

    /// The place of a message in the job, by that in what the producer got of it.
    pub fn place_of(&self, place: usize) -> usize {
        self.there + place
    }

    /// Its messages, and how many of them have numbers before the position. Once.
    pub fn start(&mut self, position: u64) -> Option<(usize, Parked)> {
        let parked = self.parked.take()?;
        let last = self.numbers.iter().rposition(|number| number.is_some_and(|number| number < position));
        self.there = last.map_or(0, |last| last + 1);
        Some((self.there, parked))
    }

    /// Its fate. Of a transaction that was given up nothing is there but what was refused, and goes again.
    pub fn end(self, commits: bool) -> (u32, Fate) {
        let again = || Some((Why::Again, "its transaction was given up".to_owned()));
        let left = self.messages - self.there;
        let fate = match self.fate {
            Some(Fate::Judged(verdicts)) => {
                let verdicts = verdicts.into_iter().map(|v| if commits { v } else { v.or_else(again) });
                Fate::Judged(vec![None; self.there].into_iter().chain(verdicts).collect())
            }
            Some(fate) if commits || fate != Fate::Delivered => fate,
            _ => {
                let verdicts = (0..left).map(|_| again());
                Fate::Judged(vec![None; self.there].into_iter().chain(verdicts).collect())
            }
        };
        (self.id, fate)
    }
}
