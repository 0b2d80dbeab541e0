//! How much a log has to make safe, and how much it wants to have: enough that the disk is never idle, so
//! little that what comes is safe soon. Those who can wait with what they bring look here.

use crate::shared::State;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// What is always welcome: with less the disk would wait for the next group.
pub const WELCOME_BYTES_MIN: usize = 1 << 20;
/// More than this makes no disk faster.
pub const WELCOME_BYTES_MAX: usize = 16 << 20;
/// A group whose first message waited longer was too large; one that took less than half of it could have
/// been larger.
const LATENCY_AIM: Duration = Duration::from_millis(10);

/// Bytes that are not safe yet, and how many are welcome.
#[derive(Debug)]
pub struct Load {
    bytes: AtomicUsize,
    welcome: AtomicUsize,
    /// The disk takes nothing: what comes is refused, and whoever brings it has to hear of that.
    stuck: AtomicBool,
}

impl Default for Load {
    fn default() -> Load {
        let welcome = AtomicUsize::new(WELCOME_BYTES_MAX / 4);
        Load { bytes: AtomicUsize::new(0), welcome, stuck: AtomicBool::new(false) }
    }
}

impl Load {
    /// Whether whoever can wait should.
    pub fn is_high(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) >= self.welcome.load(Ordering::Relaxed)
            && !self.stuck.load(Ordering::Relaxed)
    }

    /// Whether something is not safe yet.
    pub fn is_on_its_way(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) > 0
    }

    /// What is being written and what waits for that.
    pub(crate) fn tell(&self, state: &State) {
        self.set(state.stats.bytes_pending as usize + state.pending.bytes());
    }

    fn set(&self, bytes: usize) {
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    pub(crate) fn set_stuck(&self, stuck: bool) {
        self.stuck.store(stuck, Ordering::Relaxed);
    }

    /// A group was synced so long after its first message came: less is welcome after one that took long,
    /// more after others that were held back.
    pub(crate) fn synced(&self, bytes: usize, took: Duration) {
        let welcome = self.welcome.load(Ordering::Relaxed);
        let next = match () {
            () if took > LATENCY_AIM => welcome - welcome / 8,
            () if took < LATENCY_AIM / 2 && bytes >= welcome / 4 => welcome + welcome / 32,
            () => welcome,
        };
        self.welcome.store(next.clamp(WELCOME_BYTES_MIN, WELCOME_BYTES_MAX), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_groups_make_less_welcome_and_fast_ones_more() {
        let load = Load::default();
        load.set(4 << 20);
        assert!(load.is_high());
        for _ in 0..100 {
            load.synced(4 << 20, Duration::from_millis(2));
        }
        assert!(!load.is_high());
        load.set(WELCOME_BYTES_MAX);
        assert!(load.is_high(), "there is a most");
        for _ in 0..100 {
            load.synced(4 << 20, Duration::from_millis(40));
        }
        load.set(WELCOME_BYTES_MIN);
        assert!(load.is_high(), "a slow disk is given no more than it takes in time");
        load.set(WELCOME_BYTES_MIN - 1);
        assert!(!load.is_high(), "and no less than a group");
        for _ in 0..100 {
            load.synced(100, Duration::ZERO);
        }
        load.set(WELCOME_BYTES_MIN);
        assert!(load.is_high(), "small groups say nothing about large ones");
        load.set_stuck(true);
        assert!(!load.is_high(), "who brings something hears that it is refused");
    }
}
