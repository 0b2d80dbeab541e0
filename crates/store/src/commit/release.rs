//! Segments that nobody needs any more leave the log.

use super::{Committer, say};
use crate::free;
use crate::origin;
use crate::shared::State;

impl Committer {
    /// For want of space what is done goes at once: the group that would say so cannot be written.
    pub(super) fn release_all(&mut self) -> bool {
        let firsts = done(&self.shared.lock());
        if firsts.is_empty() || self.writer.save_cursors().is_err() {
            return false;
        }
        self.release(&firsts);
        true
    }

    /// Takes segments out of the log. A few are kept to be written over, which spares the file system's
    /// journal.
    pub(super) fn release(&mut self, firsts: &[u64]) {
        for first in firsts {
            let mut state = self.shared.lock();
            if state.segments.get(first).is_none_or(|segment| segment.busy) {
                continue;
            }
            let Some(segment) = state.segments.remove(first) else { continue };
            drop(state);
            let files = &self.shared.files;
            let outcome = if segment.damage.is_some() {
                files.rename(&segment.name, &format!("{}.damaged", segment.name))
            } else if self.writer.free.len() < self.shared.free_segments && !segment.sparse {
                let name = free::name(*first);
                let renamed = files.rename(&segment.name, &name);
                renamed.map(|()| self.writer.free.push(name))
            } else {
                files.remove(&segment.name)
            };
            if let Err(error) = outcome {
                say(&self.shared, "Cannot remove a delivered file of the store", &error);
            }
        }
    }
}

/// Segments whose messages no queue needs any more.
fn done(state: &State) -> Vec<u64> {
    let segments = state.segments.iter();
    let done = segments.filter(|(first, s)| s.sealed && !s.busy && !s.needed(**first, &state.queues));
    done.map(|(first, _)| *first).collect()
}

/// Of these, what says nothing either of messages that may come again.
pub(super) fn unneeded(state: &State) -> Vec<u64> {
    let mut done = done(state);
    if state.has_origins {
        let mut behind = 0;
        let near_end = state.segments.iter().rev().take_while(|(_, segment)| {
            let near = behind < origin::LOOKED_AT;
            behind += segment.data_end - segment.data_start;
            near
        });
        if let Some((first, _)) = near_end.last() {
            done.retain(|done| done < first);
        }
    }
    done
}
