//! The counters of named filters: one set for each filter, wherever it stands, which a filter of the same
//! name goes on with after a reload.

use crate::ledger::StepCounters;
use conf_schema::Settings;
use filter::Tally;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The `stats(level())` from which counters of filters are shown.
const SHOWN_FROM: i64 = 1;

pub struct FilterCounters<'a> {
    existing: &'a BTreeMap<String, Arc<StepCounters>>,
    used: RefCell<BTreeMap<String, Arc<StepCounters>>>,
    /// `stats(level())`
    level: i64,
}

impl<'a> FilterCounters<'a> {
    pub fn new(existing: &'a BTreeMap<String, Arc<StepCounters>>, globals: &Settings) -> FilterCounters<'a> {
        let given = |settings: &Settings, name| settings.int(name).filter(|_| settings.is_set(name));
        let level = globals.block("stats").and_then(|stats| given(stats, "level"));
        let level = level.or_else(|| given(globals, "stats-level")).unwrap_or(0);
        FilterCounters { existing, used: RefCell::default(), level }
    }

    pub fn level(&self) -> i64 {
        self.level
    }

    pub fn of(&self, name: &str) -> Arc<StepCounters> {
        let mut used = self.used.borrow_mut();
        let earlier = || self.existing.get(name).cloned().unwrap_or_default();
        Arc::clone(used.entry(name.to_owned()).or_insert_with(earlier))
    }

    /// Those for a call from another filter. Calls are counted only where somebody can see it: expressions
    /// with calls are then evaluated as they are written, without what makes them cheaper.
    pub fn of_call(&self, name: &str) -> Option<Arc<dyn Tally>> {
        (self.level >= SHOWN_FROM).then(|| self.of(name) as Arc<dyn Tally>)
    }

    /// All that were asked for so far.
    pub fn all(&self) -> BTreeMap<String, Arc<StepCounters>> {
        self.used.borrow().clone()
    }
}
