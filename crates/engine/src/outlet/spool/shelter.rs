//! What the sink has sent and its peer has not acknowledged may be in memory only: it came while the
//! destination kept up. It goes to disk before anything that came behind it does, and at the end of the
//! outlet. Otherwise nobody has it any more once the connection is broken and the outlet closes.

use super::span::Finished;
use super::{Memory, Spool};
use crate::chunk::Chunk;
use store::Full;

impl Spool {
    /// Puts those messages on disk. Whether it is done, or there are none; otherwise `refused` says why not,
    /// and nothing may be stored that came later. Only while nobody writes.
    pub(super) fn shelter(&mut self, memory: &Memory<'_>) -> bool {
        // Whatever is on disk in front of the sink's own was stored behind those.
        if self.stored > 0 || self.is_behind() || self.is_draining() || self.bare() == 0 {
            return true;
        }
        let Some(owner) = self.owner.upgrade() else { return true };
        let Some(mut sink) = owner.sink.try_lock().filter(|_| !memory.attendance.is_busy()) else {
            // Whoever has it is through in a moment.
            self.spill = true;
            self.refused = Some(Full::Busy);
            return false;
        };
        if self.is_beyond_capacity(sink.kept_bytes()) {
            self.refused = Some(Full::Capacity);
            return false;
        }
        let mut kept = sink.kept(memory.chunks);
        self.settle(kept.iter().map(Chunk::messages).sum());
        // One that is too large never gets there, and what comes later has not to wait for it.
        let fits = kept.iter().flat_map(Chunk::iter).all(|message| message.len() <= store::MESSAGE_BYTES_MAX);
        let is_stored = fits && self.store_kept(&mut kept);
        if is_stored {
            sink.let_go();
        }
        // The log has tickets of its own where it has the messages.
        kept.iter_mut().for_each(|chunk| chunk.tickets.settle());
        is_stored || !fits
    }

    /// Finished messages that are in memory only, and that the sink may still answer for.
    pub(super) fn bare(&self) -> usize {
        self.finished.iter().map(|finished| finished.bare).sum()
    }

    fn is_beyond_capacity(&self, more: usize) -> bool {
        let waiting = self.queue().map_or(0, |queue| queue.waiting().bytes);
        !self.boundless && waiting.saturating_add(more as u64) > self.options.capacity_bytes
    }

    /// The messages that the sink answers for, all of them, get onto the disk at once.
    fn store_kept(&mut self, kept: &mut [Chunk]) -> bool {
        let mut all = Chunk::default();
        for message in kept.iter().flat_map(Chunk::iter) {
            all.bytes.extend_from_slice(message);
            all.ends.push(all.bytes.len() as u32);
        }
        if all.is_empty() {
            return true;
        }
        kept.iter_mut().for_each(|chunk| all.tickets.append(std::mem::take(&mut chunk.tickets)));
        if self.store(&mut all).is_err() {
            // The sink's hold still.
            all.tickets.settle();
            return false;
        }
        // From now on these count; of some there were copies on disk before.
        let mut before = Finished::default();
        self.finished.drain(..).for_each(|finished| before.add(&finished));
        self.finished_messages = 0;
        let (mut stored, mut bytes, mut through) = (0, 0, 0);
        for chunk in kept {
            stored += chunk.messages();
            bytes += chunk.waiting_bytes();
            through += chunk.messages();
            let mut finished = Finished { messages: chunk.messages(), ..Finished::default() };
            if let Some(next) = all.number_after(through) {
                finished.next = Some(next);
                finished.stored = std::mem::take(&mut stored);
                finished.bytes = std::mem::take(&mut bytes);
            }
            self.finished_messages += finished.messages;
            self.finished.push_back(finished);
        }
        self.note_done(&before);
        true
    }
}
