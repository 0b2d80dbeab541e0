//! Names of values in whatever order they come. Each name that a message has brought is remembered with its
//! place in the sorted order, and with what is written in front of its value, so that a set of names nobody
//! has seen costs no sort of texts and no allocation.

use super::ValuePairs;
use super::gather::PADDING;
use super::names::Layout;
use super::plan::{Item, Plan, Span};
use std::cmp::Ordering;

/// Names remembered; a table that is full starts anew.
const NAMES_MAX: usize = 1 << 12;
/// A name that is not meant.
const NOT_MEANT: u32 = u32::MAX;

/// A name as messages have it.
#[derive(Clone, Copy, Default)]
struct Slot {
    /// What stands for it in all batches; 0 is a free place.
    key: u64,
    /// Its entry, or [`NOT_MEANT`].
    entry: u32,
    /// The message that had it last: of two values with one name the first counts.
    message: u32,
}

/// A name as it is given out.
struct Entry {
    /// Grows with the sorted order, with gaps for names to come.
    rank: u64,
    name: Span,
    /// What stands in front of its value, where that does not depend on the names before it: behind another
    /// value, and of the first one.
    leads: [Span; 2],
    /// It is in no object of its own.
    is_simple: bool,
    is_odd: bool,
}

/// One value of a message.
#[derive(Clone, Copy)]
struct Picked {
    rank: u64,
    source: u32,
    entry: u32,
}

#[derive(Default)]
pub(super) struct Known {
    /// Found by key; the length is a power of two.
    slots: Vec<Slot>,
    used: usize,
    entries: Vec<Entry>,
    /// The entries, sorted.
    order: Vec<u32>,
    /// The entries of pairs whose names are known.
    statics: Vec<u32>,
    message: u32,
    picked: Vec<Picked>,
    /// Has all names, and all that is written in front of them at the beginning of its text: for messages
    /// nobody has made a plan for.
    plan: Plan,
    /// The length of that.
    leads_len: usize,
}

impl Known {
    /// Finds what is printed of a message with this key, sorted. `false`: there are names it does not know.
    pub fn pick(&mut self, pairs: &ValuePairs, key: &[u64]) -> bool {
        if self.statics.len() != pairs.statics.len() {
            return false;
        }
        self.picked.clear();
        self.next_message();
        let words = key.iter().zip(0u32..);
        for ((word, source), entry) in words.clone().zip(&self.statics) {
            if word & 1 == 1 {
                let rank = self.entries.get(*entry as usize).map_or(0, |entry| entry.rank);
                self.picked.push(Picked { rank, source, entry: *entry });
            }
        }
        for (word, source) in words.skip(pairs.statics.len()) {
            let Some(slot) = find(&self.slots, word >> 1).and_then(|at| self.slots.get_mut(at)) else {
                return false;
            };
            let is_first = std::mem::replace(&mut slot.message, self.message) != self.message;
            if is_first && word & 1 == 1 && slot.entry != NOT_MEANT {
                let rank = self.entries.get(slot.entry as usize).map_or(0, |entry| entry.rank);
                self.picked.push(Picked { rank, source, entry: slot.entry });
            }
        }
        self.picked.sort_unstable_by_key(|picked| (picked.rank, picked.source));
        self.picked.dedup_by_key(|picked| picked.rank);
        true
    }

    fn next_message(&mut self) {
        self.message = self.message.wrapping_add(1);
        if self.message == 0 {
            self.slots.iter_mut().for_each(|slot| slot.message = 0);
            self.message = 1;
        }
    }

    /// What was picked, as a plan for this message alone.
    pub fn plan(&mut self, layout: Layout) -> &Plan {
        let Known { plan, entries, picked, leads_len, .. } = self;
        plan.begin(*leads_len);
        for (at, picked) in picked.iter().enumerate() {
            let Some(entry) = entries.get(picked.entry as usize) else { continue };
            let lead = match entry.is_simple && !plan.is_inside() {
                true => entry.leads[usize::from(at == 0)],
                false => plan.lead(layout, entry.name, at == 0),
            };
            plan.push(Item::new(lead, entry.name, picked.source), entry.is_odd);
        }
        plan.end(layout);
        plan
    }

    /// What was picked, as a plan for all messages with this key.
    pub fn make(&self, plan: &mut Plan, key: &[u64], pairs: &ValuePairs) {
        plan.begin_for(key);
        for (at, picked) in self.picked.iter().enumerate() {
            let Some(entry) = self.entries.get(picked.entry as usize) else { continue };
            let name = plan.name(self.plan.text_of(entry.name));
            let lead = plan.lead(pairs.layout, name, at == 0);
            match pairs.fixed_text(picked.source) {
                Some(text) => plan.push_fixed(lead, text),
                None => plan.push(Item::new(lead, name, picked.source), entry.is_odd),
            }
        }
        plan.end(pairs.layout);
    }

