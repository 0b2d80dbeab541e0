//! An outlet: the ordered queue in front of one file, connection or process, and the sink that empties it.
//!
//! Any worker may bring a chunk; whoever finds the outlet unattended writes it out on the spot. No thread of
//! its own, no hand-off.

mod asking;
mod discard;
mod durable;
mod events;
mod form;
mod heirs;
mod ids;
mod parting;
mod refuge;
mod repeated;
mod retire;
mod sent;
mod shedding;
mod sink;
mod spool;
mod standing;
mod states;
mod take_along;

use crate::chunk::Chunk;
use crate::durable::LogFolder;
use crate::friction;
use crate::ledger::{DestinationCounters, Reason, Remains};
use crate::profile::{self, Doing};
use crate::worker::WorkerHandle;
use asking::Asking;
use heirs::Heritage;
use parking_lot::{Mutex, MutexGuard};
use shedding::Shedding;
use spool::{Memory, Spool, Wait};
use states::{Attendance, Flow, Service};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

pub use durable::OnDisk;
pub use form::Form;
pub use sink::{Progress, Sink, Status, Supply, Waits};
pub use standing::{Headroom, Standing};
pub(crate) use take_along::Berth;

/// How much may wait.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// `log-fifo-size()`: messages without flow-control beyond it are dropped and counted.
    pub messages_max: usize,
}

#[derive(Default)]
struct Queue {
    chunks: VecDeque<Chunk>,
    messages: usize,
    attendance: Attendance,
    /// What waits elsewhere comes first: nothing is written while it is not 0.
    held: usize,
    heritage: Heritage,
    /// Do not try before.
    not_before: Option<Instant>,
    flow: Flow,
    asking: Asking,
    /// Something was finished since the last tick.
    progressed: bool,
    /// Messages that left, since it began.
    finished: u64,
    /// At the last tick its sink only waited for something that was not late.
    is_well: bool,
    /// When the first message came that somebody writes.
    in_hand: Option<Instant>,
    service: Service,
    /// So many messages at the front came from a process before this one.
    late: usize,
    /// Of an outlet that ended while somebody wrote: so many of the messages that he has in his hands are on
    /// disk.
    left_on_disk: usize,
    /// Where its messages are kept on disk, with `disk-buffer()`.
    spool: Option<Box<Spool>>,
}

impl Queue {
    /// Lets the sources of messages without flow-control go on, and keeps of those messages what
    /// `log-fifo-size()` allows.
    fn stall(&mut self, messages_max: usize, remains: &Remains) -> usize {
        self.flow = Flow::Stalled;
        let mut room = messages_max;
        let mut cut = 0;
        for chunk in self.chunks.iter_mut().filter(|c| !c.flow_control) {
            chunk.tickets.settle();
            cut += chunk.cut_for_room(room, remains);
            // What was sent and not acknowledged is kept in any case.
            room = room.saturating_sub(chunk.messages());
        }
        self.chunks.retain(|c| !c.is_empty());
        self.messages -= cut;
        cut
    }

    /// What comes while that waits which is here.
    fn supply(&self) -> Supply {
        self.spool.as_ref().map_or(Supply::Sources, |spool| spool.supply(self.messages))
    }
}

/// What came of a write.
struct Written {
    status: Status,
    /// See [`Sink::unsettled`].
    unsettled: usize,
    /// Sources wait for what the peer does not have yet.
    is_awaited: bool,
}

pub struct Outlet {
    /// Number in the process, small, unique while the outlet is there: workers index their buffers with it.
    pub id: u32,
    /// What it writes to, for messages.
    pub name: String,
    pub counters: Arc<DestinationCounters>,
    limits: Mutex<QueueLimits>,
    queue: Mutex<Queue>,
    sink: Mutex<Box<dyn Sink>>,
    home: WorkerHandle,
    /// Where its queue has a part on disk. Set before there are messages.
    place: OnceLock<Arc<LogFolder>>,
    /// How they stand in its chunks. Set before there are messages; without one nothing is known of it.
    form: OnceLock<Form>,
    /// Forms that can be put into that one. Set before there are messages.
    kin: OnceLock<&'static [Form]>,
    /// What its form puts around messages is for its sink, and no part of what the peer gets.
    has_parts: AtomicBool,
    /// Where its messages go at the end of the program. Set before there are messages.
    refuge: OnceLock<refuge::Refuge>,
    /// Other outlets wait for a part of its queue to be gone. Set before there are messages for any of them.
    leads: AtomicBool,
    /// It has had messages of `internal()`: nothing is said of what it sends, for that would be one more of
    /// them.
    has_own: AtomicBool,
    /// While a full queue drops messages.
    shedding: Mutex<Option<Shedding>>,
}

