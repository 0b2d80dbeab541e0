//! Messages that were taken together, and what became of them.

use super::{Fate, Why};

/// Which messages of a job are in a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Places {
    /// From the first on, so many.
    Range(u32, u32),
    List(Vec<u32>),
}

impl Places {
    pub fn add(&mut self, place: u32) {
        match self {
            Places::Range(first, count) if *count == 0 => (*first, *count) = (place, 1),
            Places::Range(first, count) if *first + *count == place => *count += 1,
            Places::Range(first, count) => {
                let list = (*first..*first + *count).chain([place]).collect();
                *self = Places::List(list);
            }
            Places::List(list) => list.push(place),
        }
    }

    /// The message at this place in the batch.
    pub fn at(&self, at: usize) -> Option<u32> {
        match self {
            Places::Range(first, count) => {
                u32::try_from(at).ok().filter(|at| at < count).map(|at| first + at)
            }
            Places::List(list) => list.get(at).copied(),
        }
    }

    pub fn each(&self, mut each: impl FnMut(u32)) {
        match self {
            Places::Range(first, count) => (*first..*first + *count).for_each(each),
            Places::List(list) => list.iter().for_each(|place| each(*place)),
        }
    }
}

/// What became of the messages of a batch that is not delivered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    TooLarge(String),
    /// Some of them are bad, by their place in the batch; with none named, one of them is.
    Bad(Vec<(usize, String)>, String),
    Hold(String),
    /// They go again, to wherever they belong now.
    Elsewhere(String),
}

pub struct Job {
    messages: usize,
    /// Batches whose fate is not known.
    pub left: usize,
    /// Batches it was divided into.
    pub batches: usize,
    /// Made when one of them is not all delivered.
    verdicts: Vec<Option<(Why, String)>>,
    split: Option<String>,
    hold: Option<String>,
}

impl Job {
    pub fn new(messages: usize) -> Job {
        Job { messages, left: 0, batches: 0, verdicts: Vec::new(), split: None, hold: None }
    }

    pub fn judge(&mut self, place: u32, why: Why, words: &str) {
        if self.verdicts.is_empty() {
            self.verdicts = vec![None; self.messages];
        }
        if let Some(verdict) = self.verdicts.get_mut(place as usize) {
            *verdict = Some((why, words.to_owned()));
        }
    }

    /// The messages of a batch are not delivered.
    pub fn lose(&mut self, places: &Places, count: i32, loss: Loss) {
        match loss {
            Loss::Hold(why) => {
                places.each(|place| self.judge(place, Why::Again, &why));
                self.hold = Some(why);
            }
            Loss::Elsewhere(why) => places.each(|place| self.judge(place, Why::Again, &why)),
            Loss::TooLarge(why) | Loss::Bad(_, why) if count == 1 => {
                places.each(|place| self.judge(place, Why::Refused, &why));
            }
            Loss::Bad(bad, _) if !bad.is_empty() => {
                places.each(|place| self.judge(place, Why::Again, "another message of its batch is bad"));
                for (at, why) in bad {
                    places.at(at).into_iter().for_each(|place| self.judge(place, Why::Refused, &why));
                }
            }
            Loss::TooLarge(why) | Loss::Bad(_, why) => {
                places.each(|place| self.judge(place, Why::Again, &why));
                self.split = Some(why);
            }
        }
    }

    /// What became of it, when nothing of it is on the way any more.
    pub fn fate(self) -> Fate {
        let has = |wanted: Why| self.verdicts.iter().flatten().any(|(why, _)| *why == wanted);
        let whole =
            !self.verdicts.is_empty() && self.verdicts.iter().all(Option::is_some) && !has(Why::Refused);
        match (self.hold, self.split) {
            (Some(why), _) if whole => Fate::Hold(why),
            (_, Some(why)) if whole && self.batches == 1 => Fate::Split(why),
            _ if self.verdicts.is_empty() => Fate::Delivered,
            _ => Fate::Judged(self.verdicts),
        }
    }
}

/// A job that is not divided yet.
pub struct Parked {
    pub id: u32,
    pub bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Parked {
    pub fn new(id: u32, messages: &[&[u8]]) -> Parked {
        let mut parked = Parked { id, bytes: Vec::new(), ends: Vec::with_capacity(messages.len()) };
        for message in messages {
            parked.bytes.extend_from_slice(message);
            parked.ends.push(parked.bytes.len());
        }
        parked
    }

    pub fn messages(&self) -> Vec<&[u8]> {
        let begins = [0].into_iter().chain(self.ends.iter().copied());
        begins.zip(&self.ends).map(|(begin, end)| self.bytes.get(begin..*end).unwrap_or_default()).collect()
    }
}
