//! What is printed for messages with one set of names: the order of the values and everything around them.

use super::gather::{Found, PADDING};
use super::names::Layout;
use crate::writer::SHORT_BYTES;
use std::ops::Range;

/// A part of a text.
pub(super) type Span = (u32, u32);

#[derive(Default)]
pub(crate) struct Plan {
    /// The set of names it is for.
    key: Vec<u64>,
    items: Vec<Item>,
    /// What stands around the values; ends with padding. Of a JSON object, every part begins with the quote
    /// that ends a text before it, and ends with the one that begins a text behind it.
    pub text: Vec<u8>,
    names: String,
    /// What follows the last value.
    pub tail: Span,
    /// Some name has other characters than letters and digits, or none.
    pub has_odd_names: bool,
    /// Bytes of all that stands around the values.
    pub around_bytes: usize,
    /// The objects that are open behind the last value, parts of the names.
    open: Vec<Span>,
    /// Where the part of the text begins that ends with fixed values: the next part goes on there.
    fixed_from: Option<u32>,
}

/// One value.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    /// What stands in front of it, a part of [`Plan::text`].
    pub lead: Span,
    pub name: Span,
    /// Its place among what was found.
    pub source: u32,
    /// What stands in front of it but for the first byte, and how long that is; where it is longer than this,
    /// its first bytes.
    pub front: [u8; SHORT_BYTES],
    pub front_len: u32,
}

impl Item {
    pub fn new(lead: Span, name: Span, source: u32) -> Item {
        Item { lead, name, source, front: [0; SHORT_BYTES], front_len: 0 }
    }
}

impl Plan {
    /// One that was made has text, at least for padding.
    #[inline]
    pub(super) fn is_made(&self) -> bool {
        !self.text.is_empty()
    }

    #[inline]
    pub(super) fn key(&self) -> &[u64] {
        &self.key
    }

    #[inline]
    pub(super) fn is_for(&self, key: &[u64]) -> bool {
        self.is_made() && self.key == key
    }

    /// The values in order.
    #[inline]
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The values in order, with what stands in front of each.
    #[inline]
    pub fn values<'p, 'f>(
        &'p self,
        found: &'p [Found<'f>],
    ) -> impl Iterator<Item = ((usize, usize), &'p Found<'f>)> + use<'p, 'f> {
        let value = |item: &Item| found.get(item.source as usize).unwrap_or(const { &Found::NOTHING });
        self.items.iter().map(move |item| ((item.lead.0 as usize, item.lead.1 as usize), value(item)))
    }

    /// The names and values in order.
    pub fn pairs<'p, 'f>(
        &'p self,
        found: &'p [Found<'f>],
    ) -> impl Iterator<Item = (&'p str, &'p Found<'f>)> + use<'p, 'f> {
        self.items.iter().zip(self.values(found)).map(|(item, (_, value))| (self.text_of(item.name), value))
    }

    /// Begins anew, for messages with this key.
    pub(super) fn begin_for(&mut self, key: &[u64]) {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.names.clear();
        self.begin(0);
    }

    /// Begins anew, behind a text of this length that stays, and with the names that are there.
    pub(super) fn begin(&mut self, text_len: usize) {
        self.items.clear();
        self.open.clear();
        self.text.truncate(text_len);
        (self.has_odd_names, self.around_bytes, self.fixed_from) = (false, 0, None);
    }

    /// Keeps a name.
    pub(super) fn name(&mut self, name: &str) -> Span {
        let from = self.names.len() as u32;
        self.names.push_str(name);
        (from, self.names.len() as u32)
    }

    pub(super) fn text_of(&self, name: Span) -> &str {
        text_of(&self.names, name)
    }

    /// Whether a name has other characters than letters and digits, or none.
    pub(super) fn is_odd(name: &str) -> bool {
        name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric())
    }

    /// Whether the last value is in an object of its own.
    #[inline]
    pub(super) fn is_inside(&self) -> bool {
        !self.open.is_empty()
    }

    /// The next value. `is_odd` is what [`Plan::is_odd`] says of its name.
    #[inline]
    pub(super) fn push(&mut self, item: Item, is_odd: bool) {
        self.has_odd_names |= is_odd;
        self.around_bytes += (item.lead.1 - item.lead.0) as usize;
        self.items.push(item);
    }

    /// Writes a text of a JSON object that all messages have, with what stands in front of it.
    pub(super) fn push_fixed(&mut self, lead: Span, text: &[u8]) {
        // The quotes around it belong to the parts before and behind it.
        self.text.pop();
        crate::json::string(text, &mut self.text);
        self.text.pop();
        self.fixed_from = Some(lead.0);
    }

    /// Where the next part of the text begins.
    fn part(&mut self) -> u32 {
        self.fixed_from.take().unwrap_or(self.text.len() as u32)
    }

    /// Writes what stands in front of the next value, one of this name.
    pub(super) fn lead(&mut self, layout: Layout, name: Span, first: bool) -> Span {
        let start = self.part();
        match layout {
            Layout::Plain | Layout::Path => {}
            Layout::Assigned => self.assigned(name, first),
            Layout::Json { delimiter, flat, .. } => {
                self.text.push(b'"');
                match flat {
                    true => self.member(name, first),
                    false => self.nested(name, delimiter, first),
                }
                self.text.push(b'"');
            }
        }
        (start, self.text.len() as u32)
    }

    /// Writes what follows the last value.
    pub(super) fn end(&mut self, layout: Layout) {
        let is_empty = self.items.is_empty() && self.fixed_from.is_none();
        let start = self.part();
        if matches!(layout, Layout::Json { .. }) {
            self.text.push(b'"');
            if is_empty {
                self.text.push(b'{');
            }
            self.open.iter().for_each(|_| self.text.push(b'}'));
            self.text.push(b'}');
        }
        self.tail = (start, self.text.len() as u32);
        self.around_bytes += (self.tail.1 - start) as usize;
        self.text.extend_from_slice(&PADDING);
        for item in &mut self.items {
            let (from, end) = (item.lead.0 + 1, item.lead.1);
            if let Some(front) = self.text.get(from as usize..).and_then(<[u8]>::first_chunk) {
                (item.front, item.front_len) = (*front, end.saturating_sub(from));
            }
        }
    }

    fn assigned(&mut self, name: Span, first: bool) {
        if !first {
            self.text.push(b' ');
        }
        self.text.extend_from_slice(text_of(&self.names, name).as_bytes());
        self.text.push(b'=');
    }

    fn member(&mut self, key: Span, first: bool) {
        self.text.push(if first { b'{' } else { b',' });
        crate::json::string(text_of(&self.names, key).as_bytes(), &mut self.text);
        self.text.push(b':');
    }

    /// Closes the objects the name is not in, opens those it is in.
    fn nested(&mut self, name: Span, delimiter: u8, first: bool) {
        let Plan { names, text, open, .. } = self;
        let whole = text_of(names, name);
        let levels = || levels(whole, delimiter);
        let depth = levels().count().saturating_sub(1);
        let (path, key) = (levels().take(depth), levels().nth(depth).unwrap_or(0..whole.len()));
        let text_at = |range: &Range<usize>| whole.get(range.clone()).unwrap_or_default();
        let shared =
            path.clone().zip(open.iter()).take_while(|(a, b)| text_at(a) == text_of(names, **b)).count();
        // A value that has the name of an open object stands in it: beside it would be the same key twice.
        let inside =
            shared == depth && open.get(shared).is_some_and(|open| text_of(names, *open) == text_at(&key));
        let keep = shared + usize::from(inside);
        while open.len() > keep {
            open.pop();
            text.push(b'}');
        }
        text.push(if first { b'{' } else { b',' });
        for part in path.skip(open.len()) {
            crate::json::string(text_at(&part).as_bytes(), text);
            text.extend_from_slice(b":{");
            open.push((name.0 + part.start as u32, name.0 + part.end as u32));
        }
        crate::json::string(text_at(&key).as_bytes(), text);
        text.push(b':');
    }
}

