//! What waits at an outlet goes to another process, or comes from one.

use super::Outlet;
use crate::chunk::Chunk;
use std::sync::Arc;

impl Outlet {
    /// Takes what waits away for another process: whole messages, which no source waits for any more. They count as waiting here, for the
    /// account of this process would not add up without them.
    pub fn export(&self) -> Vec<Chunk> {
        let mut chunks = self.export_unsettled();
        // The other process has them now.
        chunks.iter_mut().for_each(|chunk| chunk.tickets.settle());
        chunks
    }

    /// The same while sources still wait.
    pub(super) fn export_unsettled(&self) -> Vec<Chunk> {
        let mut chunks = Vec::from(self.retire(false));
        for chunk in &mut chunks {
            chunk.seal();
            chunk.rewind();
        }
        chunks.retain_mut(|chunk| !chunk.settle_empty());
        chunks
    }

    /// Takes over what another process had waiting here.
    pub fn take_in(self: &Arc<Outlet>, chunks: Vec<Chunk>) {
        if self.keeps_on_disk() {
            chunks.into_iter().for_each(|chunk| self.push_new(chunk));
            return self.pump();
        }
        self.counters.accepted.add(chunks.iter().map(Chunk::messages).sum());
        self.put_before(chunks);
    }

    fn keeps_on_disk(&self) -> bool {
        self.queue.lock().spool.is_some()
    }

    /// What waits elsewhere comes before what waits here, and counts here from now on.
    pub fn put_before(self: &Arc<Outlet>, chunks: Vec<Chunk>) {
        self.counters.waiting.add(chunks.iter().map(Chunk::messages).sum());
        self.put_back(chunks);
    }

    /// What [`Outlet::export`] has taken away here comes back.
    pub fn put_back(self: &Arc<Outlet>, mut chunks: Vec<Chunk>) {
        chunks.iter_mut().for_each(Chunk::comes);
        let messages: usize = chunks.iter().map(Chunk::messages).sum();
        let mut queue = self.queue.lock();
        queue.messages += messages;
        for chunk in chunks.into_iter().rev() {
            queue.chunks.push_front(chunk);
        }
        drop(queue);
        self.pump();
    }
}
