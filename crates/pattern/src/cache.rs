//! What a worker keeps between matches: the scratch memory of the engines, so that matching neither locks nor
//! allocates.

use crate::memo::Memo;
use regex_automata::meta;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Scratch memory of one worker, for every pattern it runs.
#[derive(Default)]
pub struct Cache {
    slots: Vec<Slot>,
    failures: u64,
}

struct Slot {
    /// The engine the scratch belongs to; 0 for none.
    owner: u64,
    scratch: Scratch,
}

pub(crate) enum Scratch {
    None,
    Linear(Box<LinearScratch>),
    Pcre(Box<crate::pcre::Memory>),
    Memo(Box<Memo>),
    Front(Box<crate::front::FrontScratch>),
}

pub(crate) struct LinearScratch {
    pub cache: meta::Cache,
    pub slots: Vec<Option<regex_automata::util::primitives::NonMaxUsize>>,
}

impl Cache {
    pub fn new() -> Cache {
        Cache::default()
    }

    /// Matches given up since the last call, because they took too long or PCRE2's limits were reached. Such
    /// a text counts as not matching.
    pub fn take_failures(&mut self) -> u64 {
        std::mem::take(&mut self.failures)
    }

    pub(crate) fn count_failure(&mut self) {
        self.failures += 1;
    }

    /// The scratch of an engine, made at its first use by this worker.
    #[inline]
    pub(crate) fn scratch(&mut self, ticket: &Ticket, make: impl FnOnce() -> Scratch) -> &mut Scratch {
        let at = ticket.index as usize;
        if self.slots.get(at).is_none_or(|s| s.owner != ticket.owner) {
            self.renew(ticket, make());
        }
        &mut self.slots[at].scratch
    }

    #[cold]
    fn renew(&mut self, ticket: &Ticket, scratch: Scratch) {
        let at = ticket.index as usize;
        if self.slots.len() <= at {
            self.slots.resize_with(at + 1, || Slot { owner: 0, scratch: Scratch::None });
        }
        self.slots[at] = Slot { owner: ticket.owner, scratch };
    }
}

/// The right of one engine to a place in every worker's [`Cache`]. Places of dropped engines are used again,
/// so the caches stay as small as the number of live engines, over any number of reloads.
pub(crate) struct Ticket {
    index: u32,
    owner: u64,
}

static FREE: Mutex<Free> = Mutex::new(Free { given: 0, back: Vec::new() });
static OWNER: AtomicU64 = AtomicU64::new(1);

struct Free {
    given: u32,
    back: Vec<u32>,
}

impl Ticket {
    /// Only while a configuration is compiled.
    pub fn new() -> Ticket {
        let mut free = FREE.lock().unwrap_or_else(|e| e.into_inner());
        let index = free.back.pop().unwrap_or_else(|| {
            free.given += 1;
            free.given - 1
        });
        Ticket { index, owner: OWNER.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        FREE.lock().unwrap_or_else(|e| e.into_inner()).back.push(self.index);
    }
}
