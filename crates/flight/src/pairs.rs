//! The values of a message as a field, for destinations that send names and types beside the text: see
//! [`crate::fields`]. Of each pair: the number of its type (1), name and value behind their lengths (`u32`,
//! little endian).

use crate::fields::put_field;
use record::ValueType;

/// A value with its name and type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair<'a> {
    pub name: &'a [u8],
    pub kind: ValueType,
    pub value: &'a [u8],
}

pub fn put_pair(out: &mut Vec<u8>, name: &str, kind: ValueType, value: &[u8]) {
    out.push(kind.number());
    put_field(out, name.as_bytes());
    put_field(out, value);
}

/// The pairs of a field, in the order of their names. What is no pair ends them.
pub fn pairs(field: &[u8]) -> Pairs<'_> {
    Pairs(field)
}

#[derive(Clone)]
pub struct Pairs<'a>(&'a [u8]);

impl<'a> Pairs<'a> {
    fn take(&mut self) -> Option<&'a [u8]> {
        let (length, after) = self.0.split_first_chunk::<4>()?;
        let (text, rest) = after.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        self.0 = rest;
        Some(text)
    }
}

impl<'a> Iterator for Pairs<'a> {
    type Item = Pair<'a>;

    fn next(&mut self) -> Option<Pair<'a>> {
        let (kind, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(Pair { kind: ValueType::of_number(*kind), name: self.take()?, value: self.take()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_come_out_as_they_went_in_and_foreign_bytes_end() {
        let mut field = Vec::new();
        put_pair(&mut field, "a", ValueType::Int, b"5");
        put_pair(&mut field, "", ValueType::Bytes, &[0xff; 300]);
        let all = [
            Pair { name: b"a", kind: ValueType::Int, value: b"5" },
            Pair { name: b"", kind: ValueType::Bytes, value: &[0xff; 300] },
        ];
        assert_eq!(pairs(&field).collect::<Vec<_>>(), all);
        for cut in 0..field.len() {
            assert!(pairs(&field[..cut]).count() < 2);
        }
        assert_eq!(pairs(&[0xff; 20]).count(), 0);
    }
}
