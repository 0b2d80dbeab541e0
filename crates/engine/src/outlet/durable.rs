//! An outlet whose messages are kept on disk: `disk-buffer()`.

use super::retire::{LOOK, RETIRE_MAX};
use super::spool::{Loss, Plan, READ_BYTES, Wait};
use super::states::{Flow, Service};
use super::{Berth, Memory, Outlet, Queue, Spool};
use crate::chunk::Chunk;
use crate::durable::{DiskBuffer, Durable, LogFolder, Turn};
use crate::ledger::Reason;
use diag::Fault;
use parking_lot::MutexGuard;
use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// What an outlet has on disk, for statistics.
#[derive(Clone, Debug)]
pub struct OnDisk {
    pub dir: PathBuf,
    pub queue: Vec<u8>,
    pub messages: u64,
    pub bytes: u64,
    pub capacity_bytes: u64,
    /// Bytes in memory, of these and of others.
    pub memory_bytes: u64,
}

impl Queue {
    pub(super) fn parts(&mut self) -> Option<(&mut Spool, Memory<'_>)> {
        let Queue { chunks, messages, attendance, flow, spool, .. } = self;
        let memory = Memory { chunks, messages, attendance: *attendance, flow: *flow };
        spool.as_deref_mut().map(|spool| (spool, memory))
    }

    /// Asks for what waits on disk when there is room for it in memory.
    pub(super) fn ask_keeper(&mut self) {
        let messages = self.messages;
        if let Some(spool) = &mut self.spool {
            spool.ask_keeper(messages);
        }
    }
}

impl Outlet {
    /// Its messages are kept on disk from [`Outlet::release`] or [`Outlet::attach`] on. `part` tells outlets
    /// of one destination apart. The error says why the folder cannot be used.
    pub fn keep_on_disk(
        &self,
        durable: &Durable,
        options: &Arc<DiskBuffer>,
        part: &[u8],
    ) -> Result<(), Fault> {
        let place = durable.place(options)?;
        let numbered = self.sink.lock().is_numbered();
        let spool = Spool::new(Arc::clone(options), options.queue_name(part), place, numbered)
            .leaving(&self.counters.remains);
        let _ = self.place.set(Arc::clone(spool.place()));
        self.queue.lock().spool = Some(Box::new(spool));
        Ok(())
    }

    /// The log it was told to keep its messages in, whatever became of that.
    pub(crate) fn place(&self) -> Option<&Arc<LogFolder>> {
        self.place.get()
    }

    /// Takes its queue on disk, unless it is still held back for a predecessor that may use it.
    pub fn attach(self: &Arc<Outlet>) {
        self.attach_to(self.queue.lock());
    }

    pub(super) fn attach_to(self: &Arc<Outlet>, mut queue: MutexGuard<'_, Queue>) {
        if queue.held > 0 || queue.service.is_closed() || queue.attendance.is_busy() {
            return;
        }
        let Some((spool, mut memory)) = queue.parts() else { return };
        if spool.is_attached() {
            return;
        }
        let place = Arc::clone(spool.place());
        let (keeper, weak) = (Arc::clone(&place.keeper), Arc::downgrade(self));
        let on_room = Box::new(move || keeper.ask(weak.clone()));
        let opened = match place.log.queue(spool.name(), spool.capacity_bytes(), on_room) {
            Ok(opened) => opened,
            Err(error) => {
                oplog::error(
                    "Messages cannot be kept on disk, they wait in memory",
                    &[("location", &self.name), ("dir", &place.dir.display()), ("error", &error)],
                );
                queue.spool = None;
                return;
            }
        };
        place.begin_use(spool.name());
        self.counters.accepted_bytes.add(opened.waiting().bytes as usize);
        let (found, loss) = spool.attach(opened, Arc::downgrade(self), &mut memory);
        self.counters.waiting.add(found);
        self.counters.accepted.add(found);
        self.counters.recovered.add(found);
        queue.ask_keeper();
        drop(queue);
        self.lose(loss);
    }

    pub(super) fn push_durable(&self, mut queue: MutexGuard<'_, Queue>, mut chunk: Chunk) {
        let Some((spool, mut memory)) = queue.parts() else { return };
        // What is stored is what leaves.
        chunk.seal();
        let (loss, free) = spool.push(&mut memory, chunk);
        queue.ask_keeper();
        drop(queue);
        if let Some(chunk) = free {
            chunk.go_home();
        }
        self.lose(loss);
    }

