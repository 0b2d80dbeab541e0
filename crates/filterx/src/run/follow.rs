//! Which statements and conditions a message takes, and what they look at, for whoever watches it.

use super::failure::told;
use super::{Halt, Operand, Outcome, Report, Run};
use crate::program::Role;

/// Errors passed over that are told of a statement.
const SUPPRESSED_MAX: usize = 8;

/// What became of a message that is watched.
pub struct Judgement {
    pub outcome: Outcome,
    /// Why the block failed.
    pub report: Option<Report>,
    /// What was taken, in order.
    pub trail: Vec<Followed>,
}

/// A statement or condition that was taken.
pub struct Followed {
    /// Which one it is of the block's places.
    pub number: u32,
    /// What its variables were before it.
    pub operands: Vec<Operand>,
    /// The condition holds; the statement has been done.
    pub holds: bool,
    /// Errors that `??` and the like passed over.
    pub suppressed: Vec<String>,
}

impl Followed {
    /// `$X = 5, d.a is not set`
    pub fn operands_told(&self) -> String {
        told(&self.operands)
    }
}

impl Run<'_> {
    /// Does the work of a statement or condition, by its number.
    #[inline(always)]
    pub(crate) fn followed(
        &mut self,
        number: u32,
        work: impl FnOnce(&mut Self) -> Result<bool, Halt>,
    ) -> Result<bool, Halt> {
        match self.is_followed {
            false => work(self),
            true => self.noted(number, work),
        }
    }

    #[cold]
    fn noted(
        &mut self,
        number: u32,
        work: impl FnOnce(&mut Self) -> Result<bool, Halt>,
    ) -> Result<bool, Halt> {
        if let Some(tallied) = self.tallied.get(number as usize) {
            self.count(*tallied);
        }
        if self.trail.is_none() {
            return work(self);
        }
        let place = self.places.get(number as usize).filter(|place| place.role != Role::Frame);
        let Some(place) = place else { return work(self) };
        // Looking changes nothing: JSON that nobody has looked into stays what it is.
        let slots = self.memory.slots.clone();
        let operands = place.operands.iter().map(|(name, expr)| self.operand(name, expr)).collect();
        self.memory.slots = slots;
        let at = self.trail.as_ref().map_or(0, Vec::len);
        self.trail.get_or_insert_default().push(Followed {
            number,
            operands,
            holds: false,
            suppressed: Vec::new(),
        });
        let result = work(self);
        if let Some(followed) = self.trail.as_mut().and_then(|trail| trail.get_mut(at)) {
            followed.holds = matches!(result, Ok(true));
        }
        result
    }

    /// Notes the error that is being passed over, for whoever watches.
    pub(super) fn note_suppressed(&mut self) {
        if self.trail.is_none() {
            return;
        }
        let text = self.failure_text();
        let last = self.trail.as_mut().and_then(|trail| trail.last_mut());
        if let Some(followed) = last.filter(|followed| followed.suppressed.len() < SUPPRESSED_MAX) {
            followed.suppressed.push(text);
        }
    }

    /// Notes that something was come to that a tally counts.
    pub(super) fn count(&mut self, tallied: u32) {
        if let Some(times) = self.memory.taken.get_mut(tallied as usize) {
            *times += 1;
        }
    }
}
