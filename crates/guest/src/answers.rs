//! The way back: outcomes of batches, put down by threads of the runtime and taken up by the outlet.

use delivery::bell::Bell;
use engine::{Detail, Receipt};
use flight::Outcome;
use parking_lot::Mutex;
use std::sync::Arc;

#[derive(Default)]
struct Slate {
    said: Vec<(u32, Outcome)>,
    /// Batches whose load the guest has done with.
    taken: Vec<u32>,
    /// The line is closed: nobody will look.
    is_closed: bool,
}

pub struct Answers {
    slate: Mutex<Slate>,
    bell: Bell,
}

impl Answers {
    pub fn new(bell: Bell) -> Arc<Answers> {
        Arc::new(Answers { slate: Mutex::default(), bell })
    }

    /// The outlet is woken by the first answer since it looked.
    fn say(&self, id: u32, outcome: Outcome) {
        self.write(|slate| slate.said.push((id, outcome)));
    }

    fn write(&self, put: impl FnOnce(&mut Slate)) {
        let mut slate = self.slate.lock();
        if slate.is_closed {
            return;
        }
        let wakes = slate.said.is_empty() && slate.taken.is_empty();
        put(&mut slate);
        drop(slate);
        if wakes {
            self.bell.ring();
        }
    }

    /// Appends what was said since the last call; returns the batches whose load was taken.
    pub fn take(&self, out: &mut Vec<(u32, Outcome)>) -> Vec<u32> {
        let mut slate = self.slate.lock();
        out.append(&mut slate.said);
        std::mem::take(&mut slate.taken)
    }

    pub fn close(&self) {
        let mut slate = self.slate.lock();
        slate.is_closed = true;
        slate.said.clear();
        slate.taken.clear();
    }
}

/// What a batch is owed: one outcome. Dropped without one, by a panic say, the batch counts as sent and not
/// answered.
pub struct Answer {
    id: u32,
    answers: Option<Arc<Answers>>,
    /// Of messages that somebody follows, with their places in the batch.
    receipts: Vec<(usize, Receipt)>,
}

impl Answer {
    pub(crate) fn new(id: u32, answers: &Arc<Answers>, receipts: Vec<(usize, Receipt)>) -> Answer {
        Answer { id, answers: Some(Arc::clone(answers)), receipts }
    }

    /// Whether somebody follows a message of the batch: only then [`Answer::is_at`] does anything.
    pub fn is_followed(&self) -> bool {
        !self.receipts.is_empty()
    }

    /// The places of those that somebody follows.
    pub fn followed(&self) -> Vec<usize> {
        self.receipts.iter().map(|(at, _)| *at).collect()
    }

    /// Says where messages are: asked for each one that somebody follows, by its place in the batch.
    pub fn is_at<P>(&self, mut place: impl FnMut(usize) -> P)
    where
        P: IntoIterator<Item = (&'static str, Detail)>,
    {
        self.receipts.iter().for_each(|(at, receipt)| receipt.at(place(*at)));
    }

    /// The server has the batch, and will say later what became of it: another one may be begun.
    pub fn load_is_sent(&self) {
        if let Some(answers) = &self.answers {
            answers.write(|slate| slate.taken.push(self.id));
        }
    }

    pub fn say(mut self, outcome: Outcome) {
        self.give(outcome);
    }

    fn give(&mut self, outcome: Outcome) {
        if let Some(answers) = self.answers.take() {
            answers.say(self.id, outcome);
        }
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        self.give(Outcome::Unknown("the client library ended without an answer".to_owned()));
    }
}
