//! What a worker keeps between messages to run filters and rewrites.

use crate::called::Tallied;
use crate::filter::settle_conditions;
use crate::netmask::Lately;
use crate::pending::Pending;
use pattern::{Cache, Slots, TextMemo};
use record::{Batch, Demand, NameId, Record, Seed, Span, Stamp, Zone, ZoneCursor};
use std::any::Any;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use template::{Identity, RenderContext};

/// One per worker; never shared.
pub struct FilterContext {
    pub render: RenderContext,
    pub work: Workspace,
    /// Whether a row of expression blocks runs: their templates see [`FilterContext::unsynced`].
    pub in_row: bool,
    /// Messages as they were in front of the row, in their own places; others are left over.
    pub unsynced: Vec<Record>,
}

/// The part of the context that has nothing to do with printing.
#[derive(Default)]
pub struct Workspace {
    pub patterns: Cache,
    pub slots: Slots,
    pub wanted: Wanted,
    /// What filters that others call have decided message by message, until the end of the batch.
    pub(crate) tallied: Tallied,
    pub pending: Pending,
    pub(crate) nets: Lately,
    selections: Vec<Vec<u32>>,
    marks: Vec<Vec<u64>>,
    texts: Vec<Vec<u8>>,
    /// Answers about names, see [`Workspace::name_fits`].
    fits: HashMap<(u64, u64), bool>,
    /// For substitutions, by their number.
    memos: HashMap<u64, TextMemo, Seed>,
    /// What parsers keep, by their number.
    states: HashMap<u64, Box<dyn Any + Send>, Seed>,
    /// What messages were made of, while somebody wants to know.
    pub made_of: Option<Vec<MadeOf>>,
    /// The same of messages that come in and have been made before.
    pub posted: Vec<MadeOf>,
    /// Messages of the batch that ended the process they were given to.
    pub fatal: Vec<Fatal>,
    zones: HashMap<Box<[u8]>, Option<ZoneCursor>>,
}

/// A message that a process beside the program does not survive.
#[derive(Clone, Debug)]
pub struct Fatal {
    /// Of its record in the batch.
    pub index: u32,
    /// Where, and what became of the process.
    pub reason: String,
}

/// What a parser with contexts made a message of.
#[derive(Clone, Debug)]
pub struct MadeOf {
    /// Where the MESSAGE of the made one stands in its batch.
    pub message: Span,
    /// The texts of the others as they came in, the oldest first.
    pub parts: Vec<Vec<u8>>,
}

/// Entries of each table a worker keeps; a table that is full starts anew.
const REMEMBERED_MAX: usize = 1 << 16;
/// Operations remembered, those of older configurations among them.
const MEMOS_MAX: usize = 256;
/// Parsers that keep something; large configurations have a few hundred.
const STATES_MAX: usize = 4096;
/// Zones are large.
const ZONES_MAX: usize = 1024;

static ASKERS: AtomicU64 = AtomicU64::new(0);

/// A number for a part of the configuration that asks about names, see [`Workspace::name_fits`].
pub fn new_asker() -> u64 {
    ASKERS.fetch_add(1, Ordering::Relaxed)
}

/// Which of the values that matching makes (`$1`, named groups) anything in the configuration reads.
#[derive(Clone, Debug, Default)]
pub enum Wanted {
    #[default]
    All,
    Some {
        numbers: [u64; 4],
        names: HashSet<NameId>,
    },
}

impl Wanted {
    /// From the union of everything the configuration reads.
    pub fn of(demand: &Demand) -> Wanted {
        if demand.everything {
            return Wanted::All;
        }
        let mut numbers = [0; 4];
        let mut names = HashSet::new();
        for name in &demand.names {
            match numbers.get_mut(name.0 as usize / 64) {
                Some(word) => *word |= 1 << (name.0 % 64),
                None => {
                    names.insert(*name);
                }
            }
        }
        Wanted::Some { numbers, names }
    }

    /// Whether any match from this number on is read.
    pub fn has_matches_from(&self, first: usize) -> bool {
        let Wanted::Some { numbers, .. } = self else { return first <= NameId::MATCH_MAX as usize };
        numbers.iter().enumerate().any(|(word, bits)| {
            let below = first.saturating_sub(word * 64).min(64) as u32;
            bits.checked_shr(below).unwrap_or(0) != 0
        })
    }

