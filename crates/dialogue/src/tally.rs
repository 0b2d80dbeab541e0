//! Batches on the way whose messages are answered one by one, in whatever order.

use crate::session::Loss;
use flight::{Outcome, Verdict};
use std::collections::VecDeque;
use std::time::Duration;

/// What an answer means for the message that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    Delivered,
    /// The server's words.
    Refused(String),
    Again(String),
    /// Somebody has to do something first.
    Hold(String),
}

struct Batch {
    id: u32,
    /// Of its first message.
    number: u64,
    /// `None`: not answered.
    verdicts: Vec<Option<Verdict>>,
    open: usize,
    again: Option<String>,
    hold: Option<String>,
    /// Where its bytes begin, of all that are sent on the connection.
    begins: u64,
}

/// So many batches go alone once a server has ended a connection because of a message: only then it is
/// certain which one that message is in.
const ALONE: u32 = 16;

/// Messages have numbers from 0 on, in the order in which their batches begin on a connection.
#[derive(Default)]
pub struct Tally {
    batches: VecDeque<Batch>,
    next: u64,
    /// Batches that are still to go alone.
    alone: u32,
}

impl Tally {
    pub fn batches(&self) -> usize {
        self.batches.len()
    }

    pub fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether another batch may begin, where `most` may be on the way, and so many `wait` that are not here
    /// yet.
    pub fn has_room(&self, most: usize, wait: usize) -> bool {
        self.batches.len() + wait < if self.alone > 0 { 1 } else { most }
    }

    /// Messages that were not answered.
    pub fn open(&self) -> usize {
        self.batches.iter().map(|batch| batch.open).sum()
    }

    /// A batch of so many messages. `begins`: where its bytes begin. Returns the number of the first one.
    pub fn begin(&mut self, id: u32, count: usize, begins: u64) -> u64 {
        let number = self.next;
        self.next += count as u64;
        let verdicts = vec![None; count];
        self.batches.push_back(Batch { id, number, verdicts, open: count, again: None, hold: None, begins });
        number
    }

    /// The message of this number is answered. One that is none, or was answered before, changes nothing.
    pub fn judge(&mut self, number: u64, judged: Judged, out: &mut Vec<(u32, Outcome)>) {
        let Some(at) = self.batches.iter().position(|batch| {
            number.checked_sub(batch.number).is_some_and(|place| place < batch.verdicts.len() as u64)
        }) else {
            return;
        };
        let Some(batch) = self.batches.get_mut(at) else { return };
        batch.judge((number - batch.number) as usize, judged);
        if batch.open == 0
            && let Some(batch) = self.batches.remove(at)
        {
            self.alone = self.alone.saturating_sub(1);
            out.push((batch.id, batch.outcome()));
        }
    }

    /// All that were not answered up to this number are answered in the same way.
    pub fn judge_to(&mut self, last: u64, judged: &Judged, out: &mut Vec<(u32, Outcome)>) {
        while let Some(batch) = self.batches.front_mut()
            && batch.number <= last
        {
            let count = (last - batch.number + 1).min(batch.verdicts.len() as u64) as usize;
            (0..count).for_each(|place| batch.judge(place, judged.clone()));
            if batch.open > 0 {
                return;
            }
            self.alone = self.alone.saturating_sub(1);
            out.extend(self.batches.pop_front().map(|batch| (batch.id, batch.outcome())));
        }
    }

    /// The connection has ended, of whose bytes so many were sent: all batches are given back. What was
    /// answered counts. `at_fault`: a message without an answer is. With one batch on the way it is known
    /// which one to halve; else they go again, each alone.
    pub fn lost(&mut self, fault: &Loss, (sent_to, at_fault): (u64, bool), out: &mut Vec<(u32, Outcome)>) {
        let split = at_fault && self.batches.len() == 1;
        if at_fault {
            self.alone = ALONE;
        }
        for batch in self.batches.drain(..) {
            let (Loss::Broken(why) | Loss::Refused(why)) = fault;
            let id = batch.id;
            let outcome = match fault {
                _ if batch.open < batch.verdicts.len() => batch.judged(Some(Duration::ZERO)),
                _ if split => Outcome::Split(why.clone()),
                Loss::Refused(_) => Outcome::Hold(why.clone()),
                Loss::Broken(_) if sent_to <= batch.begins => Outcome::Away(why.clone()),
                Loss::Broken(_) => Outcome::Unknown(why.clone()),
            };
            out.push((id, outcome));
        }
        self.next = 0;
    }
}

