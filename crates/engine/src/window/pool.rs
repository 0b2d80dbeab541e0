//! The window of a source with many connections: `log-iw-size()`, given out to whichever of them has
//! something.
//!
//! All that are lent together are never more than the size. Three rules share it out:
//!
//! - An eighth of it is divided among all connections that are permitted: their *own* part, at least one
//!   message each, which nobody else gets. So a connection whose messages wait for a dead destination stops
//!   nobody.
//! - A *reserve*, in which these own parts are, is only for connections that have less under way than the
//!   fair part (the size divided by their number, but at least min-iw-size-per-reader()). It is large enough
//!   that one of them has its fair part at once.
//! - Everything else is lent to whoever asks.
//!
//! Paid once a batch: a connection takes what its next read may bring, gives back what the read did not
//! bring, and the rest with its tickets.

use super::Window;
use crate::friction;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// Which part of the size is divided among the permitted connections.
const OWN_PARTS: usize = 8;

/// What is shared, and among how many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// `log-iw-size()`.
    pub messages: usize,
    /// Connections or files that are permitted.
    pub seats: usize,
    /// `min-iw-size-per-reader()`: no fair part is less, as long as the size is not.
    pub fair_min: usize,
}

/// A share in numbers of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Terms {
    size: usize,
    /// Of one connection.
    own: usize,
    /// Of one connection.
    fair: usize,
    /// The own parts of all.
    owns: usize,
    reserve: usize,
}

impl Terms {
    fn new(share: Share) -> Terms {
        let seats = share.seats.max(1);
        let size = share.messages.max(seats);
        if seats == 1 {
            return Terms { size, own: size, fair: size, owns: size, reserve: 0 };
        }
        let own = (size / OWN_PARTS / seats).max(1);
        let fair = (size / seats).max(share.fair_min).min(size);
        let reserve = (size / OWN_PARTS).max(fair.saturating_add((seats - 1).saturating_mul(own))).min(size);
        Terms { size, own, fair, owns: seats.saturating_mul(own).min(size), reserve }
    }

    /// What a connection that has `taken` may take, with `used` lent to all, `owned` of it as own parts.
    fn allowed(&self, taken: usize, used: usize, owned: usize) -> usize {
        let free = self.size.saturating_sub(used);
        let own = self.own.saturating_sub(taken);
        let unclaimed = self.owns.saturating_sub(owned);
        let others = unclaimed.saturating_sub(own);
        let spare = free.saturating_sub(unclaimed);
        let fair = self.fair.saturating_sub(taken).min(own.min(free) + spare);
        let lent = free.saturating_sub(self.reserve.max(others));
        fair.max(lent)
    }
}

#[derive(Default)]
struct State {
    terms: Option<Terms>,
    /// Lent.
    used: usize,
    /// Of it, as own parts.
    owned: usize,
    /// Windows with nothing under way that found nothing left: no ticket of theirs comes back and tells them
    /// to look again.
    waiting: Vec<Weak<Window>>,
}

/// Shared by the windows of a source's connections.
#[derive(Default)]
pub struct Pool {
    state: Mutex<State>,
    /// There are terms. Without them nothing is counted here.
    shared: AtomicBool,
    /// A window waits in `state`.
    keeps_waiting: AtomicBool,
}

/// What one window has of the pool. Changed under the pool's lock only.
#[derive(Default)]
pub(super) struct Part {
    taken: AtomicUsize,
    owned: AtomicUsize,
    /// Taken for the next batch.
    pub(super) ahead: AtomicUsize,
}

impl State {
    fn allowed(&self, part: &Part) -> usize {
        let taken = part.taken.load(Ordering::Relaxed);
        self.terms.map_or(usize::MAX, |terms| terms.allowed(taken, self.used, self.owned))
    }

    fn set(&mut self, part: &Part, taken: usize) {
        let before = part.taken.swap(taken, Ordering::Relaxed);
        self.used = (self.used + taken).saturating_sub(before);
        let owned = self.terms.map_or(0, |terms| terms.own.min(taken));
        self.owned = (self.owned + owned).saturating_sub(part.owned.swap(owned, Ordering::Relaxed));
    }
}

impl Pool {
    /// Sets what is shared, without touching what is lent. `None`: the connections are bounded by their
    /// windows alone.
    pub fn configure(&self, share: Option<Share>) {
        let terms = share.map(Terms::new);
        let mut state = friction::lock(&self.state);
        if state.terms == terms {
            return;
        }
        state.terms = terms;
        self.shared.store(terms.is_some(), Ordering::Relaxed);
        let waiting = self.waiting(&mut state);
        drop(state);
        wake(waiting);
    }

    /// Takes out who waits.
    fn waiting(&self, state: &mut State) -> Vec<Weak<Window>> {
        self.keeps_waiting.store(false, Ordering::Relaxed);
        std::mem::take(&mut state.waiting)
    }

    /// Whether a window with nothing under way waits for what others have.
    pub(super) fn keeps_waiting(&self) -> bool {
        self.keeps_waiting.load(Ordering::Relaxed)
    }

    /// Whether this window may take anything. One that may not, and has nothing under way, is woken when
    /// something comes back.
    pub(super) fn has_room(&self, window: &Arc<Window>) -> bool {
        if !self.shared.load(Ordering::Relaxed) {
            return true;
        }
        let mut state = friction::lock(&self.state);
        let has = state.allowed(&window.part) > 0;
        if !has && window.part.taken.load(Ordering::Relaxed) == 0 {
            state.waiting.push(Arc::downgrade(window));
            self.keeps_waiting.store(true, Ordering::Relaxed);
        }
        has
    }

    /// Takes as much of `wanted` as is allowed.
    pub(super) fn take(&self, part: &Part, wanted: usize) -> usize {
        if wanted == 0 || !self.shared.load(Ordering::Relaxed) {
            return 0;
        }
        let mut state = friction::lock(&self.state);
        let taken = if state.terms.is_some() { state.allowed(part).min(wanted) } else { 0 };
        let now = part.taken.load(Ordering::Relaxed) + taken;
        state.set(part, now);
        taken
    }

    pub(super) fn give_back(&self, part: &Part, messages: usize) {
        if messages == 0 {
            return;
        }
        let mut state = friction::lock(&self.state);
        let now = part.taken.load(Ordering::Relaxed).saturating_sub(messages);
        state.set(part, now);
        let waiting = self.waiting(&mut state);
        drop(state);
        wake(waiting);
    }

    /// Whether what is taken is counted here.
    pub(super) fn is_shared(&self) -> bool {
        self.shared.load(Ordering::Relaxed)
    }

    #[cfg(test)]
    fn used(&self) -> usize {
        self.state.lock().used
    }
}

fn wake(waiting: Vec<Weak<Window>>) {
    waiting.iter().filter_map(Weak::upgrade).for_each(|window| window.look_again());
}

#[cfg(test)]
mod tests;
