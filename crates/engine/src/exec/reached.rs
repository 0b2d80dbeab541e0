//! Which messages of a batch were handed to a destination: in the log path at work, and anywhere.

use record::Batch;

#[derive(Default)]
pub(super) struct Reached {
    /// Of each message, by its origin, the run of a log path that handed it over last; 0 for none.
    runs: Vec<u32>,
    run: u32,
    here: usize,
}

impl Reached {
    pub fn begin(&mut self, messages: usize) {
        self.runs.clear();
        self.runs.resize(messages, 0);
        (self.run, self.here) = (1, 0);
    }

    /// Another log path begins, or the same one for other messages.
    pub fn next_path(&mut self) {
        self.run += 1;
        self.here = 0;
    }

    /// Notes that these are handed to a destination.
    pub fn note(&mut self, batch: &Batch, selection: &[u32]) {
        if self.runs.len() < batch.records.len() {
            self.runs.resize(batch.records.len(), 0);
        }
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let Some(run) = self.runs.get_mut(record.origin as usize) else { continue };
            self.here += usize::from(std::mem::replace(run, self.run) != self.run);
        }
    }

    /// Different messages that were handed over since the log path began.
    pub fn here(&self) -> usize {
        self.here
    }

    pub fn has(&self, origin: u32) -> bool {
        self.runs.get(origin as usize).is_some_and(|run| *run != 0)
    }

    /// How many of the first `messages` were handed over anywhere.
    pub fn count(&self, messages: usize) -> usize {
        self.runs.iter().take(messages).filter(|run| **run != 0).count()
    }
}

/// How many different messages a selection holds: copies of one stand beside one another.
pub(super) fn distinct(batch: &Batch, selection: &[u32]) -> usize {
    let mut last = u32::MAX;
    selection
        .iter()
        .filter(|i| {
            let origin = batch.records.get(**i as usize).map_or(u32::MAX, |r| r.origin);
            std::mem::replace(&mut last, origin) != origin
        })
        .count()
}
