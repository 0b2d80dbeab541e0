//! What becomes of batches that were sent: answered, refused, to be sent again, or cut off without a word.

use super::job::Loss;
use super::topic::{Entry, Partition};
use super::{Fate, Identity, Producer};
use crate::answers::Written;
use crate::code::{self, Class};
use std::time::{Duration, Instant};

/// The first pause before a batch is sent again; it doubles with each try.
const PAUSE_MIN: Duration = Duration::from_millis(50);
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// A batch that came damaged so often is bad itself.
const DAMAGED_MAX: u32 = 3;

impl Producer {
    /// A broker has answered a request.
    pub fn answered(&mut self, tag: u64, written: &[Written], now: Instant) {
        let Some(request) = self.requests.remove(&tag) else { return };
        if let Some(node) = self.nodes.get_mut(&request.node) {
            node.away = node.away.saturating_sub(1);
        }
        for (topic_at, at, id) in request.places {
            let Some(topic) = self.topics.get(topic_at) else { continue };
            let answer = written.iter().find(|w| w.partition == at as i32 && *w.topic == *topic.name);
            match answer {
                Some(answer) => self.judge((topic_at, at), id, answer, now),
                // No word of it: as if the connection had been cut.
                None => self.again((topic_at, at), id, None),
            }
        }
        self.renew_when_quiet();
    }

    fn judge(&mut self, place: (usize, usize), id: u64, answer: &Written, now: Instant) {
        let words = match answer.words.is_empty() {
            true => code::name(answer.error).to_owned(),
            false => format!("{}: {}", code::name(answer.error), answer.words),
        };
        match code::class(answer.error) {
            Class::Fine | Class::Doubled => self.delivered(place, id, answer.offset),
            Class::Moved => {
                self.cluster.is_stale = true;
                self.pause(place, id, &words, now);
            }
            Class::Busy => self.pause(place, id, &words, now),
            Class::OutOfOrder => {
                if self.is_next(place, id) {
                    self.become_stranger(&words);
                }
                self.again(place, id, None);
            }
            Class::Stranger => {
                self.is_fenced = code::is_fencing(answer.error);
                self.become_stranger(&words);
                self.again(place, id, None);
            }
            Class::TooLarge => {
                self.shrink(place, id);
                self.lost(place, id, Loss::TooLarge(words));
            }
            Class::Bad => self.is_bad(place, id, answer, words, now),
            Class::Hold if answer.error == code::INVALID_TOPIC && self.refuse_topic(place.0) => {
                self.lost(place, id, Loss::Elsewhere(words));
            }
            Class::Hold => self.lost(place, id, Loss::Hold(words)),
        }
    }

    fn is_bad(&mut self, place: (usize, usize), id: u64, answer: &Written, words: String, now: Instant) {
        // CORRUPT_MESSAGE may come of the way that it took.
        if answer.error == 2 && self.entry(place, id).is_some_and(|entry| entry.tries < DAMAGED_MAX) {
            return self.pause(place, id, &words, now);
        }
        let named = |(at, why): &(usize, String)| {
            (*at, if why.is_empty() { words.clone() } else { format!("{}: {why}", code::name(answer.error)) })
        };
        let bad: Vec<(usize, String)> = answer.bad.iter().map(named).collect();
        if bad.is_empty() {
            self.tell_apart(place, id);
        }
        self.lost(place, id, Loss::Bad(bad, words));
    }

    /// The messages of a batch go one by one, where the whole job cannot be halved.
    fn tell_apart(&mut self, place: (usize, usize), id: u64) {
        let Some(Entry { job, count, .. }) = self.entry(place, id) else { return };
        let (job, count) = (*job, *count as usize);
        if self.jobs.get(&job).is_some_and(|job| job.batches > 1)
            && let Some(partition) = self.partition(place)
        {
            partition.singly += count;
        }
    }

    fn entry(&mut self, place: (usize, usize), id: u64) -> Option<&mut Entry> {
        let partition = self.partition(place)?;
        partition.queue.iter_mut().find(|entry| entry.id == id)
    }

    fn partition(&mut self, (topic, at): (usize, usize)) -> Option<&mut Partition> {
        self.topics.get_mut(topic)?.partitions.get_mut(at)
    }

