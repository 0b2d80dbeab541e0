//! The end of an outlet: its queue goes to a successor or is given up, at the end of a message wherever the peer lets it.

use super::{Outlet, Progress, Queue};
use crate::chunk::Chunk;
use crate::ledger::Reason;
use parking_lot::MutexGuard;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest wait for whoever is writing, and for a peer to take the rest of the message that it has the beginning of.
const RETIRE_MAX: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(1);

impl Outlet {
    /// Nothing is written until [`Outlet::release`]: a predecessor is still to hand over what came before.
    pub fn hold(&self) {
        self.queue.lock().held = true;
    }

    pub fn release(self: &Arc<Outlet>, spare: &mut Vec<Chunk>) {
        self.queue.lock().held = false;
        self.pump(spare);
    }

    /// Takes over what waits at the outlet of a predecessor, before what waits here already. It was held, so nothing was begun here.
    pub fn inherit(self: &Arc<Outlet>, from: &Outlet, spare: &mut Vec<Chunk>) {
        let chunks = from.retire(spare, false);
        let messages: usize = chunks.iter().map(Chunk::messages).sum();
        self.counters.waiting.add(messages);
        self.counters.accepted.add(messages);
        let mut queue = self.queue.lock();
        queue.messages += messages;
        for mut chunk in chunks.into_iter().rev() {
            chunk.rewind();
            queue.chunks.push_front(chunk);
        }
        drop(queue);
        self.pump(spare);
    }

    /// Writes what can be written and lets go of the rest, counted.
    pub fn close(self: &Arc<Outlet>, spare: &mut Vec<Chunk>) {
        {
            let mut queue = self.queue.lock();
            queue.not_before = None;
            queue.held = false;
        }
        self.pump(spare);
        let left: usize = self.retire(spare, true).iter().map(Chunk::messages).sum();
        self.counters.dropped.add(Reason::Abandoned, left);
        self.sink.lock().close();
        self.home.release(self.id);
    }

    /// Takes the whole queue away. A message that was begun is finished first, unless nothing has moved here for a while.
    fn retire(&self, spare: &mut Vec<Chunk>, closing: bool) -> VecDeque<Chunk> {
        let until = Instant::now() + RETIRE_MAX;
        let mut queue = self.queue.lock();
        while queue.busy && Instant::now() < until {
            drop(queue);
            std::thread::park_timeout(LOOK);
            queue = self.queue.lock();
        }
        // Otherwise somebody hangs in a write: what he has in hand he gives up himself, once the outlet is closed.
        let free = !queue.busy;
        let mut chunks = std::mem::take(&mut queue.chunks);
        let mut messages: usize = chunks.iter().map(Chunk::messages).sum();
        if free && !queue.stalled && chunks.front().is_some_and(|chunk| !chunk.rest().is_empty()) {
            queue.busy = true;
            drop(queue);
            self.finish(&mut chunks, spare, until);
            queue = self.queue.lock();
            queue.busy = false;
            // What came meanwhile.
            messages += queue.chunks.iter().map(Chunk::messages).sum::<usize>();
            chunks.append(&mut queue.chunks);
        }
        queue.closed |= closing;
        queue.messages -= messages;
        self.counters.waiting.sub(messages);
        chunks
    }

    fn finish(&self, chunks: &mut VecDeque<Chunk>, spare: &mut Vec<Chunk>, until: Instant) {
        let Some(chunk) = chunks.front_mut() else { return };
        let mut sink = self.sink.lock();
        let mut progress = Progress { counters: &self.counters, spare };
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
        let left: usize = queue.chunks.drain(..).map(|chunk| chunk.messages()).sum();
        queue.messages -= left;
        drop(queue);
        self.counters.waiting.sub(left);
        self.counters.dropped.add(Reason::Abandoned, left);
    }
}
