//! The wire format of protocol buffers: fields read in place, and written behind one another.
//!
//! Messages here are few and large, or are passed on as they are; so each is written by hand from its public
//! document, and what nobody asks for is not taken apart.

/// Of a length that is written before it is known: enough for all that a message may have.
const LENGTH_BYTES: usize = 5;

/// What is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// A field as it is encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

impl<'a> Value<'a> {
    /// Text, bytes, or a message.
    pub fn bytes(self) -> Option<&'a [u8]> {
        match self {
            Value::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    pub fn varint(self) -> Option<u64> {
        match self {
            Value::Varint(value) => Some(value),
            _ => None,
        }
    }
}

/// The fields of a message, one after the other. Ends after an error.
#[derive(Clone)]
pub struct Fields<'a>(&'a [u8]);

pub fn fields(message: &[u8]) -> Fields<'_> {
    Fields(message)
}

impl<'a> Fields<'a> {
    #[inline]
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        // Most numbers are of one byte or two.
        match *self.0 {
            [first @ 0..0x80, ref rest @ ..] => {
                self.0 = rest;
                return Some(u64::from(first));
            }
            [first, second @ 0..0x80, ref rest @ ..] => {
                self.0 = rest;
                return Some(u64::from(first & 0x7f) | u64::from(second) << 7);
            }
            _ => {}
        }
        for (at, byte) in self.0.iter().take(10).enumerate() {
            value |= u64::from(byte & 0x7f).checked_shl(7 * at as u32)?;
            if byte & 0x80 == 0 {
                self.0 = self.0.get(at + 1..)?;
                return Some(value);
            }
        }
        None
    }

    #[inline]
    fn take(&mut self, count: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(taken)
    }

    #[inline]
    fn field(&mut self) -> Option<(u32, Value<'a>)> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).ok().filter(|number| *number > 0)?;
        let value = match tag & 7 {
            0 => Value::Varint(self.varint()?),
            1 => Value::Fixed64(u64::from_le_bytes(self.take(8)?.try_into().ok()?)),
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.take(length)?)
            }
            5 => Value::Fixed32(u32::from_le_bytes(self.take(4)?.try_into().ok()?)),
            // Groups, which nobody has used for twenty years.
            _ => return None,
        };
        Some((number, value))
    }
}

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u32, Value<'a>), Malformed>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field().ok_or(Malformed);
        if field.is_err() {
            self.0 = &[];
        }
        Some(field)
    }
}

pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn put_tag(out: &mut Vec<u8>, number: u32, kind: u64) {
    put_varint(out, u64::from(number) << 3 | kind);
}

/// Bytes that a number takes.
pub fn varint_size(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Bytes that a field with so many bytes of content takes.
pub fn field_size(number: u32, content: usize) -> usize {
    varint_size(u64::from(number) << 3) + varint_size(content as u64) + content
}

pub fn put_number(out: &mut Vec<u8>, number: u32, value: u64) {
    put_tag(out, number, 0);
    put_varint(out, value);
}

pub fn put_fixed64(out: &mut Vec<u8>, number: u32, value: u64) {
    put_tag(out, number, 1);
    out.extend_from_slice(&value.to_le_bytes());
}

pub fn put_fixed32(out: &mut Vec<u8>, number: u32, value: u32) {
    put_tag(out, number, 5);
    out.extend_from_slice(&value.to_le_bytes());
}

pub fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_head(out, number, bytes.len());
    out.extend_from_slice(bytes);
}

/// What stands before so many bytes of content.
pub fn put_head(out: &mut Vec<u8>, number: u32, content: usize) {
    put_tag(out, number, 2);
    put_varint(out, content as u64);
}

/// Content of a field that is written in its place, however long it becomes: its length takes
/// [`LENGTH_BYTES`], of which the last ones may say nothing. Readers of the format take lengths that are
/// written so.
pub fn put_long(out: &mut Vec<u8>, number: u32, put: impl FnOnce(&mut Vec<u8>)) {
    put_tag(out, number, 2);
    let at = out.len();
    out.extend_from_slice(&[0; LENGTH_BYTES]);
    put(out);
    let mut length = out.len() - at - LENGTH_BYTES;
    let place = out.get_mut(at..at + LENGTH_BYTES).unwrap_or_default();
    let last = LENGTH_BYTES - 1;
    for (nth, byte) in place.iter_mut().enumerate() {
        *byte = length as u8 & 0x7f | if nth < last { 0x80 } else { 0 };
        length >>= 7;
    }
}

/// A message in a field: what `put` writes. Small ones are not moved.
pub fn put_message(out: &mut Vec<u8>, number: u32, put: impl FnOnce(&mut Vec<u8>)) {
    put_tag(out, number, 2);
    let at = out.len();
    out.push(0);
    put(out);
    let length = out.len() - at - 1;
    if let (Ok(short), Some(place)) = (u8::try_from(length), out.get_mut(at))
        && short < 0x80
    {
        *place = short;
        return;
    }
    let mut head = Vec::with_capacity(10);
    put_varint(&mut head, length as u64);
    out.splice(at..=at, head);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(message: &[u8]) -> Result<Vec<(u32, Value<'_>)>, Malformed> {
        fields(message).collect()
    }

    #[test]
    fn what_the_documents_give_as_examples() {
        // From the encoding guide of the project.
        assert_eq!(all(b"\x08\x96\x01"), Ok(vec![(1, Value::Varint(150))]));
        assert_eq!(all(b"\x12\x07testing"), Ok(vec![(2, Value::Bytes(b"testing"))]));
        assert_eq!(all(b"\x1a\x03\x08\x96\x01"), Ok(vec![(3, Value::Bytes(b"\x08\x96\x01"))]));
        assert_eq!(all(b"\x25\x01\0\0\0"), Ok(vec![(4, Value::Fixed32(1))]));
        assert_eq!(all(b"\x29\x01\0\0\0\0\0\0\0"), Ok(vec![(5, Value::Fixed64(1))]));
    }

    #[test]
    fn what_is_no_message() {
        for wrong in [
            &b"\x08"[..],
            b"\x0a\x05x",
            b"\x0b",
            b"\x00\x01",
            b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
        ] {
            assert_eq!(all(wrong), Err(Malformed), "{wrong:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(number in 1u32..5000, value: u64, bytes: Vec<u8>, size in 0usize..400) {
            let mut out = Vec::new();
            put_number(&mut out, number, value);
            put_fixed64(&mut out, number, value);
            put_fixed32(&mut out, number, value as u32);
            let before = out.len();
            put_bytes(&mut out, number, &bytes);
            prop_assert_eq!(out.len() - before, field_size(number, bytes.len()));
            put_message(&mut out, number, |out| out.resize(out.len() + size, 7));
            put_long(&mut out, number, |out| out.resize(out.len() + size, 8));
            let read = all(&out).expect("a message");
            prop_assert_eq!(read[0], (number, Value::Varint(value)));
            prop_assert_eq!(read[1], (number, Value::Fixed64(value)));
            prop_assert_eq!(read[2], (number, Value::Fixed32(value as u32)));
            prop_assert_eq!(read[3], (number, Value::Bytes(&bytes)));
            prop_assert_eq!(read[4], (number, Value::Bytes(&vec![7; size])));
            prop_assert_eq!(read[5], (number, Value::Bytes(&vec![8; size])));
        }

        #[test]
        fn foreign_bytes_end(bytes: Vec<u8>) {
            prop_assert!(fields(&bytes).count() <= bytes.len());
        }
    }
}
