//! Rate limit per call site: a peer that provokes a message a million times costs a few lines.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use crate::Level;

/// Length of a window.
pub(crate) const WINDOW: Duration = Duration::from_secs(10);
/// Messages of one key let through in a window.
pub(crate) const PER_WINDOW_COUNT_MAX: u32 = 5;
/// The same of what is said of each connection: that it came, that it went.
pub(crate) const OFTEN_COUNT_MAX: u32 = 100;
/// Keys are literals of the program, so this is never reached; it bounds a caller's mistake.
const KEYS_COUNT_MAX: usize = 1024;

/// What a window has withheld, to be said when it is over.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Withheld {
    pub key: &'static str,
    pub text: &'static str,
    pub level: Level,
    pub count: u64,
}

struct Window {
    start: Instant,
    passed: u32,
    withheld: u64,
    text: &'static str,
    level: Level,
}

#[derive(Default)]
pub(crate) struct Limiter {
    windows: HashMap<&'static str, Window>,
}

pub(crate) struct Verdict {
    pub pass: bool,
    /// The account of the window that has just ended.
    pub ended: Option<Withheld>,
}

impl Limiter {
    pub fn admit(
        &mut self,
        key: &'static str,
        max: u32,
        level: Level,
        text: &'static str,
        now: Instant,
    ) -> Verdict {
        let mut ended = None;
        if let Some(window) = self.windows.get_mut(key) {
            if now.saturating_duration_since(window.start) < WINDOW {
                if window.passed < max {
                    window.passed += 1;
                    return Verdict { pass: true, ended: None };
                }
                window.withheld += 1;
                (window.text, window.level) = (text, level);
                return Verdict { pass: false, ended: None };
            }
            ended = account(key, window);
        } else if self.windows.len() >= KEYS_COUNT_MAX {
            return Verdict { pass: false, ended: None };
        }
        self.windows.insert(key, Window { start: now, passed: 1, withheld: 0, text, level });
        Verdict { pass: true, ended }
    }

    /// Forgets windows that are over and returns what they withheld, by key.
    pub fn expire(&mut self, now: Instant) -> Vec<Withheld> {
        let mut said = Vec::new();
        self.windows.retain(|key, window| {
            let over = now.saturating_duration_since(window.start) >= WINDOW;
            if over {
                said.extend(account(key, window));
            }
            !over
        });
        said.sort_by_key(|w| w.key);
        said
    }
}

fn account(key: &'static str, window: &Window) -> Option<Withheld> {
    (window.withheld > 0).then_some(Withheld {
        key,
        text: window.text,
        level: window.level,
        count: window.withheld,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: u32 = PER_WINDOW_COUNT_MAX;

    #[test]
    fn passes_a_few_then_counts_and_accounts_when_the_window_ends() {
        let mut limiter = Limiter::default();
        let start = Instant::now();
        let passed = (0..100).filter(|_| limiter.admit("k", MAX, Level::Error, "T", start).pass).count();
        assert_eq!(passed, PER_WINDOW_COUNT_MAX as usize);
        assert!(limiter.admit("other", MAX, Level::Error, "U", start).pass, "keys do not share a window");

        let later = limiter.admit("k", MAX, Level::Error, "T", start + WINDOW);
        assert!(later.pass);
        let account = Withheld { key: "k", text: "T", level: Level::Error, count: 95 };
        assert_eq!(later.ended, Some(account));
    }

    #[test]
    fn expiry_accounts_once_and_only_for_ended_windows() {
        let mut limiter = Limiter::default();
        let start = Instant::now();
        for _ in 0..PER_WINDOW_COUNT_MAX + 2 {
            limiter.admit("k", MAX, Level::Warning, "T", start);
        }
        assert!(limiter.expire(start + WINDOW / 2).is_empty());
        let said = limiter.expire(start + WINDOW);
        assert_eq!(said, [Withheld { key: "k", text: "T", level: Level::Warning, count: 2 }]);
        assert!(limiter.expire(start + WINDOW * 2).is_empty());
    }
}
