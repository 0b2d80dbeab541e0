//! Membership by the protocol in which the coordinator divides (KIP-848): signs of life tell it what this
//! member wants and has, and are answered with what it is to have. What has to be given back is committed
//! first; the rest is read on.

use super::{Group, News, State};
use crate::answers::consuming::Ruling;
use crate::answers::{Numbers, TopicId};
use crate::requests::consuming::{Ask, TopicPartition};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::rand::{SecureRandom, SystemRandom};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Epochs of a member that leaves: for good, and for a while.
const LEAVES: i32 = -1;
const LEAVES_FOR_A_WHILE: i32 = -2;
/// Until the coordinator says how often it wants to hear something; no more often is it heard than the least.
const INTERVAL: Duration = Duration::from_secs(5);
const INTERVAL_MIN: Duration = Duration::from_millis(50);

/// What may be said about how a coordinator divides.
#[derive(Clone, Debug, Default)]
pub struct Rule {
    /// `group.remote.assignor`, or the coordinator's own choice.
    pub assignor: Option<String>,
}

pub(super) struct Ruled {
    rule: Rule,
    interval: Duration,
    /// Topics by the numbers under which the coordinator speaks of them.
    names: BTreeMap<TopicId, Arc<[u8]>>,
    /// What this member is to have, as soon as all names are known.
    target: Option<Vec<(TopicId, Vec<i32>)>>,
    owned: BTreeSet<TopicPartition>,
    /// Of these, what is being given back.
    returning: Vec<TopicPartition>,
    leaving: bool,
    /// The last question was a sign of life.
    has_signed: bool,
}

impl Ruled {
    pub fn new(rule: Rule) -> Ruled {
        Ruled {
            rule,
            interval: INTERVAL,
            names: BTreeMap::new(),
            target: None,
            owned: BTreeSet::new(),
            returning: Vec::new(),
            leaving: false,
            has_signed: false,
        }
    }

    /// Others have what this member had.
    pub fn lose(&mut self) {
        (self.target, self.returning) = (None, Vec::new());
        self.owned.clear();
    }

    /// Partitions by the numbers of their topics.
    fn by_number(&self) -> Vec<(TopicId, Vec<i32>)> {
        let number =
            |name: &Arc<[u8]>| self.names.iter().find(|(_, known)| *known == name).map(|(id, _)| *id);
        let mut all: BTreeMap<TopicId, Vec<i32>> = BTreeMap::new();
        for place in &self.owned {
            all.entry(number(&place.topic).unwrap_or_default()).or_default().push(place.partition);
        }
        all.into_iter().collect()
    }

    /// The target in names; `None` while one of them is not known.
    fn named(&self) -> Option<BTreeSet<TopicPartition>> {
        let mut all = BTreeSet::new();
        for (id, partitions) in self.target.as_ref()? {
            let topic = self.names.get(id)?;
            all.extend(partitions.iter().map(|p| TopicPartition { topic: Arc::clone(topic), partition: *p }));
        }
        Some(all)
    }
}

impl Group {
    pub fn is_ruled(&self) -> bool {
        self.ruled.is_some()
    }

    /// Topics of the cluster, by number.
    pub(super) fn name(&mut self, names: Numbers) {
        if let Some(ruled) = &mut self.ruled {
            ruled.names.extend(names);
            self.reconcile();
        }
    }

    /// A topic is not known that this member is to read.
    pub fn wants_names(&self) -> bool {
        self.ruled.as_ref().is_some_and(|ruled| ruled.target.is_some() && ruled.named().is_none())
    }

