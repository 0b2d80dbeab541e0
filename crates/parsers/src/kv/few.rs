//! The pairs of a text of which few are read, from one separator to the next: a key that nobody asks for is
//! passed over by its last two bytes. Texts that are not of the plainest kind are left to those who look at
//! every byte.

use super::outlined::{start_of_key, value};
use super::scan::Text;
use crate::marks::{Any, Marks};
use crate::names::Table;
use wire::pairs::{Separators, end_of_quoted, is_word};

/// Where the text is what this file reads.
type Plain<T> = Option<T>;

struct Walk<'a> {
    text: &'a [u8],
    separators: &'a Separators,
    marks: Marks<Any<1>>,
    /// Behind the last value in quotes.
    floor: usize,
}

/// Calls `pair` with the key, what the table has for it and the place of its value for each pair whose key is
/// there, in order. `None` where the text has to be read in another way: what was called before is to be
/// forgotten.
#[inline]
pub fn read<V: Copy>(
    text: &[u8],
    separators: &Separators,
    table: &Table<V>,
    mut pair: impl FnMut(&[u8], V, Text),
) -> Plain<()> {
    let mut walk = Walk { text, separators, marks: Marks::new(Any([separators.key])), floor: 0 };
    let mut open: Option<(V, usize, usize)> = None;
    let mut at = 0;
    loop {
        let separator = walk.marks.next(text, at);
        if separator >= text.len() {
            break;
        }
        // The one behind a pair that is read says where its value ends.
        let is_looked_at = open.is_some() || table.may_end(text, separator);
        let start = if is_looked_at { start_of_key(text, separator) } else { separator };
        let is_key = is_looked_at && walk.is_key(start);
        let next = walk.step(separator, is_looked_at)?;
        if is_looked_at {
            if !is_key {
                // A sign in the value of a pair that is passed over.
                if open.is_some() || table.at(text, start, separator).is_some() {
                    return None;
                }
                at = next;
                continue;
            }
            if let Some((name, begin, end)) = open.take() {
                pair(text.get(begin..end)?, name, value(text, end + 1, start, Some(&separators.pair)));
            }
            open = table.at(text, start, separator).map(|name| (name, start, separator));
        }
        at = next;
    }
    if let Some((name, begin, end)) = open {
        pair(text.get(begin..end)?, name, value(text, end + 1, text.len(), Some(&separators.pair)));
    }
    Some(())
}

impl Walk<'_> {
    /// Where to go on behind a separator.
    #[inline(always)]
    fn step(&mut self, separator: usize, is_looked_at: bool) -> Plain<usize> {
        let byte = |at: usize| self.text.get(at).copied();
        match byte(separator.wrapping_sub(1)) {
            // A sign within a value, or in front of all keys.
            Some(before) if separator > self.floor && !is_word(before) => match (before, byte(separator + 1))
            {
                (b' ', _) | (_, Some(b' ' | b'"' | b'\'')) => return None,
                _ if is_looked_at => return None,
                _ => return Some(separator + 1),
            },
            Some(_) if separator > self.floor => {}
            _ => return None,
        }
        match byte(separator + 1) {
            Some(b'"' | b'\'') => {
                if !self.is_key(start_of_key(self.text, separator)) {
                    return None;
                }
                self.floor = end_of_quoted(self.text, separator + 1, self.separators)?;
                Some(self.floor)
            }
            // A value in quotes may stand behind blanks.
            Some(b' ') => match self.text.get(separator + 1..)?.iter().find(|byte| **byte != b' ') {
                Some(b'"' | b'\'') => None,
                _ => Some(separator + 1),
            },
            _ => Some(separator + 1),
        }
    }

    /// Whether the word that begins there is a key, wherever it stands.
    fn is_key(&self, start: usize) -> bool {
        let may_begin = match start.checked_sub(1).and_then(|at| self.text.get(at)) {
            None | Some(b' ') => true,
            Some(before) => *self.separators.pair == [*before],
        };
        may_begin && start >= self.floor
    }
}

#[cfg(test)]
mod tests {
    use super::super::outlined::tests::{Pairs, by_signs, list, table};
    use super::*;
    use proptest::prelude::*;

    fn few(text: &[u8], separators: &Separators) -> Option<Pairs> {
        let mut found = Vec::new();
        read(text, separators, &table(), |_, name, value| found.push(list(text, name, value)))?;
        Some(found)
    }

    #[test]
    fn ordinary_texts_are_read() {
        let separators = Separators { key: b'=', pair: b", "[..].into() };
        for text in [
            "",
            "none",
            "a=1 other=x user=\"jim b\" text='it b=2' user-name=j k d b= x.y=",
            "a=1, user=x y, b=2",
            "url=http://host/?q=1&r=2 a=1 user=x",
            "a=1 a=2 z=\"a=3\" b=",
        ] {
            let found = few(text.as_bytes(), &separators);
            assert_eq!(found, Some(by_signs(text.as_bytes(), &separators, &table())), "{text}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20000))]
        #[test]
        fn finds_what_a_walk_finds(pieces in proptest::collection::vec(prop_oneof![
            6 => "(a|b|user|user-name|x.y|[a-z]{1,3})=[a-z0-9]{0,3}[ ,;]{1,2}",
            2 => "(a|b|user|q)= {0,2}[\"'][a-z =,;\\\\]{0,9}[\"'][ ,;]{0,2}",
            2 => "[ =,;a\"'\\\\!-]{0,6}",
            1 => "[a-z ]{0,90}",
        ], 0..9), pair in prop_oneof![Just(", "), Just(";"), Just(","), Just(",;")]) {
            let text = pieces.concat();
            let separators = Separators { key: b'=', pair: pair.as_bytes().into() };
            if let Some(found) = few(text.as_bytes(), &separators) {
                prop_assert_eq!(found, by_signs(text.as_bytes(), &separators, &table()), "{}", text);
            }
        }
    }
}