    #[inline]
    pub fn has(&self, name: NameId) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Some { numbers, names } => match numbers.get(name.0 as usize / 64) {
                Some(word) => word & (1 << (name.0 % 64)) != 0,
                None => names.contains(&name),
            },
        }
    }
}

impl FilterContext {
    pub fn new(identity: Identity) -> FilterContext {
        FilterContext {
            render: RenderContext::new(identity),
            work: Workspace::default(),
            in_row: false,
            unsynced: Vec::new(),
        }
    }

    /// Sets the time for macros and rate limits; once per batch.
    pub fn begin_batch(&mut self, now: Stamp) {
        self.render.begin_batch(now);
    }

    /// Adds up what filters that others call have decided, and what was counted; at the end of a batch.
    pub fn settle(&mut self) {
        self.work.tallied.settle();
        self.work.pending.settle();
        settle_conditions();
    }
}

impl Workspace {
    /// An empty selection; give it back with [`Workspace::keep_selection`].
    pub fn selection(&mut self) -> Vec<u32> {
        let mut selection = self.selections.pop().unwrap_or_default();
        selection.clear();
        selection
    }

    pub fn keep_selection(&mut self, selection: Vec<u32>) {
        self.selections.push(selection);
    }

    /// Whether a name of the batch passes the asker's test: found out once per worker.
    pub fn name_fits(
        &mut self,
        asker: u64,
        batch: &Batch,
        name: NameId,
        test: impl FnOnce(&str) -> bool,
    ) -> bool {
        let key = batch.name_key(name);
        if let Some(fits) = self.fits.get(&(asker, key)) {
            return *fits;
        }
        if self.fits.len() >= REMEMBERED_MAX {
            self.fits.clear();
        }
        let fits = test(batch.name_of(name));
        self.fits.insert((asker, key), fits);
        fits
    }

    /// The results an operation remembers; once per batch.
    pub fn take_memo(&mut self, asker: u64) -> TextMemo {
        self.memos.remove(&asker).unwrap_or_default()
    }

    pub fn keep_memo(&mut self, asker: u64, memo: TextMemo) {
        if self.memos.len() >= MEMOS_MAX {
            self.memos.clear();
        }
        self.memos.insert(asker, memo);
    }

    /// What a part of the configuration keeps from batch to batch, made at its first use by this worker; once
    /// per batch.
    pub fn take_state<T: Any + Send>(&mut self, asker: u64, make: impl FnOnce() -> T) -> Box<T> {
        let kept = self.states.remove(&asker).and_then(|state| (state as Box<dyn Any>).downcast().ok());
        kept.unwrap_or_else(|| Box::new(make()))
    }

    pub fn keep_state<T: Any + Send>(&mut self, asker: u64, state: Box<T>) {
        if self.states.len() >= STATES_MAX {
            self.states.clear();
        }
        self.states.insert(asker, state);
    }

    /// The time zone of a name made from a message.
    pub fn zone(&mut self, name: &[u8]) -> Option<&mut ZoneCursor> {
        if !self.zones.contains_key(name) {
            if self.zones.len() >= ZONES_MAX {
                self.zones.clear();
            }
            let zone = std::str::from_utf8(name).ok().and_then(Zone::named).map(ZoneCursor::new);
            self.zones.insert(name.into(), zone);
        }
        self.zones.get_mut(name).and_then(Option::as_mut)
    }

    /// Bits for `count` records, all zero.
    pub(crate) fn marks(&mut self, count: usize) -> Vec<u64> {
        let mut marks = self.marks.pop().unwrap_or_default();
        marks.clear();
        marks.resize(count.div_ceil(64), 0);
        marks
    }

    pub(crate) fn keep_marks(&mut self, marks: Vec<u64>) {
        self.marks.push(marks);
    }

    /// An empty buffer; give it back with [`Workspace::keep_text`].
    pub fn text(&mut self) -> Vec<u8> {
        let mut text = self.texts.pop().unwrap_or_default();
        text.clear();
        text
    }

    pub fn keep_text(&mut self, text: Vec<u8>) {
        self.texts.push(text);
    }
}
