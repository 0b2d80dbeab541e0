//! What the damage of a segment has cost, found out once.

use super::{Stretch, scraps};
use crate::damage::{Damage, Gap};
use crate::scan::scan;
use crate::shared::{Mark, Segment, Shared};
use crate::snapshot::{Row, Snapshot, Table};
use crate::walk::Walk;
use std::io;
use std::sync::Arc;

/// With `strict`, what cannot be read is an error, and nothing is found out.
pub(super) fn survey(shared: &Shared, stretch: &Stretch, strict: bool) -> io::Result<()> {
    let mut table = match shared.lock().segments.get(&stretch.first) {
        Some(segment) if segment.damage.is_none() => table_at_start(segment),
        _ => return Ok(()),
    };
    if table.is_empty() {
        let length = stretch.file.length().unwrap_or(0);
        table = Snapshot::read_header(&*stretch.file, length).map(|header| header.table).unwrap_or_default();
    }
    let seqs = stretch.first..stretch.next;
    let mut walk = Walk::new(&*stretch.file, stretch.data.clone(), shared.key, seqs).strict(strict);
    let mut found = scan(&mut walk, &mut table);
    if let Some(error) = walk.error() {
        return Err(error);
    }
    if stretch.sealed {
        found.end_at(stretch.next, stretch.data.end);
    }
    found.damage.scraps = scraps::of(&*stretch.file, shared.key, &found.gaps);
    let mut state = shared.lock();
    let Some(segment) = state.segments.get_mut(&stretch.first) else { return Ok(()) };
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
    Ok(())
}

/// What was put in before the segment, of the queues that have messages in it.
fn table_at_start(segment: &Segment) -> Table {
    let row = |(id, mark): (&u32, &Mark)| {
        (*id, Row { name: b"-".to_vec(), appended: mark.appended.less(mark.here), ..Row::default() })
    };
    segment.marks.iter().map(row).collect()
}

/// Frames that are missing. Of a segment with holes of its own only those are known that a queue misses.
pub fn damage_frames(damage: &Damage, sparse: bool) -> u64 {
    let known = |gap: &Gap| gap.lost.values().copied().max().unwrap_or(0);
    let frames = |gap: &Gap| if sparse { known(gap) } else { gap.count };
    damage.gaps.iter().map(frames).sum()
}
