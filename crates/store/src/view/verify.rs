//! Reads a log as a whole and says what cannot be read of it.

use super::{Segment, View};
use crate::scan::{Scan, scan};
use crate::snapshot::Table;
use crate::walk::Walk;
use std::collections::BTreeMap;

/// What became of checking a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    pub file: String,
    /// Of all queues, those that are delivered included.
    pub messages: u64,
    pub bytes: u64,
    /// Bytes between intact frames that are none.
    pub damaged_bytes: u64,
    /// Frames known to be missing, the store's own included.
    pub frames_lost: u64,
    /// Messages known to be missing, by queue, as far as they are not delivered.
    pub lost: BTreeMap<Vec<u8>, u64>,
    /// Neither copy of the header can be read.
    pub no_header: bool,
}

impl Checked {
    pub fn is_whole(&self) -> bool {
        !self.no_header && self.damaged_bytes == 0 && self.frames_lost == 0 && self.lost.is_empty()
    }
}

impl View {
    /// Checks file after file. `look` is told the bytes read so far; of a file that has gone meanwhile
    /// nothing is said.
    pub fn verify(&self, mut look: impl FnMut(u64), mut each: impl FnMut(Checked)) {
        let mut read = 0;
        for segment in &self.segments {
            let mut checked = self.check(segment);
            if !segment.sealed && !checked.is_whole() {
                // A write that was under way may have looked like damage.
                checked = self.check(segment);
            }
            read += segment.length;
            look(read);
            if segment.file.is_at(&self.folder.join(&segment.name)) {
                each(checked);
            }
        }
    }

    fn check(&self, segment: &Segment) -> Checked {
        let seqs = segment.first..segment.next;
        let mut walk = Walk::new(&segment.file, segment.data.clone(), self.key, seqs);
        let mut found = scan(&mut walk, &mut Table::new());
        if segment.sealed {
            found.skipped += found.end_at(segment.next, segment.data.end);
        }
        let lost = self.lost(segment, &found);
        let frames_lost = match segment.sparse {
            true => lost.values().sum(),
            false => found.damage.gaps.iter().map(|gap| gap.count).sum(),
        };
        Checked {
            file: segment.name.clone(),
            messages: found.intact.values().map(|count| count.messages).sum(),
            bytes: segment.length,
            damaged_bytes: found.skipped,
            frames_lost,
            lost,
            no_header: !segment.has_header,
        }
    }

    /// What each queue misses of the segment: what the footer says was in it, less what is.
    fn lost(&self, segment: &Segment, found: &Scan) -> BTreeMap<Vec<u8>, u64> {
        let mut lost = BTreeMap::new();
        for (id, mark) in &segment.marks {
            let Some(row) = self.table.get(id).filter(|row| row.cursor < mark.end) else { continue };
            let intact = found.intact.get(id).map_or(0, |count| count.messages);
            let missing = mark.here.messages.saturating_sub(intact);
            if missing > 0 {
                lost.insert(row.name.clone(), missing);
            }
        }
        lost
    }
}
