//! What a transaction asks of its producer: what waits, whether it may go, and that it is forgotten.

use super::{Identity, Producer};
use crate::requests::consuming::TopicPartition;
use std::sync::Arc;

impl Producer {
    /// Partitions with batches that wait or are on the way, by topic.
    pub fn waiting(&self) -> Vec<TopicPartition> {
        let waits = |(topic, at): &(usize, usize)| {
            let topic = self.topics.get(*topic)?;
            let waits = topic.partitions.get(*at).is_some_and(|partition| !partition.queue.is_empty());
            let partition = i32::try_from(*at).ok()?;
            waits.then(|| TopicPartition { topic: Arc::clone(&topic.name), partition })
        };
        let mut places: Vec<_> = self.active.iter().filter_map(waits).collect();
        places.sort_unstable();
        places
    }

    /// Whether batches may go.
    pub fn open(&mut self, is_open: bool) {
        self.is_open = is_open;
    }

    /// Whether brokers know it under its id.
    pub fn is_identified(&self) -> bool {
        matches!(self.identity, Identity::Is(..))
    }

    /// Whether brokers know another one under the transactional id.
    pub fn is_fenced(&self) -> bool {
        self.is_fenced
    }

    /// The cluster is asked who leads what.
    pub fn look_again(&mut self) {
        self.cluster.is_stale = true;
    }

    /// Drops all jobs, without a fate: their transaction is given up. A new producer id is needed.
    pub fn forget(&mut self) {
        self.jobs.clear();
        self.parked.clear();
        self.requests.clear();
        self.active.clear();
        self.fates.clear();
        (self.parked_bytes, self.held_bytes) = (0, 0);
        self.nodes.values_mut().for_each(|node| node.away = 0);
        for partition in self.topics.iter_mut().flat_map(|topic| &mut topic.partitions) {
            partition.queue.clear();
            (partition.away, partition.hurt, partition.is_active) = (0, false, false);
            partition.not_before = None;
        }
        (self.identity, self.is_open, self.is_fenced) = (Identity::Wanted, false, false);
    }
}
