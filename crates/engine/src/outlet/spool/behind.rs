//! An outlet that is behind: some of its messages are on disk only, and are read back as it gets on.
//!
//! To catch up while more comes in, the last stretch of the disk is read while new messages are kept beside:
//! once everything before the first of those has been read, they follow it in memory.

use super::span::Span;
use super::{Disk, Loss, Memory, Spool, cut};
use crate::chunk::Chunk;
use crate::durable::DiskBuffer;
use crate::ledger::{Reason, Remains};
use crate::outlet::states::Flow;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use store::{Full, Queue, Read};

/// Bytes of one read.
pub(in crate::outlet) const READ_BYTES: usize = 256 << 10;
/// What cannot be read is tried again after this, and after twice as long each time, up to the other.
const READ_PAUSE: Duration = Duration::from_millis(100);
const READ_PAUSE_MAX: Duration = Duration::from_secs(5);
/// With so little on disk only, what comes is kept beside.
const JOIN_BYTES: usize = 4 << 20;
/// More is not kept beside: reading was too slow.
const JOINED_BYTES_MAX: usize = 16 << 20;

/// New messages beside those that are still to be read. They are on disk too.
struct Joined {
    /// The number of the first of them, or an earlier one behind all that came before.
    from: u64,
    chunks: VecDeque<Chunk>,
    spans: VecDeque<Span>,
    messages: usize,
    bytes: usize,
}

pub(super) struct Behind {
    /// What is to be read next.
    next: u64,
    /// On disk and not in the memory part.
    messages: usize,
    bytes: usize,
    joined: Option<Joined>,
    /// The disk had no room for these.
    tail: VecDeque<Chunk>,
    tail_messages: usize,
    /// The keeper was asked to come and read.
    asked: bool,
    /// So often in a row the disk could not be read.
    read_errors: u32,
}

/// What the keeper is to do for an outlet.
pub(in crate::outlet) enum Plan {
    Nothing,
    /// The one handle: it remembers where the last read ended.
    Read {
        queue: Arc<Queue>,
        from: u64,
    },
}

impl Behind {
    pub fn new(next: u64, messages: usize, bytes: usize) -> Behind {
        Behind {
            next,
            messages,
            bytes,
            joined: None,
            tail: VecDeque::new(),
            tail_messages: 0,
            asked: false,
            read_errors: 0,
        }
    }

    /// What is to be read next.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Whether the keeper is to be asked to come, which is so once until it has come.
    pub fn ask(&mut self) -> bool {
        !std::mem::replace(&mut self.asked, true)
    }

    pub fn waiting(&self) -> usize {
        self.messages + self.tail_messages
    }

    /// What is in memory only.
    pub fn into_tail(self) -> VecDeque<Chunk> {
        self.tail
    }

    pub fn stored(&mut self, messages: usize, bytes: usize) {
        self.messages += messages;
        self.bytes += bytes;
    }

    pub fn cut_tail(&mut self, options: &DiskBuffer, remains: &Remains) -> usize {
        let mut lost = 0;
        let mut kept = 0;
        for chunk in &mut self.tail {
            lost += cut(options, remains, chunk, kept);
            kept += chunk.messages();
        }
        self.tail.retain_mut(|chunk| !chunk.settle_empty());
        self.tail_messages -= lost;
        lost
    }

    /// Keeps a chunk that was stored beside those that are read, or gives its buffer back.
    fn join(&mut self, seqs: Range<u64>, chunk: Chunk) -> Option<Chunk> {
        let Some(joined) = &mut self.joined else { return Some(chunk) };
        if joined.bytes >= JOINED_BYTES_MAX {
            self.joined = None;
            return Some(chunk);
        }
        joined.spans.push_back(Span::new(seqs, chunk.messages(), chunk.waiting_bytes()));
        joined.messages += chunk.messages();
        joined.bytes += chunk.waiting_bytes();
        joined.chunks.push_back(chunk);
        None
    }
}

impl Spool {
    /// Takes a chunk while the outlet is behind.
    pub(super) fn push_behind(&mut self, mut chunk: Chunk, flow: Flow) -> (Loss, Option<Chunk>) {
        let mut loss = Loss::default();
        let has_tail = self.disk.behind().is_some_and(|behind| !behind.tail.is_empty());
        if !has_tail {
            match self.store(&mut chunk) {
                Ok((seqs, lost)) => {
                    loss.add(lost);
                    let Some(behind) = self.disk.behind_mut() else { return (loss, None) };
                    behind.stored(chunk.messages(), chunk.waiting_bytes());
                    return (loss, behind.join(seqs, chunk));
                }
                Err(lost) => loss.add(lost),
            }
            if let Some(rest) = self.take_off_what_does_not_fit(&mut chunk) {
                let (lost, free) = self.push_behind(chunk, flow);
                loss.add(lost);
                loss.add(self.push_behind(rest, flow).0);
                return (loss, free);
            }
        }
        let before = self.disk.behind().map_or(0, |behind| behind.tail_messages);
        loss.add(self.cut(&mut chunk, flow, before));
        if !chunk.settle_empty()
            && let Some(behind) = self.disk.behind_mut()
        {
            behind.tail_messages += chunk.messages();
            behind.tail.push_back(chunk);
        }
        (loss, None)
    }

