//! Messages that contexts have made, and where they go: `inject-mode()`.

use super::pass::Moment;
use super::state::Made;
use filter::MadeOf;
use record::{Batch, Flags, Record};
use std::sync::{Arc, PoisonError, RwLock};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InjectMode {
    /// On in the log path, in front of the message that caused them.
    #[default]
    PassThrough,
    /// Out of internal().
    Internal,
    /// Like pass-through; nothing else goes on.
    AggregateOnly,
}

impl InjectMode {
    pub const NAMES: [(&'static str, InjectMode); 3] = [
        ("pass-through", InjectMode::PassThrough),
        ("internal", InjectMode::Internal),
        ("aggregate-only", InjectMode::AggregateOnly),
    ];

    pub fn named(name: &str) -> Option<InjectMode> {
        InjectMode::NAMES.iter().find(|(n, _)| *n == name).map(|(_, mode)| *mode)
    }
}

/// What one batch made. While it collects, nothing else may add records to the batch.
#[derive(Default)]
pub struct Emitted {
    made: Vec<(Moment, u32)>,
    records: Vec<Record>,
    before: Vec<u32>,
}

impl Emitted {
    pub fn clear(&mut self) {
        self.made.clear();
    }

    /// Notes a record that was added to the batch.
    pub fn push(&mut self, moment: Moment, index: u32) {
        self.made.push((moment, index));
    }

    pub fn len(&self) -> usize {
        self.made.len()
    }

    pub fn is_empty(&self) -> bool {
        self.made.is_empty()
    }

    /// Gives the messages their place in the selection, or hands them to internal(), with what they were
    /// made of where somebody asks.
    pub fn into(
        &mut self,
        mode: InjectMode,
        batch: &mut Batch,
        selection: &mut Vec<u32>,
        made_of: Option<&[MadeOf]>,
    ) -> Made {
        if self.made.is_empty() {
            if mode == InjectMode::AggregateOnly {
                selection.clear();
            }
            return Made::default();
        }
        self.made.sort_by_key(|(moment, _)| *moment);
        if mode == InjectMode::Internal {
            let posted = self.made.iter().filter(|(_, index)| post(batch, *index, made_of)).count();
            return Made { posted, unheard: self.made.len() - posted, ..Made::default() };
        }
        self.put_in_order(batch, selection);
        self.before.clear();
        self.before.extend_from_slice(selection);
        selection.clear();
        let mut made = self.made.iter().peekable();
        for (position, index) in self.before.iter().enumerate() {
            while let Some((_, new)) = made.next_if(|(moment, _)| moment.position as usize <= position) {
                selection.push(*new);
            }
            if mode == InjectMode::PassThrough {
                selection.push(*index);
            }
        }
        selection.extend(made.map(|(_, new)| *new));
        Made { joined: self.made.len(), ..Made::default() }
    }

    /// Brings the new records, which stand at the end of the batch, into their order, and lets them join it.
    fn put_in_order(&mut self, batch: &mut Batch, selection: &[u32]) {
        self.records.clear();
        let records = &batch.records;
        self.records.extend(self.made.iter().filter_map(|(_, index)| records.get(*index as usize).copied()));
        let start = records.len().saturating_sub(self.made.len());
        batch.records.truncate(start);
        for ((moment, index), record) in self.made.iter_mut().zip(&self.records) {
            let before = selection.get(moment.position as usize).and_then(|i| batch.records.get(*i as usize));
            let before = before.map_or(u32::MAX, |record| (batch.rank(record) >> 32) as u32);
            *index = batch.records.len() as u32;
            batch.records.push(*record);
            batch.join(before);
        }
    }
}

/// Takes a message for internal(), and the texts of those that it was made of.
pub type InternalSink = Arc<dyn Fn(&Batch, &Record, Option<&[Vec<u8>]>) + Send + Sync>;

static INTERNAL: RwLock<Option<InternalSink>> = RwLock::new(None);

/// Where messages for internal() go; `None` when nobody listens.
pub fn set_internal_sink(sink: Option<InternalSink>) {
    *INTERNAL.write().unwrap_or_else(PoisonError::into_inner) = sink;
}

/// Hands a message to internal(); says whether anybody took it.
fn post(batch: &Batch, index: u32, made_of: Option<&[MadeOf]>) -> bool {
    let sink = INTERNAL.read().unwrap_or_else(PoisonError::into_inner).clone();
    // What was made of own messages does not become another: that would never end.
    let record = batch.records.get(index as usize).filter(|record| !record.flags.has(Flags::INTERNAL));
    let (Some(sink), Some(record)) = (sink, record) else { return false };
    let told = made_of.and_then(|made| made.iter().rfind(|made| made.message == record.message));
    sink(batch, record, told.map(|made| &*made.parts));
    true
}
