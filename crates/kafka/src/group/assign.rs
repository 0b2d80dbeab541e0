//! How the leader of a group divides partitions among its members: as the clients of Kafka do under the same
//! names.

use crate::answers::consuming::Other;
use crate::requests::consuming::TopicPartition;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// Of each topic neighbours, to members in the order of their names.
    Range,
    /// One after the other.
    RoundRobin,
}

impl Strategy {
    pub fn named(name: &str) -> Option<Strategy> {
        [Strategy::Range, Strategy::RoundRobin].into_iter().find(|strategy| strategy.name() == name)
    }

    pub fn name(self) -> &'static str {
        match self {
            Strategy::Range => "range",
            Strategy::RoundRobin => "roundrobin",
        }
    }

    /// What each member gets. `partitions`: those of a topic.
    pub fn divide(
        self,
        members: &[Other],
        partitions: &dyn Fn(&[u8]) -> Vec<i32>,
    ) -> BTreeMap<String, Vec<TopicPartition>> {
        let mut shares: BTreeMap<String, Vec<TopicPartition>> =
            members.iter().map(|member| (member.id.clone(), Vec::new())).collect();
        let mut ordered: Vec<&Other> = members.iter().collect();
        ordered.sort_unstable_by(|a, b| a.id.cmp(&b.id));
        let topics: BTreeSet<&Arc<[u8]>> = members.iter().flat_map(|member| &member.topics).collect();
        let mut next = 0;
        for topic in topics {
            let wants = |member: &Other| member.topics.contains(topic);
            let wanting: Vec<&Other> = ordered.iter().copied().filter(|member| wants(member)).collect();
            let all = partitions(topic);
            for (at, partition) in all.iter().enumerate() {
                let member = match self {
                    Strategy::Range => wanting.get(range(at, all.len(), wanting.len())).copied(),
                    Strategy::RoundRobin => turn(&ordered, &mut next, &wants),
                };
                if let Some(share) = member.and_then(|member| shares.get_mut(&member.id)) {
                    share.push(TopicPartition { topic: Arc::clone(topic), partition: *partition });
                }
            }
        }
        shares
    }
}

/// Which of so many members has the partition at this place, when the first ones have one more.
fn range(at: usize, partitions: usize, members: usize) -> usize {
    let members = members.max(1);
    let (each, more) = (partitions / members, partitions % members);
    match at < more * (each + 1) {
        true => at / (each + 1),
        false => more + (at - more * (each + 1)) / each.max(1),
    }
}

/// The next of them that wants it.
fn turn<'a>(ordered: &[&'a Other], next: &mut usize, wants: &impl Fn(&Other) -> bool) -> Option<&'a Other> {
    for _ in 0..ordered.len() {
        let member = ordered.get(*next % ordered.len()).copied()?;
        *next += 1;
        if wants(member) {
            return Some(member);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{Other, Strategy, TopicPartition};
    use proptest::{prop_assert, prop_assert_eq, proptest};

    fn members(wants: &[&[&str]]) -> Vec<Other> {
        let topics = |wanted: &[&str]| wanted.iter().map(|topic| topic.as_bytes().into()).collect();
        wants
            .iter()
            .zip(1..)
            .map(|(wanted, n)| Other { id: format!("m{n}"), topics: topics(wanted) })
            .collect()
    }

    #[track_caller]
    fn check(strategy: Strategy, wants: &[&[&str]], expected: &[&str]) {
        let partitions = |topic: &[u8]| (0..if topic == b"a" { 5 } else { 2 }).collect();
        let shares = strategy.divide(&members(wants), &partitions);
        let shown = |places: &Vec<TopicPartition>| {
            let each = places.iter().map(|p| format!("{}{}", String::from_utf8_lossy(&p.topic), p.partition));
            each.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shares.values().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn as_the_clients_of_kafka_do() {
        check(Strategy::Range, &[&["a", "b"], &["a", "b"]], &["a0 a1 a2 b0", "a3 a4 b1"]);
        check(Strategy::Range, &[&["a"], &["a", "b"], &["b"]], &["a0 a1 a2", "a3 a4 b0", "b1"]);
        check(Strategy::Range, &[&["b"], &["b"], &["b"]], &["b0", "b1", ""]);
        check(Strategy::RoundRobin, &[&["a", "b"], &["a", "b"]], &["a0 a2 a4 b1", "a1 a3 b0"]);
        check(Strategy::RoundRobin, &[&["a"], &["b"]], &["a0 a1 a2 a3 a4", "b0 b1"]);
    }

    proptest! {
        #[test]
        fn every_partition_has_one_member(count in 1usize..8, partitions in 0i32..40, range: bool) {
            let strategy = if range { Strategy::Range } else { Strategy::RoundRobin };
            let shares = strategy.divide(&members(&vec![&["a"][..]; count]), &|_| (0..partitions).collect());
            let mut all: Vec<i32> = shares.values().flatten().map(|place| place.partition).collect();
            all.sort_unstable();
            prop_assert_eq!(all, (0..partitions).collect::<Vec<_>>());
            let sizes: Vec<usize> = shares.values().map(Vec::len).collect();
            prop_assert!(sizes.iter().max().unwrap_or(&0) - sizes.iter().min().unwrap_or(&0) <= 1);
        }
    }
}