    /// Whether a batch was in order by all that is known here.
    fn is_next(&self, (topic, at): (usize, usize), id: u64) -> bool {
        let Some(partition) = self.topics.get(topic).and_then(|topic| topic.partitions.get(at)) else {
            return false;
        };
        let front = partition.queue.front().filter(|entry| entry.id == id);
        front.is_some_and(|entry| !partition.hurt && entry.number.is_some())
    }

    /// Takes a batch out of its queue: its fate is known.
    fn take(&mut self, place: (usize, usize), id: u64) -> Option<Entry> {
        let partition = self.partition(place)?;
        let which = partition.queue.iter().position(|entry| entry.id == id)?;
        let entry = partition.queue.remove(which)?;
        partition.away = partition.away.saturating_sub(usize::from(entry.is_away));
        self.held_bytes = self.held_bytes.saturating_sub(entry.bytes.len());
        Some(entry)
    }

    fn delivered(&mut self, place: (usize, usize), id: u64, offset: Option<u64>) {
        let Some(entry) = self.take(place, id) else { return };
        if !self.followed.is_empty() {
            self.land(place, &entry, offset);
        }
        if let Some(partition) = self.partition(place) {
            partition.settle(entry.number, entry.count);
            partition.not_before = None;
            partition.mend();
        }
        self.done(entry, None);
    }

    /// Brokers say that this is no name of a topic. `false`: it is the one for messages without one.
    pub(super) fn refuse_topic(&mut self, at: usize) -> bool {
        let Some(topic) = self.topics.get_mut(at).filter(|_| at > 0) else { return false };
        topic.is_refused = true;
        let name = String::from_utf8_lossy(&topic.name);
        self.trouble =
            Some(format!("topic {name}: INVALID_TOPIC_EXCEPTION, its messages go to fallback-topic()"));
        self.give_back_from(at, 0, &Loss::Elsewhere("the topic has another name".to_owned()));
        true
    }

    /// Nothing goes to a topic until somebody has done something: what is not on the way is given back.
    pub(super) fn hold_topic(&mut self, topic: usize, why: &str) {
        self.give_back_from(topic, 0, &Loss::Hold(why.to_owned()));
    }

    /// Partitions from this number on are gone: what waits for them goes to others.
    pub(super) fn divide_anew(&mut self, topic: usize, from: usize) {
        self.give_back_from(topic, from, &Loss::Elsewhere("its partition is gone".to_owned()));
    }

    fn give_back_from(&mut self, topic: usize, from: usize, loss: &Loss) {
        let Some(of) = self.topics.get(topic) else { return };
        let waiting = |(at, partition): (usize, &Partition)| {
            let ids = partition.queue.iter().filter(|entry| !entry.is_away).map(|entry| entry.id);
            ids.map(|id| ((topic, at), id)).collect::<Vec<_>>()
        };
        let waiting: Vec<_> = of.partitions.iter().enumerate().skip(from).flat_map(waiting).collect();
        for (place, id) in waiting {
            self.lost(place, id, loss.clone());
        }
    }

    /// A batch is not written and will not be.
    fn lost(&mut self, place: (usize, usize), id: u64, loss: Loss) {
        let Some(entry) = self.take(place, id) else { return };
        if let Some(partition) = self.partition(place) {
            // What was sent behind it is out of order now.
            partition.hurt = true;
            partition.mend();
        }
        self.done(entry, Some(loss));
    }

    fn done(&mut self, entry: Entry, loss: Option<Loss>) {
        if let Some(job) = self.jobs.get_mut(&entry.job) {
            job.left = job.left.saturating_sub(1);
            if let Some(loss) = loss {
                job.lose(&entry.places, entry.count, loss);
            }
        }
        self.conclude(entry.job);
        self.spare(entry.bytes);
    }

    /// Says what became of a job of which nothing is on the way any more.
    pub(super) fn conclude(&mut self, id: u32) {
        if self.jobs.get(&id).is_some_and(|job| job.left == 0)
            && let Some(job) = self.jobs.remove(&id)
        {
            self.fates.push((id, job.fate()));
        }
    }

