//! The basic encoding rules of ASN.1, as far as SNMP has them: written inside out, read in place.

pub const INTEGER: u8 = 0x02;
pub const OCTETS: u8 = 0x04;
pub const OID: u8 = 0x06;
pub const SEQUENCE: u8 = 0x30;

/// What is no such encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// Appends a value with its tag and length.
pub fn put(out: &mut Vec<u8>, tag: u8, content: &[u8]) {
    out.push(tag);
    match content.len() {
        length @ 0..=0x7f => out.push(length as u8),
        length => {
            let bytes = (length as u32).to_be_bytes();
            let skip = bytes.iter().take_while(|byte| **byte == 0).count();
            out.push(0x80 | (4 - skip) as u8);
            out.extend_from_slice(bytes.get(skip..).unwrap_or_default());
        }
    }
    out.extend_from_slice(content);
}

/// The same of what `inner` appends.
pub fn put_with(out: &mut Vec<u8>, tag: u8, inner: impl FnOnce(&mut Vec<u8>)) {
    let mut content = Vec::new();
    inner(&mut content);
    put(out, tag, &content);
}

/// A number in as few bytes as its sign allows.
pub fn put_integer(out: &mut Vec<u8>, tag: u8, value: i64) {
    let bytes = value.to_be_bytes();
    let is_spare = |pair: &[u8]| {
        matches!(pair, [0, next] if next & 0x80 == 0) || matches!(pair, [0xff, next] if next & 0x80 != 0)
    };
    let skip = bytes.windows(2).take_while(|pair| is_spare(pair)).count();
    put(out, tag, bytes.get(skip..).unwrap_or_default());
}

/// Reads values one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader(bytes)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next value, with its tag.
    pub fn any(&mut self) -> Result<(u8, &'a [u8]), Malformed> {
        let (tag, rest) = self.0.split_first().ok_or(Malformed)?;
        let (first, rest) = rest.split_first().ok_or(Malformed)?;
        let (length, rest) = match first {
            0..=0x7f => (*first as usize, rest),
            0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked((first & 0x7f) as usize).ok_or(Malformed)?;
                (bytes.iter().fold(0usize, |length, byte| length << 8 | *byte as usize), rest)
            }
            _ => return Err(Malformed),
        };
        let (content, rest) = rest.split_at_checked(length).ok_or(Malformed)?;
        self.0 = rest;
        Ok((*tag, content))
    }

    pub fn take(&mut self, tag: u8) -> Result<&'a [u8], Malformed> {
        match self.any()? {
            (found, content) if found == tag => Ok(content),
            _ => Err(Malformed),
        }
    }

    pub fn inside(&mut self, tag: u8) -> Result<Reader<'a>, Malformed> {
        self.take(tag).map(Reader)
    }

    pub fn integer(&mut self) -> Result<i64, Malformed> {
        let content = self.take(INTEGER)?;
        let (first, _) = content.split_first().filter(|_| content.len() <= 8).ok_or(Malformed)?;
        let sign = if first & 0x80 == 0 { 0 } else { -1 };
        Ok(content.iter().fold(sign, |value, byte| value << 8 | i64::from(*byte)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers() {
        let of = |value| {
            let mut out = Vec::new();
            put_integer(&mut out, INTEGER, value);
            out
        };
        assert_eq!((of(0), of(127), of(128)), (vec![2, 1, 0], vec![2, 1, 127], vec![2, 2, 0, 128]));
        assert_eq!((of(-1), of(-129), of(256)), (vec![2, 1, 255], vec![2, 2, 255, 127], vec![2, 2, 1, 0]));
    }

    proptest! {
        #[test]
        fn what_was_put_is_read(value: i64, octets in proptest::collection::vec(any::<u8>(), 0..700)) {
            let mut out = Vec::new();
            put_with(&mut out, SEQUENCE, |out| {
                put_integer(out, INTEGER, value);
                put(out, OCTETS, &octets);
            });
            let mut reader = Reader::new(&out).inside(SEQUENCE).expect("a sequence");
            prop_assert_eq!(reader.integer(), Ok(value));
            prop_assert_eq!(reader.take(OCTETS), Ok(octets.as_slice()));
            prop_assert!(reader.is_empty());
            prop_assert!(Reader::new(&out[..out.len() - 1]).any().is_err());
        }

        #[test]
        fn foreign_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            let mut reader = Reader::new(&bytes);
            while reader.any().is_ok() {}
            let _ = Reader::new(&bytes).integer();
        }
    }
}
