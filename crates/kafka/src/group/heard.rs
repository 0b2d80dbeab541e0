//! What a member of a group hears, and what follows from it.

use super::{AGAIN, Group, News, State, Strategy};
use crate::answers::consuming::{Joined, OfGroup, Offset};
use crate::code::{self, COORDINATOR_NOT_AVAILABLE, NOT_COORDINATOR, UNSTABLE_COMMIT};
use crate::requests::consuming::{self, TopicPartition};
use std::time::Instant;

pub(super) const LOADING: i16 = 14;
pub(super) const ILLEGAL_GENERATION: i16 = 22;
pub(super) const UNKNOWN_MEMBER: i16 = 25;
pub(super) const REBALANCE: i16 = 27;
pub(super) const MEMBER_ID_REQUIRED: i16 = 79;
pub(super) const FENCED_INSTANCE: i16 = 82;

/// In a group whose coordinator divides: the member is another's by now, or its epoch is not the last.
pub(super) const FENCED_EPOCH: i16 = 110;
const STALE_EPOCH: i16 = 113;

impl Group {
    /// What was said about the group. `partitions`: those that the topics of all members have.
    pub fn heard(&mut self, said: OfGroup, partitions: &dyn Fn(&[u8]) -> Vec<i32>, now: Instant) {
        if let OfGroup::Numbers(numbers) = said {
            return self.name(numbers);
        }
        self.asked = None;
        match said {
            OfGroup::Coordinator(Ok((node, host, port))) => {
                self.coordinator = Some(node);
                self.news.push(News::Coordinator(node, host, port));
            }
            OfGroup::Coordinator(Err((error, words))) => {
                self.again(&format!("{} {words}", code::name(error)), now);
            }
            OfGroup::Joined(joined) => self.joined(joined, partitions, now),
            OfGroup::Synced(Ok(places)) if matches!(self.state, State::Syncing(_)) => {
                self.state = State::Stable;
                self.heartbeat = Some(now);
                match places.is_empty() {
                    true => self.news.push(News::Assigned(Vec::new())),
                    false => self.wanted = places,
                }
            }
            OfGroup::Synced(Ok(_)) => {}
            OfGroup::Synced(Err(error)) => {
                self.state = State::Out;
                self.failed(error, now);
            }
            OfGroup::Heartbeat(0) => {}
            OfGroup::Heartbeat(REBALANCE) if self.state == State::Stable => self.revoke(),
            OfGroup::Heartbeat(REBALANCE) => {}
            OfGroup::Heartbeat(error) => self.failed(error, now),
            OfGroup::Left => self.state = State::Left,
            OfGroup::Commits(all) => self.committed(&all, now),
            OfGroup::Committed(error, offsets) => self.begins(error, offsets, now),
            OfGroup::Ruled(ruled) => self.ruled(ruled, now),
            OfGroup::Numbers(_) => {}
        }
    }

    fn joined(&mut self, joined: Joined, partitions: &dyn Fn(&[u8]) -> Vec<i32>, now: Instant) {
        match joined.error {
            0 => {}
            MEMBER_ID_REQUIRED => {
                self.member.id = joined.id;
                return;
            }
            error => return self.failed(error, now),
        }
        self.leads = joined.leader == joined.id;
        let strategy = Strategy::named(&joined.protocol);
        (self.member.id, self.member.generation) = (joined.id, joined.generation);
        let shares = match strategy {
            Some(strategy) if self.leads => {
                let shares = strategy.divide(&joined.members, partitions);
                shares.into_iter().map(|(member, places)| (member, consuming::share(&places))).collect()
            }
            _ => Vec::new(),
        };
        self.state = State::Syncing(shares);
    }

    fn committed(&mut self, all: &[(TopicPartition, i16)], now: Instant) {
        let error = all.iter().map(|(_, error)| *error).find(|error| *error != 0);
        match error {
            None => self.committing.clear(),
            Some(error) => {
                if !matches!(error, ILLEGAL_GENERATION | UNKNOWN_MEMBER | FENCED_INSTANCE | FENCED_EPOCH) {
                    self.take_back();
                }
                self.failed(error, now);
            }
        }
    }

    fn begins(&mut self, error: i16, offsets: Vec<Offset>, now: Instant) {
        let error = Some(error).filter(|e| *e != 0);
        let error = error.or_else(|| offsets.iter().map(|o| o.error).find(|e| *e != 0));
        if let Some(error) = error {
            return self.failed(error, now);
        }
        if self.state != State::Stable && self.ruled.is_none() {
            return;
        }
        // What was given back meanwhile is not wanted any more.
        let offsets: Vec<Offset> =
            offsets.into_iter().filter(|offset| self.wanted.contains(&offset.place)).collect();
        let heard = |place: &TopicPartition| offsets.iter().any(|offset| offset.place == *place);
        self.wanted.retain(|place| !heard(place));
        let known = |offset: i64| (offset >= 0).then_some(offset);
        let assigned = offsets.iter().map(|offset| (offset.place.clone(), known(offset.offset)));
        self.news.push(News::Assigned(assigned.collect()));
    }

    /// What follows from an error.
    pub(super) fn failed(&mut self, error: i16, now: Instant) {
        match error {
            NOT_COORDINATOR | COORDINATOR_NOT_AVAILABLE => self.coordinator = None,
            ILLEGAL_GENERATION | UNKNOWN_MEMBER | FENCED_INSTANCE | FENCED_EPOCH
                if self.options.is_member =>
            {
                if error == UNKNOWN_MEMBER && self.ruled.is_none() {
                    self.member.id.clear();
                }
                self.lose();
            }
            // Whoever reads has to stop first.
            REBALANCE if self.state == State::Stable => self.revoke(),
            REBALANCE | LOADING | UNSTABLE_COMMIT => {}
            // The next sign of life brings the epoch.
            STALE_EPOCH => self.heartbeat = None,
            _ => {}
        }
        self.again(code::name(error), now);
    }

    /// Others have what this member had.
    fn lose(&mut self) {
        self.member.generation = -1;
        if let Some(ruled) = &mut self.ruled {
            ruled.lose();
            self.member.generation = 0;
        }
        self.state = State::Out;
        self.wanted.clear();
        self.commits.clear();
        self.committing.clear();
        self.news.push(News::Lost);
    }

    pub(super) fn again(&mut self, why: &str, now: Instant) {
        self.not_before = Some(now + AGAIN);
        self.news.push(News::Trouble(format!("group {}: {why}", self.options.group)));
    }
}
