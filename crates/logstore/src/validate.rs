//! Says what of a store is not as it was written.

use crate::chunk::{Keys, Messages, open};
use crate::digest::Digest;
use crate::error::Error;
use crate::header::Header;
use crate::reader::Reader;
use crate::record::{self, BROKEN, COMPRESSED, Chunk, ENCRYPTED, Record, SERIALIZED, Time};
use crate::stamp::{self, Authorities};
use crate::store::link;
use std::fmt;
use std::io::{Read, Seek};

/// Beyond so many findings they are only counted.
pub const FINDINGS_MAX: usize = 100;

/// What a store is held against.
#[derive(Default)]
pub struct Trust {
    /// Without a private key the messages of encrypted chunks are not looked at.
    pub keys: Keys,
    pub authorities: Option<Authorities>,
    /// Each chunk is followed, sooner or later, by a time stamp.
    pub require_stamps: bool,
    /// The policy that time stamps must have, as DER has it.
    pub policy: Option<Vec<u8>>,
}

/// Something that is not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Where in the file.
    pub at: u64,
    pub what: String,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at {}: {}", self.at, self.what)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    pub chunks: u32,
    pub messages: u64,
    pub stamps: u32,
    /// The last chunk that has a time stamp.
    pub stamped: Option<u32>,
    /// Encrypted chunks into which nobody could look.
    pub locked: u32,
    pub findings: Vec<Finding>,
    /// Findings beyond [`FINDINGS_MAX`].
    pub more: usize,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

struct Check<'a> {
    report: Report,
    trust: &'a mut Trust,
    header: Header,
    digest: Digest,
    /// What follows from the records so far.
    file_mac: Vec<u8>,
    macs: Vec<Vec<u8>>,
    chain: [u8; 32],
    last_message: u32,
    last_time: Time,
    keys: Vec<u64>,
}

/// Looks at all of a store. An error: it is none, or cannot be read.
pub fn check(input: impl Read + Seek, trust: &mut Trust) -> Result<Report, Error> {
    let mut reader = Reader::new(input)?;
    let header = reader.header.clone();
    let Some(digest) = header.digest() else {
        return Err(Error::Foreign("a store with a digest that is not known here"));
    };
    let mut check = Check {
        report: Report::default(),
        trust,
        file_mac: digest.first(),
        header,
        digest,
        macs: Vec::new(),
        chain: [0; 32],
        last_message: 0,
        last_time: Time::default(),
        keys: Vec::new(),
    };
    loop {
        match reader.next_record() {
            Ok(Some((at, bytes))) => check.record(at, bytes),
            Ok(None) => break,
            Err(Error::Damaged { at, what }) => {
                check.find(at, what);
                break;
            }
            Err(error) => return Err(error),
        }
    }
    let end = reader.at();
    check.end(end);
    Ok(check.report)
}

