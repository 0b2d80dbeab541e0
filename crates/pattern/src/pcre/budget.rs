//! The time one pattern may take for one message, over all its searches: those of a walk over all matches
//! too.

#[cfg(not(test))]
use rustix::time::{ClockId, clock_gettime};
use std::time::{Duration, Instant};

/// CPU time of one pattern for one text. What is not found by then counts as not matching.
pub const SEARCH_TIME_MAX: Duration = Duration::from_millis(10);
/// Until so much time has gone by nobody asks for CPU time, which is a system call.
const UNCOUNTED: Duration = Duration::from_millis(1);
/// Searches of a walk between two looks at the clock.
const UNTIMED: u32 = 8;

/// What has been spent on a text, from search to search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spent {
    begun: Option<Instant>,
    /// CPU time of this thread when [`UNCOUNTED`] had gone by.
    counted_from: Option<Duration>,
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
        if now.duration_since(begun) > UNCOUNTED {
            // A busy machine may keep a thread waiting for longer than this: only what it worked counts.
            let worked = cpu_time();
            self.over |= worked.saturating_sub(*self.counted_from.get_or_insert(worked)) > SEARCH_TIME_MAX;
        }
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

#[cfg(not(test))]
fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// In tests time goes on by a step at each look, so that they bound how often is looked and not how fast the
/// machine is.
#[cfg(test)]
fn clock() -> Instant {
    testing::clock()
}

#[cfg(test)]
fn cpu_time() -> Duration {
    testing::cpu_time()
}

#[cfg(test)]
pub mod testing {
    use super::*;
    use std::cell::Cell;

    thread_local! {
        static STEP: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static NOW: Cell<Option<Instant>> = const { Cell::new(None) };
        static LOOKS: Cell<u32> = const { Cell::new(0) };
        static WORKED: Cell<Duration> = const { Cell::new(Duration::ZERO) };
        static WAITS: Cell<bool> = const { Cell::new(false) };
    }

    pub fn clock() -> Instant {
        LOOKS.set(LOOKS.get() + 1);
        let now = NOW.get().unwrap_or_else(Instant::now) + STEP.get();
        NOW.set(Some(now));
        if !WAITS.get() {
            WORKED.set(WORKED.get() + STEP.get());
        }
        now
    }

    pub fn cpu_time() -> Duration {
        WORKED.get()
    }

    /// The thread of `f` waits for a CPU all the time that its clock goes on.
    pub fn waiting(f: impl FnOnce()) {
        WAITS.set(true);
        f();
        WAITS.set(false);
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
