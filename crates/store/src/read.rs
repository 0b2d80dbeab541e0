//! Reading a queue back: from segment to segment, over what is not its own and over what is damaged.

mod patience;
mod scraps;
mod survey;

use crate::files::SegmentFile;
use crate::frame;
use crate::queue::Read;
use crate::shared::{Mark, Segment, Shared, State};
use crate::walk::{BLOCK_MAX, Reader, Walk, Window};
use patience::Patience;
pub use patience::StartPatience;
use std::io;
use std::ops::Bound::{Excluded, Unbounded};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
pub use survey::damage_frames;

/// What is appended and not yet written is waited for so long.
const WRITE_WAIT: Duration = Duration::from_millis(if cfg!(test) { 0 } else { 100 });

/// With so little left of a segment, the next one is begun.
const NEAR: u64 = 2 * BLOCK_MAX as u64;

/// Where the last reading of a queue ended, and what it had read beyond that.
#[derive(Default)]
pub struct ReadPosition {
    spot: Option<Spot>,
    window: Window,
    /// The beginning of the segment that follows, when this one nears its end.
    next: Option<(Spot, Window)>,
    patience: Patience,
}

/// A place in a segment, the one that the window shows.
struct Spot {
    content: u64,
    /// The number that may come next.
    seq: u64,
    /// With the right to keep what was read.
    held: Option<(Reader, Arc<dyn SegmentFile>)>,
}

impl ReadPosition {
    /// What was read is forgotten, and read again when it is needed.
    fn leave(&mut self, shared: &Shared) {
        (self.spot, self.next) = (None, None);
        shared.ahead.give_back(self.window.take_memory());
    }
}

/// A segment as it was when it was looked up.
struct Stretch {
    first: u64,
    name: String,
    file: Arc<dyn SegmentFile>,
    data: Range<u64>,
    next: u64,
    /// Nothing of the queue is in it.
    empty: bool,
    sealed: bool,
    content: u64,
}

impl Stretch {
    fn of(first: u64, segment: &Segment, id: u32) -> Stretch {
        Stretch {
            first,
            name: segment.name.clone(),
            file: segment.file.clone(),
            data: segment.data_start..segment.data_end,
            next: segment.next,
            empty: is_empty(segment, id, first),
            sealed: segment.sealed,
            content: segment.content,
        }
    }
}

