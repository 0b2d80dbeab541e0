//! The messages that were sent and are not settled, in the order of the queue, as runs of those with the same
//! fate.
//!
//! A batch is all runs that are away under its number; of one that comes back in parts, these are sent again
//! together. A batch that is halved becomes two groups, which never go together again.

use crate::contract::Verdict;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// On the way, in the batch of this number.
    Away(u32),
    /// To be sent again.
    Back,
    Delivered,
    /// The server's words.
    Refused(Arc<str>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Never 0.
    pub messages: usize,
    /// Those of a group are sent again together.
    group: u32,
    /// Failures that count.
    tries: u32,
    pub state: State,
}

#[derive(Debug, Default)]
pub struct Runs {
    list: VecDeque<Run>,
    messages: usize,
    /// The number of the next batch or group.
    next: u32,
    /// Batches on the way, and when they began.
    away: Vec<(u32, Instant)>,
}

impl Runs {
    /// Messages that were sent and are not settled.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// Batches on the way.
    pub fn away(&self) -> usize {
        self.away.len()
    }

    pub fn is_away(&self, id: u32) -> bool {
        self.away.iter().any(|(away, _)| *away == id)
    }

    /// When the oldest of these began.
    pub fn oldest(&self) -> Option<Instant> {
        self.away.iter().map(|(_, began)| *began).min()
    }

    fn number(&mut self) -> u32 {
        self.next = self.next.wrapping_add(1);
        self.next
    }

    /// A batch of messages that were never sent, behind all that were.
    pub fn send(&mut self, messages: usize, now: Instant) -> u32 {
        let id = self.number();
        self.list.push_back(Run { messages, group: id, tries: 0, state: State::Away(id) });
        self.messages += messages;
        self.away.push((id, now));
        id
    }

    /// The first group that is to be sent again: for each of its runs how many messages stand before it, and
    /// how many it has.
    pub fn back(&self) -> Option<Vec<(usize, usize)>> {
        let group = self.list.iter().find(|run| run.state == State::Back)?.group;
        let mut before = 0;
        let mut found = Vec::new();
        for run in &self.list {
            if run.state == State::Back && run.group == group {
                found.push((before, run.messages));
            }
            before += run.messages;
        }
        Some(found)
    }

    /// That group is on the way again.
    pub fn send_again(&mut self, now: Instant) -> u32 {
        let id = self.number();
        let first = self.list.iter().find(|run| run.state == State::Back).map(|run| run.group);
        for run in self.list.iter_mut().filter(|run| run.state == State::Back && Some(run.group) == first) {
            run.state = State::Away(id);
        }
        self.away.push((id, now));
        id
    }

    /// All of a batch is delivered or refused.
    pub fn settled(&mut self, id: u32, state: &State) {
        self.land(id, |run, list| append(list, Run { state: state.clone(), ..run }));
    }

    /// A batch is to be sent again. `counts`: as a failure.
    pub fn again(&mut self, id: u32, counts: bool) {
        let more = u32::from(counts);
        self.land(id, |run, list| {
            append(list, Run { state: State::Back, tries: run.tries.saturating_add(more), ..run });
        });
    }

    /// Failures of a batch that count.
    pub fn tries(&self, id: u32) -> u32 {
        self.list.iter().filter(|run| run.state == State::Away(id)).map(|run| run.tries).max().unwrap_or(0)
    }

    /// Each message of a batch has its verdict. Returns how many were delivered, refused, and are to be sent
    /// again.
    pub fn judged(&mut self, id: u32, verdicts: &[Verdict]) -> [usize; 3] {
        let mut verdicts = verdicts.iter();
        let mut counts = [0; 3];
        self.land(id, |run, list| {
            for _ in 0..run.messages {
                let (at, state) = match verdicts.next() {
                    Some(Verdict::Delivered) => (0, State::Delivered),
                    Some(Verdict::Refused(why)) => (1, State::Refused(Arc::from(&**why))),
                    Some(Verdict::Again | Verdict::Hold(_)) | None => (2, State::Back),
                };
                counts[at] += 1;
                append(list, Run { messages: 1, state, ..run.clone() });
            }
        });
        counts
    }

