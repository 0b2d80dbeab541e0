//! What waits at an outlet goes to another process, or comes from one.

use super::Outlet;
use crate::chunk::Chunk;
use std::sync::Arc;

impl Outlet {
    /// Takes what waits away for another process: whole messages, which no source waits for any more.
    pub fn export(&self) -> Vec<Chunk> {
        let mut chunks = Vec::from(self.retire(false));
        self.counters.waiting.sub(chunks.iter().map(Chunk::messages).sum());
        for chunk in &mut chunks {
            chunk.seal();
            chunk.rewind();
            // The other process has them now.
            chunk.tickets.settle();
        }
        chunks.retain(|chunk| !chunk.is_empty());
        chunks
    }

    /// Takes over what another process had waiting here.
    pub fn take_in(self: &Arc<Outlet>, chunks: Vec<Chunk>) {
        if self.keeps_on_disk() {
            chunks.into_iter().for_each(|chunk| self.push_new(chunk));
            return self.pump();
        }
        self.counters.accepted.add(chunks.iter().map(Chunk::messages).sum());
        self.put_back(chunks);
    }

    fn keeps_on_disk(&self) -> bool {
        self.queue.lock().spool.is_some()
    }

    /// What was taken away here, or at a predecessor, comes before what waits here.
    pub fn put_back(self: &Arc<Outlet>, chunks: Vec<Chunk>) {
        let mut chunks = chunks;
        chunks.iter_mut().for_each(Chunk::comes);
        let messages: usize = chunks.iter().map(Chunk::messages).sum();
        self.counters.waiting.add(messages);
        let mut queue = self.queue.lock();
        queue.messages += messages;
        for chunk in chunks.into_iter().rev() {
            queue.chunks.push_front(chunk);
        }
        drop(queue);
        self.pump();
    }
}
