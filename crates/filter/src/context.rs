//! What a worker keeps between messages to run filters and rewrites.

use pattern::{Cache, Slots};
use record::{Demand, NameId, Stamp};
use std::collections::{HashMap, HashSet};
use template::{Identity, RenderContext};

/// One per worker; never shared.
pub struct FilterContext {
    pub render: RenderContext,
    pub work: Workspace,
}

/// The part of the context that has nothing to do with printing.
#[derive(Default)]
pub struct Workspace {
    pub patterns: Cache,
    pub slots: Slots,
    pub wanted: Wanted,
    selections: Vec<Vec<u32>>,
    marks: Vec<Vec<u64>>,
    texts: Vec<Vec<u8>>,
    /// For `blank()`: whether a name is one of `NAME.something`, by the function's number and the name.
    pub(crate) below: HashMap<(u64, NameId), bool>,
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
        FilterContext { render: RenderContext::new(identity), work: Workspace::default() }
    }

    /// Sets the time for macros and rate limits; once per batch.
    pub fn begin_batch(&mut self, now: Stamp) {
        self.render.begin_batch(now);
    }
}

impl Workspace {
    pub(crate) fn selection(&mut self) -> Vec<u32> {
        let mut selection = self.selections.pop().unwrap_or_default();
        selection.clear();
        selection
    }

    pub(crate) fn keep_selection(&mut self, selection: Vec<u32>) {
        self.selections.push(selection);
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
