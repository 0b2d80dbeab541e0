//! Waypoints: pages in front of where a segment is written, which say how far it was safe when they were
//! written. So a start need neither read a begun segment from its beginning nor look for frames up to its
//! end.

use super::{Active, Writer};
use crate::files::{SegmentFile, write_all};
use crate::snapshot::{PAGE, Snapshot};
use crate::stage::write_aligned;
use std::ops::Range;

/// They are at multiples of it, and one is behind the last of these, as near to the end of the file as there
/// is room.
const STEP: u64 = if cfg!(test) { 8 << 10 } else { 8 << 20 };
/// A longer one, of very many queues, is not written.
const BYTES_MAX: u64 = 64 << 10;

impl Writer {
    /// Frames will be written up to `end`: what they destroy of waypoints is replaced before.
    pub(super) fn write_waypoint(&mut self, end: u64) {
        let Some(active) = self.active.as_ref().filter(|active| end > active.waypoint) else { return };
        let place = self.put_waypoint(active, end);
        if let Some(active) = &mut self.active {
            // Without a place, or when it cannot be written, there are no more: frames will take the place of
            // the last one.
            active.waypoint = place.unwrap_or(u64::MAX);
        }
    }

    fn put_waypoint(&self, active: &Active, end: u64) -> Option<u64> {
        let mut table = self.table(&self.synced);
        let state = self.shared.lock();
        for (row, queue) in table.iter_mut().filter_map(|(id, row)| Some((row, state.queues.get(id)?))) {
            // Of what is not on the disk nothing is told: what is done of that would be taken for done of
            // what is.
            (row.cursor, row.done) = queue.safe;
        }
        drop(state);
        let snapshot = Snapshot {
            key: self.shared.key,
            first: active.first,
            next: self.synced_seq.max(active.first),
            data_start: active.data_start,
            data_end: active.synced_at,
            sparse: false,
            table,
        };
        let mut bytes = snapshot.waypoint();
        bytes.resize(bytes.len().next_multiple_of(PAGE as usize), 0);
        let place = place_behind(end, active.length, bytes.len() as u64)?;
        let direct = write_aligned(&*active.file, &bytes, place);
        direct.or_else(|_| write_all(&*active.file, &bytes, place)).ok()?;
        Some(place)
    }
}

/// Where a waypoint of so many bytes goes that nothing written up to `end` touches.
fn place_behind(end: u64, length: u64, bytes: u64) -> Option<u64> {
    let last = length.checked_sub(bytes).filter(|_| bytes <= BYTES_MAX)? / PAGE * PAGE;
    let place = last.min(end.next_multiple_of(STEP));
    (place >= end).then_some(place)
}

/// The last waypoint of a segment that was begun and not closed, and the part of the file in which frames
/// behind it can be. What is in front of that was on the disk when the waypoint was written; damage there is
/// found when it is read. `bound` is the number that the next segment begins with.
pub fn find_waypoint(
    file: &dyn SegmentFile,
    length: u64,
    header: &Snapshot,
    bound: Option<u64>,
) -> Option<(Snapshot, Range<u64>)> {
    let pages =
        (1..=BYTES_MAX / PAGE).filter_map(|back| Some(length.checked_sub(back * PAGE)? / PAGE * PAGE));
    let steps = (1..=length / STEP).rev().map(|step| step * STEP);
    pages.chain(steps).find_map(|place| {
        let found = Snapshot::read_waypoint(file, place)?;
        let ours =
            (found.key, found.first, found.data_start) == (header.key, header.first, header.data_start);
        let fits = found.data_start <= found.data_end
            && found.data_end <= place
            && found.first <= found.next
            && bound.is_none_or(|bound| found.next <= bound);
        let range = found.data_end..place;
        (ours && fits && !header.sparse).then_some((found, range))
    })
}

#[cfg(test)]
mod tests;
