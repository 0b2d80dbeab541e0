//! The messages of a chunk: taken out of what is compressed and encrypted, and put into it.

use crate::error::Error;
use crate::key::{PrivateKey, StoreKey};
use crate::record::{COMPRESSED, Chunk, ENCRYPTED};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use std::collections::HashMap;
use std::io::{Read, Write};

/// The most bytes that the messages of one chunk may have, however small it is in the file.
pub const CHUNK_BYTES_MAX: usize = 64 << 20;
/// Of a segment of an encrypted chunk: its length, the nonce and the tag.
const SEGMENT_EXTRA: usize = 4 + 12 + 16;
const PLAIN: u8 = 0;
const ZLIB: u8 = 1;

/// The keys of a store that a private key opens, by the place of their records.
#[derive(Default)]
pub struct Keys {
    private: Option<PrivateKey>,
    known: HashMap<u64, StoreKey>,
}

impl Keys {
    pub fn new(private: PrivateKey) -> Keys {
        Keys { private: Some(private), known: HashMap::new() }
    }

    pub fn has_private_key(&self) -> bool {
        self.private.is_some()
    }

    /// A key record at that place.
    pub fn add(&mut self, at: u64, wrapped: &[u8]) -> Result<(), Error> {
        if let Some(private) = &self.private {
            self.known.insert(at, private.unwrap(wrapped)?);
        }
        Ok(())
    }
}

/// The messages of a chunk, each with its length in front. `ours`: encrypted as we define it.
pub fn open(chunk: &Chunk<'_>, keys: &Keys, ours: bool) -> Result<Vec<u8>, Error> {
    if chunk.is(ENCRYPTED) {
        if !ours {
            return Err(Error::Locked(
                "encrypted by syslog-ng PE, whose way from the key to a chunk was never published",
            ));
        }
        let key = keys.known.get(&chunk.key_at).ok_or(Error::Locked("encrypted: give the private key"))?;
        return unseal(chunk, key);
    }
    match chunk.is(COMPRESSED) {
        true => inflated(chunk.data, CHUNK_BYTES_MAX)
            .ok_or(Error::damaged(0, "compressed data that is not whole")),
        false => Ok(chunk.data.to_vec()),
    }
}

fn inflated(data: &[u8], bytes_max: usize) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut decoder = ZlibDecoder::new(data);
    (&mut decoder).take(bytes_max as u64 + 1).read_to_end(&mut out).ok()?;
    // All of the data belongs to it.
    (out.len() <= bytes_max && decoder.total_in() == data.len() as u64).then_some(out)
}

pub fn deflated(data: &[u8], level: u32) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::with_capacity(data.len() / 4), Compression::new(level));
    // Writing into memory does not fail.
    let _ = encoder.write_all(data);
    encoder.finish().unwrap_or_default()
}

/// What of a chunk its segments are bound to: its number, their place in it, and the number of their first
/// message.
fn bound(chunk: u32, segment: u32, first: u32) -> [u8; 12] {
    let mut bound = [0; 12];
    let parts = [chunk, segment, first];
    for (place, part) in bound.chunks_exact_mut(4).zip(parts) {
        place.copy_from_slice(&part.to_be_bytes());
    }
    bound
}

/// Where a segment stands.
#[derive(Clone, Copy, Debug)]
pub struct SegmentPlace {
    pub chunk: u32,
    pub segment: u32,
    /// The number of its first message.
    pub first: u32,
}

/// Appends an encrypted segment with these messages.
pub fn seal(
    out: &mut Vec<u8>,
    messages: &[u8],
    level: u32,
    key: &StoreKey,
    place: SegmentPlace,
) -> Result<(), Error> {
    let mut plain = vec![if level > 0 { ZLIB } else { PLAIN }];
    match level {
        0 => plain.extend_from_slice(messages),
        level => plain.extend_from_slice(&deflated(messages, level)),
    }
    let sealed = key.seal(plain, &bound(place.chunk, place.segment, place.first))?;
    out.extend_from_slice(&(sealed.len() as u32).to_be_bytes());
    out.extend_from_slice(&sealed);
    Ok(())
}

fn unseal(chunk: &Chunk<'_>, key: &StoreKey) -> Result<Vec<u8>, Error> {
    let wrong = |what| Error::damaged(0, what);
    let (mut rest, mut out) = (chunk.data, Vec::new());
    let (mut segment, mut first) = (0, chunk.first);
    while !rest.is_empty() {
        let (length, behind) = rest.split_first_chunk::<4>().ok_or(wrong("a segment without a length"))?;
        let length = u32::from_be_bytes(*length) as usize;
        let sealed = behind.split_at_checked(length).filter(|_| length + 4 > SEGMENT_EXTRA);
        let (sealed, behind) = sealed.ok_or(wrong("the length of a segment cannot be"))?;
        let plain = key.open(sealed, &bound(chunk.id, segment, first))?;
        let room = CHUNK_BYTES_MAX.saturating_sub(out.len());
        let messages = match plain.split_first() {
            Some((&PLAIN, messages)) => messages.to_vec(),
            Some((&ZLIB, packed)) => {
                inflated(packed, room).ok_or(wrong("compressed data that is not whole"))?
            }
            _ => return Err(wrong("a segment of an unknown form")),
        };
        first = first.wrapping_add(Messages::new(&messages).count() as u32);
        out.extend_from_slice(&messages);
        segment += 1;
        rest = behind;
    }
    Ok(out)
}

/// Messages one after the other; ends with an error where a length cannot be.
pub struct Messages<'a> {
    rest: &'a [u8],
}

impl<'a> Messages<'a> {
    pub fn new(data: &'a [u8]) -> Messages<'a> {
        Messages { rest: data }
    }
}

impl<'a> Iterator for Messages<'a> {
    type Item = Result<&'a [u8], Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let whole = self.rest.split_first_chunk::<4>();
        let whole =
            whole.and_then(|(length, rest)| rest.split_at_checked(u32::from_be_bytes(*length) as usize));
        let Some((message, rest)) = whole else {
            self.rest = &[];
            return Some(Err(Error::damaged(0, "the length of a message cannot be")));
        };
        self.rest = rest;
        Some(Ok(message))
    }
}

/// Puts a message behind others.
pub fn put(out: &mut Vec<u8>, message: &[u8]) {
    out.extend_from_slice(&(message.len() as u32).to_be_bytes());
    out.extend_from_slice(message);
}
