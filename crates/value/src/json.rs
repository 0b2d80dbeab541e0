//! JSON to trees, as leniently as AxoSyslog reads it: commas may trail or stand for colons, control
//! characters may stand in strings, numbers may begin with zeros.
//!
//! Strings without escapes are spans of the text they stand in.

mod escape;
mod lately;
mod member;
mod numbers;

use crate::seen::may_have;
use crate::trees::{Full, Trees};
use crate::{Seen, Span, Value};
pub(crate) use lately::Lately;
use member::{is_printable, ordinary_value, string_end};

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
    let (mark, first) = (trees.stack.len(), trees.count());
    trees.repeated.clear();
    let mut made = std::mem::take(&mut trees.made);
    made.clear();
    let mut lately = std::mem::take(&mut trees.lately);
    lately.begin();
    let whole = text.get(..span.end()).unwrap_or_default();
    let mut reader = Reader {
        text: whole,
        made_from: text.len(),
        made: &mut made,
        lately: &mut lately,
        trees,
        at: start,
        depth: 0,
        wanted,
        as_printed: true,
    };
    let result = reader.whole();
    let at = reader.at - start;
    let as_printed = reader.as_printed;
    trees.lately = lately;
    if !as_printed || !is_printable(span.of(text)) {
        trees.forget_origins(first);
    }
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
    /// Keys as they came in the text before.
    lately: &'a mut Lately,
    trees: &'a mut Trees,
    at: usize,
    depth: usize,
    /// Which members of an object at the top are kept.
    wanted: W,
    /// What is read is what would be printed of it, as far as signs, escapes and numbers go.
    as_printed: bool,
}

impl From<Full> for Problem {
    fn from(_: Full) -> Problem {
        Problem::Full
    }
}

impl<W: Fn(&[u8]) -> bool> Reader<'_, W> {
    fn whole(&mut self) -> Result<Value, Problem> {
        self.blanks();
        self.as_printed = true;
        self.value(true)?;
        let as_printed = self.as_printed;
        self.blanks();
        self.as_printed = as_printed;
        if self.at < self.text.len() {
            return Err(Problem::More);
        }
        self.trees.stack.pop().ok_or(Problem::Incomplete)
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
        self.as_printed = false;
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Reads the value at the place; one that is not only checked is put onto the stack, by each kind for
    /// itself, since who takes a value of any kind waits until all of it is written.
    #[inline(always)]
    fn value(&mut self, keep: bool) -> Result<(), Problem> {
        match self.peek().ok_or(Problem::Incomplete)? {
            b'"' => {
                let string = self.string()?;
                self.put(keep, Value::String(string));
            }
            b'{' => self.object(keep)?,
            b'[' => self.list(keep)?,
            b'-' | b'0'..=b'9' => {
                let number = self.number()?;
                self.put(keep, number);
            }
            b't' => self.word(b"true", Value::Boolean(true), keep)?,
            b'f' => self.word(b"false", Value::Boolean(false), keep)?,
            b'n' => self.word(b"null", Value::Null, keep)?,
            b']' | b'}' | b',' | b':' => return Err(Problem::Unexpected),
            _ => return Err(Problem::Token),
        }
        Ok(())
    }

    #[inline(always)]
    fn put(&mut self, keep: bool, value: Value) {
        if keep {
            self.trees.stack.push(value);
        }
    }

    fn word(&mut self, word: &[u8], value: Value, keep: bool) -> Result<(), Problem> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        if rest.starts_with(word) {
            self.at += word.len();
            self.put(keep, value);
            return Ok(());
        }
        let common = rest.iter().zip(word).take_while(|(a, b)| a == b).count();
        self.at += common;
        Err(if self.at >= self.text.len() { Problem::Incomplete } else { Problem::Token })
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
                b',' => {
                    self.at += 1;
                    self.as_printed = false;
                }
                b' ' | b'\t' | b'\n' | b'\r' => self.more_blanks(),
                b if b == close => {
                    // A comma that nothing follows.
                    self.as_printed &= self.text.get(self.at.wrapping_sub(1)) != Some(&b',');
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
    fn object(&mut self, keep: bool) -> Result<(), Problem> {
        let (mark, from) = (self.enter()?, self.at - 1);
        let is_top = self.depth == 1;
        let (mut seen, mut repeated) = (Seen::default(), false);
        loop {
            let (key, bit) = match self.lately.key(self.text, self.at) {
                Some((key, bit)) => {
                    self.at = key.end() + 2;
                    (key, bit)
                }
                None => match self.key()? {
                    Some(key) => (key, Seen::bit_of(self.text, key)),
                    None => break,
                },
            };
            self.blanks();
            let keep = keep && (!is_top || (self.wanted)(self.bytes(key)));
            if keep {
                // What is made is not part of the text yet.
                repeated |= key.start as usize >= self.made_from
                    || seen.note(bit)
                        && may_have(self.trees.stack.get(mark..).unwrap_or_default(), key, self.text);
                self.trees.stack.push(Value::String(key));
            } else {
                self.as_printed = false;
            }
            if let Some((value, end)) = ordinary_value(self.text, self.at) {
                self.at = end;
                self.put(keep, value);
            } else {
                self.value(keep)?;
                self.ends(b'}')?;
            }
        }
        if !keep {
            return Ok(());
        }
        let node = self.trees.node_of_stack(mark)?;
        self.trees.set_origin(node, Span::between(from, self.at));
        if repeated {
            self.trees.repeated.push(node);
            self.as_printed = false;
        }
        self.trees.stack.push(Value::Dict(node));
        Ok(())
    }

    /// The key at the place, behind whose colon the place is then; `None` where the object ends.
    #[inline(never)]
    fn key(&mut self) -> Result<Option<Span>, Problem> {
        if self.peek() != Some(b'"') {
            if !self.goes_on(b'}')? {
                return Ok(None);
            }
            if self.peek() != Some(b'"') {
                return Err(Problem::Unexpected);
            }
        }
        let key = self.string()?;
        if self.peek() == Some(b':') {
            self.lately.learn(self.text, key);
        } else {
            self.lately.pass();
            self.blanks();
            if !matches!(self.peek().ok_or(Problem::Incomplete)?, b':' | b',') {
                return Err(Problem::Unexpected);
            }
            self.as_printed = false;
        }
        self.at += 1;
        Ok(Some(key))
    }

    #[inline(never)]
    fn list(&mut self, keep: bool) -> Result<(), Problem> {
        let (mark, from) = (self.enter()?, self.at - 1);
        while self.goes_on(b']')? {
            self.value(keep)?;
            self.ends(b']')?;
        }
        if !keep {
            return Ok(());
        }
        let node = self.trees.node_of_stack(mark)?;
        self.trees.set_origin(node, Span::between(from, self.at));
        self.trees.stack.push(Value::List(node));
        Ok(())
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
}

#[cfg(test)]
mod tests;
