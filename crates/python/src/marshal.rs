//! The format of Python's `marshal` module, version 2, as far as the requests and answers go: written for
//! what goes to the processes, read from what comes back. Python reads and writes it in C, a batch in one
//! call.
//!
//! What is read comes from a process in which a user's code runs, so nothing of it is believed: every length
//! is held against what is there.

/// What was read is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The next thing in an answer. What stands in a tuple, list or dictionary follows it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Item<'a> {
    None,
    Ellipsis,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// `str`: UTF-8, but for halves of surrogate pairs.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    /// With so many items.
    Tuple(u32),
    List(u32),
    /// Keys and values in turn until [`Item::End`].
    Dict,
    End,
}

pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What was not read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    #[inline]
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(Malformed)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(Malformed)?;
        self.rest = rest;
        Ok(*taken)
    }

    #[inline]
    fn long_text(&mut self) -> Result<&'a [u8], Malformed> {
        let len = u32::from_le_bytes(self.array()?);
        self.take(len as usize)
    }

    fn short_text(&mut self) -> Result<&'a [u8], Malformed> {
        let [len] = self.array()?;
        self.take(usize::from(len))
    }

    /// The count of items that follow, of which each takes a byte at least.
    #[inline]
    fn count(&mut self) -> Result<u32, Malformed> {
        let count = u32::from_le_bytes(self.array()?);
        if count as usize > self.rest.len() {
            return Err(Malformed);
        }
        Ok(count)
    }

    #[inline]
    pub fn item(&mut self) -> Result<Item<'a>, Malformed> {
        let [kind] = self.array()?;
        Ok(match kind {
            b'N' => Item::None,
            b'.' => Item::Ellipsis,
            b'T' => Item::Bool(true),
            b'F' => Item::Bool(false),
            b'i' => Item::Int(i64::from(i32::from_le_bytes(self.array()?))),
            b'l' => Item::Int(self.digits()?),
            b'g' => Item::Float(f64::from_le_bytes(self.array()?)),
            b'u' | b't' | b'a' | b'A' => Item::Text(self.long_text()?),
            b'z' | b'Z' => Item::Text(self.short_text()?),
            b's' => Item::Bytes(self.long_text()?),
            b'(' => Item::Tuple(self.count()?),
            b'[' => Item::List(self.count()?),
            b'{' => Item::Dict,
            b'0' => Item::End,
            _ => return Err(Malformed),
        })
    }

    /// A number in digits of 15 bits.
    fn digits(&mut self) -> Result<i64, Malformed> {
        let count = i32::from_le_bytes(self.array()?);
        let mut value: i128 = 0;
        // Five digits are 75 bits.
        if count.unsigned_abs() > 5 {
            return Err(Malformed);
        }
        for place in 0..count.unsigned_abs() {
            let digit = u16::from_le_bytes(self.array()?);
            if digit >= 1 << 15 {
                return Err(Malformed);
            }
            value |= i128::from(digit) << (15 * place);
        }
        i64::try_from(if count < 0 { -value } else { value }).map_err(|_| Malformed)
    }

    /// The next thing where a text has to be.
    pub fn text(&mut self) -> Result<&'a [u8], Malformed> {
        match self.item()? {
            Item::Text(text) | Item::Bytes(text) => Ok(text),
            _ => Err(Malformed),
        }
    }

    /// The next thing where a list has to be: its count.
    pub fn list(&mut self) -> Result<u32, Malformed> {
        match self.item()? {
            Item::List(count) => Ok(count),
            _ => Err(Malformed),
        }
    }
}

pub fn none(out: &mut Vec<u8>) {
    out.push(b'N');
}

pub fn ellipsis(out: &mut Vec<u8>) {
    out.push(b'.');
}

pub fn boolean(value: bool, out: &mut Vec<u8>) {
    out.push(if value { b'T' } else { b'F' });
}

