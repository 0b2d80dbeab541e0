//! Messages that somebody follows: which partition they are in, and where.

use super::Producer;
use super::topic::Entry;
use std::sync::Arc;

/// Messages that are followed at a time.
const FOLLOWED_MAX: usize = 4096;

/// Where a message is that somebody follows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Landed {
    pub job: u32,
    /// In the job.
    pub place: usize,
    pub topic: Arc<[u8]>,
    pub partition: i32,
    /// `None`: the broker has not said it, for it has the message of an earlier try.
    pub offset: Option<u64>,
}

impl Producer {
    /// The messages in these places of a job are followed from its beginning to its end.
    pub fn follow(&mut self, job: u32, places: impl Iterator<Item = usize>) {
        let room = FOLLOWED_MAX.saturating_sub(self.followed.len());
        self.followed.extend(places.filter_map(|place| Some((job, u32::try_from(place).ok()?))).take(room));
    }

    /// A job is over.
    pub fn unfollow(&mut self, job: u32) {
        self.followed.retain(|(followed, _)| *followed != job);
    }

    /// Where the messages are of which this was not said yet.
    pub fn landed(&mut self) -> Vec<Landed> {
        std::mem::take(&mut self.landed)
    }

    /// A broker has written a batch, from this offset on.
    pub(super) fn land(&mut self, (topic, partition): (usize, usize), entry: &Entry, offset: Option<u64>) {
        let Some(topic) = self.topics.get(topic) else { return };
        for at in 0..entry.count.unsigned_abs() as usize {
            let Some(place) = entry.places.at(at) else { return };
            if self.followed.contains(&(entry.job, place)) {
                self.landed.push(Landed {
                    job: entry.job,
                    place: place as usize,
                    topic: Arc::clone(&topic.name),
                    partition: partition as i32,
                    offset: offset.map(|first| first.saturating_add(at as u64)),
                });
            }
        }
    }
}
