//! JSON to trees, as leniently as AxoSyslog reads it: commas may trail or stand for colons, control
//! characters may stand in strings, numbers may begin with zeros.
//!
//! Strings without escapes are spans of the text they stand in.

use crate::trees::{Full, Trees};
use crate::word::equal;
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
    read_json_some(text, span, trees, |_| true)
}

/// The same; of an object, only the members whose keys are wanted. All of the text is checked.
pub fn read_json_some(
    text: &mut Vec<u8>,
    span: Span,
    trees: &mut Trees,
    wanted: impl Fn(&[u8]) -> bool,
) -> Result<Value, JsonError> {
    let start = span.start as usize;
    let mark = trees.stack.len();
    trees.repeated.clear();
    let mut made = std::mem::take(&mut trees.made);
    made.clear();
    let whole = text.get(..span.end()).unwrap_or_default();
    let mut reader =
        Reader { text: whole, made_from: text.len(), made: &mut made, trees, at: start, depth: 0, wanted };
    let result = reader.whole();
    let at = reader.at - start;
    trees.stack.truncate(mark);
    let result = result.and_then(|value| {
        text.extend_from_slice(&made);
        trees.merge_noted(text)?;
        Ok(value)
    });
    trees.made = made;
    result.map_err(|problem| JsonError { at, problem })
}

struct Reader<'a, W> {
    /// Up to the end of what is read.
    text: &'a [u8],
    /// What strings with escapes stand for, which goes behind the text, from this place on.
    made: &'a mut Vec<u8>,
    made_from: usize,
    trees: &'a mut Trees,
    at: usize,
    depth: usize,
    /// Which members of an object at the top are kept.
    wanted: W,
}

impl From<Full> for Problem {
    fn from(_: Full) -> Problem {
        Problem::Full
    }
}

