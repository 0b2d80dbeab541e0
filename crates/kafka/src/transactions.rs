//! Transactions of a producer: each job is one, with the position in the queue where that is kept, so that
//! what comes again after a kill is known.
//!
//! One question is on the way at a time, and what is asked next follows from what is known: who coordinates,
//! under which producer id, how far the queue was, which partitions are in it, how it ends. An answer that
//! does not come is asked for again: coordinators take a question twice.

mod answered;
mod job;
#[cfg(test)]
mod tests;

use crate::producer::{Fate, Landed, Producer};
use crate::requests::consuming::TopicPartition;
use crate::requests::transacting::{Holder, Question, Whose};
use job::Job;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The position in the queue, which a group of the transactional id's name commits in each transaction.
pub struct QueuePosition {
    /// A partition that is there: the cluster keeps offsets of such alone.
    pub place: TopicPartition,
    /// Which queue it is.
    pub queue: String,
    /// Of this start of the program; at most 63 bits.
    pub run: u64,
    /// Whether a run that the cluster names was one of this queue, and not of a copy of it.
    pub is_own: Box<dyn Fn(u64) -> bool + Send + Sync>,
}

pub struct Plan {
    /// `transactional.id`.
    pub id: Arc<str>,
    /// The coordinator gives up a transaction that takes longer.
    pub timeout: Duration,
    pub kept: Option<Arc<QueuePosition>>,
}

/// How far the transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// There is none.
    Free,
    /// Batches are sent, or will be.
    Open,
    Ending {
        commits: bool,
    },
}

/// What became of a job that needed nobody is told so soon.
const SOON: Duration = Duration::from_millis(1);

/// Who a question goes to: a broker by its number, or any.
pub type Whom = Option<i32>;

pub struct Transactions {
    plan: Plan,
    /// Coordinators of the transaction and of the group.
    coordinator: Option<i32>,
    group: Option<i32>,
    /// Brokers that were named as coordinators.
    nodes: Vec<(i32, String, u16)>,
    identity: Option<(i64, i16)>,
    /// What has numbers before it is in the topics.
    position: Option<u64>,
    phase: Phase,
    job: Option<Job>,
    /// Partitions that are in the transaction, and whether any may be.
    places: Vec<TopicPartition>,
    is_begun: bool,
    /// Whether the group is in it, and has committed.
    group_in: bool,
    is_moved: bool,
    since: Option<Instant>,
    asked: Option<(Whom, Instant)>,
    not_before: Option<Instant>,
    tries: u32,
    fates: Vec<(u32, Fate)>,
    trouble: Option<String>,
    /// Of the job that begins next, places of messages that somebody follows.
    followed: Vec<usize>,
}

impl Transactions {
    pub fn new(plan: Plan) -> Transactions {
        Transactions {
            plan,
            coordinator: None,
            group: None,
            nodes: Vec::new(),
            identity: None,
            position: None,
            phase: Phase::Free,
            job: None,
            places: Vec::new(),
            is_begun: false,
            group_in: false,
            is_moved: false,
            since: None,
            asked: None,
            not_before: None,
            tries: 0,
            fates: Vec::new(),
            trouble: None,
            followed: Vec::new(),
        }
    }

    /// Jobs that it could take now: one transaction at a time.
    pub fn room(&self) -> usize {
        usize::from(self.job.is_none())
    }

    /// Takes messages as a job. `numbers`: their places in the queue on disk, where the position is kept.
    pub fn begin(&mut self, id: u32, messages: &[&[u8]], numbers: &[Option<u64>]) {
        self.job = Some(Job::new(id, messages, numbers, std::mem::take(&mut self.followed)));
    }

    /// The messages in these places of the job that begins next are followed.
    pub fn follow(&mut self, places: Vec<usize>) {
        self.followed = places;
    }

    /// Where messages are of which this was not said yet. They count once the transaction has ended well.
    pub fn landed(&self, producer: &mut Producer) -> Vec<Landed> {
        let mut landed = producer.landed();
        if let Some(job) = &self.job {
            landed
                .iter_mut()
                .filter(|one| one.job == job.id)
                .for_each(|one| one.place = job.place_of(one.place));
        }
        landed
    }

    pub fn held_bytes(&self) -> usize {
        self.job.as_ref().map_or(0, Job::held_bytes)
    }

    /// What became of jobs.
    pub fn fates(&mut self) -> Vec<(u32, Fate)> {
        std::mem::take(&mut self.fates)
    }

    /// Why something does not go, once.
    pub fn trouble(&mut self) -> Option<String> {
        self.trouble.take()
    }

    /// Brokers that are asked: id, host, port.
    pub fn nodes(&self) -> impl Iterator<Item = (i32, &str, u16)> {
        self.nodes.iter().map(|(id, host, port)| (*id, host.as_str(), *port))
    }

    /// When it goes on although nobody says anything.
    pub fn due(&self, now: Instant) -> Option<Instant> {
        let is_told = !self.fates.is_empty();
        let asks = self.not_before.filter(|at| self.job.is_some() && *at > now);
        is_told.then(|| now + SOON).or(asks)
    }

    /// Since when a broker owes an answer.
    pub fn waits_since(&self, node: i32) -> Option<Instant> {
        self.asked.filter(|(whom, _)| *whom == Some(node)).map(|(_, since)| since)
    }

