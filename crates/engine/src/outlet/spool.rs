//! What an outlet keeps on disk: which of its messages are there, which of those are in memory too, and how
//! far they are delivered.
//!
//! The messages of an outlet have one order. While it keeps up: those in memory and on disk, then those in
//! memory only. While it is behind: those in memory and on disk, then those on disk only, then those the disk
//! had no room for.

mod ahead;
mod behind;
mod detach;
mod disk;
mod followed;
mod lag;
mod loss;
mod memory;
mod room;
mod settling;
mod shelter;
mod span;
mod storing;

use crate::chunk::Chunk;
use crate::durable::{DiskBuffer, LogFolder};
use crate::ledger::Remains;
use crate::outlet::{Outlet, states::Flow};
use crate::window::{Ticket, Tickets};
use ahead::Ahead;
pub(super) use ahead::Wait;
use behind::Behind;
pub(super) use behind::{Plan, READ_BYTES};
use disk::{Disk, Purpose};
use followed::Followed;
pub(super) use lag::Clock;
#[cfg(test)]
pub(super) use lag::LAG_MAX;
use lag::Lag;
pub(super) use loss::Loss;
use loss::cut;
pub(super) use memory::Memory;
use span::{Finished, Span};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Weak};
use store::{Full, Queue};

pub(super) struct Spool {
    options: Arc<DiskBuffer>,
    name: Vec<u8>,
    place: Arc<LogFolder>,
    owner: Weak<Outlet>,
    disk: Disk,
    purpose: Purpose,
    /// Bytes of the messages in memory.
    pub bytes: usize,
    /// The messages at the front of the memory part that are on disk too, and how many those are.
    spans: VecDeque<Span>,
    stored: usize,
    /// What was on disk before, up to this number, has waited long enough: it does not wait for a batch to
    /// become full.
    waited_until: u64,
    /// Why the last message did not get onto the disk; `None` when it did.
    refused: Option<Full>,
    /// Tickets of messages that are on disk where room has become scarce, by the number after the last of
    /// them.
    reserved: VecDeque<(u64, Tickets)>,
    lag: Lag,
    /// Tickets of messages that are on disk, whose sources wait until there is room in memory again.
    held: Tickets,
    /// What the sink has finished and still answers for.
    finished: VecDeque<Finished>,
    finished_messages: usize,
    ahead: Ahead,
    /// What is in memory only is to go to disk as soon as nobody writes.
    pub spill: bool,
    /// There is room for everything.
    boundless: bool,
    /// Those of what is on disk that somebody follows.
    followed: Followed,
    /// Where the last of what has no room can be looked at.
    remains: Arc<Remains>,
}

impl Spool {
    /// `numbered`: see [`crate::outlet::Sink::is_numbered`].
    pub fn new(options: Arc<DiskBuffer>, name: Vec<u8>, place: Arc<LogFolder>, numbered: bool) -> Spool {
        Spool {
            options,
            name,
            place,
            owner: Weak::new(),
            disk: Disk::default(),
            purpose: Purpose::default(),
            bytes: 0,
            spans: VecDeque::new(),
            stored: 0,
            waited_until: 0,
            refused: None,
            reserved: VecDeque::new(),
            lag: Lag::default(),
            held: Tickets::default(),
            finished: VecDeque::new(),
            finished_messages: 0,
            ahead: Ahead::new(numbered),
            spill: false,
            boundless: false,
            followed: Followed::default(),
            remains: Arc::default(),
        }
    }

    /// What it drops can be looked at there.
    pub fn leaving(self, remains: &Arc<Remains>) -> Spool {
        Spool { remains: Arc::clone(remains), ..self }
    }

    /// For a queue that gets nothing more before [`Spool::take_all`].
    pub fn draining(self) -> Spool {
        Spool { purpose: Purpose::Draining, ..self }
    }

    /// For messages that will be found by another process.
    pub fn for_good(self) -> Spool {
        Spool { purpose: Purpose::HandingOver, ..self }
    }

    /// From now on everything may go there.
    pub fn take_all(&mut self) {
        if self.is_draining() {
            self.purpose = Purpose::HandingOver;
        }
    }

    pub fn name(&self) -> &[u8] {
        &self.name
    }

    pub fn place(&self) -> &Arc<LogFolder> {
        &self.place
    }

