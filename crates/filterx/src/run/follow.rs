//! Which statements and conditions a message takes, and what they look at, for whoever watches it.

use super::failure::told;
use super::{Halt, Operand, Outcome, Report, Run};
use crate::program::Role;

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
        match self.trail {
            None => work(self),
            Some(_) => self.noted(number, work),
        }
    }

    #[cold]
    fn noted(
        &mut self,
        number: u32,
        work: impl FnOnce(&mut Self) -> Result<bool, Halt>,
    ) -> Result<bool, Halt> {
        let place = self.places.get(number as usize).filter(|place| place.role != Role::Frame);
        let Some(place) = place else { return work(self) };
        // Looking changes nothing: JSON that nobody has looked into stays what it is.
        let slots = self.memory.slots.clone();
        let operands = place.operands.iter().map(|(name, expr)| self.operand(name, expr)).collect();
        self.memory.slots = slots;
        let at = self.trail.as_ref().map_or(0, Vec::len);
        self.trail.get_or_insert_default().push(Followed { number, operands, holds: false });
        let result = work(self);
        if let Some(followed) = self.trail.as_mut().and_then(|trail| trail.get_mut(at)) {
            followed.holds = matches!(result, Ok(true));
        }
        result
    }
}
