//! DER by hand: elements one after the other. For what is shown of a certificate and for the containers of
//! keys; nothing here decides about a signature.

pub const INTEGER: u8 = 0x02;
pub const BITS: u8 = 0x03;
pub const OCTETS: u8 = 0x04;
pub const OID: u8 = 0x06;
pub const SEQUENCE: u8 = 0x30;
pub const SET: u8 = 0x31;
/// An element with a number of its own instead of a type, around another.
pub const CONTEXT_0: u8 = 0xa0;
/// The same, instead of the type of what it is.
pub const IMPLICIT_0: u8 = 0x80;

/// Elements one after the other: tag and content. Foreign bytes: whatever does not fit is the end.
pub struct Der<'a>(pub &'a [u8]);

impl<'a> Der<'a> {
    pub fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    pub fn next(&mut self) -> Option<(u8, &'a [u8])> {
        let (tag, rest) = self.0.split_first()?;
        let (first, rest) = rest.split_first()?;
        let (length, rest) = match usize::from(*first) {
            short if short < 0x80 => (short, rest),
            long @ 0x81..=0x84 => {
                let (bytes, rest) = rest.split_at_checked(long - 0x80)?;
                (bytes.iter().fold(0, |all, byte| all << 8 | usize::from(*byte)), rest)
            }
            _ => return None,
        };
        let (content, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        Some((*tag, content))
    }

    pub fn take(&mut self, wanted: u8) -> Option<&'a [u8]> {
        self.next().filter(|(tag, _)| *tag == wanted).map(|(_, content)| content)
    }

    /// The element with its tag and length.
    pub fn whole(&mut self, wanted: u8) -> Option<&'a [u8]> {
        let before = self.0;
        self.take(wanted)?;
        before.get(..before.len().checked_sub(self.0.len())?)
    }
}
