//! Lists as syslog-ng writes them in text: items separated by commas, quoted where an item would not be read
//! back the same.

/// Appends an item, with the comma before it.
pub fn push(item: &[u8], first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::replace(first, false) {
        out.push(b',');
    }
    encode(item, out);
}

/// Bytes without which an item needs no quotes. Other control characters are written in hexadecimal, but only
/// where there are quotes anyway.
static QUOTED: [bool; 256] = {
    let mut quoted = [false; 256];
    let mut left: &[u8] = b",\"'\\ \x08\t\n\x0c\r";
    while let [byte, rest @ ..] = left {
        quoted[*byte as usize] = true;
        left = rest;
    }
    quoted
};

fn encode(item: &[u8], out: &mut Vec<u8>) {
    if !item.is_empty() && !item.iter().any(|byte| QUOTED[usize::from(*byte)]) {
        out.extend_from_slice(item);
        return;
    }
    let quote = if item.contains(&b'"') && !item.contains(&b'\'') { b'\'' } else { b'"' };
    out.push(quote);
    wire::escape::binary(item, Some(quote), out);
    out.push(quote);
}

/// Reads the items of a list, as syslog-ng does: an item without quotes is what stands between commas, blanks
/// included, and is none where nothing does; one in quotes may be empty and may have escapes.
pub struct Items<'a> {
    rest: &'a [u8],
}

/// An item that was read.
enum ReadItem<'a> {
    /// A part of the list.
    Part(&'a [u8]),
    /// What its escapes stand for, in the buffer.
    Unescaped,
}

impl<'a> Items<'a> {
    pub fn of(text: &'a [u8]) -> Items<'a> {
        Items { rest: text }
    }

    /// The next item: a part of the list, or, where it has escapes, what was put into `buffer`.
    pub fn next<'b>(&mut self, buffer: &'b mut Vec<u8>) -> Option<&'b [u8]>
    where
        'a: 'b,
    {
        match self.read(buffer)? {
            ReadItem::Part(part) => Some(part),
            ReadItem::Unescaped => Some(buffer),
        }
    }

    /// Reads one item into `item`, cleared first; false at the end.
    pub fn next_into(&mut self, item: &mut Vec<u8>) -> bool {
        let read = self.read(item);
        if let Some(ReadItem::Part(part)) = read {
            item.extend_from_slice(part);
        }
        read.is_some()
    }

    fn read(&mut self, buffer: &mut Vec<u8>) -> Option<ReadItem<'a>> {
        buffer.clear();
        let begin = self.rest.iter().position(|byte| *byte != b',')?;
        let list = self.rest.get(begin..).unwrap_or_default();
        let mut inside = 0;
        if let Some((quote @ (b'"' | b'\''), quoted)) = list.split_first() {
            match self.quoted(*quote, quoted, buffer) {
                Ok(item) => return Some(item),
                Err(end) => {
                    // What was taken for escapes stands as it is.
                    buffer.clear();
                    inside = 1 + end;
                }
            }
        }
        let comma = memchr::memchr(b',', list.get(inside..).unwrap_or_default());
        let (part, rest) = list.split_at(comma.map_or(list.len(), |at| inside + at));
        self.rest = rest;
        Some(ReadItem::Part(part))
    }

    /// What stands in quotes, where a comma or nothing follows them. Else the quotes are part of the item, as
    /// they are: the error is where they end.
    fn quoted(&mut self, quote: u8, inside: &'a [u8], buffer: &mut Vec<u8>) -> Result<ReadItem<'a>, usize> {
        let mut rest = inside;
        loop {
            let Some(at) = memchr::memchr2(quote, b'\\', rest) else { return Err(inside.len()) };
            let (part, after) = rest.split_at(at);
            if let [b'\\', escaped @ ..] = after {
                buffer.extend_from_slice(part);
                rest = unescape(escaped, quote, buffer).ok_or(inside.len())?;
                continue;
            }
            let after = after.get(1..).unwrap_or_default();
            if after.first().is_some_and(|byte| *byte != b',') {
                return Err(inside.len() - after.len());
            }
            self.rest = after;
            // Nothing is in the buffer where there was no escape.
            if part.len() + after.len() + 1 == inside.len() {
                return Ok(ReadItem::Part(part));
            }
            buffer.extend_from_slice(part);
            return Ok(ReadItem::Unescaped);
        }
    }
}

/// Appends what the escape at the beginning of `text` stands for, and says what follows it. What is no escape
/// keeps its backslash.
fn unescape<'a>(text: &'a [u8], quote: u8, out: &mut Vec<u8>) -> Option<&'a [u8]> {
    let (letter, rest) = text.split_first()?;
    match letter {
        b'b' => out.push(0x08),
        b'f' => out.push(0x0c),
        b'n' => out.push(b'\n'),
        b'r' => out.push(b'\r'),
        b't' => out.push(b'\t'),
        b'\\' => out.push(b'\\'),
        // As they are written; syslog-ng does not read them back.
        b'x' => {
            let digits = rest.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
            match digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
                Some(byte) => {
                    out.push(byte);
                    return rest.get(2..);
                }
                None => out.extend_from_slice(b"\\x"),
            }
        }
        letter if *letter == quote => out.push(quote),
        letter => out.extend_from_slice(&[b'\\', *letter]),
    }
    Some(rest)
}
