//! A consumer group: who coordinates it, membership, which partitions this member has, what is committed. By
//! the classic protocol, which all brokers know, or by that in which the coordinator divides ([`ruled`]).
//!
//! A rebalance is told with [`News::Revoking`]: whoever reads stops, commits what was dealt with, and says
//! [`Group::release`]; then the group is joined again.

mod assign;
mod heard;
mod ruled;

use crate::requests::consuming::{self, Ask, Member, TopicPartition};
pub use assign::Strategy;
pub use ruled::Rule;
use ruled::Ruled;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// After an error.
const AGAIN: Duration = Duration::from_millis(300);
/// An answer that takes longer, beyond what it may, does not come.
const ANSWER_MAX: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct Options {
    pub group: Arc<str>,
    pub instance: Option<String>,
    /// Without it offsets are kept under the group's name, and nobody is a member.
    pub is_member: bool,
    pub session: Duration,
    /// How long members have to join a rebalance.
    pub rebalance: Duration,
    pub heartbeat: Duration,
    /// In order of preference.
    pub strategies: Vec<Strategy>,
    /// `group.protocol=consumer`: the coordinator divides, and says how often it wants to hear something.
    pub rule: Option<Rule>,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// Not a member.
    Out,
    /// What each member gets, on its way to the coordinator; nothing from those that do not lead.
    Syncing(Vec<(String, Vec<u8>)>),
    Stable,
    /// A rebalance waits for this member.
    Revoking,
    /// It is joined as soon as what is to be committed is.
    Released,
    Left,
}

#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// These are to be read, from the offsets that were committed, where there are any.
    Assigned(Vec<(TopicPartition, Option<i64>)>),
    /// What is read has to be given back.
    Revoking,
    /// These have to be given back; the others are read on.
    Returning(Vec<TopicPartition>),
    /// It is somebody else's already: nothing of it can be committed.
    Lost,
    Coordinator(i32, String, u16),
    /// It is tried again.
    Trouble(String),
}

pub struct Group {
    options: Options,
    member: Member,
    state: State,
    coordinator: Option<i32>,
    /// When the question was asked that is not answered yet.
    asked: Option<Instant>,
    not_before: Option<Instant>,
    heartbeat: Option<Instant>,
    topics: Vec<Arc<[u8]>>,
    /// Partitions whose offsets are asked for.
    wanted: Vec<TopicPartition>,
    commits: BTreeMap<TopicPartition, i64>,
    /// Of these, those on their way.
    committing: Vec<(TopicPartition, i64)>,
    leaves: bool,
    leads: bool,
    ruled: Option<Ruled>,
    news: Vec<News>,
}

impl Group {
    pub fn new(options: Options) -> Group {
        let id = Member {
            group: Arc::clone(&options.group),
            generation: if options.rule.is_some() { 0 } else { -1 },
            id: String::new(),
            instance: options.instance.clone(),
        };
        Group {
            ruled: options.rule.clone().filter(|_| options.is_member).map(Ruled::new),
            state: if options.is_member { State::Out } else { State::Stable },
            options,
            member: id,
            coordinator: None,
            asked: None,
            not_before: None,
            heartbeat: None,
            topics: Vec::new(),
            wanted: Vec::new(),
            commits: BTreeMap::new(),
            committing: Vec::new(),
            leaves: false,
            leads: false,
            news: Vec::new(),
        }
    }

    pub fn news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// Whom to ask; `None`: anybody.
    pub fn coordinator(&self) -> Option<i32> {
        self.coordinator
    }

    pub fn leads(&self) -> bool {
        self.leads
    }

    /// Topics to read. When they change, the group is joined anew.
    pub fn subscribe(&mut self, topics: Vec<Arc<[u8]>>) {
        if topics != self.topics {
            self.topics = topics;
            match &self.ruled {
                // The coordinator is told with the next sign of life.
                Some(_) => self.heartbeat = None,
                None => self.rejoin(),
            }
        }
    }

    /// Has partitions divided anew.
    pub fn rejoin(&mut self) {
        if self.options.is_member && self.state == State::Stable {
            self.revoke();
        }
    }

    fn revoke(&mut self) {
        self.state = State::Revoking;
        self.wanted.clear();
        self.news.push(News::Revoking);
    }

    /// Asks what was committed for these.
    pub fn want(&mut self, places: Vec<TopicPartition>) {
        self.wanted.extend(places);
    }