impl Drop for Outlet {
    fn drop(&mut self) {
        ids::give_back(self.id);
    }
}

impl Outlet {
    /// `sink` is built with the outlet's id, so that it can register its descriptor under it.
    pub fn new(
        name: String,
        counters: Arc<DestinationCounters>,
        limits: QueueLimits,
        home: WorkerHandle,
        sink: impl FnOnce(u32) -> Box<dyn Sink>,
    ) -> Arc<Outlet> {
        let id = ids::take();
        let outlet = Arc::new(Outlet {
            id,
            name,
            counters,
            limits: Mutex::new(limits),
            queue: Mutex::default(),
            sink: Mutex::new(sink(id)),
            home,
            place: OnceLock::new(),
            form: OnceLock::new(),
            kin: OnceLock::new(),
            has_parts: AtomicBool::new(false),
            refuge: OnceLock::new(),
            leads: AtomicBool::new(false),
            has_own: AtomicBool::new(false),
            shedding: Mutex::default(),
        });
        outlet.home.adopt(&outlet);
        outlet
    }

    pub fn set_limits(&self, limits: QueueLimits) {
        *self.limits.lock() = limits;
    }

    /// Puts a chunk nobody announced at the end of the queue.
    pub fn push_new(&self, chunk: Chunk) {
        self.counters.announce(chunk.messages(), chunk.waiting_bytes());
        self.push(chunk);
    }

    /// Puts announced messages at the end of the queue. What has no room is dropped and counted, unless it is
    /// flow-controlled.
    pub fn push(&self, mut chunk: Chunk) {
        let limit = friction::lock(&self.limits).messages_max;
        chunk.comes();
        let mut queue = friction::lock(&self.queue);
        if queue.spool.is_some() && !queue.service.is_closed() {
            self.push_durable(queue, chunk);
            return;
        }
        if queue.service.is_closed() {
            drop(queue);
            return self.came_too_late(chunk);
        }
        // While the outlet moves, the windows of the sources bound what waits here. Once it does not,
        // log-fifo-size() does.
        if queue.flow.is_stalled() && !chunk.flow_control {
            chunk.tickets.settle();
            let room = limit.saturating_sub(queue.messages);
            let cut = chunk.cut_for_room(room, &self.counters.remains);
            self.shed(cut);
            if chunk.is_empty() {
                return;
            }
        }
        queue.messages += chunk.messages();
        queue.chunks.push_back(chunk);
    }

    /// Messages that wait or are being written.
    pub fn waiting(&self) -> usize {
        let queue = self.queue.lock();
        queue.messages + queue.spool.as_ref().map_or(0, |spool| spool.waiting())
    }

    /// Writes what waits, unless somebody already does.
    pub fn pump(self: &Arc<Outlet>) {
        self.pump_with(false);
    }

    /// The same where more follows soon. When it says `true`, something was left: [`Outlet::pump`] has to be
    /// called before long.
    #[must_use]
    pub fn pump_most(self: &Arc<Outlet>) -> bool {
        self.pump_with(true)
    }

    fn pump_with(self: &Arc<Outlet>, more: bool) -> bool {
        let before = profile::mark_within(Doing::Writes, self.id);
        let left = self.empty(more);
        profile::mark_again(before);
        if self.leads() {
            self.free_followers();
        }
        left
    }

