//! Whether a pattern found something in the texts a worker has tried it on lately.

/// Grows with texts in which nothing was found and shrinks with those in which something was: their balance,
/// in which a refusal counts for more, as it costs more.
#[derive(Default)]
pub struct Habit {
    refusals: u8,
}

const REFUSALS_MAX: u8 = 32;
const REFUSALS_MANY: u8 = 8;
const WEIGHT: u8 = 2;

impl Habit {
    #[inline]
    pub fn note(&mut self, found: bool) {
        self.refusals = match found {
            true => self.refusals.saturating_sub(1),
            false => (self.refusals + WEIGHT).min(REFUSALS_MAX),
        };
    }

    #[inline]
    pub fn refuses(&self) -> bool {
        self.refusals >= REFUSALS_MANY
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_with_what_is_seen() {
        let mut habit = Habit::default();
        (0..3).for_each(|_| habit.note(false));
        assert!(!habit.refuses());
        (0..1000).for_each(|_| habit.note(false));
        assert!(habit.refuses());
        (0..25).for_each(|_| habit.note(true));
        assert!(!habit.refuses());
    }
}
