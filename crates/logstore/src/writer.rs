//! Adds messages to a store by way of its journal.
//!
//! Messages that were added are safe when [`Writer::keep`] or [`Writer::flush`] says so: the first puts them
//! into the journal, the second makes whole chunks of them. What an error left unsafe is forgotten with
//! [`Writer::forget`], and added again later.

use crate::chunk::{self, Messages, SegmentPlace};
use crate::error::Error;
use crate::journal::{Journal, JournalBlock};
use crate::record::Time;
use crate::store::{Piece, Repair, Settings, Store};
use std::fs::File;
use std::sync::Arc;

pub struct Writer {
    store: Store,
    journal: Journal,
    settings: Arc<Settings>,
    /// Messages that are in no chunk, each with its length in front.
    block: Vec<u8>,
    messages: u32,
    /// How much of it is in the journal, as bytes, messages and segments.
    kept: (usize, u32, u32),
    /// The journal is for the next chunk.
    is_begun: bool,
    /// When the first and the last message of the block came.
    start: Time,
    end: Time,
}

/// What was found in a store and its journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Opened {
    pub repair: Repair,
    /// Messages that a kill left in the journal; they are in the store now.
    pub recovered: u32,
}

impl Writer {
    /// Two files that may be read and written, and nobody else writes.
    pub fn open(store: File, journal: File, settings: &Arc<Settings>) -> Result<(Writer, Opened), Error> {
        let (mut store, repair) = Store::open(store, settings)?;
        let (journal, kept) = Journal::open(journal)?;
        let recovered = match kept {
            Some(kept) => recover(&mut store, &kept, settings)?,
            None => 0,
        };
        let writer = Writer {
            store,
            journal,
            settings: Arc::clone(settings),
            block: Vec::new(),
            messages: 0,
            kept: (0, 0, 0),
            is_begun: false,
            start: Time::default(),
            end: Time::default(),
        };
        Ok((writer, Opened { repair, recovered }))
    }

    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Adds a message that came at that time.
    pub fn add(&mut self, message: &[u8], time: Time) {
        if self.messages == 0 {
            self.start = time;
        }
        self.end = time;
        self.messages += 1;
        chunk::put(&mut self.block, message);
    }

    /// The number that the next message gets, as `logstore cat --from` takes it.
    pub fn next_number(&self) -> u32 {
        self.first().wrapping_add(self.messages)
    }

    /// When the first message came that is in no chunk.
    pub fn since(&self) -> Option<Time> {
        (self.messages > 0).then_some(self.start)
    }

    pub fn is_full(&self) -> bool {
        self.block.len() >= self.settings.chunk_bytes
    }

    /// Puts what was added into the journal. What it holds fits into one chunk, and is in the store or not.
    pub fn keep(&mut self) -> Result<(), Error> {
        self.flush(false)?;
        let (bytes, messages, segments) = self.kept;
        let fresh = self.messages - messages;
        if fresh > 0 && !self.is_begun {
            self.begin_block()?;
        }
        let Some(data) = self.block.get(bytes..).filter(|_| fresh > 0) else { return Ok(()) };
        let (chunk, first) = (self.store.header().chunks, self.first().wrapping_add(messages));
        match self.store.key()? {
            None => self.journal.add(data, fresh, self.end)?,
            Some((_, key)) => {
                let (mut sealed, place) = (Vec::new(), SegmentPlace { chunk, segment: segments, first });
                // Small pieces are not worth their compression.
                chunk::seal(&mut sealed, data, 0, key, place)?;
                self.journal.add(&sealed, fresh, self.end)?;
            }
        }
        self.kept = (self.block.len(), self.messages, segments + 1);
        Ok(())
    }

    /// The number of the first message of the block.
    fn first(&self) -> u32 {
        self.store.header().messages.wrapping_add(1)
    }

    /// Makes chunks of what is full; with `all`, of everything.
    pub fn flush(&mut self, all: bool) -> Result<(), Error> {
        let mut pieces = Vec::new();
        let mut rest = self.block.as_slice();
        let mut left = self.messages;
        while !rest.is_empty() && (all || rest.len() >= self.settings.chunk_bytes) {
            let (bytes, messages) = cut(rest, self.settings.chunk_bytes);
            let Some((data, behind)) = rest.split_at_checked(bytes) else { break };
            // Only the first piece can be older than the last message.
            let start = if pieces.is_empty() { self.start } else { self.end };
            pieces.push(Piece { data, messages, start, end: self.end });
            rest = behind;
            left -= messages;
        }
        if pieces.is_empty() {
            return Ok(());
        }
        self.store.append(&pieces)?;
        let done = self.block.len() - rest.len();
        self.block.drain(..done);
        (self.messages, self.start, self.kept) = (left, self.end, (0, 0, 0));
        self.is_begun = false;
        Ok(())
    }

    /// What the journal holds is in the store.
    fn begin_block(&mut self) -> Result<(), Error> {
        let key_at = self.store.key()?.map_or(0, |(at, _)| at);
        let (header, first) = (self.store.header(), self.first());
        self.journal.begin(&header.id, header.chunks, first, key_at)?;
        self.is_begun = true;
        Ok(())
    }

    /// Messages that are not safe are none of its any more; returns how many they were.
    pub fn forget(&mut self) -> u32 {
        let (bytes, messages, _) = self.kept;
        self.block.truncate(bytes);
        std::mem::replace(&mut self.messages, messages) - messages
    }

    /// Puts a time stamp into the store.
    pub fn stamp(&mut self, chunk: u32, token: &[u8]) -> Result<(), Error> {
        self.store.stamp(chunk, token)
    }
}

/// As many messages as a chunk holds, at least one: their bytes and their number.
fn cut(block: &[u8], chunk_bytes: usize) -> (usize, u32) {
    let (mut bytes, mut messages) = (0, 0);
    for message in Messages::new(block).flatten() {
        let next = bytes + 4 + message.len();
        if messages > 0 && next > chunk_bytes {
            break;
        }
        (bytes, messages) = (next, messages + 1);
    }
    (bytes, messages)
}

/// Makes a chunk of what a kill left in the journal, unless that had become one.
fn recover(store: &mut Store, kept: &JournalBlock, settings: &Settings) -> Result<u32, Error> {
    let header = store.header();
    let is_own = header.id == kept.id;
    // So many of its messages are in the store.
    let there = if is_own {
        header.messages.saturating_add(1).saturating_sub(kept.first).min(kept.messages)
    } else {
        0
    };
    if there == kept.messages {
        return Ok(0);
    }
    let mut piece = Piece { data: &kept.data, messages: kept.messages, start: kept.start, end: kept.end };
    if kept.key_at > 0 {
        let fits = is_own && kept.chunk == header.chunks && kept.first == header.messages.wrapping_add(1);
        if !fits {
            return Err(Error::Unlike(
                "its journal is that of another encrypted store: put that one back, or move the journal away",
            ));
        }
        store.append_sealed(kept.key_at, &piece)?;
        return Ok(kept.messages);
    }
    let skipped: usize =
        Messages::new(&kept.data).flatten().take(there as usize).map(|message| 4 + message.len()).sum();
    let mut rest = kept.data.get(skipped..).unwrap_or_default();
    while !rest.is_empty() {
        let (bytes, messages) = cut(rest, settings.chunk_bytes);
        let Some((data, behind)) = rest.split_at_checked(bytes).filter(|_| messages > 0) else { break };
        (piece.data, piece.messages) = (data, messages);
        store.append(std::slice::from_ref(&piece))?;
        rest = behind;
    }
    Ok(kept.messages - there)
}