    pub fn queue(&self) -> Option<&Queue> {
        self.disk.queue().map(Arc::as_ref)
    }

    pub fn capacity_bytes(&self) -> u64 {
        self.options.capacity_bytes
    }

    pub fn is_attached(&self) -> bool {
        self.disk.is_attached()
    }

    pub fn is_draining(&self) -> bool {
        self.purpose == Purpose::Draining
    }

    pub fn is_behind(&self) -> bool {
        self.disk.is_behind()
    }

    /// Messages that are not in memory, or wait behind those that are not.
    pub fn waiting(&self) -> usize {
        self.disk.behind().map_or(0, Behind::waiting)
    }

    /// Messages in memory only.
    fn direct(&self, memory: &Memory<'_>) -> usize {
        memory.messages.saturating_sub(self.stored)
    }

    /// Takes the queue. What it holds comes before what came here meanwhile. Returns the messages that were
    /// found.
    pub fn attach(&mut self, queue: Queue, owner: Weak<Outlet>, memory: &mut Memory<'_>) -> (usize, Loss) {
        Spool::wait_for(&queue, Weak::clone(&owner));
        self.owner = owner;
        let waiting = queue.waiting();
        let found = waiting.messages as usize;
        let mut loss = Loss::default();
        let behind = (found > 0).then(|| Behind::new(queue.first_waiting(), found, waiting.bytes as usize));
        self.waited_until = queue.end();
        self.disk = Disk::KeepingUp(Arc::new(queue));
        if let Some(behind) = behind {
            self.disk.fall_behind(behind);
        }
        memory.chunks.iter_mut().for_each(Chunk::seal);
        self.bytes = memory.chunks.iter().map(Chunk::waiting_bytes).sum();
        if found > 0 {
            *memory.messages = 0;
            self.bytes = 0;
            for chunk in std::mem::take(memory.chunks) {
                loss.add(self.push_behind(chunk, memory.flow).0);
            }
        } else if self.options.reliable {
            loss.add(self.spill(memory));
        }
        (found, loss)
    }

    /// The time that it measures the destination with.
    pub fn clock(&self) -> Clock {
        self.lag.clock.clone()
    }

    /// Takes a chunk at the end of the queue. The one that comes back was put on disk, and its buffer is
    /// free.
    pub fn push(&mut self, memory: &mut Memory<'_>, mut chunk: Chunk) -> (Loss, Option<Chunk>) {
        if self.is_behind() {
            return self.push_behind(chunk, memory.flow);
        }
        let now = self.lag.clock.now();
        self.lag.came(*memory.messages + chunk.messages(), now);
        let full = self.is_full(*memory.messages);
        let mut loss = Loss::default();
        if self.is_attached()
            && (self.options.reliable || memory.flow.is_stalled() || full || self.lag.is_long(now))
        {
            if self.direct(memory) > 0 && !memory.attendance.is_busy() {
                loss.add(self.spill(memory));
            }
            if self.direct(memory) > 0 && memory.attendance.is_busy() {
                // What comes before it is in the hands of whoever writes.
                self.spill = true;
                self.keep(memory, chunk);
                return (loss, None);
            }
            if self.direct(memory) == 0 && self.shelter(memory) {
                let mut held = if full { self.to_hold(memory, &chunk, now) } else { Tickets::default() };
                match self.store(&mut chunk) {
                    Ok((seqs, lost)) => {
                        loss.add(lost);
                        if full && held.is_empty() {
                            self.held.settle();
                            let (messages, bytes) = (chunk.messages(), chunk.waiting_bytes());
                            self.disk.fall_behind(Behind::new(seqs.start, messages, bytes));
                            return (loss, Some(chunk));
                        }
                        self.held.append(held);
                        self.add_span(seqs, &chunk);
                        self.keep(memory, chunk);
                        return (loss, None);
                    }
                    Err(lost) => {
                        // The chunk has tickets of its own still.
                        held.settle();
                        loss.add(lost);
                    }
                }
                if let Some(rest) = self.take_off_what_does_not_fit(&mut chunk) {
                    let (lost, free) = self.push(memory, chunk);
                    loss.add(lost);
                    loss.add(self.push(memory, rest).0);
                    return (loss, free);
                }
            }
            let before = self.direct(memory);
            loss.add(self.cut(&mut chunk, memory.flow, before));
        }
        if self.is_attached() && !full {
            // Whoever cannot wait is not held back while there is room: what is not read now is lost.
            chunk.tickets.settle_unless(Ticket::can_wait);
        }
        self.keep(memory, chunk);
        (loss, None)
    }

