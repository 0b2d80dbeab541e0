//! Escapes of a PCRE2 pattern: sets, assertions, single characters, quoted text.

use crate::charset::{self, CharSet};
use crate::node::{Assert, Node};
use crate::parse::{Flags, Parser, Reason, push};

impl Parser<'_> {
    pub fn escape(&mut self, flags: Flags) -> Result<Node, Reason> {
        self.at += 1;
        let b = self.peek().ok_or("an early end")?;
        if let Some(set) = self.class_escape()? {
            return Ok(Node::Set(set));
        }
        let assert = match b {
            b'A' => Some(Assert::Start),
            b'z' => Some(Assert::End),
            b'Z' => Some(Assert::EndOrNewline),
            b'b' | b'B' if self.utf8 => return Err("Unicode word boundaries"),
            b'b' => Some(Assert::Word),
            b'B' => Some(Assert::NotWord),
            _ => None,
        };
        if let Some(assert) = assert {
            self.at += 1;
            return Ok(Node::Assert(assert));
        }
        match b {
            b'Q' => {
                self.at += 1;
                self.quoted(flags.icase)
            }
            b'E' => {
                self.at += 1;
                Ok(Node::Empty)
            }
            _ => {
                let unit = self.char_escape()?;
                self.literal(unit, flags.icase)
            }
        }
    }

    /// `\Q...\E`: only without a quantifier after it, which would apply to the last character.
    fn quoted(&mut self, icase: bool) -> Result<Node, Reason> {
        let mut items = Vec::new();
        while self.at < self.text.len() {
            if self.text.get(self.at..).is_some_and(|rest| rest.starts_with(b"\\E")) {
                self.at += 2;
                break;
            }
            let unit = self.next_unit().ok_or("an early end")?;
            push(&mut items, self.literal(unit, icase)?);
        }
        if matches!(self.peek(), Some(b'*' | b'+' | b'?' | b'{')) {
            return Err("a quantifier after quoted text");
        }
        Ok(Node::concat(items))
    }

    /// Escapes that are sets: `\d \D \w \W \s \S \h \H \v \V \N`.
    pub fn class_escape(&mut self) -> Result<Option<CharSet>, Reason> {
        let b = self.peek().ok_or("an early end")?;
        let set = match b.to_ascii_lowercase() {
            b'd' => charset::digit(),
            b'w' => charset::word(),
            b's' => charset::space(),
            b'h' => charset::horizontal(),
            b'v' => charset::vertical(),
            b'n' if b == b'N' => CharSet::of(&[(0x0a, 0x0a)]),
            _ => return Ok(None),
        };
        if self.utf8 {
            return Err("Unicode character classes");
        }
        if b == b'N' && self.peek_at(1) == Some(b'{') {
            return Err("a named character");
        }
        self.at += 1;
        Ok(Some(if b.is_ascii_uppercase() { set.negated(self.max()) } else { set }))
    }

    /// Escapes that are one character.
    pub fn char_escape(&mut self) -> Result<u32, Reason> {
        let b = self.peek().ok_or("an early end")?;
        if !b.is_ascii_alphanumeric() {
            return self.next_unit().ok_or("an early end");
        }
        self.at += 1;
        Ok(match b {
            b'a' => 0x07,
            b'e' => 0x1b,
            b'f' => 0x0c,
            b'n' => 0x0a,
            b'r' => 0x0d,
            b't' => 0x09,
            b'x' => self.hex()?,
            b'0' => {
                let mut value = 0;
                for _ in 0..2 {
                    let Some(digit @ b'0'..=b'7') = self.peek() else { break };
                    value = value * 8 + u32::from(digit - b'0');
                    self.at += 1;
                }
                value
            }
            b'1'..=b'9' | b'k' | b'g' => return Err("a back reference"),
            b'G' => return Err("`\\G`"),
            b'K' => return Err("`\\K`"),
            b'R' | b'X' => return Err("`\\R` or `\\X`"),
            b'p' | b'P' => return Err("Unicode properties"),
            _ => return Err("an unusual escape"),
        })
    }

    fn hex(&mut self) -> Result<u32, Reason> {
        let digit = |b: Option<u8>| b.and_then(|b| char::from(b).to_digit(16));
        if self.peek() == Some(b'{') {
            let start = self.at + 1;
            let mut value = 0u32;
            self.at = start;
            while let Some(d) = digit(self.peek()) {
                value = value.checked_mul(16).and_then(|v| v.checked_add(d)).ok_or("an unusual escape")?;
                self.at += 1;
            }
            return if self.at > start && self.eat(b'}') { Ok(value) } else { Err("an unusual escape") };
        }
        let mut value = 0;
        for _ in 0..2 {
            let Some(d) = digit(self.peek()) else { break };
            value = value * 16 + d;
            self.at += 1;
        }
        Ok(value)
    }
}