    fn empty(self: &Arc<Outlet>, mut more: bool) -> bool {
        let (mut work, mut asked) = (VecDeque::new(), false);
        loop {
            let supply = {
                let mut queue = friction::lock(&self.queue);
                if queue.attendance.call() {
                    return false;
                }
                if queue.asking.take() {
                    drop(queue);
                    self.ask_for_sources();
                    continue;
                }
                if queue.held > 0
                    || queue.service != Service::Open
                    || queue.chunks.is_empty()
                    || queue.not_before.is_some_and(|at| at > Instant::now())
                {
                    return false;
                }
                let Queue { chunks, spool, .. } = &mut *queue;
                let wait = match spool {
                    Some(spool) => spool.let_go(chunks, &mut work),
                    None => {
                        std::mem::swap(&mut work, chunks);
                        Wait::No
                    }
                };
                if work.is_empty() {
                    if wait != Wait::No && !std::mem::replace(&mut asked, true) {
                        drop(queue);
                        self.ask_peer();
                        continue;
                    }
                    self.wait_for_peer(queue, wait);
                    return false;
                }
                asked = false;
                queue.in_hand = work.front().and_then(Chunk::came);
                queue.attendance.begin();
                queue.not_before = None;
                queue.supply()
            };
            let Written { status, unsettled, is_awaited } = self.write(&mut work, more, supply);
            // Who came meanwhile and found somebody here may want all of it written.
            more = false;
            let left: usize = work.iter().map(Chunk::messages).sum();
            let mut queue = friction::lock(&self.queue);
            let again = queue.attendance.end();
            let new: usize = queue.chunks.iter().map(Chunk::messages).sum();
            let done = queue.messages - left - new;
            queue.messages -= done;
            queue.heritage.passed(done);
            queue.late = queue.late.saturating_sub(done);
            self.counters.waiting.sub(done);
            if done > 0 {
                self.say_sent(done);
                queue.progressed = true;
                queue.finished = queue.finished.wrapping_add(done as u64);
                queue.flow = Flow::Moving;
            }
            while let Some(chunk) = work.pop_back() {
                queue.chunks.push_front(chunk);
            }
            if queue.spool.is_some() {
                self.wrote(&mut queue, done, unsettled);
            }
            if is_awaited {
                self.ask_soon(&mut queue);
            }
            if queue.service.is_closed() {
                self.abandon_late(queue, done);
                return false;
            }
            if let Status::Wait(after) = status {
                self.home.pump_at(Instant::now() + after, self);
            }
            match status {
                Status::Retry(after) => {
                    let at = Instant::now() + after;
                    queue.not_before = Some(at);
                    self.stall(queue);
                    self.home.pump_at(at, self);
                    return false;
                }
                Status::Blocked | Status::Wait(_) if !again => return false,
                Status::Later if !again => return true,
                Status::Done if queue.chunks.is_empty() => return false,
                _ => {}
            }
        }
    }

    /// A panic inside a sink costs the chunk it was working on, not the process.
    fn write(&self, work: &mut VecDeque<Chunk>, more: bool, supply: Supply) -> Written {
        let mut sink = friction::lock(&self.sink);
        let by_chunk = self.place.get().is_some();
        let mut progress = Progress { counters: &self.counters, more, by_chunk, supply };
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            work.iter_mut().for_each(Chunk::seal);
            sink.write(work, &mut progress)
        }));
        let status = outcome.unwrap_or_else(|_| {
            if let Some(mut chunk) = work.pop_front() {
                let messages = chunk.messages();
                self.counters.dropped.add(Reason::Contained, messages);
                self.counters.remains.keep_all(Reason::Contained, messages, chunk.iter());
                // The same message would do it again.
                chunk.tickets.settle();
            }
            Status::Retry(Duration::from_secs(1))
        });
        let is_awaited = sink.ask_peer();
        Written { status, unsettled: if by_chunk { sink.unsettled() } else { 0 }, is_awaited }
    }

    /// Nothing moves: sources of messages without flow-control are not held back any more.
    fn stall(&self, mut queue: MutexGuard<'_, Queue>) {
        if queue.spool.is_some() {
            return self.stall_durable(queue);
        }
        let cut = queue.stall(self.limits.lock().messages_max, &self.counters.remains);
        drop(queue);
        self.shed(cut);
    }

    /// Whether waiting for it has a point: it is not unreachable or stuck.
    pub fn is_moving(&self) -> bool {
        !self.queue.lock().flow.is_stalled()
    }
}

#[cfg(test)]
mod tests;