    fn keep(&mut self, memory: &mut Memory<'_>, mut chunk: Chunk) {
        if chunk.is_empty() {
            chunk.tickets.settle();
            return;
        }
        self.bytes += chunk.waiting_bytes();
        *memory.messages += chunk.messages();
        memory.chunks.push_back(chunk);
    }

    fn add_span(&mut self, seqs: Range<u64>, chunk: &Chunk) {
        self.stored += chunk.messages();
        self.spans.push_back(Span::new(seqs, chunk.messages(), chunk.waiting_bytes()));
    }

    /// What is in memory only goes to disk too, as far as there is room. Only while nobody writes.
    pub fn spill(&mut self, memory: &mut Memory<'_>) -> Loss {
        self.spill = false;
        let mut loss = Loss::default();
        let keeps_up = matches!(self.disk, Disk::KeepingUp(_));
        if !keeps_up || self.direct(memory) == 0 || !self.shelter(memory) {
            return loss;
        }
        for chunk in memory_only(memory.chunks, self.stored) {
            let (stored, lost) = match self.store(chunk) {
                Ok((seqs, lost)) => {
                    self.add_span(seqs, chunk);
                    (true, lost)
                }
                Err(lost) => (false, lost),
            };
            *memory.messages -= lost.too_large;
            loss.add(lost);
            if !stored {
                break;
            }
        }
        if loss.total() > 0 {
            self.recount(memory);
        }
        loss
    }

    /// Nothing moves any more: what is in memory goes to disk, and sources without flow-control are not held
    /// back. Only while nobody writes.
    pub fn stall(&mut self, memory: &mut Memory<'_>) -> Loss {
        self.held.settle();
        // Also where nothing waits behind what the peer has not got.
        self.shelter(memory);
        let mut loss = self.spill(memory);
        if self.refused == Some(Full::Busy) {
            return loss;
        }
        let mut kept = 0;
        for chunk in memory_only(memory.chunks, self.stored) {
            let cut = cut(&self.options, &self.remains, chunk, kept);
            *memory.messages -= cut;
            loss.full += cut;
            kept += chunk.messages();
        }
        if loss.full > 0 {
            self.recount(memory);
        }
        if let Some(behind) = self.disk.behind_mut() {
            loss.full += behind.cut_tail(&self.options, &self.remains);
        }
        loss
    }

    /// Messages were cut off from chunks in memory.
    fn recount(&mut self, memory: &mut Memory<'_>) {
        memory.chunks.retain_mut(|chunk| !chunk.settle_empty());
        self.bytes = memory.chunks.iter().map(Chunk::waiting_bytes).sum();
    }

    /// A chunk there is no room for on disk, with `before` messages of its kind.
    fn cut(&self, chunk: &mut Chunk, flow: Flow, before: usize) -> Loss {
        // What is only waiting for the disk to come round is kept, and holds its source back.
        if !flow.is_stalled() || self.refused == Some(Full::Busy) {
            return Loss::default();
        }
        Loss::full(cut(&self.options, &self.remains, chunk, before))
    }

    /// Asks the keeper to come when there is something for it to do; once until it has come.
    pub fn ask_keeper(&mut self, messages: usize) {
        if self.is_half_empty(messages)
            && let Some(behind) = self.disk.behind_mut()
            && behind.ask()
        {
            self.place.keeper.ask(self.owner.clone());
        }
    }

    /// Messages at the front of the memory part that are on disk too.
    pub fn stored(&self) -> usize {
        self.stored
    }
}

/// The chunks behind the first `stored` messages, which are on disk too.
fn memory_only(chunks: &mut VecDeque<Chunk>, mut stored: usize) -> impl Iterator<Item = &mut Chunk> {
    chunks.iter_mut().filter(move |chunk| {
        let rest = stored.checked_sub(chunk.messages());
        stored = rest.unwrap_or(stored);
        rest.is_none()
    })
}
