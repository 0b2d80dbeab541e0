//! The files of a destination whose names are made from messages: the outlet of each, and which of them give
//! way when there are many.
//!
//! A name with something waiting is never forgotten. Beyond [`NAMES_MAX`] such names take memory for messages
//! under way, which holds back sources with flow-control once it is used up.

use engine::{Budget, Outlet};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Names that are known at once, as long as some of them have nothing waiting.
pub(super) const NAMES_MAX: usize = 10_000;
/// What a name beyond those takes of the memory for messages under way.
const NAME_BYTES: usize = 4096;
/// Of the names, one in so many is forgotten at a time; and so many come before it is tried again, when few
/// could be.
const SHARE: usize = 16;

#[derive(Default)]
pub(super) struct Names {
    known: HashMap<Box<[u8]>, Known>,
    /// Counts the lookups.
    uses: AtomicU64,
    /// With fewer names nobody is asked to give way.
    enough: usize,
    /// The memory that names beyond [`NAMES_MAX`] take, and of what.
    budget: Option<Arc<Budget>>,
    taken_bytes: usize,
}

struct Known {
    outlet: Arc<Outlet>,
    /// The lookup that found it last.
    used: AtomicU64,
}

impl Names {
    pub fn get(&self, name: &[u8]) -> Option<Arc<Outlet>> {
        self.find(name, self.uses.fetch_add(1, Relaxed) + 1)
    }

    /// Appends the outlet of each of these names, `None` where it is not known. They count as looked up at
    /// the same time.
    pub fn get_all<'a>(&self, names: impl Iterator<Item = &'a [u8]>, found: &mut Vec<Option<Arc<Outlet>>>) {
        let now = self.uses.fetch_add(1, Relaxed) + 1;
        found.extend(names.map(|name| self.find(name, now)));
    }

    fn find(&self, name: &[u8], now: u64) -> Option<Arc<Outlet>> {
        let known = self.known.get(name)?;
        known.used.store(now, Relaxed);
        Some(Arc::clone(&known.outlet))
    }

    pub fn outlets(&self) -> impl Iterator<Item = &Arc<Outlet>> {
        self.known.values().map(|known| &known.outlet)
    }

    /// Before another name is added: with as many as may be, those that were used least recently and have
    /// nothing waiting give way. Says whether there is room; without, a name may be added all the same if its
    /// messages have to be kept.
    pub fn make_room(&mut self, names_max: usize) -> bool {
        let count = self.known.len();
        if count < names_max {
            return true;
        }
        if count >= self.enough {
            let target = names_max - names_max / SHARE;
            self.forget(count - target);
            let left = self.known.len();
            self.enough = if left < names_max { 0 } else { left + names_max / SHARE };
            self.account(names_max);
        }
        self.known.len() < names_max || self.budget.as_ref().is_none_or(|budget| !budget.is_used_up())
    }

    /// Adds a name that is not known.
    pub fn add(&mut self, name: &[u8], outlet: Arc<Outlet>, budget: &Arc<Budget>, names_max: usize) {
        self.budget.get_or_insert_with(|| Arc::clone(budget));
        let used = AtomicU64::new(self.uses.fetch_add(1, Relaxed) + 1);
        self.known.insert(name.into(), Known { outlet, used });
        self.account(names_max);
    }

    fn forget(&mut self, count: usize) {
        // Nobody is about to bring something: outlets are found here, with the names locked, and in their
        // worker.
        let is_idle = |outlet: &Arc<Outlet>| Arc::strong_count(outlet) <= 2 && outlet.waiting() == 0;
        let idle = self.known.iter().filter(|(_, known)| is_idle(&known.outlet));
        let mut idle: Vec<(u64, Box<[u8]>)> =
            idle.map(|(name, known)| (known.used.load(Relaxed), name.clone())).collect();
        if idle.len() > count {
            idle.select_nth_unstable_by_key(count, |(used, _)| *used);
            idle.truncate(count);
        }
        for (_, name) in idle {
            if let Some(known) = self.known.remove(&name) {
                known.outlet.close();
            }
        }
    }

    fn account(&mut self, names_max: usize) {
        let Some(budget) = &self.budget else { return };
        let wanted = self.known.len().saturating_sub(names_max) * NAME_BYTES;
        if wanted > self.taken_bytes {
            budget.take(wanted - self.taken_bytes);
        } else {
            budget.give_back(self.taken_bytes - wanted);
        }
        self.taken_bytes = wanted;
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        if let Some(budget) = &self.budget {
            budget.give_back(self.taken_bytes);
        }
    }
}