    /// A batch is halved; a message that was alone in it is refused. Whether it was.
    pub fn split(&mut self, id: u32, why: &str) -> bool {
        let all: usize =
            self.list.iter().filter(|run| run.state == State::Away(id)).map(|run| run.messages).sum();
        if all <= 1 {
            self.settled(id, &State::Refused(Arc::from(why)));
            return true;
        }
        let (first, second) = (self.number(), self.number());
        let mut left = all.div_ceil(2);
        self.land(id, |run, list| {
            let n = run.messages.min(left);
            left -= n;
            for (messages, group) in [(n, first), (run.messages - n, second)] {
                if messages > 0 {
                    append(list, Run { messages, group, state: State::Back, ..run.clone() });
                }
            }
        });
        false
    }

    /// Takes a batch that was on the way, run by run.
    fn land(&mut self, id: u32, mut each: impl FnMut(Run, &mut VecDeque<Run>)) {
        self.away.retain(|(away, _)| *away != id);
        let mut list = VecDeque::with_capacity(self.list.len());
        for run in self.list.drain(..) {
            match run.state == State::Away(id) {
                true => each(run, &mut list),
                false => append(&mut list, run),
            }
        }
        self.list = list;
    }

    /// The run at the front, when its fate is known.
    pub fn front(&self) -> Option<&Run> {
        self.list.front().filter(|run| matches!(run.state, State::Delivered | State::Refused(_)))
    }

    /// So many messages of it are settled.
    pub fn settle(&mut self, messages: usize) {
        let Some(run) = self.list.front_mut() else { return };
        let n = messages.min(run.messages);
        run.messages -= n;
        self.messages -= n;
        if run.messages == 0 {
            self.list.pop_front();
        }
    }

    /// Whether all of it is only to be sent again, in one piece: nothing is lost by forgetting what is known
    /// of it.
    pub fn is_untouched(&self) -> bool {
        match self.list.front() {
            Some(run) => self.list.len() == 1 && run.state == State::Back && run.tries == 0,
            None => false,
        }
    }

    /// Forgets all of it; numbers go on, so that a late answer is not mistaken.
    pub fn clear(&mut self) {
        self.list.clear();
        self.messages = 0;
        self.away.clear();
    }
}

fn append(list: &mut VecDeque<Run>, run: Run) {
    if let Some(last) = list.back_mut()
        && last.state == run.state
        && (last.group == run.group && last.tries == run.tries || run.state != State::Back)
    {
        last.messages += run.messages;
        return;
    }
    list.push_back(run);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(runs: &Runs) -> String {
        let one = |run: &Run| {
            let mark = match &run.state {
                State::Away(_) => '>',
                State::Back => '<',
                State::Delivered => '+',
                State::Refused(_) => '-',
            };
            format!("{}{mark}", run.messages)
        };
        runs.list.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_batch_that_is_halved_goes_in_two_and_the_bad_one_ends_alone() {
        let (mut runs, now) = (Runs::default(), Instant::now());
        let id = runs.send(5, now);
        assert!(!runs.split(id, "no"));
        assert_eq!((shown(&runs), runs.back()), ("3< 2<".to_owned(), Some(vec![(0, 3)])));
        let id = runs.send_again(now);
        runs.settled(id, &State::Delivered);
        assert_eq!((shown(&runs), runs.back()), ("3+ 2<".to_owned(), Some(vec![(3, 2)])));
        let id = runs.send_again(now);
        runs.split(id, "no");
        let id = runs.send_again(now);
        assert!(runs.split(id, "no"));
        assert_eq!(shown(&runs), "3+ 1- 1<");
    }

    #[test]
    fn what_comes_back_in_parts_goes_again_together() {
        use Verdict::{Again, Delivered};
        let (mut runs, now) = (Runs::default(), Instant::now());
        let id = runs.send(5, now);
        let later = runs.send(2, now);
        let counts = runs.judged(id, &[Again, Delivered, Verdict::Refused("bad".into()), Again]);
        assert_eq!(counts, [1, 1, 3]);
        assert_eq!(shown(&runs), "1< 1+ 1- 2< 2>");
        assert_eq!(runs.back(), Some(vec![(0, 1), (3, 2)]));
        let id = runs.send_again(now);
        runs.settled(later, &State::Delivered);
        runs.settled(id, &State::Delivered);
        assert_eq!((shown(&runs), runs.messages(), runs.away()), ("2+ 1- 4+".to_owned(), 7, 0));
    }
}
