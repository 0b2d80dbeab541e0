//! JSON to trees, as leniently as AxoSyslog reads it: commas may trail or stand for colons, control
//! characters may stand in strings, numbers may begin with zeros.
//!
//! Strings without escapes are spans of the text they stand in.

use crate::trees::{Full, Trees};
use crate::{Seen, Span, Value, double_of, integer_of};
use memchr::memchr2;

/// Containers inside one another.
pub const JSON_DEPTH_MAX: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// Offset in the text that was read.
    pub at: usize,
    pub problem: Problem,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    Incomplete,
    Unexpected,
    Token,
    Number,
    TooDeep,
    /// Something stands behind the value.
    More,
    Full,
}

/// Reads the value that is all of `span`. Strings with escapes are appended to the text.
pub fn read_json(text: &mut Vec<u8>, span: Span, trees: &mut Trees) -> Result<Value, JsonError> {
    let (start, end) = (span.start as usize, span.end());
    let mark = trees.stack.len();
    let mut reader = Reader { text, trees, at: start, end, depth: 0 };
    let result = reader.whole();
    let at = reader.at - start;
    trees.stack.truncate(mark);
    result.map_err(|problem| JsonError { at, problem })
}

struct Reader<'a> {
    text: &'a mut Vec<u8>,
    trees: &'a mut Trees,
    at: usize,
    end: usize,
    depth: usize,
}

impl From<Full> for Problem {
    fn from(_: Full) -> Problem {
        Problem::Full
    }
}

