//! Gives space back that a slow queue holds: segments in which little still waits are written anew without
//! what is done.

use crate::control;
use crate::files::{ByName, SegmentFile, write_all};
use crate::frame;
use crate::shared::next_content;
use crate::shared::{Mark, Shared, State};
use crate::snapshot::Snapshot;
use crate::walk::Walk;
use std::io;
use std::sync::Arc;

/// A segment is rewritten when less than this part of it waits.
const LIVE_PART: u64 = 4;
/// And only if the log is so many times as large as what waits in it.
const LOG_FACTOR: u64 = 2;
pub const NEW: &str = "compact.tmp";
/// Of a small segment, beside its header.
const OVERHEAD: u64 = 4096;
const OUTPUT_BLOCK: usize = 1 << 20;

/// Rewrites segments on a thread of its own while that is worth it; one thread at a time.
pub fn look(shared: &Arc<Shared>) {
    let mut state = shared.lock();
    if state.compacting || state.closed || worth(&state).is_none() {
        return;
    }
    state.compacting = true;
    drop(state);
    let work = {
        let shared = shared.clone();
        move || {
            loop {
                match step(&shared) {
                    Ok(true) if !shared.lock().closed => {}
                    Ok(_) => break,
                    Err(error) => {
                        oplog::limited(
                            "store-compact",
                            oplog::Level::Warning,
                            "Cannot rewrite an old file of the store",
                            &[("dir", &shared.path), ("error", &error)],
                        );
                        break;
                    }
                }
            }
            shared.lock().compacting = false;
        }
    };
    if std::thread::Builder::new().name("store-compact".to_owned()).spawn(work).is_err() {
        shared.lock().compacting = false;
    }
}

/// The oldest segment whose rewriting is worth it.
fn worth(state: &State) -> Option<u64> {
    let used: u64 = state.segments.values().map(|s| s.length).sum();
    let live: u64 = state.queues.values().map(|q| q.waiting().bytes).sum();
    if used <= live.saturating_mul(LOG_FACTOR) || state.segments.len() < 3 {
        return None;
    }
    let candidate = |segment: &crate::shared::Segment| {
        let size = segment.length;
        let waits: u64 = segment.marks.iter().map(|(id, mark)| waits(state, *id, mark)).sum();
        segment.sealed
            && !segment.busy
            && !segment.fixed
            && segment.damage.is_none()
            && (1..size / LIVE_PART).contains(&waits)
            // What it will take, roughly: a compacted one is not worth it again before half of it is done.
            && waits.saturating_add(segment.data_start + OVERHEAD) < size / 2
    };
    state.segments.iter().find(|(_, segment)| candidate(segment)).map(|(first, _)| *first)
}

/// Bytes of a queue in a segment that are not done.
fn waits(state: &State, id: u32, mark: &Mark) -> u64 {
    let Some(queue) = state.queues.get(&id) else { return 0 };
    let before = mark.appended.bytes.saturating_sub(mark.here.bytes);
    mark.appended.bytes.saturating_sub(queue.safe.1.bytes.max(before))
}

/// Rewrites one segment. Whether there was one.
pub fn step(shared: &Shared) -> io::Result<bool> {
    let mut state = shared.lock();
    let Some(first) = worth(&state) else { return Ok(false) };
    // Only what is done after a power loss too: otherwise it would be missed.
    let cursors = state.queues.iter().map(|(id, queue)| (*id, queue.safe.0)).collect();
    let Some(segment) = state.segments.get_mut(&first) else { return Ok(false) };
    segment.busy = true;
    let (file, length, name) = (segment.file.clone(), segment.length, segment.name.clone());
    let (next, data_end) = (segment.next, segment.data_end);
    drop(state);
    // A file that failed may have a footer that tells more than is true.
    let valid = |footer: &Snapshot| footer.next == next && footer.data_end == data_end;
    let outcome = rewrite(shared, (&*file, length), &cursors, valid).and_then(|made| match made {
        Some((file, footer)) => {
            shared.files.rename(NEW, &name)?;
            // The name may still lead to the old file after a power loss: it has all that the new one has.
            let _ = shared.files.sync_folder();
            Ok(Some((file, footer)))
        }
        None => Ok(None),
    });
    let mut state = shared.lock();
    let Some(segment) = state.segments.get_mut(&first) else { return Ok(true) };
    segment.busy = false;
    let Some((file, footer)) = outcome? else {
        segment.fixed = true;
        return Ok(true);
    };
    segment.length = file.length()?;
    segment.content = next_content();
    segment.file = Arc::new(ByName::new(&shared.files, &segment.name));
    segment.data_start = footer.data_start;
    segment.data_end = footer.data_end;
    segment.sparse = true;
    for (id, row) in &footer.table {
        match segment.marks.get_mut(id) {
            Some(mark) if row.here.messages > 0 => mark.here = row.here,
            _ => {
                segment.marks.remove(id);
            }
        }
    }
    state.stats.segments_compacted += 1;
    Ok(true)
}

type Cursors = std::collections::BTreeMap<u32, u64>;

/// Writes what waits of the segment to a new file, synced. Nothing if the old one is not whole.
fn rewrite(
    shared: &Shared,
    (old, length): (&dyn SegmentFile, u64),
    cursors: &Cursors,
    valid: impl Fn(&Snapshot) -> bool,
) -> io::Result<Option<(Arc<dyn SegmentFile>, Snapshot)>> {
    let (Some(header), Some(footer)) =
        (Snapshot::read_header(old, length), Snapshot::read_footer(old, length))
    else {
        return Ok(None);
    };
    if !valid(&footer) {
        return Ok(None);
    }
    let file = shared.files.create(NEW)?;
    let old_start = header.data_start;
    let mut header = Snapshot { sparse: true, ..header };
    header.write_header(&*file)?;
    let mut footer = Snapshot { sparse: true, data_start: header.data_start, ..footer };
    footer.table.values_mut().for_each(|row| row.here = Default::default());
    let data = old_start..footer.data_end;
    let mut walk = Walk::new(old, data, shared.key, footer.first..footer.next).strict(true);
    let mut out = Vec::with_capacity(OUTPUT_BLOCK);
    let mut at = header.data_start;
    while let Some(found) = walk.next() {
        if found.skipped > 0 {
            return Ok(None);
        }
        let waits = |id: u32| cursors.get(&id).is_some_and(|cursor| *cursor <= found.seq);
        let tells_time = found.queues == frame::CONTROL && control::time(found.payload).is_some();
        if !tells_time && !frame::ids(found.queues).any(waits) {
            continue;
        }
        for id in frame::ids(found.queues) {
            if let Some(row) = footer.table.get_mut(&id) {
                row.here.messages += 1;
                row.here.bytes += found.payload.len() as u64;
            }
        }
        if out.len() + found.frame.len() > OUTPUT_BLOCK {
            write_all(&*file, &out, at)?;
            at += out.len() as u64;
            out.clear();
        }
        out.extend_from_slice(found.frame);
    }
    if let Some(error) = walk.error() {
        return Err(error);
    }
    if walk.skipped() > 0 {
        return Ok(None);
    }
    footer.data_end = at + out.len() as u64;
    out.extend_from_slice(&footer.footer());
    write_all(&*file, &out, at)?;
    file.sync()?;
    Ok(Some((file, footer)))
}