impl<W: Fn(&[u8]) -> bool> Reader<'_, W> {
    fn whole(&mut self) -> Result<Value, Problem> {
        self.blanks();
        let value = self.value(true)?;
        self.blanks();
        if self.at < self.text.len() { Err(Problem::More) } else { Ok(value) }
    }

    #[inline(always)]
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline(always)]
    fn blanks(&mut self) {
        // Most texts have none.
        if self.peek().is_some_and(|byte| byte <= b' ') {
            self.more_blanks();
        }
    }

    #[inline(never)]
    fn more_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// The value at the place; null for a container that is only checked.
    #[inline(always)]
    fn value(&mut self, keep: bool) -> Result<Value, Problem> {
        match self.peek().ok_or(Problem::Incomplete)? {
            b'"' => self.string().map(Value::String),
            b'{' => self.object(keep),
            b'[' => self.list(keep),
            b'-' | b'0'..=b'9' => self.number(),
            b't' => self.word(b"true", Value::Boolean(true)),
            b'f' => self.word(b"false", Value::Boolean(false)),
            b'n' => self.word(b"null", Value::Null),
            b']' | b'}' | b',' | b':' => Err(Problem::Unexpected),
            _ => Err(Problem::Token),
        }
    }

    fn word(&mut self, word: &[u8], value: Value) -> Result<Value, Problem> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            return Ok(value);
        }
        let common = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.at += common;
        Err(if self.at >= self.text.len() { Problem::Incomplete } else { Problem::Token })
    }

    #[inline]
    fn number(&mut self) -> Result<Value, Problem> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let (mut value, mut len) = (0i64, 0);
        while let Some(digit @ b'0'..=b'9') = rest.get(len) {
            value = value.wrapping_mul(10).wrapping_add(i64::from(digit - b'0'));
            len += 1;
        }
        match rest.get(len) {
            _ if len == 0 || len > 18 => self.other_number(rest),
            Some(b'.' | b'e' | b'E' | b'-' | b'+') => self.other_number(rest),
            _ => {
                self.at += len;
                Ok(Value::Integer(value))
            }
        }
    }

    /// A number with a sign or a fraction, or a long one.
    #[inline(never)]
    fn other_number(&mut self, rest: &[u8]) -> Result<Value, Problem> {
        let is_part = |b: &u8| matches!(b, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let len = rest.iter().position(|b| !is_part(b)).unwrap_or(rest.len());
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

    fn enter(&mut self) -> Result<usize, Problem> {
        self.depth += 1;
        if self.depth > JSON_DEPTH_MAX {
            return Err(Problem::TooDeep);
        }
        self.at += 1;
        Ok(self.trees.stack.len())
    }

    /// Whether the container goes on with another member: commas may stand anywhere between them.
    #[inline(always)]
    fn goes_on(&mut self, close: u8) -> Result<bool, Problem> {
        loop {
            match self.peek().ok_or(Problem::Incomplete)? {
                b',' => self.at += 1,
                b' ' | b'\t' | b'\n' | b'\r' => self.more_blanks(),
                b if b == close => {
                    self.at += 1;
                    self.depth -= 1;
                    return Ok(false);
                }
                _ => return Ok(true),
            }
        }
    }

    /// Behind a member: a comma, or the bracket that closes, which stays.
    #[inline(always)]
    fn ends(&mut self, close: u8) -> Result<(), Problem> {
        if self.peek() == Some(b',') {
            self.at += 1;
            return Ok(());
        }
        self.blanks();
        match self.peek().ok_or(Problem::Incomplete)? {
            b',' => {
                self.at += 1;
                Ok(())
            }
            b if b == close => Ok(()),
            _ => Err(Problem::Unexpected),
        }
    }

    #[inline(never)]
    fn object(&mut self, keep: bool) -> Result<Value, Problem> {
        let mark = self.enter()?;
        let is_top = self.depth == 1;
        let (mut seen, mut repeated) = (Seen::default(), false);
        loop {
            if self.peek() != Some(b'"') {
                if !self.goes_on(b'}')? {
                    break;
                }
                if self.peek() != Some(b'"') {
                    return Err(Problem::Unexpected);
                }
            }
            let key = self.string()?;
            if self.peek() != Some(b':') {
                self.blanks();
                if !matches!(self.peek().ok_or(Problem::Incomplete)?, b':' | b',') {
                    return Err(Problem::Unexpected);
                }
            }
            self.at += 1;
            self.blanks();
            let keep = keep && (!is_top || (self.wanted)(self.bytes(key)));
            if keep {
                let earlier = self.trees.stack.get(mark..).unwrap_or_default();
                // What is made is not part of the text yet.
                repeated |= key.start as usize >= self.made_from || seen.is_again(earlier, key, self.text);
            }
            let value = self.value(keep)?;
            if keep {
                self.trees.stack.extend_from_slice(&[Value::String(key), value]);
            }
            self.ends(b'}')?;
        }
        if !keep {
            return Ok(Value::Null);
        }
        let node = self.trees.node_of_stack(mark)?;
        if repeated {
            self.trees.repeated.push(node);
        }
        Ok(Value::Dict(node))
    }

    #[inline(never)]
    fn list(&mut self, keep: bool) -> Result<Value, Problem> {
        let mark = self.enter()?;
        while self.goes_on(b']')? {
            let value = self.value(keep)?;
            if keep {
                self.trees.stack.push(value);
            }
            self.ends(b']')?;
        }
        if !keep {
            return Ok(Value::Null);
        }
        Ok(Value::List(self.trees.node_of_stack(mark)?))
    }

    /// The bytes of a string that was read.
    #[inline(always)]
    fn bytes(&self, string: Span) -> &[u8] {
        match (string.start as usize).checked_sub(self.made_from) {
            None => string.of(self.text),
            Some(start) => self.made.get(start..start + string.len as usize).unwrap_or_default(),
        }
    }

    #[inline(always)]
    fn string(&mut self) -> Result<Span, Problem> {
        let start = self.at + 1;
        let end = string_end(self.text, start);
        if self.text.get(end) == Some(&b'"') {
            self.at = end + 1;
            return Ok(Span::new(start, end - start));
        }
        self.escaped(start, end)
    }

    /// A string whose first backslash stands at `at`.
    #[inline(never)]
    fn escaped(&mut self, start: usize, mut at: usize) -> Result<Span, Problem> {
        let made = self.made.len();
        let mut from = start;
        loop {
            self.made.extend_from_slice(self.text.get(from..at).unwrap_or_default());
            self.at = at;
            match self.text.get(at) {
                None => return Err(Problem::Incomplete),
                Some(b'"') => break,
                Some(_) => from = self.escape(at)?,
            }
            at = string_end(self.text, from);
        }
        self.at = at + 1;
        let start = self.made_from + made;
        if self.made_from + self.made.len() > u32::MAX as usize {
            return Err(Problem::Full);
        }
        Ok(Span::new(start, self.made.len() - made))
    }

    /// Appends what the escape at `at` stands for; where the string goes on.
    fn escape(&mut self, at: usize) -> Result<usize, Problem> {
        let byte = match self.text.get(at + 1).copied().ok_or(Problem::Incomplete)? {
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            byte @ (b'"' | b'\\' | b'/') => byte,
            b'u' => return self.code(at),
            _ => return Err(Problem::Unexpected),
        };
        self.made.push(byte);
        Ok(at + 2)
    }

    /// `\uXXXX`, or a pair of them. Zero is left out, half of a pair is U+FFFD.
    fn code(&mut self, at: usize) -> Result<usize, Problem> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 4)?;
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
            self.made.extend_from_slice(code.encode_utf8(&mut bytes).as_bytes());
        }
        Ok(at + len)
    }
}

/// The first quote or backslash at `at` or behind it; the end of the text where there is none.
#[inline(always)]
fn string_end(text: &[u8], mut at: usize) -> usize {
    let near = at + 32;
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        let hits = equal(word, b'"') | equal(word, b'\\');
        if hits != 0 {
            return at + hits.trailing_zeros() as usize / 8;
        }
        at += 8;
        if at == near {
            return far_end(text, at);
        }
    }
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|b| matches!(b, b'"' | b'\\')).unwrap_or(rest.len())
}

/// The same in a long string.
#[inline(never)]
fn far_end(text: &[u8], at: usize) -> usize {
    memchr2(b'"', b'\\', text.get(at..).unwrap_or_default()).map_or(text.len(), |hit| at + hit)
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
