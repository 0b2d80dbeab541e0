//! What a worker keeps for each value-pairs(): plans for the sets of names that messages have, and buffers.

use super::gather::Found;
use super::known::Known;
use super::plan::Plan;
use super::walk::Names;
use record::ValueType;

/// Sets of names remembered for each value-pairs(). Messages of one program have few, those of all devices of
/// a network hundreds.
pub(super) const PLANS: usize = 256;
/// Places a plan may have, so that a few sets of names do not push one another out. A power of two, and a
/// part of [`PLANS`].
pub(super) const WAYS: usize = 4;
/// Value-pairs of configurations that are gone are forgotten beyond this many.
const CACHES_MAX: usize = 256;

/// The caches of a worker, by the id of their value-pairs().
#[derive(Default)]
pub struct PairsCache {
    all: Vec<(u64, Option<Box<Cache>>)>,
}

impl std::fmt::Debug for PairsCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PairsCache").field("caches", &self.all.len()).finish()
    }
}

impl PairsCache {
    /// Taken while it is in use, so that a template in a pair may have value-pairs of its own.
    pub(super) fn take(&mut self, id: u64) -> Box<Cache> {
        self.all.iter_mut().find(|(i, _)| *i == id).and_then(|(_, cache)| cache.take()).unwrap_or_default()
    }

    pub(super) fn put_back(&mut self, id: u64, cache: Box<Cache>) {
        match self.all.iter_mut().find(|(i, _)| *i == id) {
            Some((_, place)) => *place = Some(cache),
            None => {
                if self.all.len() >= CACHES_MAX {
                    self.all.clear();
                }
                self.all.push((id, Some(cache)));
            }
        }
    }
}

#[derive(Default)]
pub(super) struct Cache {
    pub sets: Sets,
    pub buffers: Buffers,
    pub names: Names,
}

/// What is known of sets of names.
#[derive(Default)]
pub(super) struct Sets {
    pub plans: Vec<Plan>,
    /// The plan that was used last: the next message mostly has the same names.
    pub last: usize,
    /// Of sets of names that had no plan and came lately: one that comes again gets one.
    pub seen: Vec<u64>,
    pub known: Known,
}

/// Reused from message to message.
#[derive(Default)]
pub(super) struct Buffers {
    /// Printed pairs and unescaped parameters, with the end and type of each.
    pub text: Vec<u8>,
    pub ends: Vec<(u32, ValueType)>,
    /// What was found, a word for each: see [`super::gather`].
    pub key: Vec<u64>,
    pub found: Vec<Found<'static>>,
    pub plain: Vec<u8>,
}
