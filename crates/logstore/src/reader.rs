//! Goes through the records of a store, one after the other.

use crate::error::Error;
use crate::header::Header;
use crate::record::HEAD;
use std::io::{Read, Seek, SeekFrom};

/// A larger record is none: neither PE nor we write chunks of that size.
const RECORD_BYTES_MAX: usize = 128 << 20;
/// Read at a time, so that a size that is only claimed costs nothing.
const STEP: usize = 1 << 20;

pub struct Reader<R> {
    input: R,
    pub header: Header,
    /// Where the next record begins.
    at: u64,
    bytes: Vec<u8>,
}

impl<R: Read + Seek> Reader<R> {
    pub fn new(mut input: R) -> Result<Reader<R>, Error> {
        let header = Header::read(&mut input)?;
        let at = header.length();
        input.seek(SeekFrom::Start(at))?;
        Ok(Reader { input, header, at, bytes: Vec::new() })
    }

    /// Where the next record begins.
    pub fn at(&self) -> u64 {
        self.at
    }

    pub fn go_to(&mut self, at: u64) -> Result<(), Error> {
        self.input.seek(SeekFrom::Start(at))?;
        self.at = at;
        Ok(())
    }

    /// The next record: where it stands, and its bytes. `None` at the end of the file. Behind an error the
    /// reader stands where it stood.
    pub fn next_record(&mut self) -> Result<Option<(u64, &[u8])>, Error> {
        let at = self.at;
        match self.fill() {
            Ok(0) => Ok(None),
            Ok(size) => {
                self.at = at + size as u64;
                Ok(Some((at, &self.bytes)))
            }
            Err(error) => {
                self.input.seek(SeekFrom::Start(at))?;
                Err(error)
            }
        }
    }

    fn fill(&mut self) -> Result<usize, Error> {
        self.bytes.clear();
        self.take(HEAD)?;
        if self.bytes.is_empty() {
            return Ok(0);
        }
        let Some(size) = self.bytes.first_chunk::<4>().filter(|_| self.bytes.len() == HEAD) else {
            return Err(Error::damaged(self.at, "the file ends in a record"));
        };
        let size = u32::from_be_bytes(*size) as usize;
        if !(HEAD..=RECORD_BYTES_MAX).contains(&size) {
            return Err(Error::damaged(self.at, "the size of a record cannot be"));
        }
        while self.bytes.len() < size {
            let before = self.bytes.len();
            self.take((size - before).min(STEP))?;
            if self.bytes.len() == before {
                return Err(Error::damaged(self.at, "the file ends in a record"));
            }
        }
        Ok(size)
    }

    fn take(&mut self, bytes: usize) -> Result<(), Error> {
        self.input.by_ref().take(bytes as u64).read_to_end(&mut self.bytes)?;
        Ok(())
    }
}
