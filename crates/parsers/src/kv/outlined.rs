//! The pairs of a text by its outline. Where few are read, most keys are passed over by their last two bytes.

use super::scan::{Text, skip_blanks};
use crate::names::Table;
use memchr::memchr;
use std::ops::Range;
use wire::pairs::{Outline, Separators, closing_quote, start_of_key};

/// Calls `pair` with the key, what the table has for it and the place of its value for each pair whose key is
/// there, in order. False, and none is called, where the text has no outline.
#[inline]
pub fn read<V: Copy>(
    text: &[u8],
    separators: &Separators,
    outline: &mut Outline,
    table: &Table<V>,
    mut pair: impl FnMut(&[u8], V, Text),
) -> bool {
    if !outline.draw_some(text, separators, table.endings()) {
        return false;
    }
    let breaks = if outline.is_broken() { Some(&*separators.pair) } else { None };
    for pick in outline.picks() {
        let (start, separator) = (pick.key as usize, pick.separator as usize);
        if let Some(known) = table.at(text, start, separator) {
            let value = value(text, separator + 1, pick.limit as usize, breaks);
            pair(text.get(start..separator).unwrap_or_default(), known, value);
        }
    }
    true
}

/// Calls `pair` with the place of the key and of the value of each pair, in order. False, and none is called,
/// where the text has no outline.
#[inline]
pub fn each(
    text: &[u8],
    separators: &Separators,
    outline: &mut Outline,
    mut pair: impl FnMut(Range<usize>, Text),
) -> bool {
    if !separators.are_plain() || !outline.draw(text, separators) {
        return false;
    }
    let breaks = if outline.is_broken() { Some(&*separators.pair) } else { None };
    let mut open: Option<Range<usize>> = None;
    for place in outline.places() {
        let key = start_of_key(text, *place as usize)..*place as usize;
        if let Some(open) = open.replace(key.clone()) {
            let value = value(text, open.end + 1, key.start, breaks);
            pair(open, value);
        }
    }
    if let Some(open) = open {
        let value = value(text, open.end + 1, text.len(), breaks);
        pair(open, value);
    }
    true
}

/// The value at `at`, with the next key at `limit` and, in a text that has them, a separator of pairs before
/// it.
#[inline(always)]
pub(super) fn value(text: &[u8], at: usize, limit: usize, breaks: Option<&[u8]>) -> Text {
    // Behind quotes and blanks in ASCII, as most begin.
    match breaks.is_none() && text.get(at).is_some_and(|first| *first > b'\'') {
        true => Text::bare(text, at, limit),
        false => another_value(text, at, limit, breaks),
    }
}

/// A value that may stand in quotes, behind blanks or in front of a pair separator.
#[inline(never)]
fn another_value(text: &[u8], at: usize, limit: usize, breaks: Option<&[u8]>) -> Text {
    if let Some(quote @ (b'"' | b'\'')) = text.get(at).copied()
        && let Some(end) = closing_quote(text, at)
    {
        let escaped = text.get(at..end).is_some_and(|raw| raw.contains(&b'\\'));
        return Text { start: at + 1, end, quote, escaped };
    }
    let start = skip_blanks(text, at).min(limit);
    let end = breaks.and_then(|pair| first_break(text, start, limit, pair)).unwrap_or(limit);
    Text::bare(text, start, end)
}

