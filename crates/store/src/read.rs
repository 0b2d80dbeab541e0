//! Reading a queue back: from segment to segment, over what is not its own and over what is damaged.

use crate::files::{PAGE, SegmentFile};
use crate::frame;
use crate::queue::Read;
use crate::report::Waiting;
use crate::scan::scan;
use crate::shared::{Damage, Gap, Mark, Segment, Shared, State};
use crate::snapshot::{Row, Snapshot, Table};
use crate::walk::{BLOCK_MAX, Walk};
use std::ops::Bound::{Excluded, Unbounded};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is appended and not yet written is waited for so long.
const WRITE_WAIT: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 100 });

/// Where the last reading of a queue ended, and memory for the next.
#[derive(Default)]
pub struct Place {
    hint: Option<Hint>,
    buffer: Vec<u8>,
}

struct Hint {
    content: u64,
    seq: u64,
    offset: u64,
}

/// A segment as it was when it was looked up.
struct Stretch {
    first: u64,
    file: Arc<dyn SegmentFile>,
    data: Range<u64>,
    next: u64,
    /// Nothing of the queue is in it.
    empty: bool,
    sealed: bool,
    content: u64,
}

pub fn read(shared: &Shared, id: u32, place: &mut Place, from: u64, bytes_max: usize) -> Read {
    let mut out = Read { seqs: from..from, ..Read::default() };
    wait_until_written(shared, id, from);
    loop {
        let at = out.seqs.end;
        let Some(stretch) = look_up(shared, id, at, &mut out) else { break };
        if stretch.empty {
            out.seqs.end = stretch.next;
            continue;
        }
        let before = (out.bytes.len(), out.ends.len());
        let clean = walk(shared, id, place, &stretch, &mut out, bytes_max);
        if !clean && is_replaced(shared, &stretch) {
            // It was rewritten under its name while it was read.
            out.bytes.truncate(before.0);
            out.ends.truncate(before.1);
            out.seqs.end = at;
            continue;
        }
        if !clean {
            survey(shared, &stretch);
        }
        let state = shared.lock();
        match state.segments.get(&stretch.first) {
            Some(segment) => {
                if let Some(damage) = &segment.damage {
                    out.lost += damage.lost(id, at, out.seqs.end);
                }
            }
            // It went while it was read: everything in it was done.
            None => {
                let cursor = state.queues.get(&id).map_or(0, |q| q.row.cursor);
                if cursor > at {
                    out = Read { seqs: from..cursor.max(from), ..Read::default() };
                    continue;
                }
            }
        }
        if !out.ends.is_empty() {
            break;
        }
    }
    if out.lost > 0 {
        // Where damage has hit done and waiting messages alike, which were which is a guess: never more than wait.
        let waiting = shared.lock().queues.get(&id).map_or(0, |queue| queue.waiting().messages);
        out.lost = out.lost.min(waiting.saturating_sub(out.ends.len() as u64));
    }
    out
}

fn wait_until_written(shared: &Shared, id: u32, from: u64) {
    let until = Instant::now() + WRITE_WAIT;
    let mut state = shared.lock();
    while from >= state.written
        && !state.trouble
        && !state.closed
        && state.queues.get(&id).is_some_and(|queue| queue.row.end > from)
    {
        if shared.progress.wait_until(&mut state, until).timed_out() {
            return;
        }
    }
}

/// The segment that has number `out.seqs.end` or the next one that is there. What was lost between segments is added to `out`.
fn look_up(shared: &Shared, id: u32, at: u64, out: &mut Read) -> Option<Stretch> {
    let state = shared.lock();
    if at >= state.written {
        return None;
    }
    let (first, segment) = match state.segments.range(..=at).next_back().filter(|(_, s)| s.next > at) {
        Some(found) => found,
        None => match state.segments.range((Excluded(at), Unbounded)).next() {
            Some(found) => found,
            None => {
                // The files that had the rest are gone.
                out.seqs.end = state.written;
                if let Some(row) = state.queues.get(&id).map(|q| &q.row).filter(|r| r.end <= state.written) {
                    let last = state.segments.values().rev().find_map(|segment| segment.marks.get(&id));
                    let known = last.map_or(0, |mark| mark.appended.messages).max(row.done.messages);
                    out.lost += row.appended.messages.saturating_sub(known);
                }
                return None;
            }
        },
    };
    if *first > at {
        out.lost += lost_between(&state, id, at, *first);
        out.seqs.end = *first;
    }
    Some(Stretch {
        first: *first,
        file: segment.file.clone(),
        data: segment.data_start..segment.data_end,
        next: segment.next,
        empty: segment.sealed && has_nothing(segment, id, *first),
        sealed: segment.sealed,
        content: segment.content,
    })
    .filter(|stretch| stretch.next > *first)
}

fn has_nothing(segment: &Segment, id: u32, first: u64) -> bool {
    segment.marks.get(&id).is_none_or(|mark| mark.end <= first || mark.here.messages == 0)
}