impl Reader<'_> {
    fn whole(&mut self) -> Result<Value, Problem> {
        self.blanks();
        let value = self.value()?;
        self.blanks();
        if self.at < self.end { Err(Problem::More) } else { Ok(value) }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        if self.at < self.end { self.text.get(self.at).copied() } else { None }
    }

    #[inline]
    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Value, Problem> {
        match self.peek().ok_or(Problem::Incomplete)? {
            b'"' => self.string().map(Value::String),
            b'{' => self.container(b'}'),
            b'[' => self.container(b']'),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true", Value::Boolean(true)),
            b'f' => self.word(b"false", Value::Boolean(false)),
            b'n' => self.word(b"null", Value::Null),
            b']' | b'}' | b',' | b':' => Err(Problem::Unexpected),
            _ => Err(Problem::Token),
        }
    }

    fn word(&mut self, word: &[u8], value: Value) -> Result<Value, Problem> {
        let rest = self.text.get(self.at..self.end).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        let common = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.at += common;
        Err(if self.at >= self.end { Problem::Incomplete } else { Problem::Token })
    }

    fn number(&mut self) -> Result<Value, Problem> {
        let rest = self.text.get(self.at..self.end).unwrap_or_default();
        let len = rest
            .iter()
            .position(|b| !matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'))
            .unwrap_or(rest.len());
        let number = rest.get(..len).unwrap_or_default();
        let whole = !number.iter().any(|b| matches!(b, b'.' | b'e' | b'E'));
        let fits = number.len() < 19;
        let value = match integer_of(number).filter(|_| whole) {
            Some(value) if fits => Some(Value::Integer(value)),
            Some(value) if !matches!(value, i64::MAX | i64::MIN) => Some(Value::Integer(value)),
            Some(value) if is_exactly(number, value) => Some(Value::Integer(value)),
            _ => double_of(number).filter(|n| n.is_finite()).map(Value::Double),
        };
        let value = value.ok_or(Problem::Number)?;
        self.at += len;
        Ok(value)
    }

    fn container(&mut self, close: u8) -> Result<Value, Problem> {
        self.depth += 1;
        if self.depth > JSON_DEPTH_MAX {
            return Err(Problem::TooDeep);
        }
        self.at += 1;
        let mark = self.trees.stack.len();
        let (mut seen, mut repeated) = (Seen::default(), false);
        loop {
            self.blanks();
            match self.peek().ok_or(Problem::Incomplete)? {
                b if b == close => break,
                b',' => {
                    self.at += 1;
                    continue;
                }
                _ => {}
            }
            if close == b'}' {
                if self.peek() != Some(b'"') {
                    return Err(Problem::Unexpected);
                }
                let key = self.string()?;
                let earlier = self.trees.stack.get(mark..).unwrap_or_default();
                repeated |= seen.is_again(earlier, key, self.text);
                self.blanks();
                if !matches!(self.peek().ok_or(Problem::Incomplete)?, b':' | b',') {
                    return Err(Problem::Unexpected);
                }
                self.at += 1;
                self.blanks();
                self.trees.stack.push(Value::String(key));
            }
            let value = self.value()?;
            self.trees.stack.push(value);
            self.blanks();
            match self.peek().ok_or(Problem::Incomplete)? {
                b',' => self.at += 1,
                b if b == close => break,
                _ => return Err(Problem::Unexpected),
            }
        }
        self.at += 1;
        self.depth -= 1;
        let node = self.trees.node_of_stack(mark)?;
        if repeated {
            self.trees.merge_duplicates(node, self.text)?;
        }
        Ok(if close == b'}' { Value::Dict(node) } else { Value::List(node) })
    }

    fn string(&mut self) -> Result<Span, Problem> {
        let start = self.at + 1;
        let rest = self.text.get(start..self.end).unwrap_or_default();
        let hit =
            memchr2(b'"', b'\\', rest).ok_or(Problem::Incomplete).inspect_err(|_| self.at = self.end)?;
        if rest.get(hit) == Some(&b'"') {
            self.at = start + hit + 1;
            return Ok(Span::new(start, hit));
        }
        let made = self.text.len();
        let mut from = start;
        let mut at = start + hit;
        loop {
            self.text.extend_from_within(from..at);
            if self.text.get(at) == Some(&b'"') {
                break;
            }
            self.at = at;
            from = self.escape(at)?;
            let rest = self.text.get(from..self.end).unwrap_or_default();
            let hit = memchr2(b'"', b'\\', rest).ok_or(Problem::Incomplete);
            at = from + hit.inspect_err(|_| self.at = self.end)?;
        }
        self.at = at + 1;
        if self.text.len() > u32::MAX as usize {
            return Err(Problem::Full);
        }
        Ok(Span::between(made, self.text.len()))
    }

    /// Appends what the escape at `at` stands for; where the string goes on.
    fn escape(&mut self, at: usize) -> Result<usize, Problem> {
        if at + 1 >= self.end {
            return Err(Problem::Incomplete);
        }
        let byte = match self.text.get(at + 1).copied().unwrap_or_default() {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'u' => return self.code(at),
            _ => return Err(Problem::Unexpected),
        };
        self.text.push(byte);
        Ok(at + 2)
    }

    /// `\uXXXX`, or a pair of them. Zero is left out, half of a pair is U+FFFD.
    fn code(&mut self, at: usize) -> Result<usize, Problem> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 4).filter(|_| at + 4 <= self.end)?;
            digits.iter().try_fold(0u32, |n, d| Some(n * 16 + char::from(*d).to_digit(16)?))
        };
        let first = unit(at + 2).ok_or(Problem::Unexpected)?;
        let (mut code, mut len) = (first, 6);
        if (0xd800..0xdc00).contains(&first) {
            let second = self.text.get(at + 6..at + 8).filter(|b| *b == b"\\u").and_then(|_| unit(at + 8));
            if let Some(second) = second.filter(|s| (0xdc00..0xe000).contains(s)) {
                (code, len) = (0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00), 12);
            }
        }
        let code = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        if code != '\0' {
            let mut bytes = [0; 4];
            self.text.extend_from_slice(code.encode_utf8(&mut bytes).as_bytes());
        }
        Ok(at + len)
    }
}

/// Whether the digits say this number, which is at an end of the range, and none beyond it.
fn is_exactly(digits: &[u8], value: i64) -> bool {
    let mut text = Vec::with_capacity(20);
    crate::put_integer(value, &mut text);
    let plain =
        |text: &[u8]| text.iter().skip_while(|b| matches!(b, b'-' | b'0')).copied().collect::<Vec<u8>>();
    plain(&text) == plain(digits)
}

#[cfg(test)]
mod tests;