    /// After a write that finished `done` messages.
    pub(super) fn wrote(&self, queue: &mut Queue, done: usize, unsettled: usize) {
        let left = queue.chunks.iter().map(Chunk::waiting_bytes).sum();
        let Some((spool, mut memory)) = queue.parts() else { return };
        let bytes = spool.bytes.saturating_sub(left);
        spool.bytes = left;
        spool.finished(done, bytes, unsettled);
        let now = spool.clock().now();
        let is_late = spool.look_at_lag(done, *memory.messages, now);
        let loss = if spool.spill || is_late { spool.spill(&mut memory) } else { Loss::default() };
        queue.ask_keeper();
        self.lose(loss);
    }

    /// The sink answers for so many messages that it finished.
    pub(super) fn settle(&self, unsettled: usize) {
        if let Some(spool) = &mut self.queue.lock().spool {
            spool.settle(unsettled);
        }
    }

    /// Finds out what the receiver has acknowledged since the last write.
    pub(super) fn ask_peer(&self) {
        if let Some(mut sink) = self.sink.try_lock() {
            sink.event();
            self.settle(sink.unsettled());
        }
    }

    /// Comes back to a receiver that has all that may be on its way to it, when it may have acknowledged
    /// some.
    pub(super) fn wait_for_peer(self: &Arc<Self>, mut queue: MutexGuard<'_, Queue>, wait: Wait) {
        let Some(spool) = queue.spool.as_mut().filter(|_| wait == Wait::Peer) else { return };
        let at = Instant::now() + spool.pause_for_peer();
        queue.not_before = Some(at);
        drop(queue);
        self.home.pump_at(at, self);
    }

    pub(super) fn stall_durable(&self, mut queue: MutexGuard<'_, Queue>) {
        queue.flow = Flow::Stalled;
        let Some((spool, mut memory)) = queue.parts() else { return };
        let loss = spool.stall(&mut memory);
        drop(queue);
        self.lose(loss);
    }

