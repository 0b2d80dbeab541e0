//! The last step of reading: which host name a message gets, its source's tags and overrides.

use record::{Batch, Flags, NameId, Span, TagId, Tags, ValueType};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of the next message of sources with use-uniqid().
static NEXT_RECEIVED: AtomicU64 = AtomicU64::new(1);
/// Bits of these numbers that count the messages of one start of the program: half a year at a million a
/// second. Those above count the starts, so that no number comes twice, whatever ends a process.
const MESSAGE_BITS: u32 = 44;

/// Numbers from here on are those of this start of the program, the first being 1.
pub fn begin_numbers(run: u64) {
    let starts_before = run.saturating_sub(1);
    NEXT_RECEIVED.store((starts_before << MESSAGE_BITS) + 1, Ordering::Relaxed);
}

/// Options of a source that apply to every message after parsing.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    pub keep_hostname: bool,
    pub chain_hostnames: bool,
    /// Unix sockets, pipes, own messages.
    pub local: bool,
    pub host_override: Option<Box<[u8]>>,
    pub program_override: Option<Box<[u8]>>,
    /// `use-syslogng-pid()`: PID is that of this process.
    pub own_pid: bool,
    /// `use-uniqid()`: every message gets a number, `$RCPTID`.
    pub numbered: bool,
    /// Tags with an id below 64.
    pub tags: Tags,
    pub more_tags: Vec<TagId>,
    /// Group name, for the names that chain-hostnames() makes.
    pub group: Box<str>,
}

impl Finish {
    /// Adds a tag to those every message gets.
    pub fn add_tag(&mut self, tag: TagId) {
        match tag.0 < u64::BITS {
            true => self.tags.0 |= 1 << tag.0,
            false => self.more_tags.push(tag),
        }
    }

    pub fn apply(&self, batch: &mut Batch) {
        let senders: Vec<Span> = match self.chain_hostnames {
            true => Vec::new(),
            false => {
                let names: Vec<_> = batch.contexts.iter().map(|c| c.host_from.clone()).collect();
                names.iter().map(|name| batch.append(name.as_bytes())).collect()
            }
        };
        for record in &mut batch.records {
            record.tags.0 |= self.tags.0;
            if (!self.keep_hostname || record.host.is_empty())
                && let Some(sender) = senders.get(record.context as usize)
            {
                record.host = *sender;
            }
        }
        if self.chain_hostnames {
            self.chain(batch);
        }
        self.overrides(batch);
        if self.numbered
            && let Some(name) = record::intern("RCPTID")
        {
            let first = NEXT_RECEIVED.fetch_add(batch.records.len() as u64, Ordering::Relaxed);
            for index in 0..batch.records.len() {
                let number = (first + index as u64).to_string();
                batch.set(index, name, number.as_bytes(), ValueType::Int);
            }
        }
        if self.own_pid {
            let pid = batch.append(std::process::id().to_string().as_bytes());
            for index in 0..batch.records.len() {
                batch.set_span(index, NameId::PID, pid, ValueType::String);
            }
        }
        for tag in &self.more_tags {
            for index in 0..batch.records.len() {
                batch.set_tag(index, *tag);
            }
        }
    }

    /// `original/resolved`, or `group@host` for local messages; repeated at every hop.
    fn chain(&self, batch: &mut Batch) {
        for index in 0..batch.records.len() {
            let Some(record) = batch.records.get(index).copied() else { continue };
            if self.keep_hostname && !record.host.is_empty() {
                continue;
            }
            let Some(from) = batch.context(&record).map(|c| c.host_from.clone()) else { continue };
            let original = batch.bytes(record.host).to_vec();
            let mut name = Vec::with_capacity(from.len() * 2 + 1);
            match (self.local, original.is_empty()) {
                (true, _) => {
                    name.extend_from_slice(self.group.as_bytes());
                    name.push(b'@');
                }
                (false, true) => {
                    name.extend_from_slice(from.as_bytes());
                    name.push(b'/');
                }
                (false, false) => {
                    name.extend_from_slice(&original);
                    name.push(b'/');
                }
            }
            name.extend_from_slice(from.as_bytes());
            batch.set(index, NameId::HOST, &name, ValueType::String);
            if let Some(record) = batch.records.get_mut(index) {
                record.flags.set(Flags::CHAINED);
            }
        }
    }

    fn overrides(&self, batch: &mut Batch) {
        for (name, text) in [(NameId::HOST, &self.host_override), (NameId::PROGRAM, &self.program_override)] {
            let Some(text) = text else { continue };
            let span = batch.append(text);
            for index in 0..batch.records.len() {
                batch.set_span(index, name, span, ValueType::String);
            }
        }
    }
}
