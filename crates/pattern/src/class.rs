//! Character classes `[...]` of a PCRE2 pattern, as sets.

use crate::charset::{self, CharSet};
use crate::node::Node;
use crate::parse::{Parser, Reason};

/// One item between the brackets.
enum Item {
    One(u32),
    Many(CharSet),
}

impl Parser<'_> {
    pub(crate) fn class(&mut self, icase: bool) -> Result<Node, Reason> {
        if self.text.get(self.at..).is_some_and(|r| r.starts_with(b"[[:<:]]") || r.starts_with(b"[[:>:]]")) {
            return Err("word boundaries in brackets");
        }
        self.at += 1;
        let negated = self.eat(b'^');
        let mut set = CharSet::default();
        let mut first = true;
        while first || self.peek() != Some(b']') {
            let was_first = std::mem::replace(&mut first, false);
            match self.class_item(was_first)? {
                Item::Many(many) => {
                    // PCRE2 refuses some of these and reads others as a literal hyphen, by version.
                    if self.peek() == Some(b'-') && self.peek_at(1) != Some(b']') {
                        return Err("a hyphen after a class");
                    }
                    set.union(&many);
                }
                Item::One(from) => {
                    let to = self.range_end(from)?;
                    set.add(from, to);
                }
            }
        }
        self.at += 1;
        if icase {
            set.fold_ascii();
        }
        Ok(Node::Set(if negated { set.negated(self.max()) } else { set }))
    }

    fn range_end(&mut self, from: u32) -> Result<u32, Reason> {
        if self.peek() != Some(b'-') || self.peek_at(1) == Some(b']') {
            return Ok(from);
        }
        self.at += 1;
        match self.class_item(false)? {
            Item::One(to) if to >= from => Ok(to),
            _ => Err("an unusual range"),
        }
    }

    fn class_item(&mut self, first: bool) -> Result<Item, Reason> {
        let b = self.peek().ok_or("an unclosed class")?;
        match b {
            b']' if !first => Err("an unusual range"),
            b'[' if matches!(self.peek_at(1), Some(b':' | b'.' | b'=')) => self.posix_class(),
            b'\\' => {
                self.at += 1;
                match self.peek() {
                    Some(b'b') => {
                        self.at += 1;
                        Ok(Item::One(0x08))
                    }
                    Some(b'Q' | b'E' | b'B' | b'N') => Err("an unusual escape in a class"),
                    _ => match self.class_escape()? {
                        Some(set) => Ok(Item::Many(set)),
                        None => {
                            let unit = self.char_escape()?;
                            if unit > self.max() {
                                Err("a code point above 255")
                            } else {
                                Ok(Item::One(unit))
                            }
                        }
                    },
                }
            }
            _ => self.next_unit().map(Item::One).ok_or("an early end"),
        }
    }

    /// `[:name:]`, `[:^name:]`
    fn posix_class(&mut self) -> Result<Item, Reason> {
        if self.utf8 {
            return Err("Unicode character classes");
        }
        let rest = self.text.get(self.at + 2..).unwrap_or_default();
        let end = rest.iter().position(|b| !b.is_ascii_lowercase() && *b != b'^').unwrap_or(rest.len());
        let name = std::str::from_utf8(rest.get(..end).unwrap_or_default()).unwrap_or_default();
        if self.peek_at(1) != Some(b':') || !rest.get(end..).unwrap_or_default().starts_with(b":]") {
            return Err("an unusual class");
        }
        let (negated, name) = match name.strip_prefix('^') {
            Some(name) => (true, name),
            None => (false, name),
        };
        let set = charset::posix(name).ok_or("an unusual class")?;
        self.at += 2 + end + 2;
        Ok(Item::Many(if negated { set.negated(self.max()) } else { set }))
    }
}
