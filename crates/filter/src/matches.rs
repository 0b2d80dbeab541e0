//! Matches as values: `$0`..`$255` and the names of groups.

use crate::context::Wanted;
use pattern::{Pattern, Slots};
use record::{Batch, NameId, Span, ValueType};
use std::sync::atomic::{AtomicU32, Ordering};

/// The highest match number any compiled part of a configuration can set, so that clearing looks no further.
static STORED_MAX: AtomicU32 = AtomicU32::new(0);

/// Says, while a configuration is compiled, that match numbers up to `max` can be set. Everything that sets `$1`... has to.
pub fn note_matches(max: usize) {
    let max = u32::try_from(max).unwrap_or(u32::MAX).min(NameId::MATCH_MAX);
    STORED_MAX.fetch_max(max, Ordering::Relaxed);
}

/// To be read once per batch.
pub fn stored_max() -> u32 {
    STORED_MAX.load(Ordering::Relaxed)
}

/// The names of a pattern's groups as values; `None` when the table of names is full.
pub fn group_names(pattern: &Pattern) -> Option<Vec<Option<NameId>>> {
    note_matches(pattern.names().len().saturating_sub(1));
    let intern = |name: &Option<String>| match name {
        Some(name) => record::intern(name).map(Some),
        None => Some(None),
    };
    pattern.names().iter().map(intern).collect()
}

/// Sets the groups of a match as values of `records[index]` and unsets higher numbers left from an earlier match. `text` is where
/// the matched text stands. Groups that took no part are left unset.
pub fn store_matches(
    batch: &mut Batch,
    index: usize,
    text: Span,
    slots: &Slots,
    names: &[Option<NameId>],
    wanted: &Wanted,
) {
    for group in 0..slots.len() {
        let span = slots.get(group).map(|(start, end)| Span {
            start: text.start + start as u32,
            len: end.saturating_sub(start) as u32,
        });
        if let Some(number) = u8::try_from(group).ok().map(NameId::of_match).filter(|n| wanted.has(*n)) {
            match span {
                Some(span) => batch.set_span(index, number, span, ValueType::String),
                None => unset_if_set(batch, index, number),
            }
        }
        if let (Some(span), Some(Some(name))) = (span, names.get(group))
            && wanted.has(*name)
        {
            batch.set_span(index, *name, span, ValueType::String);
        }
    }
    clear_matches(batch, index, slots.len() as u32, stored_max());
}

/// Unsets the matches `from..=max` of a record.
pub fn clear_matches(batch: &mut Batch, index: usize, from: u32, max: u32) {
    let Some(record) = batch.records.get(index) else { return };
    if !record.has_values() {
        return;
    }
    for number in from..=max.min(NameId::MATCH_MAX) {
        unset_if_set(batch, index, NameId(number));
    }
}

fn unset_if_set(batch: &mut Batch, index: usize, name: NameId) {
    let set = batch.records.get(index).is_some_and(|r| batch.overridden(r, name) == Some(true));
    if set {
        batch.unset(index, name);
    }
}