pub fn int(value: i64, out: &mut Vec<u8>) {
    if let Ok(value) = i32::try_from(value) {
        out.push(b'i');
        out.extend_from_slice(&value.to_le_bytes());
        return;
    }
    let mut rest = value.unsigned_abs();
    let count = i32::try_from((u64::BITS - rest.leading_zeros()).div_ceil(15)).unwrap_or(0);
    out.push(b'l');
    out.extend_from_slice(&(if value < 0 { -count } else { count }).to_le_bytes());
    for _ in 0..count {
        out.extend_from_slice(&((rest & 0x7fff) as u16).to_le_bytes());
        rest >>= 15;
    }
}

pub fn float(value: f64, out: &mut Vec<u8>) {
    out.push(b'g');
    out.extend_from_slice(&value.to_le_bytes());
}

fn sized(kind: u8, bytes: &[u8], out: &mut Vec<u8>) {
    // A batch is far smaller than what a length can say.
    let bytes = bytes.get(..u32::MAX as usize).unwrap_or(bytes);
    out.push(kind);
    out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(bytes);
}

#[inline]
pub fn bytes(value: &[u8], out: &mut Vec<u8>) {
    sized(b's', value, out);
}

pub fn text(value: &str, out: &mut Vec<u8>) {
    sized(b'u', value.as_bytes(), out);
}

/// Begins a tuple: as many items have to follow.
pub fn tuple(count: usize, out: &mut Vec<u8>) {
    out.push(b'(');
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

/// Begins a list: as many items have to follow.
pub fn list(count: usize, out: &mut Vec<u8>) {
    out.push(b'[');
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

/// Begins a dictionary: keys and values in turn have to follow, and [`end`].
pub fn dict(out: &mut Vec<u8>) {
    out.push(b'{');
}

pub fn end(out: &mut Vec<u8>) {
    out.push(b'0');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(bytes: &[u8]) -> Result<Vec<Item<'_>>, Malformed> {
        let mut reader = Reader::new(bytes);
        let mut items = Vec::new();
        while !reader.is_empty() {
            items.push(reader.item()?);
        }
        Ok(items)
    }

    #[test]
    fn numbers_come_back() {
        for value in [0, 1, -1, 1 << 31, -(1 << 31), (1 << 31) - 1, 1 << 45, i64::MAX, i64::MIN] {
            let mut out = Vec::new();
            int(value, &mut out);
            assert_eq!(all(&out), Ok(vec![Item::Int(value)]), "{value}");
        }
    }

    /// As `python3 -c 'import marshal; print(marshal.dumps([True, {"a": b"\xff", 0: -5000000000}, 1.5], 2))'`
    /// prints it.
    #[test]
    fn what_python_writes_is_read() {
        let dump = b"[\x03\0\0\0T{u\x01\0\0\0as\x01\0\0\0\xffi\0\0\0\0l\xfd\xff\xff\xff\0d,P\x04\x000g\0\0\0\0\0\0\xf8?";
        let expected = [
            Item::List(3),
            Item::Bool(true),
            Item::Dict,
            Item::Text(b"a"),
            Item::Bytes(b"\xff"),
            Item::Int(0),
            Item::Int(-5_000_000_000),
            Item::End,
            Item::Float(1.5),
        ];
        let mut dump = dump.to_vec();
        let at = dump.windows(6).position(|w| w == [b'l', 0xfd, 0xff, 0xff, 0xff, 0]).expect("there");
        // 5000000000 in digits of 15 bits.
        let digits: Vec<u8> =
            [5_000_000_000u64 & 0x7fff, 5_000_000_000u64 >> 15 & 0x7fff, 5_000_000_000u64 >> 30]
                .iter()
                .flat_map(|digit| (*digit as u16).to_le_bytes())
                .collect();
        dump.splice(at + 5..at + 11, digits);
        assert_eq!(all(&dump), Ok(expected.to_vec()));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(items) = all(&bytes) {
                prop_assert!(items.len() <= bytes.len());
            }
        }
    }
}
