//! Paths that lead elsewhere than they did. The kernel watches what a path led to: that somebody has renamed
//! or removed a folder above it, mounted something there, or pointed a link elsewhere is told by nobody.

use super::Watch;
use std::time::{Duration, Instant};

/// How often some paths are looked at: with each tick of a worker, and no more often.
const PERIOD: Duration = Duration::from_millis(900);
/// Paths that are looked at in one call.
const SEEN_MAX: usize = 256;

impl Watch {
    /// Looks once a second at some of the watched paths, in turn, and at all links that lead nowhere. What is
    /// elsewhere now is watched there. Whether there was any: then somebody has to look at what is there.
    pub fn led_astray(&mut self, now: Instant) -> bool {
        if self.polls() || now.saturating_duration_since(self.seen) < PERIOD {
            return false;
        }
        self.seen = now;
        let mut astray = false;
        for path in self.dangling.iter().cloned().collect::<Vec<_>>() {
            astray |= self.link(&path);
        }
        if self.unseen.is_empty() {
            self.unseen.extend(self.by_path.keys().cloned());
        }
        for _ in 0..SEEN_MAX {
            let Some(path) = self.unseen.pop() else { break };
            let Some(before) = self.by_path.get(&path).copied() else { continue };
            let leads = match self.links.contains(&path) {
                true => self.link(&path),
                false => self.folder(&path),
            };
            astray |= !leads || self.by_path.get(&path) != Some(&before);
        }
        astray
    }
}
