//! When the readers of a source's files get their turns: at once where files change now and then; in rounds
//! where they change all the time, so that one read brings what many writes have brought.

use super::followed::Followed;
use crate::inotify::Watch;
use crate::listener::register;
use crate::timer;
use engine::worker::PortContext;
use mio::unix::SourceFd;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a round lets the next one wait for each file that was read in it. Reading a little costs some
/// microseconds, so that of a core a few hundredths are spent on rounds, however many files there are and
/// however small the writes.
const PAUSE_OF_FILE: Duration = Duration::from_micros(200);
/// A round counts for as many files more: it costs something by itself.
const ROUND_AS_FILES: usize = 8;
/// How often notifications are taken from the kernel meanwhile, which keeps some thousands
/// (fs.inotify.max_queued_events).
const STEP: Duration = Duration::from_millis(10);

pub struct Pace {
    pause_max: Duration,
    /// The next round is not before this.
    due: Instant,
    /// Between rounds notifications give no turns, the timer does: next at this time.
    step: Option<Instant>,
    /// Made with the first pause: most sources have none.
    timer: Option<OwnedFd>,
    /// Files that have changed since the last round.
    changed: Vec<Arc<Followed>>,
    /// How often that was said since the last round.
    told: usize,
}

impl Pace {
    /// No file waits longer than `pause_max`.
    pub fn new(pause_max: Duration) -> Pace {
        Pace { pause_max, due: Instant::now(), step: None, timer: None, changed: Vec::new(), told: 0 }
    }

    /// Whether notifications are to be taken from the kernel now.
    pub fn is_step(&self, now: Instant) -> bool {
        self.step.is_none_or(|step| now >= step)
    }

    pub fn is_due(&self, now: Instant) -> bool {
        now >= self.due
    }

    /// A file has changed: its reader is in the next round.
    pub fn changed(&mut self, followed: &Arc<Followed>) {
        self.told += 1;
        if followed.mark() {
            self.changed.push(Arc::clone(followed));
        }
    }

    /// How often that was said since [`Pace::forget_told`].
    pub fn told(&self) -> usize {
        self.told
    }

    pub fn forget_told(&mut self) {
        self.told = 0;
    }

    /// A round: gives the readers of what has changed a turn, unless everybody has one, who are `all`.
    /// Whether there was anybody.
    pub fn round(&mut self, now: Instant, all: Option<usize>) -> bool {
        let count = all.unwrap_or(self.changed.len());
        match all {
            Some(_) => self.changed.drain(..).for_each(|followed| followed.unmark()),
            None => self.wake(),
        }
        if count > 0 {
            self.due = now + pause(count).min(self.pause_max);
        }
        count > 0
    }

    /// Says how the watcher gets its next turn. `busy`: this was one of a row of rounds; `waiting`: something
    /// else waits for the next one.
    pub fn rest(&mut self, now: Instant, busy: bool, waiting: bool, watch: &Watch, cx: &PortContext) {
        let (is_waiting, is_paused) = (waiting || !self.changed.is_empty(), self.step.is_some());
        let done = if is_waiting || is_paused && (busy || now < self.due) {
            self.pause(now, watch, cx)
        } else if is_paused {
            self.resume(watch, cx)
        } else {
            Ok(())
        };
        if done.is_err() {
            // No descriptors, no memory: without a timer nobody waits; what is left is looked at once a
            // second.
            self.due = now;
            self.wake();
        }
    }

    /// Between rounds.
    pub fn is_paused(&self) -> bool {
        self.step.is_some()
    }

    fn pause(&mut self, now: Instant, watch: &Watch, cx: &PortContext) -> io::Result<()> {
        let registry = cx.handle.registry();
        let timer = match &self.timer {
            Some(timer) => timer,
            None => {
                let timer = timer::unset()?;
                register(&timer.as_raw_fd(), registry, cx.token)?;
                self.timer.insert(timer)
            }
        };
        let step = self.due.min(now + STEP);
        // Zero would stop it.
        let left = step.saturating_duration_since(now).max(Duration::from_micros(1));
        timer::once(timer, left)?;
        if self.step.replace(step).is_none() {
            for fd in watch.descriptors() {
                registry.deregister(&mut SourceFd(&fd.as_raw_fd()))?;
            }
        }
        Ok(())
    }

    fn resume(&mut self, watch: &Watch, cx: &PortContext) -> io::Result<()> {
        for fd in watch.descriptors() {
            register(&fd.as_raw_fd(), cx.handle.registry(), cx.token)?;
        }
        self.step = None;
        Ok(())
    }

    fn wake(&mut self) {
        self.changed.drain(..).for_each(|followed| followed.wake_marked());
    }
}

fn pause(files: usize) -> Duration {
    PAUSE_OF_FILE.saturating_mul(u32::try_from(files + ROUND_AS_FILES).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::acks::Tracker;
    use crate::files::identity::FileId;
    use drivers::testing::Wakes;
    use state::Store;

    #[test]
    fn a_round_gives_each_one_turn_and_lets_the_next_one_wait_for_what_it_costs() {
        let file = tempfile::NamedTempFile::new().expect("file");
        let store = Arc::new(Store::in_memory());
        let tracker =
            Tracker::open(&store, b"n".to_vec(), &file.path().into(), file.as_file(), &Arc::default()).0;
        let followed = Followed::new(FileId { dev: 1, ino: 1 }, tracker, None);
        let reader = Arc::new(Wakes::default());
        followed.attach(reader.clone());
        let turns = || reader.count();
        let most = Duration::from_secs(1);
        let mut pace = Pace::new(most);
        let now = Instant::now();
        assert!(pace.is_due(now) && !pace.round(now, None) && pace.is_due(now), "nothing to wait for");
        pace.changed(&followed);
        pace.changed(&followed);
        assert_eq!((turns(), pace.told()), (0, 2));
        pace.forget_told();
        assert_eq!(pace.told(), 0);
        assert!(pace.round(now, None) && turns() == 1);
        let after = PAUSE_OF_FILE * (1 + ROUND_AS_FILES as u32);
        assert!(!pace.is_due(now + after / 2) && pace.is_due(now + after));
        pace.changed(&followed);
        assert!(pace.round(now, None) && turns() == 2, "what changes later is in the next round");
        pace.changed(&followed);
        assert!(
            pace.round(now, Some(1_000_000)) && turns() == 2,
            "who gives everybody a turn does it himself"
        );
        assert!(!pace.is_due(now + most / 2) && pace.is_due(now + most));
        pace.changed(&followed);
        assert!(pace.round(now, None) && turns() == 3);
    }
}
