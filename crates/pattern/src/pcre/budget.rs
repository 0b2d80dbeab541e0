//! The time one pattern may take for one message, over all its searches: those of a walk over all matches
//! too.

use std::time::{Duration, Instant};

/// Time of one pattern for one text. What is not found by then counts as not matching.
pub const SEARCH_TIME_MAX: Duration = Duration::from_millis(10);
/// Searches of a walk between two looks at the clock.
const UNTIMED: u32 = 8;

/// What has been spent on a text, from search to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    begun: Option<Instant>,
    searches: u32,
    over: bool,
}

impl Spent {
    /// No time is left: what was not found was given up.
    pub fn is_over(&self) -> bool {
        self.over
    }

    pub fn give_up(&mut self) {
        self.over = true;
    }

    /// A part of a search is done, and another has to follow: true when no time is left. Searches of one part
    /// look at no clock.
    #[cold]
    pub fn look(&mut self) -> bool {
        let now = clock();
        let begun = *self.begun.get_or_insert(now);
        self.over |= now.duration_since(begun) > SEARCH_TIME_MAX;
        self.over
    }

    /// Another search of a walk over all matches begins: true when no time is left. Looks at the clock now
    /// and then.
    #[inline]
    pub fn walk(&mut self) -> bool {
        self.searches = self.searches.wrapping_add(1);
        self.searches.is_multiple_of(UNTIMED) && self.look() || self.over
    }
}

#[cfg(not(test))]
fn clock() -> Instant {
    Instant::now()
}

/// In tests time goes on by a step at each look, so that they bound how often is looked and not how fast the
/// machine is.
#[cfg(test)]
fn clock() -> Instant {
    testing::clock()
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static STEP: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static NOW: Cell<Option<Instant>> = const { Cell::new(None) };
        static LOOKS: Cell<u32> = const { Cell::new(0) };
    }

    pub fn clock() -> Instant {
        LOOKS.set(LOOKS.get() + 1);
        let now = NOW.get().unwrap_or_else(Instant::now) + STEP.get();
        NOW.set(Some(now));
        now
    }

    /// Lets each look at the clock take so long; how often `f` has looked.
    pub fn with_step(step: Duration, f: impl FnOnce()) -> u32 {
        STEP.set(step);
        LOOKS.set(0);
        f();
        STEP.set(Duration::ZERO);
        LOOKS.get()
    }
}
