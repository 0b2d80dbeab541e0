//! Remembered answers to a question about names, for tables that workers keep.

use crate::names::{NAMES_MAX, NameId};

/// Of each name that a configuration knows, whether it was asked about and what the answer was. Names of
/// STRUCTURED-DATA and those that messages bring are not remembered.
#[derive(Clone, Debug, Default)]
pub struct NameAnswers(Vec<Answered>);

/// Of 64 names, a bit each.
#[derive(Clone, Copy, Debug, Default)]
struct Answered {
    asked: u64,
    yes: u64,
}

impl NameAnswers {
    /// The answer about a name, found out with `ask` the first time; `None` when it is none to be remembered.
    #[inline]
    pub fn of(&mut self, name: NameId, ask: impl FnOnce() -> bool) -> Option<bool> {
        if name.0 as usize >= NAMES_MAX {
            return None;
        }
        let (word, bit) = (name.0 as usize / 64, 1 << (name.0 % 64));
        if let Some(answered) = self.0.get(word).filter(|answered| answered.asked & bit != 0) {
            return Some(answered.yes & bit != 0);
        }
        let answer = ask();
        self.learn(name, answer);
        Some(answer)
    }

    #[cold]
    fn learn(&mut self, name: NameId, answer: bool) {
        let word = name.0 as usize / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, Answered::default());
        }
        if let Some(answered) = self.0.get_mut(word) {
            answered.asked |= 1 << (name.0 % 64);
            answered.yes |= u64::from(answer) << (name.0 % 64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_asked_about_once() {
        let mut answers = NameAnswers::default();
        for round in 0..2 {
            for number in [0, 63, 64, 1000] {
                let ask = || {
                    assert_eq!(round, 0, "{number}");
                    number % 2 == 0
                };
                assert_eq!(answers.of(NameId(number), ask), Some(number % 2 == 0), "{number}");
            }
        }
        for number in [NAMES_MAX as u32, 1 << 22, 1 << 23, u32::MAX] {
            assert_eq!(answers.of(NameId(number), || true), None, "{number}");
        }
        assert!(answers.0.len() < 20);
    }
}
