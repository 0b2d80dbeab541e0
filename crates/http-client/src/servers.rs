//! Which of several servers the next request goes to: the one with the fewest on the way, and none that
//! failed a moment ago.

use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Default)]
struct State {
    /// Requests on the way.
    away: AtomicUsize,
    /// Until then it is asked only when all others have failed too.
    failed_until: Mutex<Option<Instant>>,
}

/// Shared by all outlets of a destination.
pub struct Servers {
    states: Vec<State>,
    time_reopen: Duration,
    /// Who comes first among equals.
    turn: AtomicUsize,
}

/// A request to one of them; it ends when this is dropped.
pub struct Turn {
    servers: Arc<Servers>,
    pub at: usize,
}

impl Servers {
    pub fn new(count: usize, time_reopen: Duration) -> Arc<Servers> {
        let states = (0..count.max(1)).map(|_| State::default()).collect();
        Arc::new(Servers { states, time_reopen, turn: AtomicUsize::new(0) })
    }

    /// The next one that is not in `tried`. When all have failed, the first choice is whoever did so first,
    /// and there is no second.
    pub fn pick(self: &Arc<Servers>, tried: &[usize], now: Instant) -> Option<Turn> {
        let first = self.turn.fetch_add(1, Ordering::Relaxed);
        let count = self.states.len();
        let all = (0..count).map(|i| first.wrapping_add(i) % count).filter(|at| !tried.contains(at));
        let failed = |at: &usize| self.states.get(*at).and_then(|state| *state.failed_until.lock());
        let away = |at: &usize| self.states.get(*at).map_or(0, |state| state.away.load(Ordering::Relaxed));
        let is_live = |at: &usize| failed(at).is_none_or(|until| until <= now);
        let live = all.clone().filter(is_live).min_by_key(away);
        let at = live.or_else(|| all.min_by_key(failed).filter(|_| tried.is_empty()))?;
        self.states.get(at)?.away.fetch_add(1, Ordering::Relaxed);
        Some(Turn { servers: Arc::clone(self), at })
    }
}

impl Turn {
    /// It works, or it is not to be asked for a while.
    pub fn end(self, works: bool, now: Instant) {
        if let Some(state) = self.servers.states.get(self.at) {
            *state.failed_until.lock() = (!works).then(|| now + self.servers.time_reopen);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(state) = self.servers.states.get(self.at) {
            state.away.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_one_with_the_least_to_do_and_none_that_failed() {
        let (now, pause) = (Instant::now(), Duration::from_secs(60));
        let servers = Servers::new(3, pause);
        let turns: Vec<Turn> = (0..3).filter_map(|_| servers.pick(&[], now)).collect();
        let mut asked: Vec<usize> = turns.iter().map(|turn| turn.at).collect();
        asked.sort_unstable();
        assert_eq!(asked, [0, 1, 2]);
        for turn in turns {
            let works = turn.at == 1;
            turn.end(works, now);
        }
        for _ in 0..5 {
            assert_eq!(servers.pick(&[], now).map(|turn| turn.at), Some(1));
        }
        assert!(servers.pick(&[1], now).is_none(), "there is no other that lives");
        let turn = servers.pick(&[], now).expect("one");
        turn.end(false, now + Duration::from_secs(1));
        let first = servers.pick(&[], now).expect("one that may live again").at;
        assert_ne!(first, 1);
        assert!(servers.pick(&[1], now + pause).is_some());
    }
}
