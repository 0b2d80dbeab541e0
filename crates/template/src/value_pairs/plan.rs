//! What is printed for messages with one set of names: the order of the values and everything around them.

use super::gather::Found;
use super::names::Layout;
use crate::writer::SHORT_BYTES;

#[derive(Default)]
pub(crate) struct Plan {
    /// The set of names it is for.
    pub(super) key: Vec<u64>,
    pub items: Vec<Item>,
    /// What stands around the values; ends with padding. Of a JSON object, every part begins with the quote that ends a text before it,
    /// and ends with the one that begins a text behind it.
    pub text: Vec<u8>,
    names: String,
    /// What follows the last value.
    pub tail: (u32, u32),
    /// Some name has other characters than letters and digits, or none.
    pub has_odd_names: bool,
}

/// One value.
#[derive(Clone, Copy)]
pub(crate) struct Item {
    /// What stands in front of it, a part of [`Plan::text`].
    pub lead: (u32, u32),
    name: (u32, u32),
    /// Its place among what was found.
    source: u32,
}

impl Plan {
    /// One that was made has text, at least for padding.
    #[inline]
    pub(super) fn is_made(&self) -> bool {
        !self.text.is_empty()
    }

    #[inline]
    pub(super) fn is_for(&self, key: &[u64]) -> bool {
        self.is_made() && self.key == key
    }

    /// The values in order, with what stands in front of each.
    #[inline]
    pub fn values<'p, 'f>(
        &'p self,
        found: &'p [Found<'f>],
    ) -> impl Iterator<Item = ((usize, usize), Found<'f>)> + use<'p, 'f> {
        let value = |item: &Item| found.get(item.source as usize).copied().unwrap_or_default();
        self.items.iter().map(move |item| ((item.lead.0 as usize, item.lead.1 as usize), value(item)))
    }

    /// The names and values in order.
    pub fn pairs<'p, 'f>(
        &'p self,
        found: &'p [Found<'f>],
    ) -> impl Iterator<Item = (&'p str, Found<'f>)> + use<'p, 'f> {
        let name =
            |item: &Item| self.names.get(item.name.0 as usize..item.name.1 as usize).unwrap_or_default();
        self.items.iter().zip(self.values(found)).map(move |(item, (_, value))| (name(item), value))
    }

    /// Makes it anew. `named` are names and their places among what was found; of one name the first place counts.
    pub(super) fn make(&mut self, key: &[u64], named: &mut Vec<(String, u32)>, layout: Layout) {
        self.key.clear();
        self.key.extend_from_slice(key);
        self.items.clear();
        self.text.clear();
        self.names.clear();
        match layout {
            Layout::Json { delimiter, flat, .. } if !flat => {
                // The delimiter sorts before everything, so that members of one object stand together.
                let place = |b: u8| if b == delimiter { 0 } else { u16::from(b) + 1 };
                let by = |a: &str, b: &str| b.bytes().map(place).cmp(a.bytes().map(place));
                named.sort_by(|(a, i), (b, j)| by(a, b).then(i.cmp(j)));
            }
            Layout::Json { .. } => named.sort_by(|(a, i), (b, j)| b.cmp(a).then(i.cmp(j))),
            Layout::Plain | Layout::Assigned => named.sort(),
        }
        named.dedup_by(|later, first| later.0 == first.0);
        let odd = |name: &str| name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric());
        self.has_odd_names = named.iter().any(|(name, _)| odd(name));
        let mut open: Vec<&str> = Vec::new();
        for (at, (name, source)) in named.iter().enumerate() {
            let start = self.text.len() as u32;
            match layout {
                Layout::Plain => {}
                Layout::Assigned => self.assigned(name, at == 0),
                Layout::Json { delimiter, flat, .. } => {
                    self.text.push(b'"');
                    match flat {
                        true => self.member(name, at == 0),
                        false => self.nested(name, delimiter, &mut open, at == 0),
                    }
                    self.text.push(b'"');
                }
            }
            let from = self.names.len() as u32;
            self.names.push_str(name);
            let name = (from, self.names.len() as u32);
            self.items.push(Item { lead: (start, self.text.len() as u32), name, source: *source });
        }
        let start = self.text.len() as u32;
        if matches!(layout, Layout::Json { .. }) {
            self.text.push(b'"');
            if named.is_empty() {
                self.text.push(b'{');
            }
            open.iter().for_each(|_| self.text.push(b'}'));
            self.text.push(b'}');
        }
        self.tail = (start, self.text.len() as u32);
        self.text.extend_from_slice(&[0; SHORT_BYTES]);
    }

    fn assigned(&mut self, name: &str, first: bool) {
        if !first {
            self.text.push(b' ');
        }
        self.text.extend_from_slice(name.as_bytes());
        self.text.push(b'=');
    }

    fn member(&mut self, key: &str, first: bool) {
        self.text.push(if first { b'{' } else { b',' });
        crate::json::string(key.as_bytes(), &mut self.text);
        self.text.push(b':');
    }

    /// Closes the objects the name is not in, opens those it is in.
    fn nested<'n>(&mut self, name: &'n str, delimiter: u8, open: &mut Vec<&'n str>, first: bool) {
        let tokens: Vec<&str> = tokens(name, delimiter).collect();
        let (key, path) = tokens.split_last().map_or((name, &[][..]), |(key, path)| (*key, path));
        let shared = path.iter().zip(open.iter()).take_while(|(a, b)| a == b).count();
        // A value that has the name of an open object stands in it: beside it would be the same key twice.
        let inside = shared == path.len() && open.get(shared) == Some(&key);
        let keep = shared + usize::from(inside);
        while open.len() > keep {
            open.pop();
            self.text.push(b'}');
        }
        self.text.push(if first { b'{' } else { b',' });
        for part in path.get(open.len()..).unwrap_or_default() {
            crate::json::string(part.as_bytes(), &mut self.text);
            self.text.extend_from_slice(b":{");
            open.push(part);
        }
        crate::json::string(key.as_bytes(), &mut self.text);
        self.text.push(b':');
    }
}

/// The levels of a name. The first character of one is never a delimiter; numbers with dots after an `@` (the enterprise id of
/// STRUCTURED-DATA) are one level.
fn tokens(name: &str, delimiter: u8) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        if bytes.is_empty() {
            return None;
        }
        let mut at = 1;
        if bytes[0] == b'@' {
            at = after_enterprise_id(bytes, 0);
        }
        while let Some(byte) = bytes.get(at) {
            match *byte {
                b if b == delimiter => break,
                b'@' => at = after_enterprise_id(bytes, at),
                _ => at += 1,
            }
        }
        let token = rest.get(..at).unwrap_or(rest);
        rest = rest.get(at + 1..).unwrap_or_default();
        Some(token)
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
    use super::tokens;

    #[test]
    fn levels() {
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
            assert_eq!(tokens(name, b'.').collect::<Vec<_>>().join("|"), expected, "{name}");
        }
    }
}
