//! Membership of a group: partitions that come and go, offsets that are committed.

use super::{KafkaPort, Revoking, shown};
use kafka::GroupNews;
use std::time::{Duration, Instant};

/// The longest that a rebalance waits for what is under way.
const RELEASE_MAX: Duration = Duration::from_secs(30);

impl KafkaPort {
    pub(super) fn hear_of_group(&mut self, news: GroupNews, now: Instant) {
        match news {
            GroupNews::Coordinator(node, host, port) => {
                self.brokers.consumer.coordinated_by(node, &host, port)
            }
            GroupNews::Assigned(places) => {
                let shown: Vec<String> = places.iter().map(|(place, _)| shown(place)).collect();
                oplog::notice("Partitions of Kafka are read", &[("partitions", &shown.join(" "))]);
                // Where a topic has an offset, a partition of it without one has come later.
                self.has_begun |= places.iter().any(|(_, committed)| committed.is_some());
                let is_any = !places.is_empty();
                for (place, committed) in places {
                    self.read(place, committed);
                }
                self.has_begun |= is_any;
            }
            GroupNews::Revoking => {
                self.stop_reading();
                self.revoking = Some(Revoking { since: now, places: None });
            }
            GroupNews::Returning(places) => {
                let shown: Vec<String> = places.iter().map(shown).collect();
                oplog::notice("Partitions of Kafka are given back", &[("partitions", &shown.join(" "))]);
                self.stop_reading_of(&places);
                self.revoking = Some(Revoking { since: now, places: Some(places) });
            }
            GroupNews::Lost => {
                self.stop_reading();
                self.readers.clear();
                self.revoking = None;
            }
            GroupNews::Trouble(why) => self.brokers.say("The group of Kafka is asked again", &why, now),
        }
    }

    /// Offsets that were dealt with and are not committed.
    pub(super) fn commit(&mut self) {
        let Some(group) = self.brokers.group.as_mut().filter(|_| self.parts.bookmarks.remote) else { return };
        for (place, reader) in &mut self.readers {
            let reached = reader.bookmark.reached();
            if let Some(offset) = reached.filter(|_| reached != reader.committed) {
                reader.committed = reached;
                group.commit(std::iter::once((place.clone(), offset)));
            }
        }
    }

    /// Whether nothing of what was read is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.readers.values().filter(|reader| !reader.bookmark.is_idle()).count() == 0
    }

    pub(super) fn look_after_the_group(&mut self, now: Instant) {
        let age = |at: Instant| now.saturating_duration_since(at);
        let has_reader_under_way = |revoking: &Revoking| {
            self.readers.iter().any(|(place, reader)| revoking.has(place) && !reader.bookmark.is_idle())
        };
        let is_over =
            |revoking: &mut Revoking| !has_reader_under_way(revoking) || age(revoking.since) >= RELEASE_MAX;
        if let Some(revoking) = self.revoking.take_if(is_over) {
            self.commit();
            self.readers.retain(|place, _| !revoking.has(place));
            self.brokers.group.iter_mut().for_each(kafka::Group::release);
        }
        if age(self.committed_at) >= self.parts.commit {
            self.committed_at = now;
            self.commit();
        }
    }
}
