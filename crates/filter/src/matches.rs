//! Matches as values: `$0`..`$255` and the names of groups.

use crate::context::Wanted;
use pattern::{Pattern, Slots};
use record::{Batch, NameId, Span, ValueType};
use std::ops::RangeInclusive;

/// The names of a pattern's groups as values; `None` when the table of names is full.
pub fn group_names(pattern: &Pattern) -> Option<Vec<Option<NameId>>> {
    let intern = |name: &Option<String>| match name {
        Some(name) => record::intern(name).map(Some),
        None => Some(None),
    };
    pattern.names().iter().map(intern).collect()
}

/// Sets the groups of a match as values of `records[index]` and unsets higher numbers left from an earlier
/// match. `text` is where the matched text stands. Groups that took no part are left unset. What none of
/// `wanted` has is not set and, as it never was, not unset.
pub fn store_matches(
    batch: &mut Batch,
    index: usize,
    text: Span,
    slots: &Slots,
    names: &[Option<NameId>],
    wanted: &[&Wanted],
) {
    let has = |name: NameId| wanted.iter().any(|w| w.has(name));
    for group in 0..slots.len() {
        let span = slots.get(group).map(|(start, end)| Span {
            start: text.start + start as u32,
            len: end.saturating_sub(start) as u32,
        });
        if let Some(number) = u8::try_from(group).ok().map(NameId::of_match).filter(|n| has(*n)) {
            match span {
                Some(span) => batch.set_span(index, number, span, ValueType::String),
                None => unset_if_set(batch, index, number),
            }
        }
        if let (Some(span), Some(Some(name))) = (span, names.get(group))
            && has(*name)
        {
            batch.set_span(index, *name, span, ValueType::String);
        }
    }
    if wanted.iter().any(|w| w.has_matches_from(slots.len())) {
        clear_matches(batch, index, slots.len() as u32..=NameId::MATCH_MAX);
    }
}

/// Unsets the matches of these numbers that a record has: one walk over its values, however many numbers
/// there may be.
pub fn clear_matches(batch: &mut Batch, index: usize, numbers: RangeInclusive<u32>) {
    let Some(record) = batch.records.get(index) else { return };
    let (mut seen, mut set) = ([0u64; 4], [0u64; 4]);
    for (name, value) in batch.entries(record) {
        let (word, bit) = (name.0 as usize / 64, 1 << (name.0 % 64));
        if !numbers.contains(&name.0) {
            continue;
        }
        if let (Some(seen), Some(set)) = (seen.get_mut(word), set.get_mut(word)) {
            *set |= if *seen & bit == 0 && value.is_some() { bit } else { 0 };
            *seen |= bit;
        }
    }
    for (word, mut left) in set.into_iter().enumerate() {
        while left != 0 {
            batch.unset(index, NameId(word as u32 * 64 + left.trailing_zeros()));
            left &= left - 1;
        }
    }
}

fn unset_if_set(batch: &mut Batch, index: usize, name: NameId) {
    let set = batch.records.get(index).is_some_and(|r| batch.overridden(r, name) == Some(true));
    if set {
        batch.unset(index, name);
    }
}

#[cfg(test)]
mod tests {
    use super::clear_matches;
    use crate::Wanted;
    use crate::testing::{add, batch};
    use record::{Demand, NameId, ValueType};

    #[test]
    fn of_the_matches_those_that_are_set_are_cleared() {
        let mut batch = batch();
        add(&mut batch, "other=1");
        for number in [0, 3, 64, 255, 3] {
            batch.set(0, NameId(number), b"x", ValueType::String);
        }
        batch.unset(0, NameId(64));
        let before = batch.records[0];
        let left = |batch: &record::Batch| {
            let mut left: Vec<u32> = batch.pairs(&batch.records[0]).map(|(name, _)| name.0).collect();
            left.retain(|n| *n <= NameId::MATCH_MAX);
            left.sort_unstable();
            left
        };
        clear_matches(&mut batch, 0, 1..=254);
        assert_eq!(left(&batch), [0, 255]);
        batch.records[0] = before;
        clear_matches(&mut batch, 0, 0..=NameId::MATCH_MAX);
        assert!(left(&batch).is_empty());
    }

    #[test]
    fn which_matches_are_read() {
        let mut demand = Demand::default();
        let none = Wanted::of(&demand);
        [2, 70].into_iter().for_each(|n| demand.name(NameId(n)));
        let some = Wanted::of(&demand);
        for (first, expected) in [(0, true), (2, true), (3, true), (70, true), (71, false), (256, false)] {
            assert_eq!(some.has_matches_from(first), expected, "{first}");
            assert!(!none.has_matches_from(first));
            assert_eq!(Wanted::All.has_matches_from(first), first < 256);
        }
    }
}
