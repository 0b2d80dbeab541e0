//! Reads a PCRE2 pattern as far as its meaning is the same on a linear-time engine; anything else is a reason
//! to use PCRE2.
//!
//! PCRE2 has accepted the pattern before, so errors need no care here: what looks wrong is left to PCRE2.

use crate::charset::CharSet;
use crate::node::{Assert, Node};

/// Why a pattern needs PCRE2.
pub type Reason = &'static str;

/// A pattern that was understood.
#[derive(Clone, Debug)]
pub struct Parsed {
    pub node: Node,
    /// The name of each group, from group 0 on.
    pub names: Vec<Option<String>>,
}

/// What the options around the pattern say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Mode {
    pub utf8: bool,
    pub icase: bool,
}

/// Nested groups deeper than this go to PCRE2, which has its own limit.
const DEPTH_MAX: usize = 100;
/// Counted repeats above this would unroll to large automata.
const REPEAT_MAX: u32 = 1000;

pub fn parse(text: &str, mode: Mode) -> Result<Parsed, Reason> {
    if mode.utf8 && mode.icase {
        return Err("case folding of Unicode letters");
    }
    let mut parser = Parser { text: text.as_bytes(), at: 0, utf8: mode.utf8, names: vec![None], depth: 0 };
    if parser.text.starts_with(b"(*") {
        return Err("a control verb");
    }
    let mut flags = Flags { icase: mode.icase, ..Flags::default() };
    let node = parser.alternatives(&mut flags)?;
    if parser.at != parser.text.len() {
        return Err("unbalanced parentheses");
    }
    Ok(Parsed { node, names: parser.names })
}

#[derive(Clone, Copy, Default)]
pub(crate) struct Flags {
    pub icase: bool,
    multi_line: bool,
    dot_all: bool,
}

pub(crate) struct Parser<'a> {
    pub text: &'a [u8],
    pub at: usize,
    pub utf8: bool,
    names: Vec<Option<String>>,
    depth: usize,
}

