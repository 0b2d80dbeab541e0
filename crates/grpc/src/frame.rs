//! The five bytes in front of each message of gRPC: whether it is compressed, and its length.

use crate::coding::Coding;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

pub const HEAD_BYTES: usize = 5;

/// Begins a message whose length [`end`] puts in its place.
pub fn begin(capacity: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD_BYTES + capacity);
    out.extend_from_slice(&[0; HEAD_BYTES]);
    out
}

pub fn end(message: &mut [u8]) {
    let length = message.len().saturating_sub(HEAD_BYTES) as u32;
    if let Some(place) = message.get_mut(1..HEAD_BYTES) {
        place.copy_from_slice(&length.to_be_bytes());
    }
}

/// Messages in their frames, each compressed.
pub fn packed(messages: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(messages.len() / 4);
    let mut rest = messages;
    while let Some((head, behind)) = rest.split_first_chunk::<HEAD_BYTES>() {
        let [_, length @ ..] = *head;
        let (message, next) = behind.split_at(behind.len().min(u32::from_be_bytes(length) as usize));
        out.append(&mut packed_one(message));
        rest = next;
    }
    out
}

fn packed_one(message: &[u8]) -> Vec<u8> {
    let mut coder = GzEncoder::new(begin(message.len() / 4), Compression::fast());
    // Into memory, where nothing fails.
    let _ = coder.write_all(message);
    let mut out = coder.finish().unwrap_or_default();
    end(&mut out);
    if let Some(flag) = out.first_mut() {
        *flag = 1;
    }
    out
}

/// The bytes of the message that begins here, its frame included.
pub fn length(begin: &[u8]) -> Option<usize> {
    let [_, length @ ..] = *begin.first_chunk::<HEAD_BYTES>()?;
    (u32::from_be_bytes(length) as usize).checked_add(HEAD_BYTES)
}

/// A message that came, and how many bytes it was. `Ok(None)`: there is no more than a beginning.
pub fn next(bytes: &[u8], max: usize) -> Result<Option<(Message<'_>, usize)>, String> {
    next_of(Coding::Gzip, bytes, max)
}

/// The same where messages are packed otherwise.
pub fn next_of(coding: Coding, bytes: &[u8], max: usize) -> Result<Option<(Message<'_>, usize)>, String> {
    let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else { return Ok(None) };
    let [flag, length @ ..] = *head;
    let length = u32::from_be_bytes(length) as usize;
    if length > max {
        return Err(format!("a message of {length} bytes is larger than {max}"));
    }
    let Some(content) = rest.get(..length) else { return Ok(None) };
    match flag {
        0 => Ok(Some((Message::Plain(content), HEAD_BYTES + length))),
        1 => Ok(Some((Message::Packed(coding.unpack(content, max)?), HEAD_BYTES + length))),
        _ => Err("what came is no message of gRPC".to_owned()),
    }
}

pub enum Message<'a> {
    Plain(&'a [u8]),
    Packed(Vec<u8>),
}

impl Message<'_> {
    pub fn into_bytes(self) -> Vec<u8> {
        match self {
            Message::Plain(bytes) => bytes.to_vec(),
            Message::Packed(bytes) => bytes,
        }
    }

    #[cfg(test)]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Message::Plain(bytes) => bytes,
            Message::Packed(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn framed(text: &[u8]) -> Vec<u8> {
        let mut message = begin(text.len());
        message.extend_from_slice(text);
        end(&mut message);
        message
    }

    #[test]
    fn messages_come_out_as_they_went_in() {
        let plain = framed(b"hello hello hello");
        for mut bytes in [plain.clone(), packed(&plain)] {
            let size = bytes.len();
            for cut in 0..size {
                assert!(matches!(next(&bytes[..cut], 100), Ok(None)), "{cut}");
            }
            bytes.extend_from_slice(b"more");
            let (message, length) = next(&bytes, 100).expect("good").expect("whole");
            assert_eq!((message.bytes(), length), (&b"hello hello hello"[..], size));
        }
    }

    #[test]
    fn several_messages_are_packed_one_by_one() {
        let both = [framed(b"one"), framed(b"two")].concat();
        let packed = packed(&both);
        let (one, length) = next(&packed, 100).expect("good").expect("whole");
        let (two, _) = next(&packed[length..], 100).expect("good").expect("whole");
        assert_eq!((one.bytes(), two.bytes()), (&b"one"[..], &b"two"[..]));
    }

    #[test]
    fn what_is_too_large_or_no_message_is_an_error() {
        let zeros = framed(&[0; 100_000]);
        assert!(next(&zeros, 99_999).is_err());
        let small = packed(&zeros);
        assert!(small.len() < 1000 && next(&small, 99_999).is_err(), "it would grow too much");
        assert!(next(&small, 100_000).is_ok());
        assert!(next(b"\x02\0\0\0\0", 100).is_err());
        assert!(next(b"\x01\0\0\0\x03abc", 100).is_err());
    }
}