    /// A batch goes again when all that is on the way of its partition is answered.
    fn again(&mut self, place: (usize, usize), id: u64, not_before: Option<Instant>) {
        let Some(partition) = self.partition(place) else { return };
        let Some(entry) = partition.queue.iter_mut().find(|entry| entry.id == id) else { return };
        if std::mem::take(&mut entry.is_away) {
            partition.away = partition.away.saturating_sub(1);
        }
        entry.tries = entry.tries.saturating_add(1);
        partition.hurt = true;
        partition.not_before = partition.not_before.max(not_before);
        partition.mend();
    }

    fn pause(&mut self, place: (usize, usize), id: u64, words: &str, now: Instant) {
        let tries = self.entry(place, id).map_or(0, |entry| entry.tries);
        let pause = PAUSE_MIN.saturating_mul(1 << tries.min(10)).min(PAUSE_MAX);
        self.say(place, words);
        self.again(place, id, Some(now + pause));
    }

    fn say(&mut self, (topic, at): (usize, usize), words: &str) {
        let name = self.topics.get(topic).map(|topic| String::from_utf8_lossy(&topic.name).into_owned());
        self.trouble = Some(format!("{} partition {at}: {words}", name.unwrap_or_default()));
    }

    /// From now on batches of this partition are no larger than half of one that was too large.
    fn shrink(&mut self, place: (usize, usize), id: u64) {
        let Some(entry) = self.entry(place, id) else { return };
        if entry.count > 1 {
            let half = entry.bytes.len() / 2;
            if let Some(partition) = self.partition(place) {
                partition.batch_bytes = half;
            }
        }
    }

    /// The connection to a broker is cut: what was on the way goes again under its numbers.
    pub fn cut(&mut self, node: i32) {
        if let Some(node) = self.nodes.get_mut(&node) {
            (node.ready, node.away) = (false, 0);
        }
        self.cluster.is_stale = true;
        self.cluster.asked = None;
        self.forget_question();
        let tags: Vec<u64> =
            self.requests.iter().filter(|(_, request)| request.node == node).map(|(tag, _)| *tag).collect();
        for tag in tags {
            let Some(request) = self.requests.remove(&tag) else { continue };
            for (topic, at, id) in request.places {
                self.again((topic, at), id, None);
            }
        }
        self.renew_when_quiet();
    }

    /// A producer id that was asked for may not come any more.
    pub(super) fn forget_question(&mut self) {
        if self.identity == Identity::Asked {
            self.identity = Identity::Wanted;
        }
    }

    /// Brokers do not know the producer any more.
    fn become_stranger(&mut self, words: &str) {
        if self.options.numbered && matches!(self.identity, Identity::Is(..)) {
            self.identity = Identity::Stale;
            self.trouble = Some(format!("the broker has lost count of this producer: {words}"));
        }
    }

    /// A new producer id is asked for when nothing is on the way under the old one.
    fn renew_when_quiet(&mut self) {
        if self.identity == Identity::Stale && self.requests.is_empty() {
            self.identity = Identity::Wanted;
        }
    }

    /// Whether a producer id is to be asked for.
    pub fn wants_identity(&mut self, now: Instant) -> bool {
        let asks = self.identity == Identity::Wanted && self.options.transaction.is_none();
        asks && self.cluster.identity_not_before.is_none_or(|at| at <= now)
    }

    pub fn identity_asked(&mut self) {
        self.identity = Identity::Asked;
    }

    /// The producer id, or an error.
    pub fn identity(&mut self, answer: Result<(i64, i16), i16>, now: Instant) {
        let error = match answer {
            // The answer to a question that was asked again elsewhere: one of them is enough.
            Ok(_) if self.identity != Identity::Asked => return,
            Ok((producer, epoch)) => {
                self.identity = Identity::Is(producer, epoch);
                self.topics.iter_mut().flat_map(|topic| &mut topic.partitions).for_each(|p| p.renew());
                return;
            }
            Err(error) => error,
        };
        self.identity = Identity::Wanted;
        self.cluster.identity_not_before = Some(now + PAUSE_MAX);
        let words = format!("the broker gives no producer id: {}", code::name(error));
        if code::class(error) == Class::Hold {
            self.give_back(&Fate::Hold(words.clone()));
        }
        self.trouble = Some(words);
    }
}
