//! Messages on their way to the disk: their tickets, and what becomes of those there is no room for.

use super::{Loss, Memory, Purpose, Spool};
use crate::chunk::Chunk;
use crate::durable::{DiskBuffer, Stored};
use crate::ledger::Remains;
use crate::window::Tickets;
use std::ops::Range;
use store::{Full, Safe};

impl Spool {
    /// From now on there is room for everything.
    pub fn lift_capacity(&mut self) -> std::io::Result<()> {
        self.boundless = true;
        if self.is_attached() {
            self.place.log.queue(&self.name, DiskBuffer::BOUNDLESS, Box::new(|| ()))?;
        }
        Ok(())
    }

    /// Everything goes to disk for which there is room. Only while nobody writes. Where [`Spool::spill`] is
    /// set then, the sink was in use: to be called again.
    pub fn store_all(&mut self, memory: &mut Memory<'_>) -> Loss {
        self.spill = false;
        if self.is_attached() && !self.shelter(memory) {
            return Loss::default();
        }
        let mut loss = self.spill(memory);
        loss.add(self.store_tail(memory.flow));
        loss
    }

    /// Puts the messages of a chunk on disk; its tickets go back once they are as safe as was promised.
    /// Returns their numbers. The error says what can never be stored; the rest of it is still in the chunk.
    pub(super) fn store(&mut self, chunk: &mut Chunk) -> Result<(Range<u64>, Loss), Loss> {
        let Some(queue) = self.disk.queue() else { return Err(Loss::default()) };
        if self.purpose == Purpose::Draining {
            self.refused = Some(Full::Closed);
            return Err(Loss::default());
        }
        let safe = if self.options.reliable || self.purpose != Purpose::Serving {
            Safe::Synced
        } else {
            Safe::Written
        };
        let mut loss = Loss::default();
        loop {
            let tickets = std::mem::take(&mut chunk.tickets);
            let scarce = self.options.reserve_bytes > 0 && self.is_scarce(chunk.waiting_bytes() as u64);
            let mut reserved = if scarce { tickets.another() } else { Tickets::default() };
            let held = Box::new(Stored::new(tickets, chunk.messages(), &self.place, self.options.reliable));
            let outcome = match chunk.done() {
                0 if chunk.tail() == 0 => {
                    queue.append_from(&chunk.bytes, &chunk.ends, chunk.lots(), safe, held)
                }
                done => {
                    let rest = chunk.copy(done, chunk.ends.len());
                    queue.append(&rest.bytes, &rest.ends, safe, held)
                }
            };
            match outcome {
                Ok(seqs) => {
                    self.refused = None;
                    chunk.number(seqs.clone());
                    self.followed.note(chunk);
                    if !reserved.is_empty() {
                        self.reserved.push_back((seqs.end, reserved));
                    }
                    return Ok((seqs, loss));
                }
                Err((why, held)) => {
                    // The chunk has them still.
                    reserved.settle();
                    chunk.tickets = Stored::tickets_of(held);
                    if why == Full::TooLarge && loss.too_large == 0 {
                        loss.too_large = leave_out_large(chunk, &self.remains);
                        if loss.too_large > 0 {
                            continue;
                        }
                    }
                    self.refused = Some(why);
                    return Err(loss);
                }
            }
        }
    }

    /// Why what came last did not get onto the disk, in words.
    pub fn refused(&self) -> Option<&'static str> {
        self.refused.map(|why| match why {
            Full::Capacity => "its disk-buffer() is full",
            Full::Disk => "the disk takes nothing",
            Full::Busy => "the disk is too slow",
            Full::TooLarge => "a message is too large for the disk",
            Full::Closed => "the log on disk is closed",
        })
    }

    /// After a chunk had no room: the first of its messages may have. Returns the others.
    pub(super) fn take_off_what_does_not_fit(&self, chunk: &mut Chunk) -> Option<Chunk> {
        let queue = self.queue().filter(|_| self.refused == Some(Full::Capacity))?;
        let mut room = self.options.capacity_bytes.saturating_sub(queue.waiting().bytes);
        let mut fit = 0;
        for message in chunk.iter() {
            room = match room.checked_sub(message.len() as u64) {
                Some(room) => room,
                None => break,
            };
            fit += 1;
        }
        (fit > 0 && fit < chunk.messages()).then(|| chunk.split(fit))
    }

    /// Whether with `more` bytes less than the reserve is left of the capacity.
    pub(super) fn is_scarce(&self, more: u64) -> bool {
        let waiting = self.queue().map_or(0, |queue| queue.waiting().bytes);
        waiting.saturating_add(more).saturating_add(self.options.reserve_bytes) > self.options.capacity_bytes
    }
}

/// Why a message is refused that cannot be stored.
const TOO_LARGE: &str = "too large for disk-buffer()";

/// Takes messages out that cannot be stored; returns how many.
fn leave_out_large(chunk: &mut Chunk, remains: &Remains) -> usize {
    let is_large = |message: &&[u8]| message.len() > store::MESSAGE_BYTES_MAX;
    chunk.iter().filter(is_large).for_each(|message| remains.refused(TOO_LARGE, message));

    let mut rest = Chunk::read_back(Vec::new(), Vec::new(), chunk.write_max, None);
    for message in chunk.iter().filter(|message| message.len() <= store::MESSAGE_BYTES_MAX) {
        rest.bytes.extend_from_slice(message);
        rest.ends.push(rest.bytes.len() as u32);
    }
    let left_out = chunk.messages() - rest.messages();
    if left_out > 0 {
        rest.tickets = std::mem::take(&mut chunk.tickets);
        rest.flow_control = chunk.flow_control;
        *chunk = rest;
    }
    left_out
}
