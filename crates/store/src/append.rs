//! Putting a chunk into the group that is open: once, if another queue has just been given the same.

use crate::frame;
use crate::group::ENTRY_BYTES_MAX;
use crate::origin::{self, Lot};
use crate::shared::{Shared, State};
use std::ops::Range;

impl Shared {
    /// Appends one chunk, cut into entries; the caller has checked that it is taken.
    pub fn append(
        &self,
        state: &mut State,
        id: u32,
        bytes: &[u8],
        ends: &[u32],
        mut lots: &[Lot],
    ) -> Range<u64> {
        let queues = frame::queues_of(id);
        let State { pending, queues: all, next_seq, stats, has_origins, .. } = state;
        let Some(queue) = all.get_mut(&id) else { return 0..0 };
        let row = &mut queue.row;
        let mut first = None;
        let (mut start, mut rest) = (0, ends);
        while !rest.is_empty() {
            let fits =
                rest.partition_point(|end| (*end as usize).saturating_sub(start) <= ENTRY_BYTES_MAX).max(1);
            let (part, after) = rest.split_at(fits);
            let shared = match id < frame::SHARED_IDS {
                true => pending.share(row.end, queues, bytes, part, start),
                false => None,
            };
            let entry_first = match shared {
                Some(entry) => {
                    stats.messages_shared += entry.messages;
                    entry.first
                }
                None => {
                    // Whoever shares the messages shares what is said of them.
                    if !lots.is_empty() && first.is_none() {
                        pending.push_control(self.key, *next_seq, &origin::encode(lots));
                        *next_seq += 1;
                        *has_origins = true;
                    }
                    pending.push(self.key, *next_seq, queues, bytes, part, start);
                    *next_seq += part.len() as u64;
                    *next_seq - part.len() as u64
                }
            };
            if row.cursor >= row.end {
                // Nothing waited: what others wrote in between need not be looked at.
                row.cursor = entry_first;
            }
            row.end = entry_first + part.len() as u64;
            first.get_or_insert(entry_first);
            lots = &[];
            let end = part.last().map_or(start, |end| *end as usize);
            row.appended.messages += part.len() as u64;
            row.appended.bytes += end.saturating_sub(start) as u64;
            stats.messages_appended += part.len() as u64;
            (start, rest) = (end, after);
        }
        queue.moved = true;
        let seqs = first.unwrap_or(row.end)..row.end;
        self.load.tell(state);
        seqs
    }
}
