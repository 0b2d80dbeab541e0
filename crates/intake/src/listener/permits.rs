//! `max-connections()`: a permit for each connection. A connection that has not brought a message yet is a
//! newcomer; when all permits are taken, the newcomer that has been there longest makes room for the next
//! connection. One that has brought a message stays.

use engine::Wake;
use engine::reader::Newcomer;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Why a newcomer was closed.
pub const MADE_ROOM: &str = "it had sent no message, and another one came while max-connections() were open";

/// The permits of a listener.
pub struct Permits {
    pub max: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    taken: usize,
    next: u64,
    /// By their number, so the oldest first. Those that were asked to go are not here any more.
    newcomers: BTreeMap<u64, Arc<Holder>>,
}

struct Holder {
    number: u64,
    permits: Arc<Permits>,
    is_to_go: AtomicBool,
    /// Gives the connection a turn, once it has a port.
    waker: Mutex<Option<Arc<dyn Wake>>>,
}

/// One of `max-connections()`, free again when it is dropped.
pub struct Permit(Arc<Holder>);

impl Permits {
    pub fn new(max: usize) -> Arc<Permits> {
        Arc::new(Permits { max, state: Mutex::default() })
    }

    #[cfg(test)]
    pub fn taken(&self) -> usize {
        self.state.lock().taken
    }

    /// A permit for a newcomer; the one of another newcomer when all are taken, who leaves as soon as his
    /// worker has looked whether a message has come after all.
    pub fn take(self: &Arc<Permits>) -> Option<Permit> {
        let mut state = self.state.lock();
        let leaves = match state.taken < self.max {
            true => None,
            false => Some(state.newcomers.pop_first()?.1),
        };
        state.taken += 1;
        let number = state.next;
        state.next += 1;
        let holder = Arc::new(Holder {
            number,
            permits: Arc::clone(self),
            is_to_go: AtomicBool::new(false),
            waker: Mutex::default(),
        });
        state.newcomers.insert(number, Arc::clone(&holder));
        drop(state);
        if let Some(leaves) = leaves {
            leaves.is_to_go.store(true, Ordering::Release);
            let waker = leaves.waker.lock().clone();
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        Some(Permit(holder))
    }
}

impl Permit {
    /// From now on the connection can be given a turn.
    pub fn wakes(&self, waker: Arc<dyn Wake>) {
        *self.0.waker.lock() = Some(Arc::clone(&waker));
        // It may have been asked to go before there was anybody to tell.
        if self.is_to_go() {
            waker.wake();
        }
    }

    /// The connection has brought a message, or is known from before: it stays.
    pub fn speaks(&self) {
        self.0.speaks();
    }

    /// Whether it is to make room, if there is nothing to be read from it.
    pub fn is_to_go(&self) -> bool {
        self.0.is_to_go()
    }

    /// For a reader, which asks until it has found a message.
    pub fn newcomer(&self) -> Arc<dyn Newcomer> {
        Arc::clone(&self.0) as Arc<dyn Newcomer>
    }
}

impl Newcomer for Holder {
    fn speaks(&self) {
        self.permits.state.lock().newcomers.remove(&self.number);
        *self.waker.lock() = None;
    }

    fn is_to_go(&self) -> bool {
        self.is_to_go.load(Ordering::Acquire)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.0.permits.state.lock();
        state.taken -= 1;
        let _left = state.newcomers.remove(&self.0.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicUsize;

    struct Turns(AtomicUsize);

    impl Wake for Turns {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn the_oldest_newcomer_makes_room_and_nobody_who_spoke() {
        let permits = Permits::new(3);
        let sit = || permits.take().expect("a permit");
        let (first, second, third) = (sit(), sit(), sit());
        first.speaks();
        let fourth = sit();
        assert!(second.is_to_go() && !first.is_to_go() && !third.is_to_go());
        let turns = Arc::new(Turns(AtomicUsize::new(0)));
        second.wakes(Arc::clone(&turns) as Arc<dyn Wake>);
        third.wakes(Arc::clone(&turns) as Arc<dyn Wake>);
        assert_eq!(turns.0.load(Ordering::SeqCst), 1, "who was asked before hears of it");
        drop(second);
        assert_eq!(permits.taken(), 3);
        third.speaks();
        fourth.speaks();
        assert!(permits.take().is_none(), "all have spoken");
        assert_eq!(turns.0.load(Ordering::SeqCst), 1);
        drop(first);
        let fifth = sit();
        let _sixth = sit();
        assert!(fifth.is_to_go());
    }
}
