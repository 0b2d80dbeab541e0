//! What becomes of each message of a batch.

use flight::{Outcome, Verdict};
use std::time::Duration;

/// Where none was taken yet, so many rows of a batch are refused at a time: it may not be the rows.
const REFUSALS_MAX: usize = 16;

/// What is known of the messages of a batch.
pub struct Account {
    pub verdicts: Vec<Verdict>,
    pub taken: usize,
    pub refused: usize,
}

impl Account {
    pub fn refuse(&mut self, place: u32, why: &str) {
        if let Some(verdict) = self.verdicts.get_mut(place as usize) {
            *verdict = Verdict::Refused(why.into());
            self.refused += 1;
        }
    }

    pub fn take(&mut self, places: &[u32]) {
        for place in places {
            if let Some(verdict) = self.verdicts.get_mut(*place as usize) {
                *verdict = Verdict::Delivered;
                self.taken += 1;
            }
        }
    }

    /// Too many were refused for it to be their fault.
    pub fn is_suspicious(&self) -> bool {
        self.taken == 0 && self.refused >= REFUSALS_MAX
    }
}

/// These messages of a batch are delivered; the others go next.
pub fn are_there(there: &[usize], mut verdicts: Vec<Verdict>) -> Outcome {
    for at in there {
        if let Some(verdict) = verdicts.get_mut(*at) {
            *verdict = Verdict::Delivered;
        }
    }
    Outcome::Judged { verdicts, after: Some(Duration::ZERO) }
}
