//! A store that is written: records behind the last one, and a header that says how far it goes.
//!
//! A record is there when it is whole; the header follows it. Whoever opens the store looks at what stands
//! behind the header's end: whole records are taken over, half a record is what a kill left, and is cut off.

use crate::chunk::{self, SegmentPlace};
use crate::digest::Digest;
use crate::error::Error;
use crate::header::{Header, ID_BYTES};
use crate::key::{Certificate, StoreKey, random};
use crate::reader::Reader;
use crate::record::{self, COMPRESSED, ChunkHead, ENCRYPTED, Record, Time};
use sha2::{Digest as _, Sha256};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// How a store is written.
#[derive(Clone, Debug)]
pub struct Settings {
    /// 0 does not compress; 9 takes longest.
    pub level: u32,
    pub digest: Digest,
    /// Whose owner alone can read it.
    pub certificate: Option<Certificate>,
    /// The most bytes of messages in a chunk, unless one message alone is larger.
    pub chunk_bytes: usize,
}

/// What was wrong with a store that was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Records that the header did not know of.
    pub found: usize,
    /// Bytes of half a record that were cut off.
    pub cut: u64,
}

pub struct Store {
    file: File,
    header: Header,
    digest: Digest,
    settings: Arc<Settings>,
    /// Where its record stands, and itself.
    key: Option<(u64, StoreKey)>,
}

/// Messages that become a chunk.
pub struct Piece<'a> {
    /// Each with its length in front; of an encrypted journal its segments.
    pub data: &'a [u8],
    pub messages: u32,
    pub start: Time,
    pub end: Time,
}

