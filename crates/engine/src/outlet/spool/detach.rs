//! The end of a queue on disk in this process.

use super::Spool;
use super::behind::Behind;
use crate::chunk::Chunk;
use std::collections::VecDeque;

impl Spool {
    /// Lets go of the queue: the messages of the front chunk that are delivered are noted one by one. The
    /// sink leaves `unsettled` of what it has finished to be sent again. `memory` is the memory part, behind
    /// those that somebody has in his hands; what is nowhere but in memory is left in it, in order. Returns
    /// how many of what the sink leaves are not on disk.
    pub fn detach(&mut self, memory: &mut VecDeque<Chunk>, in_hands: usize, unsettled: usize) -> usize {
        self.settle(unsettled);
        let gone = self.bare().min(unsettled);
        if let (Some(queue), Some(span), true) = (self.queue(), self.spans.front(), self.finished.is_empty())
        {
            span.note_part(queue);
        }
        let mut on_disk = self.stored.saturating_sub(in_hands);
        while on_disk > 0
            && let Some(mut chunk) = memory.pop_front()
        {
            on_disk = on_disk.saturating_sub(chunk.messages());
            chunk.tickets.settle();
        }
        memory.extend(self.disk.detach().into_iter().flat_map(Behind::into_tail));
        self.spans.clear();
        self.bytes = 0;
        self.stored = 0;
        // They are on disk.
        self.reserved.drain(..).for_each(|(_, mut tickets)| tickets.settle());
        self.held.settle();
        gone
    }
}
