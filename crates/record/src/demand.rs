//! What the parts downstream of a point in a log path read: the compiler collects it backwards, so that
//! nothing else is computed.

use crate::names::{NameId, intern, lookup, name_of};
use std::collections::BTreeSet;

/// Everything a template, filter, rewrite or destination may look at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demand {
    pub names: BTreeSet<NameId>,
    /// Any macro that needs the message's own time stamp.
    pub stamp: bool,
    /// Facility and severity.
    pub pri: bool,
    /// STRUCTURED-DATA as a whole.
    pub sdata: bool,
    pub tags: bool,
    /// The frame as received (`$RAWMSG`).
    pub raw: bool,
    /// All name-value pairs (`--scope nv-pairs`, a disk buffer).
    pub everything: bool,
    /// Other messages of a correlation context (`${X}@1`, `$(context-length)`).
    pub context: bool,
    /// Functions of the user's own that are called for each message, by the names of their results.
    pub calls: BTreeSet<NameId>,
}

impl Demand {
    pub fn name(&mut self, name: NameId) {
        self.names.insert(name);
    }

    /// Whether a value of this name is looked at.
    pub fn wants(&self, name: NameId) -> bool {
        self.everything || self.names.contains(&name)
    }

    /// The name of a value that may be set, where it is looked at.
    pub fn wanted(&self, name: &str) -> Option<NameId> {
        match self.everything {
            true => intern(name),
            false => lookup(name).filter(|name| self.names.contains(name)),
        }
    }

    /// Adds what is looked at for some messages only: their calls are made when it comes to them.
    pub fn sometimes(&mut self, note: impl FnOnce(&mut Demand)) {
        let calls = std::mem::take(&mut self.calls);
        note(self);
        self.calls = calls;
    }

    pub fn merge(&mut self, other: &Demand) {
        self.names.extend(&other.names);
        self.calls.extend(&other.calls);
        self.stamp |= other.stamp;
        self.pri |= other.pri;
        self.sdata |= other.sdata;
        self.tags |= other.tags;
        self.raw |= other.raw;
        self.everything |= other.everything;
        self.context |= other.context;
    }

    /// Whether anything is asked that only parsing the syslog header can answer.
    pub fn needs_header(&self) -> bool {
        self.stamp || self.pri || self.sdata || self.tags || self.everything || !self.names.is_empty()
    }

    /// For `penstock check --explain`: the names in alphabetical order.
    pub fn described(&self) -> Vec<&'static str> {
        let mut all: Vec<&'static str> = self.names.iter().map(|n| name_of(*n)).collect();
        let flags = [
            (self.stamp, "time stamp"),
            (self.pri, "PRI"),
            (self.sdata, "SDATA"),
            (self.tags, "tags"),
            (self.raw, "RAWMSG"),
            (self.everything, "all name-value pairs"),
        ];
        all.extend(flags.iter().filter(|(on, _)| *on).map(|(_, what)| *what));
        all.sort_unstable();
        all
    }
}
