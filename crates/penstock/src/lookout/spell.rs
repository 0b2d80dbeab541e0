//! Something that is so for a time: when it is to be said, once when it begins, now and then, once when it is
//! over.

use std::time::{Duration, Instant};

/// One time of it.
pub struct Spell {
    since: Instant,
    seen: Instant,
    said: Instant,
}

/// What is to be said now.
#[derive(Debug, PartialEq, Eq)]
pub enum Word {
    Nothing,
    Begins,
    GoesOn,
    /// It has lasted for so long.
    Ended(Duration),
}

/// How often it is said, and for how long it must not be so to be over.
#[derive(Clone, Copy)]
pub struct Manner {
    pub every: Duration,
    pub quiet: Duration,
}

/// Notes whether it is so at this look.
pub fn note(slot: &mut Option<Spell>, is_so: bool, manner: Manner, now: Instant) -> Word {
    match (slot.as_mut(), is_so) {
        (None, false) => Word::Nothing,
        (None, true) => {
            *slot = Some(Spell { since: now, seen: now, said: now });
            Word::Begins
        }
        (Some(spell), true) => {
            spell.seen = now;
            if now.saturating_duration_since(spell.said) < manner.every {
                return Word::Nothing;
            }
            spell.said = now;
            Word::GoesOn
        }
        (Some(spell), false) => {
            if now.saturating_duration_since(spell.seen) < manner.quiet {
                return Word::Nothing;
            }
            let lasted = spell.seen.saturating_duration_since(spell.since);
            *slot = None;
            Word::Ended(lasted)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn begins_goes_on_and_ends() {
        let begin = Instant::now();
        let manner = Manner { every: Duration::from_secs(60), quiet: Duration::from_secs(10) };
        let mut slot = None;
        let mut at =
            |second: u64, is_so: bool| note(&mut slot, is_so, manner, begin + Duration::from_secs(second));
        assert_eq!(at(0, false), Word::Nothing);
        assert_eq!(at(1, true), Word::Begins);
        assert_eq!((at(30, true), at(61, true)), (Word::Nothing, Word::GoesOn));
        assert_eq!(
            (at(65, false), at(69, true), at(75, false)),
            (Word::Nothing, Word::Nothing, Word::Nothing)
        );
        assert_eq!(at(79, false), Word::Ended(Duration::from_secs(68)));
        assert_eq!((at(80, false), at(81, true)), (Word::Nothing, Word::Begins));
    }
}