    pub(super) fn next_of_ruled(&mut self, now: Instant) -> Option<Ask> {
        if self.state == State::Released && self.commits.is_empty() {
            self.given_back();
        }
        let age = |at: Instant| now.saturating_duration_since(at);
        let ruled = self.ruled.as_mut()?;
        // Answers wait behind those that bring messages, often for longer than the interval: a sign of life
        // that is due each time leaves every other turn to what else there is to say.
        let has_signed = std::mem::take(&mut ruled.has_signed);
        let has_turn = !has_signed || self.commits.is_empty() && self.wanted.is_empty();
        let is_due = self.heartbeat.is_none_or(|last| has_turn && age(last) >= ruled.interval);
        match self.state {
            State::Left => None,
            State::Out if self.leaves || self.topics.is_empty() => None,
            State::Out => self.sign_of_life(self.member.generation, now),
            _ if is_due => self.sign_of_life(self.member.generation, now),
            _ if !self.commits.is_empty() => {
                self.committing = std::mem::take(&mut self.commits).into_iter().collect();
                Some(Ask::CommitRuled(self.member.clone(), self.committing.clone()))
            }
            _ if self.leaves => {
                self.ruled.iter_mut().for_each(|ruled| ruled.leaving = true);
                let for_a_while = self.options.instance.is_some();
                self.sign_of_life(if for_a_while { LEAVES_FOR_A_WHILE } else { LEAVES }, now)
            }
            _ if !self.wanted.is_empty() => {
                self.wanted.sort_unstable();
                Some(Ask::Committed(Arc::clone(&self.options.group), self.wanted.clone()))
            }
            _ => None,
        }
    }

    /// Says all there is to say each time: so nothing depends on what was lost.
    fn sign_of_life(&mut self, epoch: i32, now: Instant) -> Option<Ask> {
        if self.member.id.is_empty() {
            self.member.id = unique_name()?;
        }
        let ruled = self.ruled.as_mut()?;
        ruled.has_signed = true;
        self.heartbeat = Some(now);
        let mut member = self.member.clone();
        member.generation = epoch;
        Some(Ask::Rule {
            member,
            rebalance_ms: self.options.rebalance.as_millis() as i32,
            topics: self.topics.clone(),
            assignor: ruled.rule.assignor.clone(),
            owned: ruled.by_number(),
        })
    }

    pub(super) fn ruled(&mut self, ruling: Ruling, now: Instant) {
        let Some(ruled) = &mut self.ruled else { return };
        if ruling.error != 0 {
            self.failed(ruling.error, now);
            if let (Some(News::Trouble(why)), false) = (self.news.last_mut(), ruling.words.is_empty()) {
                why.push_str(&format!(" {}", ruling.words));
            }
            // It is not asked again before the pause is over, and then at once.
            self.heartbeat = None;
            return;
        }
        if ruled.leaving {
            self.state = State::Left;
            return;
        }
        let interval = Duration::from_millis(u64::try_from(ruling.interval_ms).unwrap_or(0));
        ruled.interval = if interval.is_zero() { INTERVAL } else { interval.max(INTERVAL_MIN) };
        self.member.generation = ruling.epoch;
        if ruling.share.is_some() {
            ruled.target = ruling.share;
        }
        if self.state == State::Out {
            self.state = State::Stable;
        }
        self.reconcile();
    }

    /// Gives back what this member is not to have any more, then takes what is new.
    fn reconcile(&mut self) {
        let Some(ruled) = self.ruled.as_mut().filter(|_| self.state == State::Stable) else { return };
        let Some(target) = ruled.named() else { return };
        let extra: Vec<TopicPartition> = ruled.owned.difference(&target).cloned().collect();
        if !extra.is_empty() {
            // The rest follows when these are given back.
            self.wanted.retain(|place| !extra.contains(place));
            ruled.returning.clone_from(&extra);
            self.state = State::Revoking;
            return self.news.push(News::Returning(extra));
        }
        ruled.target = None;
        let new: Vec<TopicPartition> = target.difference(&ruled.owned).cloned().collect();
        if !new.is_empty() {
            ruled.owned = target;
            self.wanted.extend(new);
            self.heartbeat = None;
        }
    }

    /// What was to be given back is, and all of it is committed.
    fn given_back(&mut self) {
        let Some(ruled) = &mut self.ruled else { return };
        for place in std::mem::take(&mut ruled.returning) {
            ruled.owned.remove(&place);
        }
        self.state = State::Stable;
        self.heartbeat = None;
        self.reconcile();
    }
}

/// A name that no other member has.
fn unique_name() -> Option<String> {
    let mut random = [0u8; 16];
    SystemRandom::new().fill(&mut random).ok()?;
    Some(URL_SAFE_NO_PAD.encode(random))
}