    /// The question was sent over a connection to this broker.
    pub fn asked(&mut self, whom: Whom, now: Instant) {
        self.asked = Some((whom, now));
    }

    /// A connection is gone, and with it what was on the way.
    pub fn cut(&mut self, node: Whom) {
        if self.asked.is_some_and(|(whom, _)| whom == node) {
            self.asked = None;
        }
    }

    /// There is nobody to speak to: a job of which nothing was sent is given back.
    pub fn give_back(&mut self, fate: &Fate) {
        if self.phase == Phase::Free
            && let Some(job) = self.job.take()
        {
            self.fates.push((job.id, fate.clone()));
        }
    }

    /// What is to be asked now.
    pub fn next(&mut self, producer: &mut Producer, time_ms: i64, now: Instant) -> Option<(Whom, Question)> {
        if self.identity.is_some() && !producer.is_identified() {
            self.shut_out(producer.is_fenced(), producer, now);
        }
        let is_early = self.not_before.is_some_and(|at| at > now);
        if self.job.is_none() || self.asked.is_some() || is_early {
            return None;
        }
        if let Some(question) = self.begins() {
            return Some(question);
        }
        if self.phase == Phase::Free {
            self.start(producer, time_ms, now);
        }
        self.goes_on(producer)
    }

    /// What has to be known before the first transaction.
    fn begins(&self) -> Option<(Whom, Question)> {
        let id = || Arc::clone(&self.plan.id);
        let Some(coordinator) = self.coordinator else {
            return Some((None, Question::Coordinator(Whose::Transaction, id())));
        };
        if self.identity.is_none() {
            let timeout_ms = i32::try_from(self.plan.timeout.as_millis()).unwrap_or(i32::MAX);
            return Some((Some(coordinator), Question::Identity { id: id(), timeout_ms }));
        }
        let kept = self.plan.kept.as_ref()?;
        let Some(group) = self.group else {
            return Some((None, Question::Coordinator(Whose::Group, id())));
        };
        let unknown = self.position.is_none();
        unknown.then(|| (Some(group), Question::Position(id(), kept.place.clone())))
    }

    /// Begins the job with the producer, but for what is in the topics already.
    fn start(&mut self, producer: &mut Producer, time_ms: i64, now: Instant) {
        let position = self.position.unwrap_or(0);
        let Some(job) = &mut self.job else { return };
        let Some((there, parked)) = job.start(position) else { return };
        let messages = parked.messages();
        match messages.get(there..).filter(|messages| !messages.is_empty()) {
            Some(messages) => {
                self.phase = Phase::Open;
                self.since = Some(now);
                producer.follow(job.id, job.followed());
                producer.begin(job.id, messages, time_ms);
            }
            None => {
                self.fates.push((job.id, Fate::Delivered));
                self.job = None;
            }
        }
    }

    /// What has to be asked for the transaction.
    fn goes_on(&mut self, producer: &mut Producer) -> Option<(Whom, Question)> {
        let coordinator = self.coordinator;
        match self.phase {
            Phase::Free => None,
            Phase::Open => {
                let missing = producer.waiting();
                let missing: Vec<_> = missing.into_iter().filter(|p| !self.places.contains(p)).collect();
                producer.open(missing.is_empty());
                if missing.is_empty() {
                    return None;
                }
                self.is_begun = true;
                Some((coordinator, Question::Partitions(self.holder()?, missing)))
            }
            Phase::Ending { commits } => {
                let holder = self.holder()?;
                let id = Arc::clone(&self.plan.id);
                let until = self.job.as_ref().and_then(|job| job.until);
                if let (true, Some(kept), Some(until)) = (commits, &self.plan.kept, until) {
                    if !self.group_in {
                        return Some((coordinator, Question::Group(holder, id)));
                    }
                    if !self.is_moved {
                        let note = format!("{} {:x}", kept.queue, kept.run);
                        let (place, position) =
                            (kept.place.clone(), i64::try_from(until).unwrap_or(i64::MAX));
                        return Some((
                            self.group,
                            Question::Move { holder, group: id, place, position, note },
                        ));
                    }
                }
                Some((coordinator, Question::End { holder, commits }))
            }
        }
    }

    fn holder(&self) -> Option<Holder> {
        let (producer, epoch) = self.identity?;
        Some(Holder { id: Arc::clone(&self.plan.id), producer, epoch })
    }

    /// What the producer says of the job: the transaction ends with that, and only then its fate is known.
    pub fn judged(&mut self, producer: &mut Producer, fates: Vec<(u32, Fate)>) {
        for (id, fate) in fates {
            let Some(job) = self.job.as_mut().filter(|job| job.id == id) else { continue };
            producer.open(false);
            let commits = fate == Fate::Delivered;
            job.fate = Some(fate);
            self.phase = Phase::Ending { commits };
            if !self.is_begun {
                // Nothing was sent.
                self.end(commits);
            }
        }
    }

    /// The transaction is over: the job's fate is what it was, or nothing of it is there.
    fn end(&mut self, commits: bool) {
        if let Some(job) = self.job.take() {
            if commits {
                self.position = job.until.or(self.position);
            }
            self.fates.push(job.end(commits));
        }
        self.is_over();
    }

    fn is_over(&mut self) {
        self.phase = Phase::Free;
        self.places.clear();
        (self.is_begun, self.group_in, self.is_moved) = (false, false, false);
        (self.since, self.tries, self.not_before) = (None, 0, None);
    }
}