    /// Whether it knows a name that is not meant.
    pub fn excludes(&self, key: u64) -> bool {
        find(&self.slots, key).and_then(|at| self.slots.get(at)).is_some_and(|slot| slot.entry == NOT_MEANT)
    }

    /// Room for so many more names: all are forgotten when there is none.
    pub fn make_room(&mut self, pairs: &ValuePairs, count: usize) {
        if self.used + count > NAMES_MAX {
            *self = Known { picked: std::mem::take(&mut self.picked), ..Known::default() };
        }
        if self.statics.len() != pairs.statics.len() {
            self.statics = pairs.statics.iter().map(|pair| self.entry(&pair.name, pairs.layout)).collect();
        }
    }

    /// Remembers a name; `make` says what it is given out as, if it is meant.
    pub fn learn(&mut self, pairs: &ValuePairs, key: u64, make: impl FnOnce() -> Option<String>) {
        if find(&self.slots, key).is_some() {
            return;
        }
        let entry = make().map_or(NOT_MEANT, |name| self.entry(&name, pairs.layout));
        self.used += 1;
        if self.used * 2 > self.slots.len() {
            let size = (self.used * 4).next_power_of_two().max(64);
            let before = std::mem::replace(&mut self.slots, vec![Slot::default(); size]);
            before.into_iter().filter(|slot| slot.key != 0).for_each(|slot| put(&mut self.slots, slot));
        }
        put(&mut self.slots, Slot { key, entry, message: 0 });
    }

    /// The entry of a name that is given out.
    fn entry(&mut self, name: &str, layout: Layout) -> u32 {
        let text_of =
            |entry: u32| self.entries.get(entry as usize).map_or("", |entry| self.plan.text_of(entry.name));
        let place = self.order.binary_search_by(|entry| layout.compare(text_of(*entry), name));
        let at = match place {
            Ok(at) => return self.order.get(at).copied().unwrap_or(NOT_MEANT),
            Err(at) => at,
        };
        let index = self.entries.len() as u32;
        self.plan.begin(self.leads_len);
        let name = self.plan.name(name);
        let is_simple = layout.is_simple(self.plan.text_of(name));
        let leads = match is_simple {
            true => [false, true].map(|first| self.plan.lead(layout, name, first)),
            false => [Span::default(); 2],
        };
        self.leads_len = self.plan.text.len();
        self.plan.text.extend_from_slice(&PADDING);
        let is_odd = Plan::is_odd(self.plan.text_of(name));
        self.entries.push(Entry { rank: 0, name, leads, is_simple, is_odd });
        self.order.insert(at, index);
        self.rank(at);
        index
    }

    /// Gives the entry at this place of the order a rank between its neighbours, and all of them new ones
    /// where there is no room.
    fn rank(&mut self, at: usize) {
        let rank_of = |at: Option<usize>| {
            let entry =
                at.and_then(|at| self.order.get(at)).and_then(|entry| self.entries.get(*entry as usize));
            entry.map(|entry| entry.rank)
        };
        let before = rank_of(at.checked_sub(1)).unwrap_or(0);
        let behind = rank_of(Some(at + 1)).unwrap_or(u64::MAX);
        if behind.wrapping_sub(before) >= 2 {
            let entry = self.order.get(at).and_then(|entry| self.entries.get_mut(*entry as usize));
            entry.into_iter().for_each(|entry| entry.rank = before + (behind - before) / 2);
            return;
        }
        let step = u64::MAX / (self.order.len() as u64 + 1);
        for (place, entry) in (1u64..).zip(&self.order) {
            if let Some(entry) = self.entries.get_mut(*entry as usize) {
                entry.rank = step * place;
            }
        }
    }
}

impl Layout {
    /// In which order names are given out.
    fn compare(self, a: &str, b: &str) -> Ordering {
        match self {
            Layout::Json { delimiter, flat: false, .. } => {
                // The delimiter sorts before everything, so that members of one object stand together.
                let place = |b: u8| if b == delimiter { 0 } else { u16::from(b) + 1 };
                b.bytes().map(place).cmp(a.bytes().map(place))
            }
            Layout::Json { .. } => b.cmp(a),
            Layout::Plain | Layout::Path | Layout::Assigned => a.cmp(b),
        }
    }
}

fn first_place(slots: &[Slot], key: u64) -> usize {
    (key.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & slots.len().wrapping_sub(1)
}

/// The place of a key.
#[inline]
fn find(slots: &[Slot], key: u64) -> Option<usize> {
    let mut at = first_place(slots, key);
    while let Some(slot) = slots.get(at).filter(|slot| slot.key != 0) {
        if slot.key == key {
            return Some(at);
        }
        at = (at + 1) & (slots.len() - 1);
    }
    None
}

fn put(slots: &mut [Slot], new: Slot) {
    let mut at = first_place(slots, new.key);
    while slots.get(at).is_some_and(|slot| slot.key != 0) {
        at = (at + 1) & (slots.len() - 1);
    }
    if let Some(slot) = slots.get_mut(at) {
        *slot = new;
    }
}