fn lost_between(state: &State, id: u32, from: u64, to: u64) -> u64 {
    let passed = state.holes.iter().filter(|hole| from < hole.end && hole.end <= to);
    passed.map(|hole| hole.lost.get(&id).copied().unwrap_or(0)).sum()
}

/// Takes the queue's messages out of one segment. Whether everything on the way was intact.
fn walk(
    shared: &Shared,
    id: u32,
    place: &mut Place,
    stretch: &Stretch,
    out: &mut Read,
    bytes_max: usize,
) -> bool {
    let at = out.seqs.end.max(stretch.first);
    let hint = place.hint.take().filter(|hint| hint.content == stretch.content && hint.seq <= at);
    let (seq, offset) = hint.map_or((stretch.first, stretch.data.start), |hint| (hint.seq, hint.offset));
    let buffer = std::mem::take(&mut place.buffer);
    let range = offset.min(stretch.data.end)..stretch.data.end;
    let mut walk = Walk::new(&*stretch.file, range, shared.key, seq..stretch.next, buffer)
        .block(bytes_max.saturating_add(bytes_max / 8 + 4096));
    let mut clean = true;
    let mut last = (seq, offset);
    let mut full = false;
    while let Some(found) = walk.next() {
        clean &= found.skipped == 0;
        if found.seq >= at && frame::belongs_to(found.queues, id) {
            if !out.ends.is_empty() && out.bytes.len() + found.payload.len() > bytes_max {
                full = true;
                break;
            }
            out.bytes.extend_from_slice(found.payload);
            out.ends.push(out.bytes.len() as u32);
        }
        last = (found.seq + 1, found.end);
        if out.bytes.len() >= bytes_max {
            full = true;
            break;
        }
    }
    if full {
        out.seqs.end = last.0.max(at);
    } else {
        clean &= walk.skipped() == 0;
        out.seqs.end = stretch.next;
    }
    place.buffer = walk.into_buffer();
    place.buffer.truncate(BLOCK_MAX + PAGE);
    place.buffer.shrink_to(BLOCK_MAX + PAGE);
    place.hint = Some(Hint { content: stretch.content, seq: last.0, offset: last.1 });
    clean
}

fn is_replaced(shared: &Shared, stretch: &Stretch) -> bool {
    let state = shared.lock();
    state.segments.get(&stretch.first).is_some_and(|segment| segment.content != stretch.content)
}

/// Finds out, once a segment, what its damage has cost.
fn survey(shared: &Shared, stretch: &Stretch) {
    let mut table = match shared.lock().segments.get(&stretch.first) {
        Some(segment) if segment.damage.is_none() => table_at_start(segment),
        _ => return,
    };
    if table.is_empty() {
        let length = stretch.file.length().unwrap_or(0);
        table = Snapshot::read_header(&*stretch.file, length).map(|header| header.table).unwrap_or_default();
    }
    let seqs = stretch.first..stretch.next;
    let mut found = scan(&*stretch.file, stretch.data.clone(), shared.key, seqs.clone(), &mut table);
    if stretch.sealed && found.next < stretch.next && found.end < stretch.data.end {
        found.damage.note(found.next, stretch.next - found.next);
    }
    let mut state = shared.lock();
    let Some(segment) = state.segments.get_mut(&stretch.first) else { return };
    if segment.sealed {
        for (id, mark) in &segment.marks {
            let intact = found.intact.get(id).map_or(0, |count| count.messages);
            let known = intact + found.damage.lost_of(*id);
            found.damage.explain(*id, mark.here.messages.saturating_sub(known));
        }
    }
    let name = segment.name.clone();
    let frames = damage_frames(&found.damage, segment.sparse);
    segment.damage = Some(Arc::new(found.damage));
    state.stats.frames_lost += frames;
    drop(state);
    oplog::error(
        "A file of the store is damaged, its intact messages are delivered",
        &[("dir", &shared.path), ("file", &name), ("frames_lost", &frames), ("bytes", &found.skipped)],
    );
}

/// What was put in before the segment, of the queues that have messages in it.
fn table_at_start(segment: &Segment) -> Table {
    let row = |(id, mark): (&u32, &Mark)| {
        let appended = Waiting {
            messages: mark.appended.messages.saturating_sub(mark.here.messages),
            bytes: mark.appended.bytes.saturating_sub(mark.here.bytes),
        };
        (*id, Row { name: b"-".to_vec(), appended, ..Row::default() })
    };
    segment.marks.iter().map(row).collect()
}

/// Frames that are missing. Of a segment with holes of its own only those are known that a queue misses.
pub fn damage_frames(damage: &Damage, sparse: bool) -> u64 {
    let known = |gap: &Gap| gap.lost.values().copied().max().unwrap_or(0);
    let frames = |gap: &Gap| if sparse { known(gap) } else { gap.count };
    damage.gaps.iter().map(frames).sum()
}