    /// Everything before these offsets is dealt with.
    pub fn commit(&mut self, offsets: impl Iterator<Item = (TopicPartition, i64)>) {
        self.commits.extend(offsets);
    }

    /// Nothing is read any more.
    pub fn release(&mut self) {
        if self.state == State::Revoking {
            self.state = State::Released;
        }
    }

    /// Leaves the group as soon as everything is committed.
    pub fn leave(&mut self) {
        self.leaves = true;
    }

    /// Whether there is nothing left to say.
    pub fn has_left(&self) -> bool {
        let is_silent = self.commits.is_empty() && self.committing.is_empty();
        self.leaves && (self.state == State::Left || is_silent && !self.is_to_leave())
    }

    fn is_to_leave(&self) -> bool {
        let is_in = matches!(self.state, State::Stable | State::Revoking | State::Released);
        // A member with a name of its own comes back under it, and the coordinator that divides hears so.
        self.options.is_member && is_in && (self.options.instance.is_none() || self.ruled.is_some())
    }

    /// The connection to a broker is gone.
    pub fn cut(&mut self, node: Option<i32>) {
        if self.coordinator.is_none() || self.coordinator == node {
            (self.asked, self.coordinator) = (None, None);
            self.take_back();
        }
    }

    fn take_back(&mut self) {
        for (place, offset) in self.committing.drain(..) {
            // A later one may have come meanwhile.
            self.commits.entry(place).or_insert(offset);
        }
    }

    /// What to ask [`Group::coordinator`] now, over a connection that is ready.
    pub fn next(&mut self, now: Instant) -> Option<Ask> {
        let age = |at: Instant| now.saturating_duration_since(at);
        // Joining waits for the others, where they divide among themselves.
        let joins = self.state == State::Out && self.ruled.is_none();
        let patience = ANSWER_MAX + if joins { self.options.rebalance } else { Duration::ZERO };
        if self.asked.is_some_and(|asked| age(asked) < patience) || self.not_before.is_some_and(|at| now < at)
        {
            return None;
        }
        self.take_back();
        self.not_before = None;
        let ask = match self.coordinator {
            None if self.state == State::Left => None,
            None => Some(Ask::Coordinator(Arc::clone(&self.options.group))),
            Some(_) => self.next_of_member(now),
        }?;
        self.asked = Some(now);
        Some(ask)
    }

    fn next_of_member(&mut self, now: Instant) -> Option<Ask> {
        if self.ruled.is_some() {
            return self.next_of_ruled(now);
        }
        let is_silent = self.commits.is_empty();
        match &mut self.state {
            State::Left => None,
            State::Out if self.leaves || self.topics.is_empty() => None,
            State::Out => Some(self.join()),
            State::Syncing(shares) => Some(Ask::Sync { member: self.member.clone(), shares: shares.clone() }),
            _ if !is_silent => {
                self.committing = std::mem::take(&mut self.commits).into_iter().collect();
                Some(Ask::Commit(self.member.clone(), self.committing.clone()))
            }
            _ if self.leaves => {
                if self.is_to_leave() {
                    return Some(Ask::Leave(self.member.clone()));
                }
                self.state = State::Left;
                None
            }
            State::Released => {
                self.state = State::Out;
                (!self.topics.is_empty()).then(|| self.join())
            }
            State::Stable if !self.wanted.is_empty() => {
                self.wanted.sort_unstable();
                Some(Ask::Committed(Arc::clone(&self.options.group), self.wanted.clone()))
            }
            _ => self.heartbeat(now),
        }
    }

    fn join(&self) -> Ask {
        let wants = consuming::subscription(&self.topics);
        Ask::Join {
            member: self.member.clone(),
            session_ms: self.options.session.as_millis() as i32,
            rebalance_ms: self.options.rebalance.as_millis() as i32,
            protocols: self.options.strategies.iter().map(|s| (s.name(), wants.clone())).collect(),
        }
    }

    fn heartbeat(&mut self, now: Instant) -> Option<Ask> {
        let is_due =
            self.heartbeat.is_none_or(|last| now.saturating_duration_since(last) >= self.options.heartbeat);
        if !self.options.is_member || !is_due {
            return None;
        }
        self.heartbeat = Some(now);
        Some(Ask::Heartbeat(self.member.clone()))
    }
}

#[cfg(test)]
mod tests;