    /// Puts on disk what had no room before.
    pub fn store_tail(&mut self, flow: Flow) -> Loss {
        let mut loss = Loss::default();
        while let Some(mut chunk) = self.disk.behind_mut().and_then(|behind| behind.tail.pop_front()) {
            let messages = chunk.messages();
            let outcome = self.store(&mut chunk);
            let Some(behind) = self.disk.behind_mut() else { break };
            behind.tail_messages -= messages;
            match outcome {
                Ok((seqs, lost)) => {
                    loss.add(lost);
                    behind.stored(chunk.messages(), chunk.waiting_bytes());
                    behind.join(seqs, chunk);
                }
                Err(lost) => {
                    loss.add(lost);
                    behind.tail_messages += chunk.messages();
                    behind.tail.push_front(chunk);
                    if flow.is_stalled() && self.refused != Some(Full::Busy) {
                        loss.full += behind.cut_tail(&self.options, &self.remains);
                    }
                    break;
                }
            }
        }
        loss
    }

    /// What is to be read, if anything.
    pub fn plan(&mut self, memory: &mut Memory<'_>) -> (Plan, Loss) {
        let mut loss = self.store_tail(memory.flow);
        let full = self.is_full(*memory.messages);
        if !memory.attendance.is_busy() && (self.options.reliable || memory.flow.is_stalled() || full) {
            loss.add(self.spill(memory));
        }
        let reads = self.is_half_empty(*memory.messages);
        let Disk::Behind(queue, behind) = &mut self.disk else { return (Plan::Nothing, loss) };
        if !reads {
            behind.asked = false;
            return (Plan::Nothing, loss);
        }
        (Plan::Read { queue: Arc::clone(queue), from: behind.next }, loss)
    }

    /// The disk could not be read: how long to leave it alone.
    pub fn pause_reading(&mut self) -> Duration {
        let Some(behind) = self.disk.behind_mut() else { return READ_PAUSE };
        let pause = READ_PAUSE * 2u32.pow(behind.read_errors.min(8));
        behind.read_errors += 1;
        pause.min(READ_PAUSE_MAX)
    }

    /// Takes what was read to the end of the memory part. The outlet may have caught up by that. Returns
    /// whether anything came.
    pub fn add(&mut self, memory: &mut Memory<'_>, read: Read) -> (bool, Loss) {
        let home = self.place().home.clone();
        let drains = self.is_draining();
        let Disk::Behind(queue, behind) = &mut self.disk else { return (false, Loss::default()) };
        behind.read_errors = 0;
        if read.seqs.start != behind.next || read.seqs.end <= behind.next {
            return (false, Loss::default());
        }
        let mut loss = Loss { damaged: read.lost as usize, ..Loss::default() };
        self.remains.keep(Reason::Damaged, loss.damaged, read.scraps.iter().map(Vec::as_slice));
        behind.messages = behind.messages.saturating_sub(read.lost as usize);
        let mut end = read.seqs.end;
        let chunk = Chunk::read_back(read.bytes, read.ends, self.options.write_max, Some(home));
        let mut chunk = chunk.numbered_as(read.numbers);
        self.followed.find(&mut chunk);
        if read.seqs.start >= self.waited_until {
            chunk.comes();
        }
        if drains {
            // Of a destination that does not number what it has on disk.
            chunk.forget_numbers();
        }
        if let Some(joined) = &behind.joined
            && end >= joined.from
        {
            // What follows is here already.
            chunk.truncate(behind.messages.saturating_sub(joined.messages));
            end = joined.from;
        }
        let (messages, bytes) = (chunk.messages(), chunk.waiting_bytes());
        behind.messages = behind.messages.saturating_sub(messages);
        behind.bytes = behind.bytes.saturating_sub(bytes);
        if messages > 0 || read.lost > 0 {
            let span = Span::new(behind.next..end, messages, bytes).with_lost(read.lost as usize);
            behind.next = end;
            self.stored += messages;
            self.bytes += bytes;
            *memory.messages += messages;
            if messages > 0 {
                self.spans.push_back(span);
                memory.chunks.push_back(chunk);
            } else {
                queue.done(end, read.lost, 0);
            }
        }
        behind.next = end;
        let has_tail = !behind.tail.is_empty();
        if behind.joined.as_ref().is_some_and(|joined| end >= joined.from) || end >= queue.end() {
            let missing = self.caught_up(memory);
            self.remains.keep(Reason::Damaged, missing, std::iter::empty());
            loss.damaged += missing;
        } else if behind.joined.is_none() && !has_tail && behind.bytes <= JOIN_BYTES {
            behind.joined = Some(Joined {
                from: queue.end(),
                chunks: VecDeque::new(),
                spans: VecDeque::new(),
                messages: 0,
                bytes: 0,
            });
        }
        (true, loss)
    }

    /// Everything on disk is in memory as well. Returns how many messages should have come and did not.
    fn caught_up(&mut self, memory: &mut Memory<'_>) -> usize {
        let Some(behind) = self.disk.catch_up() else { return 0 };
        let mut missing = behind.messages;
        if let Some(joined) = behind.joined {
            missing = missing.saturating_sub(joined.messages);
            self.stored += joined.messages;
            self.bytes += joined.bytes;
            *memory.messages += joined.messages;
            self.spans.extend(joined.spans);
            memory.chunks.extend(joined.chunks);
        }
        for chunk in behind.tail {
            self.keep(memory, chunk);
        }
        missing
    }
}
