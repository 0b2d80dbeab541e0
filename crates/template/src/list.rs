//! Lists as syslog-ng writes them in text: items separated by commas, quoted where an item would not be read
//! back the same.

/// Appends an item, with the comma before it.
pub fn push(item: &[u8], first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::replace(first, false) {
        out.push(b',');
    }
    encode(item, out);
}

fn encode(item: &[u8], out: &mut Vec<u8>) {
    // Other control characters are written in hexadecimal, but only where there are quotes anyway.
    let plain =
        |b: &u8| !matches!(b, b',' | b'"' | b'\'' | b'\\' | b' ' | 0x08 | b'\t' | b'\n' | 0x0c | b'\r');
    if !item.is_empty() && item.iter().all(plain) {
        out.extend_from_slice(item);
        return;
    }
    let quote = if item.contains(&b'"') && !item.contains(&b'\'') { b'\'' } else { b'"' };
    out.push(quote);
    crate::escape::binary(item, Some(quote), out);
    out.push(quote);
}

/// Reads the items of a list.
pub struct Items<'a> {
    rest: &'a [u8],
    done: bool,
}

impl<'a> Items<'a> {
    pub fn of(text: &'a [u8]) -> Items<'a> {
        Items { rest: text, done: text.trim_ascii().is_empty() }
    }

    /// The next item: a part of the list, or, where it has escapes, what was put into `buffer`.
    pub fn next<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        if self.done {
            return None;
        }
        let rest = self.rest.trim_ascii_start();
        let (item, after) = match rest.split_first() {
            Some((quote @ (b'"' | b'\''), inside)) => {
                let end = memchr::memchr2(*quote, b'\\', inside).unwrap_or(inside.len());
                if inside.get(end) == Some(&b'\\') {
                    return self.next_into(buffer).then_some(buffer.as_slice());
                }
                let (item, after) = inside.split_at(end);
                (item, after.get(memchr::memchr(b',', after).unwrap_or(after.len())..).unwrap_or_default())
            }
            _ => {
                let (item, after) = rest.split_at(memchr::memchr(b',', rest).unwrap_or(rest.len()));
                (item.trim_ascii_end(), after)
            }
        };
        match after.strip_prefix(b",") {
            Some(after) => self.rest = after,
            None => (self.rest, self.done) = (after, true),
        }
        Some(item)
    }

    /// Reads one item into `item`, cleared first; false at the end.
    pub fn next_into(&mut self, item: &mut Vec<u8>) -> bool {
        item.clear();
        if self.done {
            return false;
        }
        self.rest = self.rest.trim_ascii_start();
        match self.rest.split_first() {
            Some((quote @ (b'"' | b'\''), after)) => {
                self.rest = after;
                self.quoted(*quote, item);
                // What stands between a closing quote and the comma belongs to nothing.
                let skip = self.rest.iter().position(|b| *b == b',').unwrap_or(self.rest.len());
                self.rest = &self.rest[skip..];
            }
            _ => {
                let len = self.rest.iter().position(|b| *b == b',').unwrap_or(self.rest.len());
                item.extend_from_slice(self.rest[..len].trim_ascii_end());
                self.rest = &self.rest[len..];
            }
        }
        match self.rest.strip_prefix(b",") {
            Some(after) => self.rest = after,
            None => self.done = true,
        }
        true
    }

    fn quoted(&mut self, quote: u8, item: &mut Vec<u8>) {
        while let Some((byte, after)) = self.rest.split_first() {
            self.rest = after;
            match byte {
                b if *b == quote => return,
                b'\\' => {
                    let Some((escaped, after)) = after.split_first() else { return };
                    self.rest = after;
                    self.escape(*escaped, item);
                }
                b => item.push(*b),
            }
        }
    }

    fn escape(&mut self, escaped: u8, item: &mut Vec<u8>) {
        item.push(match escaped {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0c,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0b,
            b'x' => {
                let digits = self.rest.get(..2).and_then(|d| std::str::from_utf8(d).ok());
                match digits.and_then(|d| u8::from_str_radix(d, 16).ok()) {
                    Some(byte) => {
                        self.rest = &self.rest[2..];
                        byte
                    }
                    None => b'x',
                }
            }
            other => other,
        });
    }
}
