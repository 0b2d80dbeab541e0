//! The end of an outlet: its queue goes to a successor or is given up, at the end of a message wherever the peer lets it.

use super::{Outlet, Progress, Queue};
use crate::chunk::Chunk;
use crate::ledger::Reason;
use parking_lot::MutexGuard;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest wait for whoever is writing, and for a peer to take the rest of the message that it has the beginning of.
pub(super) const RETIRE_MAX: Duration = Duration::from_secs(1);
pub(super) const LOOK: Duration = Duration::from_millis(1);

impl Outlet {
    /// Writes what can be written and lets go of the rest, counted.
    pub fn close(self: &Arc<Outlet>, spare: &mut Vec<Chunk>) {
        {
            let mut queue = self.queue.lock();
            queue.not_before = None;
            queue.held = 0;
        }
        self.pump(spare);
        if self.is_on_disk() {
            return self.close_durable(spare);
        }
        let left: usize = self.retire(spare, true).iter().map(Chunk::messages).sum();
        self.counters.dropped.add(Reason::Abandoned, left);
        self.sink.lock().close();
        self.home.release(self.id);
    }

    /// The queue once nobody writes any more, or as it is when somebody still does then.
    pub(super) fn unattended(&self, until: Instant) -> MutexGuard<'_, Queue> {
        let mut queue = self.queue.lock();
        while queue.busy && Instant::now() < until {
            drop(queue);
            std::thread::park_timeout(LOOK);
            queue = self.queue.lock();
        }
        queue
    }

    /// Takes the whole queue away. A message that was begun is finished first, unless nothing has moved here for a while.
    pub(super) fn retire(&self, spare: &mut Vec<Chunk>, closing: bool) -> VecDeque<Chunk> {
        let until = Instant::now() + RETIRE_MAX;
        // Whoever still writes then hangs in it: what he has in hand he gives up himself, once the outlet is closed.
        let (mut queue, finished) = self.end_message(self.unattended(until), spare, until);
        let mut chunks = std::mem::take(&mut queue.chunks);
        let messages = finished + chunks.iter().map(Chunk::messages).sum::<usize>();
        chunks.iter_mut().for_each(Chunk::forget_numbers);
        queue.closed |= closing;
        queue.messages -= messages;
        self.counters.waiting.sub(messages);
        if let Some(spool) = &mut queue.spool {
            // Nothing of it is to be found on disk again.
            let bytes = std::mem::take(&mut spool.bytes);
            spool.finished(messages, bytes, 0);
        }
        chunks
    }

    /// Finishes a message that was begun, unless somebody writes, or nothing has moved here for a while. Returns how many messages are
    /// through by that, which the queue still counts.
    pub(super) fn end_message<'q>(
        &'q self,
        mut queue: MutexGuard<'q, Queue>,
        spare: &mut Vec<Chunk>,
        until: Instant,
    ) -> (MutexGuard<'q, Queue>, usize) {
        let begun = queue.chunks.front().is_some_and(|chunk| !chunk.rest().is_empty());
        if queue.busy || queue.stalled || !begun {
            return (queue, 0);
        }
        let mut chunks = std::mem::take(&mut queue.chunks);
        let before: usize = chunks.iter().map(Chunk::messages).sum();
        queue.busy = true;
        drop(queue);
        self.finish(&mut chunks, spare, until);
        let finished = before - chunks.iter().map(Chunk::messages).sum::<usize>();
        let mut queue = self.queue.lock();
        queue.busy = false;
        while let Some(chunk) = chunks.pop_back() {
            queue.chunks.push_front(chunk);
        }
        (queue, finished)
    }

    fn finish(&self, chunks: &mut VecDeque<Chunk>, spare: &mut Vec<Chunk>, until: Instant) {
        let Some(chunk) = chunks.front_mut() else { return };
        let mut sink = self.sink.lock();
        let mut progress = Progress { counters: &self.counters, spare, more: false, by_chunk: false };
        let finish = std::panic::AssertUnwindSafe(|| sink.finish(chunk, &mut progress, until));
        if std::panic::catch_unwind(finish).is_err() {
            return;
        }
        if chunk.is_empty()
            && let Some(chunk) = chunks.pop_front()
        {
            progress.finished(chunk);
        }
    }

    /// The outlet was closed while somebody wrote: what he did not get rid of is counted by him.
    pub(super) fn abandon(&self, mut queue: MutexGuard<'_, Queue>) {
        if queue.spool.is_some() {
            return self.store_late(queue);
        }
        let left: usize = queue.chunks.drain(..).map(|chunk| chunk.messages()).sum();
        queue.messages -= left;
        drop(queue);
        self.counters.waiting.sub(left);
        self.counters.dropped.add(Reason::Abandoned, left);
    }
}
