//! The entries of a recording, in order.

use crate::entry::{Entry, FRONT, parse};
use crate::{HEAD, MESSAGE_BYTES_MAX};
use std::fmt;

/// Where a recording cannot be read on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damaged {
    /// It is something else.
    NoRecording,
    /// A later program has written it.
    Version(u32),
    /// The last entry is not whole: the program that wrote it was interrupted.
    Cut { at: usize },
    /// The checksum of an entry does not hold.
    Sum { at: usize },
}

impl fmt::Display for Damaged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Damaged::NoRecording => f.write_str("it is not a recording of penstock"),
            Damaged::Version(version) => write!(f, "its version is {version}, this program reads 1"),
            Damaged::Cut { at } => write!(f, "it ends in the middle of the entry at byte {at}"),
            Damaged::Sum { at } => write!(f, "the entry at byte {at} is damaged, nothing is read behind it"),
        }
    }
}

impl std::error::Error for Damaged {}

/// Reads entry by entry; ends behind the first error.
pub struct Entries<'a> {
    bytes: &'a [u8],
    at: usize,
    is_over: bool,
}

/// Of all the bytes of a recording.
pub fn entries(bytes: &[u8]) -> Result<Entries<'_>, Damaged> {
    head(bytes)?;
    Ok(Entries { bytes, at: HEAD.len(), is_over: false })
}

/// Whether a recording begins so.
pub(crate) fn head(bytes: &[u8]) -> Result<(), Damaged> {
    let name = HEAD.len() - 4;
    if bytes.get(..name) != HEAD.get(..name) {
        return Err(Damaged::NoRecording);
    }
    let version = bytes.get(name..).and_then(|rest| rest.first_chunk::<4>()).copied();
    match version.map(u32::from_le_bytes) {
        Some(1) => Ok(()),
        Some(version) => Err(Damaged::Version(version)),
        None => Err(Damaged::NoRecording),
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Result<Entry<'a>, Damaged>;

    fn next(&mut self) -> Option<Result<Entry<'a>, Damaged>> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty() && !self.is_over)?;
        let read = entry(rest, self.at);
        match &read {
            Ok((_, length)) => self.at += length,
            Err(_) => self.is_over = true,
        }
        Some(read.map(|(entry, _)| entry))
    }
}

/// What an entry can have.
pub(crate) fn length_of(bytes: [u8; 4]) -> Option<usize> {
    Some(u32::from_le_bytes(bytes) as usize).filter(|length| *length <= MESSAGE_BYTES_MAX + 1024)
}

/// The entry that the bytes begin with, which stand at `at`, and its length.
fn entry(bytes: &[u8], at: usize) -> Result<(Entry<'_>, usize), Damaged> {
    let (length, rest) = bytes.split_first_chunk::<4>().ok_or(Damaged::Cut { at })?;
    let (sum, rest) = rest.split_first_chunk::<4>().ok_or(Damaged::Cut { at })?;
    let length = length_of(*length).ok_or(Damaged::Sum { at })?;
    let body = rest.get(..length).ok_or(Damaged::Cut { at })?;
    if crc32c::crc32c(body) != u32::from_le_bytes(*sum) {
        return Err(Damaged::Sum { at });
    }
    let entry = parse(body).ok_or(Damaged::Sum { at })?;
    Ok((entry, FRONT + length))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append;

    #[test]
    fn what_is_damaged_is_named_and_what_stands_before_is_read() {
        let mut bytes = HEAD.to_vec();
        let entry = |text| Entry { time: 5, source: "s#0", peer: None, text };
        append(&mut bytes, &entry(b"one"));
        let second = bytes.len();
        append(&mut bytes, &entry(b"two"));
        append(&mut bytes, &entry(b"three"));
        let texts = |bytes: &[u8]| -> (usize, Option<Damaged>) {
            let read: Vec<_> = entries(bytes).expect("a head").collect();
            (read.iter().filter(|read| read.is_ok()).count(), read.into_iter().find_map(Result::err))
        };
        assert_eq!(texts(&bytes), (3, None));
        assert_eq!(texts(&bytes[..second + 3]), (1, Some(Damaged::Cut { at: second })));
        bytes[second + 12] ^= 1;
        assert_eq!(texts(&bytes), (1, Some(Damaged::Sum { at: second })));
        assert_eq!(entries(b"x").err(), Some(Damaged::NoRecording));
        bytes[HEAD.len() - 4] = 2;
        assert_eq!(entries(&bytes).err(), Some(Damaged::Version(2)));
    }
}
