//! The end of an outlet: what is left of its queue goes to whoever ends it, at the end of a message wherever
//! the peer lets it.

use super::states::Service;
use super::{Outlet, Progress, Queue};
use crate::chunk::Chunk;
use crate::ledger::Reason;
use parking_lot::MutexGuard;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The longest wait for whoever is writing, and for a peer to take the rest of the message that it has the
/// beginning of.
pub(super) const RETIRE_MAX: Duration = Duration::from_secs(1);
pub(super) const LOOK: Duration = Duration::from_millis(1);

impl Outlet {
    /// Ends the outlet and gives up what is left.
    pub fn close(self: &Arc<Outlet>) {
        let left = self.end();
        self.abandon(left);
    }

    /// Writes what can be written and ends the outlet. With a queue on disk everything stays there that finds
    /// room. What is left comes back, in order, with its tickets: it counts as waiting here until the caller
    /// has said what becomes of it. Of an outlet that was ended before, that is nothing.
    pub fn end(self: &Arc<Outlet>) -> VecDeque<Chunk> {
        {
            let mut queue = self.queue.lock();
            if queue.service.is_closed() {
                return VecDeque::new();
            }
            queue.not_before = None;
            queue.held = 0;
        }
        self.pump();
        self.wait_for_last();
        let chunks = match self.is_on_disk() {
            true => self.end_on_disk(),
            false => {
                let mut chunks = self.retire(true);
                self.sink.lock().close(&mut chunks);
                chunks
            }
        };
        self.home.release(self.id);
        chunks
    }

    /// From now on nothing new is begun here, and what is on the way is heard out.
    pub(crate) fn leave(&self) {
        if let Some(mut sink) = self.sink.try_lock_for(RETIRE_MAX) {
            sink.may_begin(false);
        }
    }

    /// Whether a wait for what is on the way has a point.
    pub(crate) fn is_under_way(&self) -> bool {
        self.is_moving() && self.sink.try_lock().is_none_or(|sink| sink.is_under_way())
    }

    /// Whether its sink was closed for good: it would open again if it heard of anything.
    pub(super) fn is_over(&self) -> bool {
        self.queue.lock().service != Service::Open
    }

    /// Messages in memory that came over paths with flow-control.
    pub fn guarded(&self) -> usize {
        let sent = self.sink.try_lock().map_or(0, |sink| sink.guarded());
        let queue = self.queue.lock();
        sent + queue.chunks.iter().filter(|chunk| chunk.flow_control).map(Chunk::messages).sum::<usize>()
    }

    /// Messages that [`Outlet::end`] gave back are lost here: counted, said, and to be brought again by their
    /// sources where these can.
    pub fn abandon(&self, mut chunks: VecDeque<Chunk>) {
        let messages: usize = chunks.iter().map(Chunk::messages).sum();
        let oldest = chunks.iter().filter_map(Chunk::came).min();
        let texts = chunks.iter().flat_map(Chunk::iter);
        self.counters.remains.keep_all(Reason::Abandoned, messages, texts);
        chunks.iter_mut().for_each(|chunk| chunk.tickets.give_up());
        self.give_up(messages, oldest);
    }

    /// So many messages are lost here, of which the oldest came then.
    pub(super) fn give_up(&self, messages: usize, oldest: Option<Instant>) {
        if messages == 0 {
            return;
        }
        self.counters.waiting.sub(messages);
        self.counters.dropped.add(Reason::Abandoned, messages);
        let mut why = self.counters.given_up.add(messages, oldest);
        if why.is_empty() {
            "its destination ended".clone_into(&mut why);
        }
        let age = oldest.map_or_else(|| "unknown".to_owned(), |came| came.elapsed().as_secs().to_string());
        oplog::error(
            "Messages that wait for a destination are given up with it",
            &[("location", &self.name), ("messages", &messages), ("oldest_seconds", &age), ("reason", &why)],
        );
    }

    /// Announced messages for an outlet that has ended.
    pub(super) fn came_too_late(&self, chunk: Chunk) {
        self.abandon(VecDeque::from([chunk]));
    }

    /// The queue once nobody writes any more, or as it is when somebody still does then.
    pub(super) fn unattended(&self, until: Instant) -> MutexGuard<'_, Queue> {
        let mut queue = self.queue.lock();
        while queue.attendance.is_busy() && Instant::now() < until {
            drop(queue);
            std::thread::park_timeout(LOOK);
            queue = self.queue.lock();
        }
        queue
    }

    /// Takes the whole queue away, which counts as waiting here still. A message that was begun is finished
    /// first, unless nothing has moved here for a while.
    pub(super) fn retire(&self, closing: bool) -> VecDeque<Chunk> {
        let until = Instant::now() + RETIRE_MAX;
        // Whoever still writes then hangs in it: what he has in hand he gives up himself, once the outlet is
        // closed.
        let (mut queue, finished) = self.end_message(self.unattended(until), until);
        let mut chunks = std::mem::take(&mut queue.chunks);
        let messages = finished + chunks.iter().map(Chunk::messages).sum::<usize>();
        chunks.iter_mut().for_each(Chunk::forget_numbers);
        if closing {
            queue.service = Service::Closed;
        }
        queue.messages -= messages;
        queue.late = 0;
        self.counters.waiting.sub(finished);
        if let Some(spool) = &mut queue.spool {
            // Nothing of it is to be found on disk again.
            let bytes = std::mem::take(&mut spool.bytes);
            spool.finished(messages, bytes, 0);
        }
        chunks
    }

    /// Finishes a message that was begun, unless somebody writes, or nothing has moved here for a while.
    /// Returns how many messages are through by that, which the queue still counts.
    pub(super) fn end_message<'q>(
        &'q self,
        mut queue: MutexGuard<'q, Queue>,
        until: Instant,
    ) -> (MutexGuard<'q, Queue>, usize) {
        let begun = queue.chunks.front().is_some_and(|chunk| !chunk.rest().is_empty());
        if queue.attendance.is_busy() || queue.flow.is_stalled() || !begun {
            return (queue, 0);
        }
        let mut chunks = std::mem::take(&mut queue.chunks);
        let before: usize = chunks.iter().map(Chunk::messages).sum();
        queue.attendance.begin();
        drop(queue);
        self.finish(&mut chunks, until);
        let finished = before - chunks.iter().map(Chunk::messages).sum::<usize>();
        let mut queue = self.queue.lock();
        queue.attendance.end();
        while let Some(chunk) = chunks.pop_back() {
            queue.chunks.push_front(chunk);
        }
        (queue, finished)
    }

    fn finish(&self, chunks: &mut VecDeque<Chunk>, until: Instant) {
        let Some(chunk) = chunks.front_mut() else { return };
        let mut sink = self.sink.lock();
        let mut progress = Progress::new(&self.counters);
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

    /// The outlet ended while somebody wrote: what he did not get rid of, as far as it is not on disk, is his
    /// to give up.
    pub(super) fn abandon_late(&self, mut queue: MutexGuard<'_, Queue>, done: usize) {
        if queue.spool.as_ref().is_some_and(|spool| spool.is_attached()) {
            // Whoever ends the outlet waits for them, and takes them himself.
            return;
        }
        let mut on_disk = queue.left_on_disk.saturating_sub(done);
        let mut chunks = std::mem::take(&mut queue.chunks);
        queue.messages = 0;
        drop(queue);
        while on_disk > 0
            && let Some(mut chunk) = chunks.pop_front()
        {
            on_disk = on_disk.saturating_sub(chunk.messages());
            chunk.tickets.settle();
        }
        self.abandon(chunks);
    }
}
