//! Lines a destination writes of its own accord: marks, and the count of repetitions whose time is over.

use super::Writer;
use engine::Chunk;
use engine::program::Scratch;
use record::{Batch, Context, Flags, Record, Span, Stamp, Zone, ZoneCursor};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use template::Identity;

const MARK_TEXT: &[u8] = b"-- MARK --";

/// `mark-mode()`, without `global`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MarkMode {
    /// Marks come through internal() or not at all.
    Internal,
    DstIdle,
    HostIdle,
    Periodical,
    #[default]
    None,
}

impl MarkMode {
    pub fn named(name: &str) -> Option<MarkMode> {
        Some(match name {
            "internal" => MarkMode::Internal,
            "dst-idle" => MarkMode::DstIdle,
            "host-idle" => MarkMode::HostIdle,
            "periodical" => MarkMode::Periodical,
            "none" => MarkMode::None,
            _ => return None,
        })
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub struct Marks {
    pub mode: MarkMode,
    /// Zero is off.
    pub freq: Duration,
}

impl Marks {
    /// Whether this destination writes marks by the clock.
    pub fn is_on(&self) -> bool {
        !self.freq.is_zero()
            && matches!(self.mode, MarkMode::DstIdle | MarkMode::HostIdle | MarkMode::Periodical)
    }
}

/// A time that many threads set.
#[derive(Default)]
pub(super) struct Moment(AtomicU64);

fn base() -> Instant {
    static BASE: OnceLock<Instant> = OnceLock::new();
    *BASE.get_or_init(Instant::now)
}

impl Moment {
    pub fn set_now(&self) {
        self.0.store(base().elapsed().as_millis() as u64 + 1, Relaxed);
    }

    fn value(&self) -> Option<Instant> {
        self.0.load(Relaxed).checked_sub(1).map(|ms| base() + Duration::from_millis(ms))
    }
}

/// One message made here, as a batch of its own.
pub(super) fn message(text: &[u8], fill: impl FnOnce(&mut Batch, &mut Record)) -> Batch {
    let zone = ZoneCursor::new(Zone::local()).offset_at(Stamp::now(0).secs);
    let now = Stamp::now(zone);
    let context = Arc::new(Context::local("", "", "local"));
    let mut batch = Batch::new(Vec::new(), context, now);
    let mut record = Record::new(Span::EMPTY);
    record.stamp = now;
    record.message = batch.append(text);
    fill(&mut batch, &mut record);
    batch.records.push(record);
    batch
}

fn mark(identity: &Identity) -> Batch {
    message(MARK_TEXT, |batch, record| {
        record.host = batch.append(identity.loghost.as_bytes());
        record.pri = record::pri::join(5, 6);
        record.flags = Flags(Flags::LOCAL.0 | Flags::INTERNAL.0 | Flags::MARK.0 | Flags::UTF8.0);
    })
}

impl Writer {
    pub fn write_mark(&self, chunk: &mut Chunk) {
        self.write_own(&mark(&self.identity), chunk);
    }

    /// When a local message came last.
    pub fn last_local(&self) -> Option<Instant> {
        self.last_local.value()
    }

    /// Appends the count of repetitions at an outlet whose time is over, when there is one.
    pub fn write_overdue(&self, outlet: u32, chunk: &mut Option<Chunk>) {
        let Some(suppress) = &self.suppress else { return };
        let mut state = suppress.of(outlet);
        if state.is_overdue(Stamp::now(0).secs, suppress.within)
            && let Some(note) = state.take_note(&self.identity)
        {
            self.write_own(&note, chunk.get_or_insert_default());
        }
    }

    /// An outlet is closed.
    pub fn forget(&self, outlet: u32) {
        if let Some(suppress) = &self.suppress {
            suppress.forget(outlet);
        }
    }

    fn write_own(&self, batch: &Batch, chunk: &mut Chunk) {
        let mut scratch = Scratch::new(self.identity.clone());
        scratch.begin_batch(batch.received);
        self.append(batch, &[0], &mut scratch, chunk);
    }
}
