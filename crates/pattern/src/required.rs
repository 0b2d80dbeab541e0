//! A text that stands in everything a pattern can match: looked for before PCRE2 is started, which most
//! messages then never see.

mod inner;

use crate::node::Node;
pub use inner::required_inside;

/// The longest such text whose letters are as they are.
pub fn needed(pattern: &str, parsed: Option<&Node>, ignore_case: bool) -> Option<Vec<u8>> {
    match parsed {
        Some(node) => required_inside(node).filter(|texts| !texts.icase).map(|texts| texts.texts.concat()),
        None if ignore_case => None,
        None => required(pattern),
    }
}

/// The longest such text outside of all groups; `None` when there is none worth looking for, or the pattern
/// uses something that could change what its letters mean.
pub fn required(pattern: &str) -> Option<Vec<u8>> {
    let mut scan = Scan { text: pattern.as_bytes(), at: 0, run: Vec::new(), best: Vec::new() };
    scan.pattern()?;
    scan.end_run();
    (scan.best.len() >= LENGTH_MIN).then_some(scan.best)
}

/// Shorter texts are everywhere.
const LENGTH_MIN: usize = 2;

struct Scan<'a> {
    text: &'a [u8],
    at: usize,
    /// The bytes that follow each other up to here.
    run: Vec<u8>,
    best: Vec<u8>,
}

impl Scan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn end_run(&mut self) {
        if self.run.len() > self.best.len() {
            self.best = std::mem::take(&mut self.run);
        }
        self.run.clear();
    }

    /// Takes the last character off the run: a quantifier may repeat or drop it.
    fn pop(&mut self) {
        while let Some(byte) = self.run.pop() {
            if byte & 0xc0 != 0x80 {
                break;
            }
        }
    }

    fn pattern(&mut self) -> Option<()> {
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'|' | b')' => return None,
                b'(' => {
                    self.end_run();
                    self.group()?;
                }
                b'[' => {
                    self.end_run();
                    self.class()?;
                }
                b'\\' => self.escape()?,
                b'.' | b'^' | b'$' => self.end_run(),
                b'+' => self.end_run(),
                b'*' | b'?' | b'{' => {
                    self.pop();
                    self.end_run();
                    // What may follow of a quantifier has no letters; `{` as itself costs only a byte.
                    while byte == b'{'
                        && self.peek().is_some_and(|b| b.is_ascii_digit() || matches!(b, b',' | b'}' | b' '))
                    {
                        self.at += 1;
                    }
                }
                _ => self.run.push(byte),
            }
        }
        Some(())
    }

    fn escape(&mut self) -> Option<()> {
        let byte = self.peek()?;
        self.at += 1;
        match byte {
            b if !b.is_ascii_alphanumeric() => self.run.push(b),
            b'n' => self.run.push(b'\n'),
            b't' => self.run.push(b'\t'),
            b'r' => self.run.push(b'\r'),
            b'0'..=b'9' => {
                self.end_run();
                while self.peek().is_some_and(|b| b.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            b'd' | b'D' | b'w' | b'W' | b's' | b'S' | b'h' | b'H' | b'v' | b'V' | b'R' | b'X' => {
                self.end_run()
            }
            b'b' | b'B' | b'A' | b'z' | b'Z' | b'G' | b'K' => self.end_run(),
            _ => return None,
        }
        Some(())
    }

    /// Skips a group with everything in it. Settings inside of it could change what follows.
    fn group(&mut self) -> Option<()> {
        let mut depth = 1;
        self.opening()?;
        while depth > 0 {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b'(' => {
                    depth += 1;
                    self.opening()?;
                }
                b')' => depth -= 1,
                b'[' => self.class()?,
                b'\\' => {
                    if matches!(self.peek()?, b'Q' | b'E') {
                        return None;
                    }
                    self.at += 1;
                }
                _ => {}
            }
        }
        Some(())
    }

    /// After `(`: groups whose kind is known to leave the letters alone.
    fn opening(&self) -> Option<()> {
        match (self.peek()?, self.text.get(self.at + 1)) {
            (b'*', _) => None,
            (b'?', Some(b':' | b'=' | b'!' | b'<' | b'>' | b'P' | b'\'' | b'|')) => Some(()),
            (b'?', _) => None,
            _ => Some(()),
        }
    }

    fn class(&mut self) -> Option<()> {
        if self.peek() == Some(b'^') {
            self.at += 1;
        }
        let mut first = true;
        loop {
            let byte = self.peek()?;
            self.at += 1;
            match byte {
                b']' if !first => return Some(()),
                // Named classes and quoting have brackets of their own.
                b'[' if matches!(self.peek(), Some(b':' | b'.' | b'=')) => return None,
                b'\\' => {
                    if matches!(self.peek()?, b'Q' | b'E') {
                        return None;
                    }
                    self.at += 1;
                }
                _ => {}
            }
            first = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_every_match_has() {
        for (pattern, expected) in [
            ("fail(?=ure)", Some("fail")),
            ("(?<!un)known host", Some("known host")),
            ("ab+cde", Some("cde")),
            ("abc?de", Some("ab")),
            ("abc*+", Some("ab")),
            ("a\\.b\\d+wxyz", Some("wxyz")),
            ("(a|b)\\1long text[0-9]", Some("long text")),
            ("foo{2}(?=x)", Some("fo")),
            ("é*xy(?=z)", Some("xy")),
            ("xyé?(?=z)", Some("xy")),
            ("foo|bar", None),
            ("(?i)foo(?=x)", None),
            ("foo(?i)bar", None),
            ("(*UTF)foo", None),
            ("[abc]", None),
            ("[[:alpha:]]foo", None),
            ("\\Qfoo\\E", None),
            ("(foo", None),
            ("a", None),
            ("[]]foo(?=x)", Some("foo")),
        ] {
            assert_eq!(required(pattern), expected.map(|t| t.as_bytes().to_vec()), "{pattern}");
        }
    }
}
