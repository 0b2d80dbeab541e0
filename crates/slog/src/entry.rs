//! One entry of a log: the number, a colon, and what was sealed, both in base64.

use crate::base64;
use crate::key::{Derived, MAC_BYTES, Mac};
use aes::Aes256Enc;
use aes_gcm::aead::AeadInPlace;
use aes_gcm::aead::consts::U12;
use aes_gcm::{AesGcm, KeyInit};
use std::fmt;

type Gcm = AesGcm<Aes256Enc, U12>;

pub(crate) const IV_BYTES: usize = 12;
/// Random start value and tag, which stand before the text.
pub(crate) const HEAD_BYTES: usize = IV_BYTES + MAC_BYTES;
/// The number in base64.
pub(crate) const COUNTER_CHARS: usize = 12;

/// Characters of the entry of a text of so many bytes, without the end of the line.
pub const fn entry_bytes(text: usize) -> usize {
    COUNTER_CHARS + 1 + base64::length(HEAD_BYTES + text)
}

/// An entry as it stands in a log, not opened yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The number it says it has.
    pub counter: u64,
    /// IV, tag, and the encrypted text.
    pub(crate) sealed: Vec<u8>,
}

/// A line that cannot be an entry, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotAnEntry {
    NoColon,
    Counter,
    Base64,
    Short,
}

impl fmt::Display for NotAnEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotAnEntry::NoColon => "there is no colon behind a number",
            NotAnEntry::Counter => "its number cannot be read",
            NotAnEntry::Base64 => "it is not base64",
            NotAnEntry::Short => "it is too short",
        })
    }
}

impl Entry {
    /// Reads a line without its end.
    pub fn read(line: &[u8]) -> Result<Entry, NotAnEntry> {
        let (counter, rest) = line.split_at_checked(COUNTER_CHARS).ok_or(NotAnEntry::NoColon)?;
        let Some((b':', sealed)) = rest.split_first() else { return Err(NotAnEntry::NoColon) };
        let mut number = Vec::with_capacity(8);
        base64::decode(counter, &mut number).ok_or(NotAnEntry::Counter)?;
        let counter = u64::from_le_bytes(number.try_into().map_err(|_| NotAnEntry::Counter)?);
        let mut bytes = Vec::new();
        base64::decode(sealed, &mut bytes).ok_or(NotAnEntry::Base64)?;
        if bytes.len() < HEAD_BYTES {
            return Err(NotAnEntry::Short);
        }
        Ok(Entry { counter, sealed: bytes })
    }

    /// Appends the text when it was sealed with this key.
    pub(crate) fn open(&self, keys: &Derived, text: &mut Vec<u8>) -> bool {
        let Some((head, sealed)) = self.sealed.split_at_checked(HEAD_BYTES) else { return false };
        let (iv, tag) = head.split_at(IV_BYTES);
        let start = text.len();
        text.extend_from_slice(sealed);
        let Some(place) = text.get_mut(start..) else { return false };
        let opened =
            Gcm::new(&keys.text.0.into()).decrypt_in_place_detached(iv.into(), b"", place, tag.into());
        if opened.is_err() {
            text.truncate(start);
        }
        opened.is_ok()
    }
}

/// Puts the number and the colon in front of an entry.
pub(crate) fn write_counter(counter: u64, out: &mut [u8]) {
    base64::encode(&counter.to_le_bytes(), out);
    if let Some(colon) = out.get_mut(COUNTER_CHARS) {
        *colon = b':';
    }
}

/// Encrypts `text` in its place; gives the tag. `None` for a text beyond the cipher's 64 GiB.
pub(crate) fn encrypt(keys: &Derived, iv: &[u8; IV_BYTES], text: &mut [u8]) -> Option<Mac> {
    let sealed = Gcm::new(&keys.text.0.into()).encrypt_in_place_detached(iv.into(), b"", text);
    sealed.ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_entry() {
        let sealed = "A".repeat(base64::length(HEAD_BYTES) - 2) + "==";
        for (line, why) in [
            (String::new(), NotAnEntry::NoColon),
            ("AAAAAAAAAAA=".into(), NotAnEntry::NoColon),
            (format!("AAAAAAAAAAA={sealed}"), NotAnEntry::NoColon),
            (format!("AAAAAAAAAAAA:{sealed}"), NotAnEntry::Counter),
            (format!("{{AAAAAAAAAA=:{sealed}"), NotAnEntry::Counter),
            ("AAAAAAAAAAA=:".into(), NotAnEntry::Short),
            ("AAAAAAAAAAA=:AAAA".into(), NotAnEntry::Short),
            ("AAAAAAAAAAA=:AAA".into(), NotAnEntry::Base64),
            ("AAAAAAAAAAA=:an error instead of an entry".into(), NotAnEntry::Base64),
        ] {
            assert_eq!(Entry::read(line.as_bytes()), Err(why), "{line}");
        }
        let entry = Entry::read(format!("AwAAAAAAAAA=:{sealed}").as_bytes()).expect("an entry");
        assert_eq!((entry.counter, entry.sealed.len()), (3, HEAD_BYTES));
    }

    proptest! {
        #[test]
        fn any_line_is_read_or_refused(line in proptest::collection::vec(any::<u8>(), 0..96)) {
            let _ = Entry::read(&line);
        }
    }
}
