//! What waits at an outlet goes to another process, or comes from one.

use super::Outlet;
use crate::chunk::Chunk;
use std::sync::Arc;

impl Outlet {
    /// Takes what waits away for another process: whole messages, which no source waits for any more. They
    /// count as waiting here, for the account of this process would not add up without them.
    pub fn export(&self) -> Vec<Chunk> {
        let mut chunks = self.export_unsettled();
        // The other process has them now.
        chunks.iter_mut().for_each(|chunk| chunk.tickets.settle());
        chunks
    }

    /// What came after the other process had begun to work. In the memory of that one it is not safe: whoever
    /// can bring it again does.
    pub fn export_late(&self) -> Vec<Chunk> {
        let mut chunks = self.export_unsettled();
        chunks.iter_mut().for_each(|chunk| chunk.tickets.give_up());
        chunks
    }

    /// The same while sources still wait. From now on nothing is written here, for the other process goes on.
    pub(super) fn export_unsettled(&self) -> Vec<Chunk> {
        let mut chunks = self.retire(false);
        // What it has sent and nobody got comes back. It would send what comes late on a connection of its
        // own.
        self.sink.lock().part(&mut chunks);
        self.queue.lock().service.park();
        let mut chunks = Vec::from(chunks);
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
        let messages = chunks.iter().map(Chunk::messages).sum();
        self.counters.announce(messages, chunks.iter().map(Chunk::waiting_bytes).sum());
        self.put_late(chunks, messages);
    }

    /// Puts chunks behind those that came so before, and before everything else. A message that was begun
    /// stays where it is.
    fn put_late(self: &Arc<Outlet>, mut chunks: Vec<Chunk>, messages: usize) {
        chunks.iter_mut().for_each(Chunk::comes);
        let mut queue = self.queue.lock();
        let at_hand: usize = queue.chunks.iter().map(Chunk::messages).sum();
        let mut before = queue.late.saturating_sub(queue.messages - at_hand);
        let mut at = 0;
        while let Some(chunk) = queue.chunks.get_mut(at) {
            let begun = at == 0 && !chunk.rest().is_empty();
            let keep = before.max(usize::from(begun));
            if keep == 0 {
                break;
            }
            if keep < chunk.messages() {
                let rest = chunk.split(keep);
                queue.chunks.insert(at + 1, rest);
            }
            before = before.saturating_sub(keep);
            at += 1;
        }
        queue.late += messages;
        queue.messages += messages;
        for (place, chunk) in chunks.into_iter().enumerate() {
            queue.chunks.insert(at + place, chunk);
        }
        drop(queue);
        self.pump();
    }

    /// The other process has no such destination: this one goes on after all.
    pub fn goes_on(&self) {
        self.sink.lock().may_begin(true);
        self.queue.lock().service.go_on();
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
