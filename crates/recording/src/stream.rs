//! A recording read piece by piece: it may be larger than the memory.

use crate::HEAD;
use crate::entry::{Entry, FRONT, parse};
use crate::read::{Damaged, head, length_of};
use std::fmt;
use std::io::{ErrorKind, Read};

/// Why there is no next entry.
#[derive(Debug)]
pub enum Failed {
    Damaged(Damaged),
    Io(std::io::Error),
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Damaged(damaged) => damaged.fmt(f),
            Failed::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Failed {}

pub struct Stream<R> {
    from: R,
    at: usize,
    body: Vec<u8>,
}

impl<R: Read> Stream<R> {
    pub fn open(mut from: R) -> Result<Stream<R>, Failed> {
        let mut begin = [0; HEAD.len()];
        match from.read_exact(&mut begin) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
                return Err(Failed::Damaged(Damaged::NoRecording));
            }
            read => read.map_err(Failed::Io)?,
        }
        head(&begin).map_err(Failed::Damaged)?;
        Ok(Stream { from, at: HEAD.len(), body: Vec::new() })
    }

    /// The next entry; `None` at the end. Not to be called again after an error.
    pub fn next_entry(&mut self) -> Result<Option<Entry<'_>>, Failed> {
        let at = self.at;
        if self.take(4)? == 0 {
            return Ok(None);
        }
        let damaged = |what: Damaged| Failed::Damaged(what);
        let cut = || damaged(Damaged::Cut { at });
        let wrong = || damaged(Damaged::Sum { at });
        let length = *self.body.first_chunk::<4>().ok_or_else(cut)?;
        let length = length_of(length).ok_or_else(wrong)?;
        self.take(4)?;
        let sum = u32::from_le_bytes(*self.body.first_chunk::<4>().ok_or_else(cut)?);
        if self.take(length)? < length {
            return Err(cut());
        }
        self.at += FRONT + length;
        if crc32c::crc32c(&self.body) != sum {
            return Err(wrong());
        }
        parse(&self.body).map(Some).ok_or_else(wrong)
    }

    /// Reads so many bytes, fewer at the end; how many.
    fn take(&mut self, length: usize) -> Result<usize, Failed> {
        self.body.clear();
        // As much memory is taken as is there to be read.
        let mut part = (&mut self.from).take(length as u64);
        part.read_to_end(&mut self.body).map_err(Failed::Io)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::append;

    #[test]
    fn it_reads_what_is_whole_and_names_the_rest() {
        let mut bytes = HEAD.to_vec();
        for text in [&b"one"[..], b"", b"three"] {
            append(&mut bytes, &Entry { time: 1, source: "s", peer: None, text });
        }
        let last = bytes.len() - 1;
        let read = |bytes: &[u8]| -> (usize, Option<String>) {
            let mut stream = Stream::open(bytes).expect("a head");
            let mut count = 0;
            loop {
                match stream.next_entry() {
                    Ok(None) => return (count, None),
                    Ok(Some(_)) => count += 1,
                    Err(error) => return (count, Some(error.to_string())),
                }
            }
        };
        assert_eq!(read(&bytes), (3, None));
        let (count, error) = read(&bytes[..last]);
        assert!(count == 2 && error.is_some_and(|error| error.contains("ends in the middle")));
        bytes[last] ^= 1;
        let (count, error) = read(&bytes);
        assert!(count == 2 && error.is_some_and(|error| error.contains("damaged")));
        assert!(Stream::open(&b"short"[..]).is_err());
    }
}