    /// Counts what is lost, and says it.
    fn lose(&self, loss: Loss) {
        self.shed(loss.full);
        for (messages, reason, text) in [
            (loss.too_large, Reason::Refused, "Message too large for disk-buffer(), dropping it"),
            (loss.damaged, Reason::Damaged, "Messages on disk are damaged and lost"),
        ] {
            if messages > 0 {
                self.counters.waiting.sub(messages);
                self.counters.dropped.add(reason, messages);
                let fields: [oplog::Field<'_>; 2] = [("location", &self.name), ("messages", &messages)];
                oplog::limited(reason.name(), oplog::Level::Error, text, &fields);
            }
        }
    }

    /// One look of the keeper: stores what found no room before, and reads what is to be in memory.
    pub(crate) fn refill(self: &Arc<Outlet>) -> Turn {
        let mut queue = self.queue.lock();
        let Some((spool, mut memory)) = queue.parts() else { return Turn::Enough };
        let (plan, loss) = spool.plan(&mut memory);
        let Plan::Read { queue: from_disk, from } = plan else {
            drop(queue);
            self.lose(loss);
            return Turn::Enough;
        };
        let Chunk { bytes, ends, .. } = spool.place().home.chunk();
        drop(queue);
        self.lose(loss);
        let read = match from_disk.read_into(from, READ_BYTES, bytes.into(), ends) {
            Ok(read) => read,
            // The log has said why.
            Err(_) => {
                let mut queue = self.queue.lock();
                return queue.parts().map_or(Turn::Enough, |(spool, _)| Turn::After(spool.pause_reading()));
            }
        };
        let mut queue = self.queue.lock();
        // Who writes looks again before he leaves.
        let is_busy = queue.attendance.call();
        let waits = is_busy || queue.not_before.is_some_and(|at| at > Instant::now());
        let Some((spool, mut memory)) = queue.parts() else { return Turn::Enough };
        let (came, loss) = spool.add(&mut memory, read);
        drop(queue);
        self.lose(loss);
        if !came {
            return Turn::Later;
        }
        if !waits {
            self.home.pump_at(Instant::now(), self);
        }
        Turn::More
    }

    /// Whether it has a queue on disk.
    pub fn is_on_disk(&self) -> bool {
        self.queue.lock().spool.as_ref().is_some_and(|spool| spool.is_attached())
    }

    /// The log it has a queue in, and the name of that.
    pub(super) fn queue_on_disk(&self) -> Option<Berth> {
        let queue = self.queue.lock();
        let spool = queue.spool.as_ref().filter(|spool| spool.is_attached())?;
        Some(Berth { place: Arc::clone(spool.place()), name: spool.name().to_vec() })
    }

    /// What it has there.
    pub fn on_disk(&self) -> Option<OnDisk> {
        let queue = self.queue.lock();
        let spool = queue.spool.as_ref()?;
        let waiting = spool.queue()?.waiting();
        Some(OnDisk {
            dir: spool.place().dir.clone(),
            queue: spool.name().to_vec(),
            messages: waiting.messages,
            bytes: waiting.bytes,
            capacity_bytes: spool.capacity_bytes(),
            memory_bytes: spool.bytes as u64,
        })
    }

    /// Whether waiting for it has a point before the end: it is not unreachable, stuck or behind, and not
    /// everything is delivered.
    pub(crate) fn is_settling(&self) -> bool {
        let queue = self.queue.lock();
        let behind = queue.spool.as_ref().is_some_and(|spool| spool.is_behind());
        queue.messages > 0 && !queue.flow.is_stalled() && !behind
    }

    /// Whether what waits here on disk stays there when another destination takes its place, for it was for
    /// this one. What is on its way while everything moves is handed over in any case.
    pub(super) fn stays_on_disk(&self) -> bool {
        let queue = self.queue.lock();
        queue.flow.is_stalled() || queue.spool.as_ref().is_some_and(|spool| spool.is_behind())
    }

    /// The program ends, or leaves its logs to another one: nothing more comes, and all that has come is to
    /// find room on disk, beyond capacity-bytes() too. What waits in memory is bounded anyway.
    pub(crate) fn make_room(&self) {
        let mut queue = self.queue.lock();
        if let Some((spool, _)) = queue.parts()
            && let Err(error) = spool.lift_capacity()
        {
            let fields: [oplog::Field<'_>; 2] = [("location", &self.name), ("error", &error)];
            oplog::error("What waits for a destination may find no room on disk", &fields);
        }
    }

    /// Everything goes to disk that can, at the end of a message wherever the peer lets it.
    pub(crate) fn store_rest(&self) {
        let until = Instant::now() + RETIRE_MAX;
        let queue = self.unattended(until);
        if queue.attendance.is_busy() || queue.spool.is_none() {
            return;
        }
        let (mut queue, done) = self.end_message(queue, until);
        if done > 0 {
            queue.messages -= done;
            self.counters.waiting.sub(done);
            // The sink says what it answers for when it is closed.
            self.wrote(&mut queue, done, usize::MAX);
        }
        loop {
            let Some((spool, mut memory)) = queue.parts() else { return };
            let loss = spool.store_all(&mut memory);
            let again = spool.spill && Instant::now() < until;
            if let Some(full) = spool.refused() {
                self.counters.given_up.because(full);
            }
            drop(queue);
            self.lose(loss);
            if !again {
                return;
            }
            std::thread::park_timeout(LOOK);
            queue = self.unattended(until);
        }
    }

    /// Ends an outlet with a queue on disk, where everything stays for which there is room. Returns the rest.
    pub(super) fn end_on_disk(&self) -> VecDeque<Chunk> {
        self.store_rest();
        let mut chunks = {
            let mut queue = self.queue.lock();
            queue.service = Service::Closed;
            std::mem::take(&mut queue.chunks)
        };
        let mut again = self.sink.lock().close_unsettled(&mut chunks);
        {
            let mut queue = self.queue.lock();
            chunks.append(&mut queue.chunks);
            queue.chunks = chunks;
        }
        let unsettled = again.iter().map(Chunk::messages).sum();
        let (left, gone) = self.detach(unsettled);
        if gone == 0 {
            // They are on disk.
            again.iter_mut().for_each(|chunk| chunk.tickets.settle());
            return left;
        }
        // Some are not, and nothing is that came behind them.
        again.extend(left);
        again
    }

    /// Lets go of the queue on disk. Returns what is in memory only, as far as nobody has it in his hands,
    /// and how many of what the sink leaves are not on disk.
    pub(super) fn detach(&self, unsettled: usize) -> (VecDeque<Chunk>, usize) {
        let mut queue = self.unattended(Instant::now() + RETIRE_MAX);
        let at_hand: usize = queue.chunks.iter().map(Chunk::messages).sum();
        let in_hands = queue.messages.saturating_sub(at_hand);
        let Some((spool, memory)) = queue.parts() else { return (VecDeque::new(), 0) };
        let stored = spool.stored();
        let mut left = std::mem::take(memory.chunks);
        let gone = spool.detach(&mut left, in_hands, unsettled);
        spool.place().end_use(spool.name());
        queue.left_on_disk = stored.min(in_hands);
        queue.messages = in_hands;
        (left, gone)
    }
}

#[cfg(test)]
mod tests;