/// Reads into `out`, which is empty. The error is one that may go away. It is said, and the caller is to come
/// back after a while; after [`crate::READ_PATIENCE`] what cannot be read counts as damage.
pub fn read(
    shared: &Shared,
    id: u32,
    place: &mut ReadPosition,
    from: u64,
    (mut out, bytes_max): (Read, usize),
) -> io::Result<Read> {
    out.seqs = from..from;
    let waiting = wait_until_written(shared, id, from);
    out.bytes.reserve(bytes_max.min(waiting as usize));
    loop {
        let (at, lost) = (out.seqs.end, out.lost);
        let Some(stretch) = look_up(shared, id, at, &mut out) else { break };
        if stretch.empty {
            out.seqs.end = stretch.next;
            continue;
        }
        let before = (out.bytes.len(), out.ends.len(), out.numbers.len(), out.scraps.len());
        let take_back = |out: &mut Read| {
            out.bytes.truncate(before.0);
            out.ends.truncate(before.1);
            out.numbers.truncate(before.2);
            out.scraps.truncate(before.3);
            (out.seqs.end, out.lost) = (at, lost);
        };
        let strict = !place.patience.is_out(stretch.content);
        let outcome = match walk(shared, id, place, &stretch, (&mut out, bytes_max)) {
            Ok(false) if is_replaced(shared, &stretch) => {
                // It was rewritten under its name while it was read.
                take_back(&mut out);
                continue;
            }
            Ok(false) => survey::survey(shared, &stretch, strict),
            Ok(true) => Ok(()),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(()) => place.patience.passed(shared, id),
            Err(error) => {
                take_back(&mut out);
                place.leave(shared);
                place.patience.failed(shared, id, (&stretch.name, stretch.content), error)?;
                continue;
            }
        }
        let state = shared.lock();
        match state.segments.get(&stretch.first) {
            Some(segment) => {
                if let Some(damage) = &segment.damage {
                    out.lost += damage.lost(id, at, out.seqs.end);
                    let scraps = damage.scraps_of(id, at, out.seqs.end);
                    out.scraps.extend(scraps.map(|scrap| scrap.text.clone()));
                    // Which messages of a gap were done is a guess: no more are lost than waited up to the
                    // end of the segment.
                    let done = state.queues.get(&id).map_or(0, |queue| queue.row.done.messages);
                    if let Some(mark) = segment.marks.get(&id) {
                        let waits = mark.appended.messages.saturating_sub(done);
                        out.lost = out.lost.min(waits.saturating_sub(out.ends.len() as u64));
                    }
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
    let state = shared.lock();
    let queue = state.queues.get(&id);
    if out.lost > 0 {
        // Where damage has hit done and waiting messages alike, which were which is a guess: never more than
        // wait.
        let waiting = queue.map_or(0, |queue| queue.waiting().messages);
        out.lost = out.lost.min(waiting.saturating_sub(out.ends.len() as u64));
    }
    let last = queue.is_none_or(|queue| out.seqs.end >= queue.row.end);
    drop(state);
    if last {
        place.leave(shared);
    }
    Ok(out)
}

/// Returns how many bytes wait in the queue.
fn wait_until_written(shared: &Shared, id: u32, from: u64) -> u64 {
    let until = Instant::now() + WRITE_WAIT;
    let mut state = shared.lock();
    while from >= state.written
        && !state.trouble
        && !state.closed
        && state.queues.get(&id).is_some_and(|queue| queue.row.end > from)
    {
        if shared.progress.wait_until(&mut state, until).timed_out() {
            break;
        }
    }
    state.queues.get(&id).map_or(0, |queue| queue.waiting().bytes)
}

/// The segment that has number `out.seqs.end` or the next one that is there. What was lost between segments
/// is added to `out`.
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
    Some(Stretch::of(*first, segment, id)).filter(|stretch| stretch.next > *first)
}

/// Nothing of the queue is in it.
fn is_empty(segment: &Segment, id: u32, first: u64) -> bool {
    let has_nothing = |mark: &Mark| mark.end <= first || mark.here.messages == 0;
    segment.sealed && segment.marks.get(&id).is_none_or(has_nothing)
}

fn lost_between(state: &State, id: u32, from: u64, to: u64) -> u64 {
    let passed = state.holes.iter().filter(|hole| from < hole.end && hole.end <= to);
    passed.map(|hole| hole.lost.get(&id).copied().unwrap_or(0)).sum()
}

/// Takes the queue's messages out of one segment. Whether everything on the way was intact.
fn walk(
    shared: &Shared,
    id: u32,
    place: &mut ReadPosition,
    stretch: &Stretch,
    (out, bytes_max): (&mut Read, usize),
) -> io::Result<bool> {
    let at = out.seqs.end.max(stretch.first);
    let spot = place.spot.take().filter(|spot| {
        spot.content == stretch.content && spot.seq <= at && place.window.place() <= stretch.data.end
    });
    let begun = || {
        let (spot, window) = place.next.take()?;
        let fits = spot.content == stretch.content && spot.seq <= at;
        fits.then(|| {
            shared.ahead.give_back(std::mem::replace(&mut place.window, window).take_memory());
            spot
        })
    };
    let spot = spot.or_else(begun);
    let goes_on = spot.is_some();
    let (seq, held) = match spot {
        Some(spot) => (spot.seq, spot.held),
        None => {
            place.window.restart(stretch.data.start);
            (stretch.first, None)
        }
    };
    let held = held.map_or_else(|| hold(shared, stretch), |held| Ok(Some(held)))?;
    let mut window = std::mem::take(&mut place.window);
    window.lend(|| shared.ahead.spare());
    let mut last = (seq, window.place());
    let range = window.place()..stretch.data.end;
    let file = held.as_ref().map_or(&stretch.file, |(_, file)| file);
    let mut walk = Walk::new(&**file, range, shared.key, seq..stretch.next)
        .within(window)
        .strict(!place.patience.is_out(stretch.content));
    match held {
        Some(_) if goes_on => walk = walk.ahead(&shared.ahead, file),
        Some(_) => {}
        // What is read beyond will be read again.
        None => walk = walk.block(bytes_max.saturating_add(bytes_max / 8 + 4096)),
    }
    let (mut clean, mut full, mut too_many) = (true, false, false);
    // The number that would go on with the run of the last message.
    let mut expected = None;
    while !full && let Some(found) = walk.next() {
        clean &= found.skipped == 0;
        if found.seq >= at && frame::belongs_to(found.queues, id) {
            if !out.ends.is_empty() && out.bytes.len() + found.payload.len() > bytes_max {
                (full, too_many) = (true, true);
                break;
            }
            if out.ends.is_empty() || expected != Some(found.seq) {
                out.numbers.push((out.ends.len() as u32, found.seq));
            }
            expected = Some(found.seq + 1);
            out.bytes.extend_from_slice(found.payload);
            out.ends.push(out.bytes.len() as u32);
        }
        last = (found.seq + 1, found.end);
        full = out.bytes.len() >= bytes_max;
    }
    if too_many {
        walk.put_back();
    }
    let error = walk.error();
    if !full && error.is_none() {
        clean &= walk.skipped() == 0;
        out.seqs.end = stretch.next;
    } else {
        out.seqs.end = last.0.max(at);
    }
    place.window = walk.into_window();
    if !full && place.window.place() != last.1 {
        place.window.restart(last.1);
    }
    match &held {
        None => shared.ahead.give_back(place.window.take_memory()),
        Some(_) if place.next.is_some() => {}
        Some(_) if stretch.data.end.saturating_sub(place.window.place()) > NEAR => {}
        Some(_) => place.next = begin_next(shared, id, stretch),
    }
    place.spot = Some(Spot { content: stretch.content, seq: last.0, held });
    // What came before the error is good.
    error.filter(|_| out.ends.is_empty()).map_or(Ok(clean), Err)
}

/// Lets the first pieces of the segment that comes next be read.
fn begin_next(shared: &Shared, id: u32, stretch: &Stretch) -> Option<(Spot, Window)> {
    let state = shared.lock();
    let mut following = state.segments.range((Excluded(stretch.first), Unbounded));
    let (first, segment) = following.find(|(first, segment)| !is_empty(segment, id, **first))?;
    let next = Stretch::of(*first, segment, id);
    drop(state);
    let (reader, file) = hold(shared, &next).ok()??;
    let walk = Walk::new(&*file, next.data.clone(), shared.key, next.first..next.next);
    let window = walk.ahead(&shared.ahead, &file).begin();
    Some((Spot { content: next.content, seq: next.first, held: Some((reader, file)) }, window))
}

/// The file, kept open and read ahead, if not too many are.
fn hold(shared: &Shared, stretch: &Stretch) -> io::Result<Option<(Reader, Arc<dyn SegmentFile>)>> {
    let Some(reader) = shared.ahead.reader() else { return Ok(None) };
    let file = stretch.file.held_open()?.unwrap_or_else(|| Arc::clone(&stretch.file));
    Ok(Some((reader, file)))
}

fn is_replaced(shared: &Shared, stretch: &Stretch) -> bool {
    let state = shared.lock();
    state.segments.get(&stretch.first).is_some_and(|segment| segment.content != stretch.content)
}

#[cfg(test)]
mod tests;