impl Check<'_> {
    fn find(&mut self, at: u64, what: impl Into<String>) {
        match self.report.findings.len() < FINDINGS_MAX {
            true => self.report.findings.push(Finding { at, what: what.into() }),
            false => self.report.more += 1,
        }
    }

    fn record(&mut self, at: u64, bytes: &[u8]) {
        self.chain = link(&self.chain, bytes);
        match record::parse(bytes) {
            Ok(Record::Key(wrapped)) => {
                self.keys.push(at);
                if self.header.is_ours()
                    && let Err(error) = self.trust.keys.add(at, wrapped)
                {
                    self.find(at, error.to_string());
                }
            }
            Ok(Record::Chunk(chunk)) => self.chunk(at, &chunk),
            Ok(Record::Stamp { chunk, token }) => self.stamp(at, chunk, token, bytes),
            Ok(Record::Unknown(kind)) => self.find(at, format!("a record of the unknown kind {kind}")),
            Err(what) => self.find(at, what),
        }
    }

    fn chunk(&mut self, at: u64, chunk: &Chunk<'_>) {
        self.head(at, chunk);
        let data = match open(chunk, &self.trust.keys, self.header.is_ours()) {
            Ok(data) => Some(data),
            Err(Error::Locked(_)) => None,
            Err(Error::Damaged { what, .. }) => {
                self.find(at, format!("chunk {}: {what}", chunk.id));
                None
            }
            Err(error) => {
                self.find(at, error.to_string());
                None
            }
        };
        let is_locked = data.is_none() && chunk.is(ENCRYPTED);
        self.report.locked += u32::from(is_locked);
        // The key of PE's MACs over encrypted chunks cannot be had.
        let mac = match (&data, chunk.is(ENCRYPTED), self.header.is_ours()) {
            (Some(data), false, _) => Some(self.digest.of(&[data])),
            (_, true, true) => Some(self.digest.of(&[chunk.head, chunk.data])),
            _ => None,
        };
        if mac.is_some_and(|mac| mac != chunk.mac) {
            self.find(at, format!("chunk {}: its digest is not that of its messages", chunk.id));
        }
        let file_mac = self.digest.chained(&self.file_mac, chunk.mac);
        if file_mac != chunk.file_mac {
            self.find(at, format!("chunk {}: it does not follow from the ones before it", chunk.id));
        }
        self.file_mac = chunk.file_mac.to_vec();
        self.macs.push(self.file_mac.clone());
        if let Some(data) = data {
            let whole = Messages::new(&data).all(|message| message.is_ok());
            let count = Messages::new(&data).flatten().count();
            if !whole || count != chunk.messages() as usize {
                self.find(
                    at,
                    format!("chunk {}: {count} messages, {} by its head", chunk.id, chunk.messages()),
                );
            }
        }
        self.report.chunks += 1;
        self.report.messages += u64::from(chunk.messages());
        self.last_message = chunk.last;
        self.last_time = chunk.end;
    }

    /// What the head and the tail of a chunk say of themselves.
    fn head(&mut self, at: u64, chunk: &Chunk<'_>) {
        let (id, encrypted) = (chunk.id, chunk.is(ENCRYPTED));
        let known = COMPRESSED | ENCRYPTED | BROKEN | SERIALIZED;
        let tail = if encrypted && !self.header.is_ours() { 1..=3 } else { 2..=2 };
        let micros = |time: Time| time.micros < 1_000_000;
        let key_fits = if encrypted { self.keys.contains(&chunk.key_at) } else { chunk.key_at == 0 };
        let faults = [
            (chunk.is(BROKEN), "it is marked as broken"),
            (chunk.flags & !known != 0, "flags that are not known"),
            (encrypted == self.header.certificate.is_empty(), "encrypted or not, unlike the store"),
            (id != self.report.chunks, "its number is not the next one"),
            (chunk.first != self.last_message.wrapping_add(1), "its first message is not the next one"),
            (chunk.last < chunk.first, "its last message is before its first"),
            (chunk.end < chunk.start || !micros(chunk.start) || !micros(chunk.end), "its times cannot be"),
            (!key_fits, "its key is not there"),
            (!tail.contains(&chunk.tail_flags), "the flags of its tail are not known"),
            (chunk.behind > 0, "there is something behind its tail"),
        ];
        for (_, what) in faults.iter().filter(|(is, _)| *is) {
            self.find(at, format!("chunk {id}: {what}"));
        }
    }

    fn stamp(&mut self, at: u64, chunk: u32, token: &[u8], bytes: &[u8]) {
        let mac = self.macs.get(chunk as usize).cloned();
        let read = stamp::token(token);
        let padding = bytes.get(14 + token.len()..).unwrap_or_default();
        let is_filled = bytes.len() == record::STAMP_BYTES
            && padding.iter().all(|byte| *byte == 0)
            && bytes.get(5) == Some(&0);
        let wrong = match (&read, &mac) {
            (None, _) => Some("it cannot be read"),
            (_, None) => Some("its chunk is not there"),
            (Some(token), Some(mac)) if token.imprint != (Some(self.digest), mac) => {
                Some("it is not for the chunk that it names")
            }
            (Some(token), _) if self.trust.policy.as_ref().is_some_and(|policy| policy != token.policy) => {
                Some("its policy is another one")
            }
            (Some(token), _) => {
                self.trust.authorities.as_ref().and_then(|trusted| token.verify(trusted).err())
            }
        };
        if let Some(what) = wrong {
            self.find(at, format!("time stamp of chunk {chunk}: {what}"));
        } else {
            self.report.stamped = Some(chunk);
        }
        if !is_filled {
            self.find(at, format!("time stamp of chunk {chunk}: the rest of its record is not empty"));
        }
        self.report.stamps += 1;
    }

    fn end(&mut self, end: u64) {
        let header = self.header.clone();
        let faults = [
            (header.is_altered, "the header is not as it was written"),
            (header.file_mac != self.file_mac, "the file MAC of the header is not that of the last chunk"),
            (header.chunks != self.report.chunks, "the header counts other chunks"),
            (header.messages != self.last_message, "the header counts other messages"),
            (header.end != end, "the file does not end where its header says"),
            (header.chain.is_some_and(|chain| chain != self.chain), "records are not as they were written"),
        ];
        for (_, what) in faults.iter().filter(|(is, _)| *is) {
            self.find(0, *what);
        }
        let last = self.report.chunks.checked_sub(1);
        if self.trust.require_stamps && self.report.stamped != last {
            self.find(end, "the last chunk has no time stamp that is right");
        }
    }
}