impl Batch {
    fn judge(&mut self, place: usize, judged: Judged) {
        let Some(verdict @ None) = self.verdicts.get_mut(place) else { return };
        self.open -= 1;
        *verdict = Some(match judged {
            Judged::Delivered => Verdict::Delivered,
            Judged::Refused(why) => Verdict::Refused(why.into()),
            Judged::Again(why) => {
                self.again.get_or_insert(why);
                Verdict::Again
            }
            Judged::Hold(why) => {
                self.hold.get_or_insert(why);
                Verdict::Again
            }
        });
    }

    fn judged(self, after: Option<Duration>) -> Outcome {
        let verdicts = self.verdicts.into_iter().map(|verdict| verdict.unwrap_or(Verdict::Again)).collect();
        Outcome::Judged { verdicts, after }
    }

    /// When every message has its verdict.
    fn outcome(self) -> Outcome {
        let is = |what: &Verdict| self.verdicts.iter().all(|verdict| verdict.as_ref() == Some(what));
        match (&self.hold, &self.again) {
            _ if is(&Verdict::Delivered) => Outcome::Delivered,
            (Some(why), _) if is(&Verdict::Again) => Outcome::Hold(why.clone()),
            (None, Some(why)) if is(&Verdict::Again) => {
                Outcome::Again { after: None, counts: false, why: why.clone() }
            }
            _ => self.judged(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_find_their_messages() {
        let (mut tally, mut out) = (Tally::default(), Vec::new());
        assert_eq!((tally.begin(7, 2, 0), tally.begin(8, 3, 100)), (0, 2));
        tally.judge(3, Judged::Refused("no".into()), &mut out);
        tally.judge(1, Judged::Delivered, &mut out);
        // Twice, and none of them.
        tally.judge(1, Judged::Refused("x".into()), &mut out);
        tally.judge(99, Judged::Delivered, &mut out);
        assert_eq!((tally.open(), out.len()), (3, 0));
        tally.judge_to(4, &Judged::Delivered, &mut out);
        let verdicts = vec![Verdict::Delivered, Verdict::Refused("no".into()), Verdict::Delivered];
        assert_eq!(out, [(7, Outcome::Delivered), (8, Outcome::Judged { verdicts, after: None })]);
        assert!(tally.is_empty());
    }

    #[test]
    fn what_is_lost_is_given_back() {
        let fault = Loss::Broken("gone".into());
        let lost = |split: bool, sent_to: u64, answered: bool| {
            let (mut tally, mut out) = (Tally::default(), Vec::new());
            tally.begin(1, 2, 0);
            tally.begin(2, 1, 50);
            if answered {
                tally.judge(0, Judged::Delivered, &mut out);
            }
            tally.lost(&fault, (sent_to, split), &mut out);
            assert_eq!(tally.begin(3, 1, 0), 0);
            out.into_iter().map(|(_, outcome)| outcome).collect::<Vec<_>>()
        };
        let (unknown, away) = (Outcome::Unknown("gone".into()), Outcome::Away("gone".into()));
        assert_eq!(lost(false, 40, false), [unknown.clone(), away.clone()]);
        assert_eq!(lost(true, 40, false), [unknown, away], "nobody knows which one");
        let verdicts = vec![Verdict::Delivered, Verdict::Again];
        assert_eq!(lost(false, 0, true)[0], Outcome::Judged { verdicts, after: Some(Duration::ZERO) });
    }

    #[test]
    fn the_batch_of_a_message_at_fault_is_found_alone_and_halved() {
        let (mut tally, mut out) = (Tally::default(), Vec::new());
        let fault = Loss::Broken("bad".into());
        tally.begin(1, 1, 0);
        assert!(tally.has_room(2, 0));
        tally.begin(2, 1, 50);
        tally.lost(&fault, (60, true), &mut out);
        assert!(out.iter().all(|(_, outcome)| matches!(outcome, Outcome::Unknown(_))), "{out:?}");
        // The first one was good.
        out.clear();
        tally.begin(3, 1, 0);
        assert!(!tally.has_room(2, 0));
        tally.judge(0, Judged::Delivered, &mut out);
        tally.begin(4, 1, 50);
        tally.lost(&fault, (60, true), &mut out);
        assert_eq!(out, [(3, Outcome::Delivered), (4, Outcome::Split("bad".into()))]);
        for number in 0..u64::from(ALONE) {
            tally.begin(5, 1, 0);
            assert!(!tally.has_room(2, 0));
            tally.judge(number, Judged::Delivered, &mut out);
        }
        tally.begin(6, 1, 0);
        assert!(tally.has_room(2, 0));
    }

    #[test]
    fn what_all_of_a_batch_waits_for_is_said() {
        let (mut tally, mut out) = (Tally::default(), Vec::new());
        tally.begin(1, 2, 0);
        tally.judge_to(1, &Judged::Hold("right".into()), &mut out);
        assert_eq!(out, [(1, Outcome::Hold("right".into()))]);
    }
}
