//! A worker's output under way: one buffer per outlet, filled batch after batch and handed over in large
//! pieces.

use crate::chunk::{Chunk, Home};
use crate::driver::Destination;
use crate::durable::together;
use crate::ledger::DestinationCounters;
use crate::outlet::Outlet;
use crate::program::Ordered;
use crate::receipt::Receipt;
use crate::window::Ticket;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A buffer this full is written at once, while it is warm in the cache.
const FLUSH_BYTES: usize = 64 * 1024;

/// Output waits at most this long for more to come, and only while the worker is busy.
const FLUSH_AFTER: Duration = Duration::from_millis(5);

struct Buffer {
    outlet: Arc<Outlet>,
    chunk: Chunk,
    /// Length of `bytes` and `ends` before the batch in work added to them.
    before: Option<(usize, usize)>,
}

impl Buffer {
    /// What the batch in work has left here waits at the outlet from now on. `false` when it has left
    /// nothing.
    fn end_batch(&mut self, ticket: &Ticket, announced: &mut Announced) -> bool {
        let Some((bytes, ends)) = self.before.take() else { return false };
        let messages = self.chunk.ends.len() - ends;
        let bytes = self.chunk.bytes.len() - bytes - messages * self.chunk.tail();
        announced.add(&self.outlet.counters, messages, bytes);
        if let Some(origin) = ticket.origin() {
            // What repeats is taken back, so it has to be counted by then.
            announced.count();
            self.outlet.note_origin(&mut self.chunk, ends, origin);
        }
        // Nothing, or nothing that may be written: then nobody here will say what became of the batch.
        let has_left = self.chunk.ends.len() > ends;
        if has_left {
            self.chunk.tickets.push(ticket.another());
        }
        has_left
    }

    fn is_full(&self) -> bool {
        self.chunk.bytes.len() >= FLUSH_BYTES
    }
}

/// What a batch has left for one destination, which may have an outlet for each of a hundred files: counted
/// together.
#[derive(Default)]
struct Announced {
    counters: Option<Arc<DestinationCounters>>,
    messages: usize,
    bytes: usize,
}

impl Announced {
    fn add(&mut self, counters: &Arc<DestinationCounters>, messages: usize, bytes: usize) {
        if !self.counters.as_ref().is_some_and(|same| Arc::ptr_eq(same, counters)) {
            self.count();
            self.counters = Some(Arc::clone(counters));
        }
        self.messages += messages;
        self.bytes += bytes;
    }

    fn count(&mut self) {
        if let Some(counters) = self.counters.take() {
            counters.announce(std::mem::take(&mut self.messages), std::mem::take(&mut self.bytes));
        }
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        self.count();
    }
}

/// Finished output of one batch, for a lane that orders batches.
pub type Parcels = Vec<(Arc<Outlet>, Chunk)>;

#[derive(Default)]
pub struct Outbox {
    buffers: Vec<Buffer>,
    /// Index in `buffers` by outlet id; `u32::MAX` when there is none.
    places: Vec<u32>,
    home: Home,
    /// Where something was left that is better written together with what follows.
    left: Vec<Arc<Outlet>>,
    /// Given a buffer just now, and not yet asked to write.
    handed: Vec<Arc<Outlet>>,
    /// When the first buffer that is there was begun.
    since: Option<Instant>,
    /// Set by the path in work: what it delivers is flow-controlled.
    pub flow_control: bool,
    /// Set by the batch in work: its messages are those of `internal()`.
    pub own: bool,
    /// The destinations that get something; with none, all do.
    pub(crate) only: Vec<Arc<DestinationCounters>>,
}

impl Outbox {
    /// Whether nothing is for this destination.
    #[inline]
    pub(crate) fn is_closed_to(&self, destination: &dyn Destination) -> bool {
        !self.only.is_empty() && !self.only.iter().any(|only| Arc::ptr_eq(only, destination.counters()))
    }

    /// Of each of these, whether nothing is for it; empty if something is for all.
    pub(crate) fn closes(&self, ordered: &[Ordered]) -> Vec<bool> {
        match self.only.is_empty() {
            true => Vec::new(),
            false => ordered.iter().map(|one| self.is_closed_to(&*one.destination)).collect(),
        }
    }

    /// The buffer for an outlet: append to `bytes` and push each message's end to `ends`.
    pub fn buffer(&mut self, outlet: &Arc<Outlet>) -> &mut Chunk {
        let id = outlet.id as usize;
        if self.places.len() <= id {
            self.places.resize(id + 1, u32::MAX);
        }
        if self.places[id] == u32::MAX {
            self.since.get_or_insert_with(Instant::now);
            self.places[id] = self.buffers.len() as u32;
            let chunk = self.home.chunk();
            self.buffers.push(Buffer { outlet: Arc::clone(outlet), chunk, before: None });
        }
        let buffer = &mut self.buffers[self.places[id] as usize];
        let chunk = &buffer.chunk;
        buffer.before.get_or_insert((chunk.bytes.len(), chunk.ends.len()));
        buffer.chunk.flow_control |= self.flow_control;
        if self.own {
            buffer.outlet.gets_own();
        }
        &mut buffer.chunk
    }

