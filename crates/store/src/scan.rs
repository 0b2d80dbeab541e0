//! Reads a segment as a whole: what is in it, what is missing.

use crate::control;
use crate::damage::Damage;
use crate::frame;
use crate::report::Waiting;
use crate::snapshot::Table;
use crate::walk::Walk;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Debug, Default)]
pub struct Scan {
    /// Messages that were read, by queue.
    pub intact: BTreeMap<u32, Waiting>,
    pub damage: Damage,
    /// Messages that must have been put in before the segment: known to be, and said to be.
    pub unexplained: BTreeMap<u32, (u64, u64)>,
    /// Where frames are missing: the first number behind them, and the bytes of the file where they stood.
    pub gaps: Vec<(u64, Range<u64>)>,
    /// Bytes passed over between intact frames.
    pub skipped: u64,
    /// The number of the first frame, and the one after the last.
    pub first: Option<u64>,
    pub next: u64,
    /// Behind the last frame.
    pub end: u64,
}

impl Scan {
    fn gap(&mut self, end: u64, bytes: Range<u64>) {
        if self.gaps.len() < GAPS_MAX {
            self.gaps.push((end, bytes));
        }
    }

    /// Of a closed segment, whose last number and end are known: what is missing at its end. Returns how many
    /// bytes that is.
    pub fn end_at(&mut self, next: u64, end: u64) -> u64 {
        if self.next >= next || self.end >= end {
            return 0;
        }
        self.damage.note(self.next, next - self.next);
        self.gap(next, self.end..end);
        end - self.end
    }
}

/// Gaps of a segment in which it is looked what is left of their messages.
const GAPS_MAX: usize = 100;

/// Takes a walk to its end. `table` is brought from its state at the segment's beginning to that at its end:
/// by what is counted, and by what the frames of the store itself say, so that what is missing before one of
/// those is known by queue.
pub fn scan(walk: &mut Walk<'_>, table: &mut Table) -> Scan {
    let mut scan = Scan { next: walk.seqs().start, end: walk.place(), ..Scan::default() };
    while let Some(found) = walk.next() {
        scan.first.get_or_insert(found.seq);
        if found.skipped > 0 {
            scan.skipped += found.skipped;
            if found.seq > scan.next {
                scan.damage.note(scan.next, found.seq - scan.next);
                scan.gap(found.seq, scan.end..scan.end + found.skipped);
            }
        }
        if found.queues == frame::CONTROL {
            let Scan { damage, unexplained, .. } = &mut scan;
            control::apply(found.payload, table, |id, known, said| {
                let missing = said.messages.saturating_sub(known.messages);
                let left = damage.explain(id, missing);
                if left > 0 {
                    unexplained.insert(id, (known.messages, known.messages + left));
                }
            });
        }
        for id in frame::ids(found.queues) {
            let count = Waiting { messages: 1, bytes: found.payload.len() as u64 };
            *scan.intact.entry(id).or_default() += count;
            // Its definition may be what is missing: the messages are kept under a name of their own.
            let row = table.entry(id).or_default();
            if row.name.is_empty() {
                row.name = format!("unknown-{id}").into_bytes();
            }
            row.appended += count;
            row.end = row.end.max(found.seq + 1);
        }
        scan.next = found.seq + 1;
        scan.end = found.end;
    }
    scan
}
