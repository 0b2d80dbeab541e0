//! Whether whoever asked for the answer that this thread works on still waits for it.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    static ASKER: RefCell<Option<Asker>> = const { RefCell::new(None) };
}

/// The client of one request.
#[derive(Clone, Debug, Default)]
pub struct Asker {
    is_gone: Arc<AtomicBool>,
}

impl Asker {
    /// It has closed its connection.
    pub fn leave(&self) {
        self.is_gone.store(true, Ordering::Relaxed);
    }

    /// From now on this thread works for it.
    pub(crate) fn serve_here(self) {
        ASKER.with(|asker| *asker.borrow_mut() = Some(self));
    }
}

/// What takes its time asks this now and then, and ends early. False on a thread that works for no client of
/// the control socket.
pub fn is_gone() -> bool {
    ASKER.with(|asker| asker.borrow().as_ref().is_some_and(|asker| asker.is_gone.load(Ordering::Relaxed)))
}
