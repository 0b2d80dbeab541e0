//! Strings with escapes: what they stand for is put behind the text.

use super::member::string_end;
use super::{Problem, Reader};
use crate::Span;

impl<W: Fn(&[u8]) -> bool> Reader<'_, W> {
    /// A string whose first backslash stands at `at`.
    #[inline(never)]
    pub(super) fn escaped(&mut self, start: usize, mut at: usize) -> Result<Span, Problem> {
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
            byte @ (b'"' | b'\\') => byte,
            b'/' => {
                self.as_printed = false;
                b'/'
            }
            b'u' => {
                self.as_printed = false;
                return self.code(at);
            }
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