impl Parser<'_> {
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    pub fn peek_at(&self, ahead: usize) -> Option<u8> {
        self.text.get(self.at + ahead).copied()
    }

    pub fn next(&mut self) -> Option<u8> {
        let b = self.peek()?;
        self.at += 1;
        Some(b)
    }

    pub fn eat(&mut self, b: u8) -> bool {
        let found = self.peek() == Some(b);
        self.at += usize::from(found);
        found
    }

    /// The highest value an element of a set can have.
    pub fn max(&self) -> u32 {
        if self.utf8 { 0x10_ffff } else { 0xff }
    }

    /// The next character with `utf8`, the next byte without.
    pub fn next_unit(&mut self) -> Option<u32> {
        let b = self.next()?;
        if !self.utf8 || b < 0x80 {
            return Some(u32::from(b));
        }
        let start = self.at - 1;
        while self.peek().is_some_and(|b| b & 0xc0 == 0x80) {
            self.at += 1;
        }
        let text = std::str::from_utf8(self.text.get(start..self.at)?).ok()?;
        text.chars().next().map(u32::from)
    }

    /// Up to `)` or the end. Option changes hold for the rest of the group, later alternatives included, as
    /// in PCRE.
    fn alternatives(&mut self, flags: &mut Flags) -> Result<Node, Reason> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err("groups nested too deep");
        }
        let mut branches = vec![self.sequence(flags)?];
        while self.eat(b'|') {
            branches.push(self.sequence(flags)?);
        }
        self.depth -= 1;
        Ok(if branches.len() == 1 { branches.remove(0) } else { Node::Alt(branches) })
    }

    fn sequence(&mut self, flags: &mut Flags) -> Result<Node, Reason> {
        let mut items = Vec::new();
        while let Some(b) = self.peek() {
            if b == b'|' || b == b')' {
                break;
            }
            let Some(atom) = self.atom(flags)? else { continue };
            let atom = self.quantified(atom)?;
            push(&mut items, atom);
        }
        Ok(Node::concat(items))
    }

    /// One atom; `None` for an option setting, which matches nothing itself.
    fn atom(&mut self, flags: &mut Flags) -> Result<Option<Node>, Reason> {
        let multi = flags.multi_line;
        let b = self.peek().ok_or("an early end")?;
        let node = match b {
            b'(' => return self.group(flags),
            b'[' => self.class(flags.icase)?,
            b'\\' => self.escape(*flags)?,
            b'.' => {
                self.at += 1;
                let newline = if flags.dot_all { CharSet::default() } else { CharSet::of(&[(0x0a, 0x0a)]) };
                Node::Set(newline.negated(self.max()))
            }
            b'^' => {
                self.at += 1;
                Node::Assert(if multi { Assert::LineStart } else { Assert::Start })
            }
            b'$' => {
                self.at += 1;
                Node::Assert(if multi { Assert::LineEnd } else { Assert::EndOrNewline })
            }
            b'*' | b'+' | b'?' => return Err("a quantifier without an item"),
            b'{' if self.counted().is_some() || self.looks_counted() => return Err("an unusual quantifier"),
            _ => {
                let unit = self.next_unit().ok_or("an early end")?;
                self.literal(unit, flags.icase)?
            }
        };
        Ok(Some(node))
    }

    pub fn literal(&self, unit: u32, icase: bool) -> Result<Node, Reason> {
        let mut bytes = Vec::new();
        if self.utf8 {
            let c = char::from_u32(unit).ok_or("a code point that is no character")?;
            bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        } else {
            bytes.push(u8::try_from(unit).map_err(|_| "a code point above 255")?);
        }
        let icase = icase && bytes.iter().any(u8::is_ascii_alphabetic);
        Ok(Node::Literal { bytes, icase })
    }

    fn group(&mut self, flags: &mut Flags) -> Result<Option<Node>, Reason> {
        self.at += 1;
        if self.peek() == Some(b'*') {
            return Err("a control verb");
        }
        if !self.eat(b'?') {
            return self.capture(None, *flags).map(Some);
        }
        match (self.peek(), self.peek_at(1)) {
            (Some(b':'), _) => {
                self.at += 1;
                self.body(*flags).map(Some)
            }
            (Some(b'='), _) | (Some(b'!'), _) | (Some(b'<'), Some(b'=' | b'!')) => Err("look-around"),
            (Some(b'<'), _) => self.named(1, b'>', *flags),
            (Some(b'\''), _) => self.named(1, b'\'', *flags),
            (Some(b'P'), Some(b'<')) => self.named(2, b'>', *flags),
            (Some(b'>'), _) => Err("an atomic group"),
            (Some(b'|'), _) => Err("a branch reset group"),
            (Some(b'('), _) => Err("a conditional group"),
            (Some(b'i' | b's' | b'm' | b'-'), _) => self.settings(flags),
            _ => Err("a special group"),
        }
    }

    fn named(&mut self, skip: usize, end: u8, flags: Flags) -> Result<Option<Node>, Reason> {
        self.at += skip;
        let start = self.at;
        while self.peek().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        let name =
            self.text.get(start..self.at).and_then(|n| std::str::from_utf8(n).ok()).unwrap_or_default();
        let name = name.to_owned();
        if name.is_empty() || !self.eat(end) {
            return Err("an unusual group name");
        }
        if self.names.iter().flatten().any(|n| *n == name) {
            return Err("a group name used twice");
        }
        self.capture(Some(name), flags).map(Some)
    }

    fn capture(&mut self, name: Option<String>, flags: Flags) -> Result<Node, Reason> {
        self.names.push(name);
        Ok(Node::Group(Box::new(self.body(flags)?)))
    }

    fn body(&mut self, mut flags: Flags) -> Result<Node, Reason> {
        let node = self.alternatives(&mut flags)?;
        if self.eat(b')') { Ok(node) } else { Err("unbalanced parentheses") }
    }

    /// `(?ism-ism)` or `(?ism-ism:...)`
    fn settings(&mut self, outer: &mut Flags) -> Result<Option<Node>, Reason> {
        let mut flags = *outer;
        let mut on = true;
        loop {
            match self.next() {
                Some(b'i') if self.utf8 => return Err("case folding of Unicode letters"),
                Some(b'i') => flags.icase = on,
                Some(b's') => flags.dot_all = on,
                Some(b'm') => flags.multi_line = on,
                Some(b'-') if on => on = false,
                Some(b')') => {
                    *outer = flags;
                    return Ok(None);
                }
                Some(b':') => return self.body(flags).map(Some),
                _ => return Err("an unusual option setting"),
            }
        }
    }

    fn quantified(&mut self, atom: Node) -> Result<Node, Reason> {
        let (min, max) = match self.peek() {
            Some(b'*') => (0, None),
            Some(b'+') => (1, None),
            Some(b'?') => (0, Some(1)),
            Some(b'{') => match self.counted() {
                Some((min, max, length)) => {
                    self.at += length - 1;
                    (min, max)
                }
                None if self.looks_counted() => return Err("an unusual quantifier"),
                None => return Ok(atom),
            },
            _ => return Ok(atom),
        };
        self.at += 1;
        let greedy = !self.eat(b'?');
        if greedy && self.peek() == Some(b'+') {
            return Err("a possessive quantifier");
        }
        if matches!(self.peek(), Some(b'*' | b'+' | b'?'))
            || (self.peek() == Some(b'{') && self.looks_counted())
        {
            return Err("a quantifier of a quantifier");
        }
        if matches!(atom, Node::Assert(_) | Node::Empty) {
            return Err("a repeated assertion");
        }
        // Where an iteration may match nothing the engines differ in when they stop and what they capture.
        if atom.nullable() && max != Some(1) {
            return Err("a repeated item that can be empty");
        }
        if max == Some(0) {
            return Err("a repeat of zero times");
        }
        if min > REPEAT_MAX || max.is_some_and(|m| m > REPEAT_MAX) {
            return Err("a large counted repeat");
        }
        Ok(Node::Repeat { node: Box::new(atom), min, max, greedy })
    }

    /// `{n}`, `{n,}`, `{n,m}`: the numbers and the length.
    fn counted(&self) -> Option<(u32, Option<u32>, usize)> {
        let rest = self.text.get(self.at + 1..)?;
        let close = rest.iter().take(12).position(|b| *b == b'}')?;
        let inner = std::str::from_utf8(rest.get(..close)?).ok()?;
        let number = |t: &str| t.bytes().all(|b| b.is_ascii_digit()).then(|| t.parse::<u32>().ok()).flatten();
        let (min, max) = match inner.split_once(',') {
            None => (number(inner)?, Some(number(inner)?)),
            Some((min, "")) => (number(min)?, None),
            Some((min, max)) => (number(min)?, Some(number(max)?)),
        };
        Some((min, max, close + 2))
    }

    /// Braces that newer or older versions of PCRE2 may read as a quantifier.
    fn looks_counted(&self) -> bool {
        matches!(self.peek_at(1), Some(b'0'..=b'9' | b',' | b' ' | b'\t'))
    }
}

/// Appends, joining neighbouring literals: a quantifier has been applied to the new one already.
pub(crate) fn push(items: &mut Vec<Node>, node: Node) {
    if let (Some(Node::Literal { bytes: last, icase: folded }), Node::Literal { bytes, icase }) =
        (items.last_mut(), &node)
    {
        let caseless = |b: &[u8]| !b.iter().any(u8::is_ascii_alphabetic);
        if folded == icase || (*icase && caseless(last)) || (*folded && caseless(bytes)) {
            *folded |= icase;
            last.extend_from_slice(bytes);
            return;
        }
    }
    match node {
        Node::Concat(list) => list.into_iter().for_each(|n| push(items, n)),
        node => items.push(node),
    }
}
