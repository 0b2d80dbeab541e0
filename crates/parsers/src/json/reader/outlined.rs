//! Objects of which a part is read, by the outline of the text: members that nobody reads are passed over
//! unseen. Whatever is out of the ordinary ends with `None`, and the text is read from its beginning byte by
//! byte, which decides what becomes of it.

use super::super::text::{self, Str};
use super::scalar::Word;
use super::{DEPTH_MAX, Reader, Take};
use crate::tree::{Inside, Member};
use wire::json::Outline;

/// A way along the signs of the outline.
struct Walk<'w> {
    places: &'w [u32],
    next: usize,
    escapes: bool,
    blanks: bool,
}

impl Walk<'_> {
    #[inline(always)]
    fn take(&mut self) -> Option<usize> {
        let place = *self.places.get(self.next)?;
        self.next += 1;
        Some(place as usize)
    }

    /// Passes over what stands before `at`.
    fn skip_to(&mut self, at: usize) {
        while self.places.get(self.next).is_some_and(|place| (*place as usize) < at) {
            self.next += 1;
        }
    }
}

impl Reader<'_> {
    /// Reads the object that the text is. `None` where the text has to be read byte by byte.
    pub fn by_outline(&mut self, outline: &mut Outline) -> Option<()> {
        let Inside::Node(root) = self.json.tree.root() else { return None };
        self.blanks()?;
        let len = self.text.iter().rposition(|b| !b.is_ascii_whitespace())? + 1;
        let text = self.text.get(..len)?;
        if self.peek()? != b'{' || !outline.draw(text, self.at) {
            return None;
        }
        let mut walk = Walk {
            places: outline.places(),
            next: 0,
            escapes: outline.has_escapes(),
            blanks: outline.has_blanks(),
        };
        if walk.escapes {
            text::check_escapes(text.get(self.at..)?)?;
        }
        let open = walk.take()?;
        self.members(&mut walk, open, Some(root))?;
        // Behind the object nothing comes.
        (walk.next == walk.places.len()).then_some(())
    }

    #[inline]
    fn byte(&self, at: usize) -> Option<u8> {
        self.text.get(at).copied()
    }

    /// The first byte at `at` or behind it that is no blank.
    #[inline(always)]
    fn ahead(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b' ') {
            at += 1;
        }
        at
    }

    /// Behind the last byte before `at` that is no blank.
    #[inline(always)]
    fn back(&self, mut at: usize) -> usize {
        while at > 0 && self.byte(at - 1) == Some(b' ') {
            at -= 1;
        }
        at
    }

    /// The string that is all there is between two signs.
    #[inline(always)]
    fn between(&self, first: usize, last: usize, walk: &Walk<'_>) -> Option<Str> {
        let (mut start, mut end) = (first + 1, last);
        if walk.blanks {
            (start, end) = (self.ahead(start), self.back(end));
        }
        if self.byte(start)? != b'"' || self.byte(end.checked_sub(1)?)? != b'"' {
            return None;
        }
        let raw = self.text.get(start + 1..end - 1)?;
        Some(Str::new(start + 1, end - 1, walk.escapes && raw.contains(&b'\\')))
    }

    fn deeper(&mut self) -> Option<()> {
        self.depth += 1;
        (self.depth <= DEPTH_MAX).then_some(())
    }

    /// Whether a bracket closes what it should: an empty object or array, or behind a value.
    fn closes(&self, open: usize, close: usize) -> Option<()> {
        let last = self.back(close).checked_sub(1)?;
        match self.byte(last)? {
            b',' | b':' => None,
            b'{' | b'[' => (last == open).then_some(()),
            _ => Some(()),
        }
    }

    /// The members of an object, up to and with its closing bracket.
    #[inline(never)]
    fn members(&mut self, walk: &mut Walk<'_>, open: usize, node: Option<u32>) -> Option<()> {
        self.deeper()?;
        let json = self.json;
        let table = node.and_then(|node| json.tree.members(node));
        let mut before = open;
        loop {
            let colon = walk.take()?;
            match self.byte(colon)? {
                b':' => {}
                // Nothing in it.
                b'}' if before == open && self.back(colon) == open + 1 => break,
                _ => return None,
            }
            let key = self.between(before, colon, walk)?;
            if key.escaped {
                return None;
            }
            let wanted = table.and_then(|table| table.at(self.text, key.start(), key.end()));
            let mut place = walk.take()?;
            match (self.byte(place)?, wanted) {
                (b',' | b'}', None) => {}
                (b',' | b'}', Some(member)) => self.simple(colon, place, member, walk)?,
                (b':' | b']', _) => return None,
                (_, wanted) => {
                    self.other(walk, key, colon, place, wanted)?;
                    place = walk.take()?;
                }
            }
            match self.byte(place)? {
                b',' => before = place,
                b'}' => {
                    self.closes(open, place)?;
                    break;
                }
                _ => return None,
            }
        }
        self.depth -= 1;
        Some(())
    }

    /// A string or whole number that is read.
    #[inline]
    fn simple(&mut self, colon: usize, place: usize, member: Member, walk: &Walk<'_>) -> Option<()> {
        let Some(name) = member.name else { return Some(()) };
        if let Some(string) = self.between(colon, place, walk) {
            self.keep_string(name, string);
            return Some(());
        }
        let start = self.ahead(colon + 1);
        self.at = self.back(place);
        // No sign stands between: these are digits, if it is anything.
        if start >= self.at {
            return None;
        }
        self.keep_scalar(name, Word::Whole, start);
        Some(())
    }

    /// A value that has signs of its own.
    fn other(
        &mut self,
        walk: &mut Walk<'_>,
        key: Str,
        colon: usize,
        place: usize,
        wanted: Option<Member>,
    ) -> Option<()> {
        let name = wanted.and_then(|member| member.name);
        match (self.byte(place)?, wanted, name) {
            (b'{', Some(member @ Member { inside: Inside::All, .. }), _) => {
                let len = self.scratch.path.len();
                self.scratch.path.extend_from_slice(key.of(self.text));
                self.scratch.path.push(self.json.delimiter);
                self.at = place;
                self.value(Take::Member(member))?;
                self.scratch.path.truncate(len);
                walk.skip_to(self.at);
                Some(())
            }
            (b'{', Some(Member { inside: Inside::Node(node), .. }), _) => {
                self.members(walk, place, Some(node))
            }
            (b'{', ..) => self.members(walk, place, None),
            (b'[', _, Some(name)) => {
                self.at = place;
                self.list(name)?;
                walk.skip_to(self.at);
                Some(())
            }
            (b'[', ..) => self.items(walk, place),
            _ => {
                let start = self.ahead(colon + 1);
                let word = self.word(walk, start)?;
                if let Some(name) = name {
                    self.keep_scalar(name, word, start);
                }
                Some(())
            }
        }
    }

    /// The items of an array that is not read, up to and with its closing bracket.
    fn items(&mut self, walk: &mut Walk<'_>, open: usize) -> Option<()> {
        self.deeper()?;
        let mut before = open;
        loop {
            let place = walk.take()?;
            match self.byte(place)? {
                b',' => before = place,
                b']' => {
                    self.closes(open, place)?;
                    break;
                }
                b'{' => self.members(walk, place, None)?,
                b'[' => self.items(walk, place)?,
                b':' | b'}' => return None,
                _ => {
                    self.word(walk, self.ahead(before + 1))?;
                }
            }
        }
        self.depth -= 1;
        Some(())
    }

    /// A number or word that is no row of digits, and nothing else up to the next sign.
    fn word(&mut self, walk: &mut Walk<'_>, start: usize) -> Option<Word> {
        self.at = start;
        let word = self.scalar()?;
        walk.skip_to(self.at);
        let next = *walk.places.get(walk.next)? as usize;
        (self.ahead(self.at) == next).then_some(word)
    }
}