impl Store {
    /// A file that may be read and written, and nobody else writes. An empty one is begun.
    pub fn open(file: File, settings: &Arc<Settings>) -> Result<(Store, Repair), Error> {
        let certificate = settings.certificate.as_ref().map_or(&[][..], |certificate| &certificate.der);
        let length = file.metadata()?.len();
        if length == 0 {
            let header = Header::new(settings.digest, certificate, new_id()?);
            file.write_all_at(&header.write(), 0)?;
            let digest = settings.digest;
            let store = Store { file, header, digest, settings: Arc::clone(settings), key: None };
            return Ok((store, Repair::default()));
        }
        let mut reader = Reader::new(&file)?;
        let mut header = reader.header.clone();
        if header.version != 4 {
            return Err(Error::Unlike("it is of an older version, which is only read: move it away"));
        }
        if header.is_altered {
            return Err(Error::damaged(0, "the header is not as it was written"));
        }
        if header.certificate != certificate || (!certificate.is_empty() && !header.is_ours()) {
            return Err(Error::Unlike("it was begun with another certificate, or with none: move it away"));
        }
        let digest =
            header.digest().ok_or(Error::Unlike("it has a digest that is not known here: move it away"))?;
        if header.chain.is_none() {
            // PE has written it: the chain begins with its first record.
            (header.chain, header.id, header.end) = (Some([0; 32]), new_id()?, header.length());
        }
        let repair = catch_up(&mut reader, &mut header, length)?;
        drop(reader);
        if repair.cut > 0 {
            file.set_len(header.end)?;
        }
        file.write_all_at(&header.write(), 0)?;
        Ok((Store { file, header, digest, settings: Arc::clone(settings), key: None }, repair))
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    pub fn is_encrypted(&self) -> bool {
        self.settings.certificate.is_some()
    }

    /// The key of what is written now, and where its record stands. The first call puts it into the store.
    pub fn key(&mut self) -> Result<Option<(u64, &StoreKey)>, Error> {
        let Some(certificate) = &self.settings.certificate else { return Ok(None) };
        if self.key.is_none() {
            let key = StoreKey::make()?;
            let (mut out, at) = (Vec::new(), self.header.end);
            record::write_key(&mut out, &certificate.wrap(&key)?);
            let header = self.with_record(self.header.clone(), &out);
            self.put(&out, header)?;
            self.key = Some((at, key));
        }
        Ok(self.key.as_ref().map(|(at, key)| (*at, key)))
    }

    /// Writes chunks, all of them or none.
    pub fn append(&mut self, pieces: &[Piece<'_>]) -> Result<(), Error> {
        let key_at = self.key()?.map_or(0, |(at, _)| at);
        let (mut out, mut header) = (Vec::new(), self.header.clone());
        for piece in pieces {
            let (id, first) = (header.chunks, header.messages.wrapping_add(1));
            let level = self.settings.level;
            let (flags, data) = match (&self.key, level) {
                (Some((_, key)), level) => {
                    let mut data = Vec::with_capacity(piece.data.len() / 2);
                    chunk::seal(
                        &mut data,
                        piece.data,
                        level,
                        key,
                        SegmentPlace { chunk: id, segment: 0, first },
                    )?;
                    (ENCRYPTED, data)
                }
                (None, 0) => (0, piece.data.to_vec()),
                (None, level) => (COMPRESSED, chunk::deflated(piece.data, level)),
            };
            let plain = (flags & ENCRYPTED == 0).then_some(piece.data);
            header = self.chunk(&mut out, header, (flags, key_at), piece, &data, plain)?;
        }
        self.put(&out, header)
    }

    /// Writes a chunk whose segments were encrypted before, with the key at that place.
    pub fn append_sealed(&mut self, key_at: u64, piece: &Piece<'_>) -> Result<(), Error> {
        let mut out = Vec::new();
        let header =
            self.chunk(&mut out, self.header.clone(), (ENCRYPTED, key_at), piece, piece.data, None)?;
        self.put(&out, header)
    }

    /// Appends the record of a chunk to `out`. `plain`: over what its MAC goes, where that is not the record.
    fn chunk(
        &self,
        out: &mut Vec<u8>,
        mut header: Header,
        (flags, key_at): (u8, u64),
        piece: &Piece<'_>,
        data: &[u8],
        plain: Option<&[u8]>,
    ) -> Result<Header, Error> {
        let first = header.messages.checked_add(1).ok_or(Error::Full)?;
        let last = header.messages.checked_add(piece.messages).ok_or(Error::Full)?;
        let this =
            ChunkHead { flags, start: piece.start, end: piece.end, first, last, id: header.chunks, key_at };
        let mut bytes = record::chunk_head(&this, data.len(), self.digest.length());
        let mac = match plain {
            Some(plain) => self.digest.of(&[plain]),
            None => self.digest.of(&[&bytes, data]),
        };
        bytes.extend_from_slice(data);
        header.file_mac = self.digest.chained(&header.file_mac, &mac);
        record::chunk_tail(&mut bytes, &header.file_mac, &mac);
        header.chunks = header.chunks.checked_add(1).ok_or(Error::Full)?;
        header.messages = last;
        out.extend_from_slice(&bytes);
        Ok(self.with_record(header, &bytes))
    }

    /// Puts a time stamp behind the chunk of that number.
    pub fn stamp(&mut self, chunk: u32, token: &[u8]) -> Result<(), Error> {
        let too_long = || Error::Key("the time stamp is longer than a store can hold".to_owned());
        let bytes = record::write_stamp(chunk, token).ok_or_else(too_long)?;
        let header = self.with_record(self.header.clone(), &bytes);
        self.put(&bytes, header)
    }

    /// The header as it is with one record more.
    fn with_record(&self, mut header: Header, bytes: &[u8]) -> Header {
        header.end += bytes.len() as u64;
        header.chain = header.chain.map(|chain| link(&chain, bytes));
        header
    }

    /// Records, and then the header: what fails on the way is written over by the next try.
    fn put(&mut self, records: &[u8], header: Header) -> Result<(), Error> {
        self.file.write_all_at(records, self.header.end)?;
        self.file.write_all_at(&header.write(), 0)?;
        self.header = header;
        Ok(())
    }
}

/// The chain over the bytes of records.
pub fn link(before: &[u8; 32], record: &[u8]) -> [u8; 32] {
    Sha256::new().chain_update(before).chain_update(record).finalize().into()
}

fn new_id() -> Result<[u8; ID_BYTES], Error> {
    let mut id = [0; ID_BYTES];
    random(&mut id)?;
    Ok(id)
}

/// Takes over whole records behind the end that the header knows.
fn catch_up(reader: &mut Reader<&File>, header: &mut Header, length: u64) -> Result<Repair, Error> {
    if length < header.end {
        return Err(Error::damaged(length, "the file is shorter than its header says"));
    }
    reader.go_to(header.end)?;
    let mut repair = Repair::default();
    while let Ok(Some((at, bytes))) = reader.next_record() {
        match record::parse(bytes) {
            Ok(Record::Chunk(chunk)) => {
                header.chunks = chunk.id.checked_add(1).ok_or(Error::Full)?;
                header.messages = chunk.last;
                header.file_mac = chunk.file_mac.to_vec();
            }
            Ok(Record::Key(_) | Record::Stamp { .. }) => {}
            Ok(Record::Unknown(_)) | Err(_) => break,
        }
        header.end = at + bytes.len() as u64;
        header.chain = header.chain.map(|chain| link(&chain, bytes));
        repair.found += 1;
    }
    repair.cut = length - header.end;
    Ok(repair)
}
