//! What earlier groups wrote to a file that failed, and nobody had synced: it is written again, elsewhere.

use super::{Active, Trouble, Writer, marks};
use crate::files::SegmentFile;
use crate::group::Entry;
use crate::walk::Walk;
use std::sync::Arc;

/// Frames of a failed file that earlier groups wrote and nobody synced.
pub(super) struct Salvage {
    /// The segment's first number.
    pub(super) first: u64,
    file: Arc<dyn SegmentFile>,
    from: u64,
    to: u64,
}

impl Writer {
    /// The active segment can be trusted no more beyond what was synced: it ends there, and the rest has to
    /// be written again.
    pub fn fail(&mut self) {
        self.fresh_only = true;
        let Some(active) = self.active.take() else { return };
        let mut state = self.shared.lock();
        state.written = self.synced_seq;
        if self.synced_seq == active.first {
            state.segments.remove(&active.first);
        } else if let Some(segment) = state.segments.get_mut(&active.first) {
            segment.next = self.synced_seq;
            segment.data_end = active.synced_at;
            segment.marks = marks(&active.start, &self.synced);
            segment.sealed = true;
            // It has to stay until what is read from it is elsewhere.
            segment.busy = true;
        }
        drop(state);
        self.written_seq = self.synced_seq;
        self.written.clone_from(&self.synced);
        if self.salvage.is_none() && active.at > active.synced_at {
            let Active { first, file, synced_at: from, at: to, .. } = active;
            self.salvage = Some(Salvage { first, file, from, to });
        } else if let Some(name) = &active.unnamed {
            // Nothing in it is needed: it held what is written again now. One that has its name stays until
            // then.
            let _ = self.shared.files.remove(name);
        }
    }

    /// Writes again what earlier groups had written, numbers before `until`. Whether there was something.
    pub(super) fn write_salvage(&mut self, until: u64) -> Result<bool, Trouble> {
        let Some(Salvage { file, from, to, .. }) = &self.salvage else { return Ok(false) };
        if self.written_seq >= until {
            return Ok(true);
        }
        let (file, range) = (file.clone(), *from..*to);
        let mut walk = Walk::new(&*file, range, self.shared.key, self.written_seq..until);
        while let Some(found) = walk.next() {
            let entry = Entry {
                at: 0,
                length: found.frame.len(),
                first: found.seq,
                messages: 1,
                payload: found.payload.len() as u64,
                queues: found.queues,
            };
            self.room_for(entry.length as u64, entry.first)?;
            let mut frame = found.frame.to_vec();
            self.append(&mut frame, 0..entry.length)?;
            self.count(&entry);
        }
        Ok(true)
    }
}