    /// Messages in each buffer, to see what is added from now on: [`Outbox::each_since`].
    pub(crate) fn lengths(&self) -> Vec<usize> {
        self.buffers.iter().map(|buffer| buffer.chunk.ends.len()).collect()
    }

    /// Calls `f` with each message that was added since, and the name of its outlet. The receipt that it
    /// gives goes with the message.
    pub(crate) fn each_since(&mut self, before: &[usize], mut f: impl FnMut(&str, &[u8]) -> Option<Receipt>) {
        for (at, buffer) in self.buffers.iter_mut().enumerate() {
            for place in before.get(at).copied().unwrap_or(0)..buffer.chunk.ends.len() {
                let message = buffer.chunk.messages_between(place, place + 1).next().unwrap_or_default();
                let receipt = f(&buffer.outlet.name, buffer.outlet.shown(message));
                receipt.into_iter().for_each(|receipt| buffer.chunk.follow(place, receipt));
            }
        }
    }

    /// A batch is through: its ticket is shared by what it left here, and full buffers are written.
    pub fn end_batch(&mut self, ticket: &Ticket) {
        let (mut full, mut announced) = (false, Announced::default());
        for buffer in &mut self.buffers {
            full |= buffer.end_batch(ticket, &mut announced) && buffer.is_full();
        }
        announced.count();
        if !full {
            return;
        }
        let full = self.buffers.iter().filter(|buffer| buffer.is_full());
        let together = together(full.map(|buffer| &buffer.outlet));
        for at in (0..self.buffers.len()).rev() {
            if self.buffers[at].is_full() {
                self.flush_at(at);
            }
        }
        drop(together);
        // Outlets that get the same have it before any of them writes: what they keep on disk is then stored
        // once.
        let mut handed = std::mem::take(&mut self.handed);
        for outlet in handed.drain(..) {
            if outlet.pump_most() && !self.left.iter().any(|o| Arc::ptr_eq(o, &outlet)) {
                self.left.push(outlet);
            }
        }
        self.handed = handed;
    }

    /// A batch of an ordered lane is through: takes everything out. Only for outboxes that hold one batch at
    /// a time.
    pub fn take(&mut self, ticket: &Ticket) -> Parcels {
        self.since = None;
        let mut parcels = Parcels::with_capacity(self.buffers.len());
        let mut announced = Announced::default();
        for mut buffer in self.buffers.drain(..) {
            self.places[buffer.outlet.id as usize] = u32::MAX;
            if buffer.chunk.is_empty() {
                buffer.chunk.go_home();
                continue;
            }
            match buffer.end_batch(ticket, &mut announced) {
                true => parcels.push((buffer.outlet, buffer.chunk)),
                false => buffer.chunk.go_home(),
            }
        }
        parcels
    }

    pub fn is_empty(&self) -> bool {
        self.buffers.is_empty() && self.left.is_empty()
    }

    /// Whether the oldest output has waited long enough.
    pub fn is_old(&self) -> bool {
        self.since.is_some_and(|since| since.elapsed() >= FLUSH_AFTER)
    }

    /// Hands everything over: before a worker sleeps, when the output is old, and before a lane starts to
    /// share its batches.
    pub fn flush(&mut self) {
        self.since = None;
        let mut buffers = std::mem::take(&mut self.buffers);
        // In the order in which they were begun: files are opened in the order of their first messages.
        let together = together(buffers.iter().map(|buffer| &buffer.outlet));
        for buffer in buffers.drain(..) {
            self.push(buffer);
        }
        drop(together);
        self.buffers = buffers;
        for outlet in self.handed.drain(..) {
            outlet.pump();
        }
        for outlet in self.left.drain(..) {
            outlet.pump();
        }
    }

    fn flush_at(&mut self, at: usize) {
        let buffer = self.buffers.swap_remove(at);
        if let Some(moved) = self.buffers.get(at) {
            self.places[moved.outlet.id as usize] = at as u32;
        }
        self.push(buffer);
    }

    fn push(&mut self, buffer: Buffer) {
        self.places[buffer.outlet.id as usize] = u32::MAX;
        if buffer.chunk.is_empty() {
            buffer.chunk.go_home();
            return;
        }
        buffer.outlet.push(buffer.chunk);
        self.handed.push(buffer.outlet);
    }

    /// Takes back what the batch in work left: it panicked half way.
    pub fn roll_back(&mut self) {
        for buffer in &mut self.buffers {
            if let Some((bytes, ends)) = buffer.before.take() {
                buffer.chunk.bytes.truncate(bytes);
                buffer.chunk.ends.truncate(ends);
            }
        }
    }
}
