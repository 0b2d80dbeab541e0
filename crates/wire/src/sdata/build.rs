//! Writes STRUCTURED-DATA: groups parameters by element, escapes values, encodes what a name may not hold.

use super::is_name_byte;
use crate::word;

/// Appends elements to a buffer. Parameters of one element have to come one after the other.
#[derive(Debug)]
pub struct Builder<'a> {
    out: &'a mut Vec<u8>,
    start: usize,
    /// The id of the open element stands at `out[id..id_end]`, as written; `id == id_end` when no element is
    /// open.
    id: usize,
    id_end: usize,
}

impl<'a> Builder<'a> {
    pub fn new(out: &'a mut Vec<u8>) -> Builder<'a> {
        let start = out.len();
        Builder { out, start, id: start, id_end: start }
    }

    /// Adds a parameter. `value` is the plain value. An empty name makes an element without parameters.
    pub fn param(&mut self, id: &[u8], name: &[u8], value: &[u8]) {
        // Ids with bytes that had to be encoded are rare: not joined.
        let same = self.id_end > self.id && self.out.get(self.id..self.id_end) == Some(id);
        if !same {
            self.open(id);
        }
        if name.is_empty() {
            return;
        }
        self.out.push(b' ');
        append_name(self.out, name);
        self.out.extend_from_slice(b"=\"");
        append_escaped(self.out, value);
        self.out.push(b'"');
    }

    fn open(&mut self, id: &[u8]) {
        if self.id_end > self.id {
            self.out.push(b']');
        }
        self.out.push(b'[');
        self.id = self.out.len();
        append_name(self.out, if id.is_empty() { b"none" } else { id });
        self.id_end = self.out.len();
    }

    /// Closes the last element. Whether anything was written.
    pub fn finish(self) -> bool {
        if self.id_end > self.id {
            self.out.push(b']');
        }
        self.out.len() > self.start
    }
}

/// Appends a value with `"`, `\` and `]` escaped.
pub fn append_escaped(out: &mut Vec<u8>, value: &[u8]) {
    let mut from = 0;
    loop {
        let at = word::find(value, from, [b'"', b'\\', b']']);
        out.extend_from_slice(value.get(from..at).unwrap_or_default());
        let Some(byte) = value.get(at) else { return };
        out.extend_from_slice(&[b'\\', *byte]);
        from = at + 1;
    }
}

/// Appends an id or a name; bytes it may not hold become `%XX`.
pub fn append_name(out: &mut Vec<u8>, name: &[u8]) {
    const HEX: [u8; 16] = *b"0123456789ABCDEF";
    for byte in name {
        if is_name_byte(*byte) {
            out.push(*byte);
        } else {
            out.extend_from_slice(&[b'%', HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
        }
    }
}
