//! The walk over all matches of a text, on one account of time.

use super::Pattern;
use crate::cache::Cache;
use crate::options::Kind;
use crate::pcre::Spent;
use crate::slots::Slots;

/// Where a walk over all matches of a text stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cursor {
    at: usize,
    after_empty: bool,
    begun: bool,
    spent: Spent,
}

impl Cursor {
    /// The walk took too long and was given up: what it has found is not all there is.
    pub fn gave_up(&self) -> bool {
        self.spent.is_over()
    }
}

impl Pattern {
    /// The next match of a walk over all of them, empty ones included: after an empty match, one that is not
    /// empty is tried at the same place, then the search goes on one character further. Unlike Perl's, the
    /// walk is over at the end of the text: `x*` is found once in `a`, before it, and not again after it.
    ///
    /// All searches of a walk are on one account of time; [`Cursor::gave_up`] tells when it was used up.
    pub fn next_match(&self, text: &[u8], cursor: &mut Cursor, cache: &mut Cache, slots: &mut Slots) -> bool {
        let found = !cursor.spent.walk() && self.next_within(text, cursor, cache, slots);
        if cursor.spent.is_over() {
            self.note_given_up(cache);
            return false;
        }
        found
    }

    fn next_within(&self, text: &[u8], cursor: &mut Cursor, cache: &mut Cache, slots: &mut Slots) -> bool {
        let mut found = false;
        if cursor.after_empty && cursor.at < text.len() {
            let (at, spent) = (cursor.at, &mut cursor.spent);
            found = self.not_empty().is_some_and(|p| p.captures(text, at, cache, slots, spent));
            if !found {
                cursor.at += self.char_len(text, cursor.at);
            }
        }
        if cursor.begun && cursor.at >= text.len() && !found {
            return false;
        }
        if !found && !self.captures_from(text, cursor, cache, slots) {
            return false;
        }
        let (start, end) = slots.get(0).unwrap_or((text.len(), text.len()));
        // Whatever an engine says (\K can set the start beyond the end), the walk goes forward.
        *cursor =
            Cursor { at: end.max(cursor.at), after_empty: end <= start, begun: true, spent: cursor.spent };
        true
    }

    /// A plain string that must stand at the beginning is looked for at the beginning of what is left.
    fn captures_from(&self, text: &[u8], cursor: &mut Cursor, cache: &mut Cache, slots: &mut Slots) -> bool {
        let at = cursor.at;
        if self.options.kind != Kind::String || at == 0 {
            return self.captures_within(text, at, cache, slots, &mut cursor.spent);
        }
        let found = self.captures(text.get(at..).unwrap_or_default(), 0, cache, slots);
        slots.shift(at);
        found
    }

    fn char_len(&self, text: &[u8], at: usize) -> usize {
        let rest = text.get(at..).unwrap_or_default();
        if self.options.newline && rest.starts_with(b"\r\n") {
            return 2;
        }
        if !self.options.utf8 {
            return 1;
        }
        1 + rest.iter().skip(1).take_while(|b| **b & 0xc0 == 0x80).count()
    }
}
