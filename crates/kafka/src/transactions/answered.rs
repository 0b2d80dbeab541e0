//! What coordinators answer, and what follows from their errors.

use super::{Phase, QueuePosition, Transactions};
use crate::answers::Coordinator;
use crate::answers::transacting::Said;
use crate::code::{self, COORDINATOR_NOT_AVAILABLE, Class, NOT_COORDINATOR, UNSTABLE_COMMIT};
use crate::producer::{Fate, Producer};
use crate::requests::transacting::Whose;
use std::time::{Duration, Instant};

/// The first pause before a question is asked again; it doubles with each try.
const PAUSE_MIN: Duration = Duration::from_millis(20);
const PAUSE_MAX: Duration = Duration::from_secs(1);

/// What can be done about an offset that is never settled.
const HANGING: &str = ": the transaction before is not over; if it stays so, `kafka-transactions.sh find-hanging` and `abort` end it";
const GROUP_AUTHORIZATION_FAILED: i16 = 30;
const INVALID_TRANSACTION_TIMEOUT: i16 = 50;

impl Transactions {
    pub fn hear(&mut self, said: Said, producer: &mut Producer, now: Instant) {
        self.asked = None;
        let error = match said {
            Said::Coordinator(whose, found) => return self.found(whose, found, producer, now),
            Said::Identity(Ok(identity)) => {
                self.identity = Some(identity);
                producer.identity_asked();
                producer.identity(Ok(identity), now);
                producer.open(false);
                0
            }
            Said::Position(Ok((offset, note))) => return self.recall(offset, &note, producer),
            Said::Identity(Err(error)) | Said::Position(Err(error)) => error,
            Said::Partitions(0) => {
                self.places.extend(producer.waiting());
                0
            }
            Said::Group(0) => {
                self.group_in = true;
                0
            }
            Said::Moved(0) => {
                self.is_moved = true;
                0
            }
            Said::Ended(0) => return self.end(matches!(self.phase, Phase::Ending { commits: true })),
            Said::Partitions(error) | Said::Group(error) | Said::Moved(error) | Said::Ended(error) => error,
        };
        match error {
            0 => self.tries = 0,
            error => self.failed(error, "", producer, now),
        }
    }

    fn found(&mut self, whose: Whose, found: Coordinator, producer: &mut Producer, now: Instant) {
        match found {
            Ok((id, host, port)) => {
                self.nodes.retain(|(known, ..)| *known != id);
                self.nodes.push((id, host, port));
                match whose {
                    Whose::Transaction => self.coordinator = Some(id),
                    Whose::Group => self.group = Some(id),
                }
            }
            Err((error, words)) => self.failed(error, &words, producer, now),
        }
    }

    /// The cluster says how far the queue was.
    fn recall(&mut self, offset: i64, note: &str, producer: &mut Producer) {
        let Some(kept) = &self.plan.kept else { return };
        match position(kept, offset, note) {
            Some(position) => self.position = Some(position),
            None => {
                let why = format!(
                    "the position of group `{}` was moved by a copy of this collector: nobody can tell which messages are \
                     there already; delete the group to go on, some may then come twice",
                    self.plan.id
                );
                self.give_up(Fate::Hold(why), producer);
            }
        }
    }

    fn failed(&mut self, error: i16, words: &str, producer: &mut Producer, now: Instant) {
        let pause = PAUSE_MIN.saturating_mul(1 << self.tries.min(10)).min(PAUSE_MAX);
        self.tries = self.tries.saturating_add(1);
        self.not_before = Some(now + pause);
        let text = match words.is_empty() {
            true => format!("transaction `{}`: {}", self.plan.id, code::name(error)),
            false => format!("transaction `{}`: {}: {words}", self.plan.id, code::name(error)),
        };
        match error {
            COORDINATOR_NOT_AVAILABLE | NOT_COORDINATOR => (self.coordinator, self.group) = (None, None),
            _ if code::is_fencing(error) => return self.shut_out(true, producer, now),
            GROUP_AUTHORIZATION_FAILED | INVALID_TRANSACTION_TIMEOUT => {
                return self.give_up(Fate::Hold(text), producer);
            }
            _ => match code::class(error) {
                Class::Hold => return self.give_up(Fate::Hold(text), producer),
                Class::Stranger => return self.give_up_and_repeat(&text, producer),
                Class::Moved => producer.look_again(),
                _ => {}
            },
        }
        // One that another transaction of the same producer has to end first is nothing to speak of.
        if self.tries > 5 {
            let hint = if error == UNSTABLE_COMMIT { HANGING } else { "" };
            self.trouble = Some(text + hint);
        }
    }

    /// The coordinator knows another epoch: it has given up a transaction that took too long, or somebody
    /// else has the transactional id.
    pub(super) fn shut_out(&mut self, is_fenced: bool, producer: &mut Producer, now: Instant) {
        let took = self.since.map_or(Duration::ZERO, |since| now.saturating_duration_since(since));
        let id = &self.plan.id;
        if is_fenced && took < self.plan.timeout {
            let why = format!(
                "another producer has taken `transactional.id` {id}: give each collector its own in config(), or end the other one"
            );
            return self.give_up(Fate::Hold(why), producer);
        }
        let why = format!("transaction `{id}` took too long, or its producer is not known any more");
        self.give_up_and_repeat(&why, producer);
    }

    fn give_up_and_repeat(&mut self, why: &str, producer: &mut Producer) {
        self.trouble = Some(why.to_owned());
        self.begin_anew(producer);
        if let Some(job) = self.job.take() {
            self.fates.push(job.end(false));
        }
    }

    fn give_up(&mut self, fate: Fate, producer: &mut Producer) {
        self.begin_anew(producer);
        if let Some(job) = self.job.take() {
            self.fates.push((job.id, fate));
        }
    }

    /// Everything is asked for again: a new epoch ends what was open under the old one.
    fn begin_anew(&mut self, producer: &mut Producer) {
        producer.forget();
        (self.identity, self.position, self.asked) = (None, None, None);
        let (tries, not_before) = (self.tries, self.not_before);
        self.is_over();
        (self.tries, self.not_before) = (tries, not_before);
        if let Some(job) = &mut self.job {
            job.fate = None;
        }
    }
}

/// How far this queue was; `None`: somebody else has moved it.
fn position(kept: &QueuePosition, offset: i64, note: &str) -> Option<u64> {
    let Some((queue, run)) = note.split_once(' ') else { return Some(0) };
    // The note of another queue: this one is new, and its numbers have nothing to do with those.
    if queue != kept.queue {
        return Some(0);
    }
    let run = u64::from_str_radix(run, 16).ok()?;
    (kept.is_own)(run).then(|| u64::try_from(offset).unwrap_or(0))
}