/// The first pair separator that begins between two places.
fn first_break(text: &[u8], start: usize, limit: usize, pair: &[u8]) -> Option<usize> {
    let mut at = start;
    loop {
        at += memchr(*pair.first()?, text.get(at..limit)?)?;
        if text.get(at..)?.starts_with(pair) {
            return Some(at);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::super::all::read_all;
    use super::super::scan::Scanner;
    use super::*;
    use crate::learned::Learned;
    use proptest::prelude::*;
    use record::NameId;

    fn table() -> Table {
        let keys = ["a", "b", "user", "user-name", "x.y"].into_iter();
        Table::new(keys.map(|key| (key.as_bytes().into(), record::intern(key).expect("room"))).collect())
    }

    type Pairs = Vec<(NameId, String, u8, bool)>;

    fn list(text: &[u8], name: NameId, value: Text) -> (NameId, String, u8, bool) {
        let raw = text[value.start..value.end].escape_ascii().to_string();
        (name, raw, value.quote, value.escaped)
    }

    fn by_outline(text: &[u8], separators: &Separators, table: &Table) -> Option<Pairs> {
        let mut found = Vec::new();
        let outlined = read(text, separators, &mut Outline::default(), table, |key, name, value| {
            assert_eq!(key, record::name_of(name).as_bytes());
            found.push(list(text, name, value));
        });
        outlined.then_some(found)
    }

    /// All pairs of some texts, by outline and from sign to sign, with names as texts; of those that have an
    /// outline.
    fn all_pairs(texts: &[Vec<u8>], separators: &Separators, prefix: &str) -> [Vec<(String, Pairs)>; 2] {
        let mut both = [Vec::new(), Vec::new()];
        let mut outlined = Vec::new();
        for (way, lists) in both.iter_mut().enumerate() {
            let mut batch = crate::testing::batch(&[]);
            let mut learned = Learned::default();
            for (index, text) in texts.iter().enumerate() {
                let mut found = Vec::new();
                learned.of(&mut batch, |_, learned| match way {
                    0 => outlined.push(read_all(
                        text,
                        separators,
                        &mut Outline::default(),
                        (prefix, learned),
                        |_, name, value| found.push(list(text, name, value)),
                    )),
                    _ => Scanner::new(separators.clone()).scan(
                        text,
                        |key, value| {
                            if let Some(name) = learned.name(prefix, &text[key.start..key.end]) {
                                found.push(list(text, name, value));
                            }
                        },
                        |_| {},
                    ),
                });
                if outlined[index] {
                    lists.extend(
                        found.into_iter().map(|found| (batch.name_of(found.0).to_owned(), vec![found])),
                    );
                }
            }
        }
        // Numbers of names are of a batch.
        both.iter_mut().flatten().flat_map(|(_, found)| found).for_each(|found| found.0 = NameId(0));
        both
    }

    #[test]
    fn all_pairs_of_ordinary_texts() {
        let separators = Separators { key: b'=', pair: b", "[..].into() };
        let texts = [
            "a=1 long-name-of-a-key=2 b= c=\"x y\"",
            "a=1 long-name-of-a-key=3 d=x a=4",
            "za=1 xlong-name-of-a-key=3",
        ];
        let texts = texts.map(|text| text.as_bytes().to_vec());
        let [outlined, signs] = all_pairs(&texts, &separators, ".kv.");
        assert_eq!(outlined.len(), 10);
        assert_eq!(outlined, signs);
    }

    fn by_signs(text: &[u8], separators: &Separators, table: &Table) -> Pairs {
        let mut found = Vec::new();
        let pair = |key: super::super::scan::Key, value| {
            if let Some(name) = table.at(text, key.start, key.end) {
                found.push(list(text, name, value));
            }
        };
        Scanner::new(separators.clone()).scan(text, pair, |_| {});
        found
    }

    #[test]
    fn each_pair_of_ordinary_texts() {
        let separators = Separators { key: b'=', pair: b", "[..].into() };
        for text in
            ["", "a=1, b=\"x \\\" y\" c= d=5 e f=g=h", "no pairs", "a=1,b=2, c='x' =d e=", "a = 1 b=2"]
        {
            let bytes = text.as_bytes();
            let show = |key: Range<usize>, value: Text| {
                (text[key].to_owned(), text[value.start..value.end].to_owned(), value.quote, value.escaped)
            };
            let (mut outlined, mut walked) = (Vec::new(), Vec::new());
            let has = each(bytes, &separators, &mut Outline::default(), |key, value| {
                outlined.push(show(key, value))
            });
            Scanner::new(separators.clone()).scan(
                bytes,
                |key, value| walked.push(show(key.start..key.end, value)),
                |_| {},
            );
            assert!(!has || outlined == walked, "{text}: {outlined:?}, {walked:?}");
        }
    }

    #[test]
    fn ordinary_texts_have_an_outline() {
        let separators = Separators { key: b'=', pair: b", "[..].into() };
        for text in [
            "a=1 other=x user=\"jim b\" text='it b=2' user-name=j k d b= x.y=",
            "a=1, user=x y, b=2",
            "sent by a=x:y?z, user=\"a \\\" b\"",
        ] {
            let found = by_outline(text.as_bytes(), &separators, &table());
            assert_eq!(found, Some(by_signs(text.as_bytes(), &separators, &table())), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn finds_all_that_a_walk_finds(
            texts in proptest::collection::vec(proptest::collection::vec(prop_oneof![
                8 => "(a|b|user|user-name|x.y|longer-name|a-longer-name)=[a-z0-9]{0,9}[ ,;]{1,2}",
                1 => "([a-c]{1,2}|[a-z]{250,260}|MSG|HOST)=[a-z0-9]{0,9}[ ,;]{1,2}",
                1 => "(a|b|user)=\"[a-z =,;]{0,20}\"[ ,;]{1,2}",
                1 => "[ =,;a\"'\\\\!-]{0,4}",
            ], 0..12), 1..6),
            pair in prop_oneof![Just(", "), Just(","), Just(",;")],
            prefix in prop_oneof![Just(""), Just(".kv."), Just("user-")],
        ) {
            let texts: Vec<Vec<u8>> = texts.iter().map(|text| text.concat().into_bytes()).collect();
            let separators = Separators { key: b'=', pair: pair.as_bytes().into() };
            let [outlined, signs] = all_pairs(&texts, &separators, prefix);
            prop_assert_eq!(outlined, signs);
        }

        #[test]
        fn finds_what_a_walk_finds(pieces in proptest::collection::vec(prop_oneof![
            6 => "(a|b|user|user-name|x.y|[a-z]{1,9})=[a-z0-9]{0,9}[ ,;]{1,2}",
            2 => "(a|b|user)=\"[a-z =,;]{0,20}\"[ ,;]{1,2}",
            1 => "(a|b|user)=\"([a-z ]{20,60}( a=1|\\\\\")?){1,4}\"[ ,;]{1,2}",
            1 => "[ =,;a\"'\\\\!-]{0,4}",
            1 => "[a-z ]{0,150}",
            1 => "[ ]{0,70}",
        ], 0..30), pair in prop_oneof![Just(", "), Just(";"), Just(","), Just(",;")]) {
            let text = pieces.concat();
            let separators = Separators { key: b'=', pair: pair.as_bytes().into() };
            let table = table();
            prop_assert!(separators.are_plain());
            let (mut outlined, mut walked) = (Vec::new(), Vec::new());
            // Where a value without a byte stands shows nowhere.
            let place = |key: Range<usize>, value: Text| {
                let at = if value.start < value.end { value.start..value.end } else { 0..0 };
                (key, at, value.quote, value.escaped)
            };
            if each(text.as_bytes(), &separators, &mut Outline::default(), |key, value| outlined.push(place(key, value))) {
                let walk = |key: super::super::scan::Key, value| walked.push(place(key.start..key.end, value));
                Scanner::new(separators.clone()).scan(text.as_bytes(), walk, |_| {});
                prop_assert_eq!(outlined, walked);
            }
            if let Some(found) = by_outline(text.as_bytes(), &separators, &table) {
                prop_assert_eq!(found, by_signs(text.as_bytes(), &separators, &table));
            }
        }
    }
}
