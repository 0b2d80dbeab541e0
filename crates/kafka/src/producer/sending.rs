//! Which batches go to which broker, and under which numbers.

use super::topic::{is_before, later};
use super::{Going, Identity, Produce, Producer, Request};
use crate::batch::{self, Number};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of a request that more batches may join.
const REQUEST_BYTES_MAX: usize = 4 << 20;

impl Producer {
    /// What may go to a broker now.
    pub fn next_request(&mut self, node: i32, now: Instant) -> Option<Produce> {
        let Identity::Is(producer, epoch) = self.identity else { return None };
        let in_flight = self.options.in_flight;
        let has_room = |producer: &Producer| {
            producer.nodes.get(&node).is_some_and(|node| node.ready && node.away < in_flight)
        };
        if !self.is_open || !has_room(self) {
            return None;
        }
        let (mut batches, mut places, mut bytes) = (Vec::new(), Vec::new(), 0);
        for _ in 0..self.active.len() {
            let Some((topic_at, at)) = self.active.pop_front() else { break };
            let Some(topic) = self.topics.get_mut(topic_at) else { continue };
            let Some(partition) = topic.partitions.get_mut(at) else { continue };
            if partition.queue.is_empty() {
                partition.is_active = false;
                continue;
            }
            self.active.push_back((topic_at, at));
            partition.mend();
            if partition.leader != Some(node) || bytes >= REQUEST_BYTES_MAX {
                continue;
            }
            let Some(which) = partition.ready(in_flight, now) else { continue };
            let (settled, next) = (partition.settled, partition.next);
            let Some(entry) = partition.queue.get_mut(which) else { continue };
            // What may be written already keeps its number.
            let keeps = entry.number.is_some_and(|number| is_before(number.sequence, settled));
            if self.options.numbered && !keeps {
                let number = Number { producer, epoch, sequence: next };
                partition.next = later(next, entry.count);
                if entry.number != Some(number) {
                    let bytes: &mut Vec<u8> = Arc::make_mut(&mut entry.bytes);
                    batch::seal(bytes, Some(number), self.options.transaction.is_some());
                    entry.number = Some(number);
                }
            } else if !self.options.numbered && entry.tries == 0 {
                let bytes: &mut Vec<u8> = Arc::make_mut(&mut entry.bytes);
                batch::seal(bytes, None, false);
            }
            entry.is_away = true;
            partition.away += 1;
            partition.node = node;
            bytes += entry.bytes.len();
            places.push((topic_at, at, entry.id));
            batches.push(Going {
                topic: Arc::clone(&topic.name),
                partition: at as i32,
                bytes: Arc::clone(&entry.bytes),
            });
        }
        if batches.is_empty() {
            return None;
        }
        // Partitions of a topic stand together.
        batches.sort_by(|a, b| a.topic.cmp(&b.topic).then(a.partition.cmp(&b.partition)));
        self.next += 1;
        self.requests.insert(self.next, Request { node, since: now, places });
        if let Some(node) = self.nodes.get_mut(&node) {
            node.away += 1;
        }
        let Producer { options, next, .. } = self;
        let transaction = options.transaction.clone();
        Some(Produce { tag: *next, acks: options.acks, timeout_ms: options.timeout_ms, transaction, batches })
    }

    /// Since when the oldest request to a broker waits for its answer.
    pub fn waits_since(&self, node: i32) -> Option<Instant> {
        self.requests.values().filter(|request| request.node == node).map(|request| request.since).min()
    }
}