impl Layout {
    /// Whether what stands in front of a name's value depends on the value before it only where that is in an
    /// object.
    pub(super) fn is_simple(self, name: &str) -> bool {
        match self {
            Layout::Json { delimiter, flat: false, .. } => levels(name, delimiter).count() <= 1,
            _ => true,
        }
    }
}

fn text_of(names: &str, name: Span) -> &str {
    names.get(name.0 as usize..name.1 as usize).unwrap_or_default()
}

/// The levels of a name. The first character of one is never a delimiter; numbers with dots after an `@` (the
/// enterprise id of STRUCTURED-DATA) are one level.
fn levels(name: &str, delimiter: u8) -> impl Iterator<Item = Range<usize>> + Clone {
    let mut from = 0;
    std::iter::from_fn(move || {
        let bytes = name.as_bytes().get(from..).filter(|bytes| !bytes.is_empty())?;
        let mut at = if bytes.starts_with(b"@") { after_enterprise_id(bytes, 0) } else { 1 };
        while let Some(byte) = bytes.get(at) {
            match *byte {
                b if b == delimiter => break,
                b'@' => at = after_enterprise_id(bytes, at),
                _ => at += 1,
            }
        }
        let level = from..(from + at).min(name.len());
        from += at + 1;
        // A delimiter may be a part of a character, and then the rest is one level.
        match name.is_char_boundary(level.end) {
            true => Some(level),
            false => {
                from = name.len();
                Some(level.start..name.len())
            }
        }
    })
}

fn after_enterprise_id(bytes: &[u8], at: usize) -> usize {
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut at = at + 1;
    while digit(at) || bytes.get(at) == Some(&b'.') && digit(at + 1) && bytes.get(at - 1) != Some(&b'@') {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::levels;

    #[test]
    fn levels_of_names() {
        for (name, expected) in [
            ("a.b.c", "a|b|c"),
            ("a", "a"),
            ("_x.y", "_x|y"),
            ("..z", ".|z"),
            ("q..r", "q|.r"),
            ("t.", "t"),
            ("_SDATA.x@1.2.3.k", "_SDATA|x@1.2.3|k"),
            ("y@b.c", "y@b|c"),
            ("z@1", "z@1"),
            ("z@1.2", "z@1.2"),
            ("é.ü", "é|ü"),
            ("", ""),
        ] {
            let found: Vec<&str> = levels(name, b'.').map(|level| &name[level]).collect();
            assert_eq!(found.join("|"), expected, "{name}");
        }
    }
}
