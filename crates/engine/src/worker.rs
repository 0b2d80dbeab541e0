//! Workers: one thread per core, each with its own readiness loop and its own connections; whole batches are
//! shared when a core is idle.

mod handle;
mod jobs;
mod leaving;
mod parting;
mod port;
mod shared;
mod ticks;
mod timer;

pub use handle::{MakePort, WorkerHandle};
pub use jobs::Job;
pub use leaving::{LEAVE_MAX, Leaving};
pub(crate) use parting::Parting;
pub use port::{After, Port, PortContext};
pub use shared::Shared;
pub(crate) use ticks::{Ticked, portion};

use crate::profile::{self, Doing};
use handle::{Command, WAKER};
use mio::{Events, Poll, Token};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use timer::Timers;

/// Ports that are asked to look at what they need before the first of them has its turn: that much stays in
/// the caches meanwhile.
const APPROACHED: usize = 8;
/// A worker wakes at least this often to look at idle files and stalled outlets.
const TICK: Duration = Duration::from_secs(1);
/// How long a worker among others that are awake waits for more to come before it hands over the little it
/// has.
const PAUSE: Duration = Duration::from_micros(200);
/// Workers awake at the same time from which on the little that each has is in the way of the others.
const CROWD: usize = 3;
/// Messages from which on a wake-up has brought something of a stream, and those from which on it was worth
/// its while.
const FEW: Range<usize> = 8..512;
/// Batches of other workers that one takes before it looks for something of its own.
const JOBS_AT_ONCE: usize = 4;
/// Events taken from the kernel in one go.
const EVENTS_MAX: usize = 256;

#[cfg(test)]
pub(crate) struct NoWake;
#[cfg(test)]
impl crate::window::Wake for NoWake {
    fn wake(&self) {}
}

/// One thread's part of the engine.
pub struct Worker {
    poll: Poll,
    handle: WorkerHandle,
    ports: slab::Slab<Box<dyn Port>>,
    /// Ports that have more to read than their turn allowed.
    ready: VecDeque<usize>,
    timers: Timers,
    cx: PortContext,
    next_tick: Instant,
    /// Contexts have more to say than was taken of them.
    is_behind: bool,
    /// It counts as one that takes batches of others.
    is_helper: bool,
}

impl Worker {
    /// Makes a worker and the handle by which others reach it. Fails when the kernel has no more epoll
    /// instances.
    pub fn new(index: usize, shared: Arc<Shared>, identity: template::Identity) -> std::io::Result<Worker> {
        let poll = Poll::new()?;
        let handle = WorkerHandle::new(index, &poll)?;
        Ok(Worker {
            poll,
            cx: PortContext::new(handle.clone(), shared, identity),
            handle,
            ports: slab::Slab::new(),
            ready: VecDeque::new(),
            timers: Timers::default(),
            next_tick: Instant::now() + TICK,
            is_behind: false,
            is_helper: false,
        })
    }

    pub fn handle(&self) -> WorkerHandle {
        self.handle.clone()
    }

    /// Runs until told to stop.
    pub fn run(mut self) {
        profile::enter(self.handle.index());
        let mut events = Events::with_capacity(EVENTS_MAX);
        loop {
            if self.commands() {
                break;
            }
            self.jobs();
            self.round();
            self.wait(&mut events);
            for event in &events {
                match event.token() {
                    WAKER => {}
                    Token(at) if at >= handle::OUTLET_BASE => {
                        self.outlet_event((at - handle::OUTLET_BASE) as u32)
                    }
                    Token(at) => {
                        if (event.is_read_closed() || event.is_error())
                            && let Some(port) = self.ports.get_mut(at)
                        {
                            port.hung_up();
                        }
                        self.enqueue(at);
                    }
                }
            }
            self.timers();
        }
        self.drain();
    }

    /// Collects what became ready. Output is handed over before the worker sleeps, or when it has waited for
    /// long; while more comes in, it is worth waiting, because few large writes cost less than many small
    /// ones.
    fn wait(&mut self, events: &mut Events) {
        if !self.ready.is_empty() || self.is_behind || self.cx.shared.jobs().is_any() {
            if self.cx.outbox.is_old() {
                self.cx.outbox.flush();
            }
            self.poll(events, Duration::ZERO);
            return;
        }
        if self.finds_more(events) {
            return;
        }
        self.cx.outbox.flush();
        let until = self.timers.next().map_or(self.next_tick, |at| at.min(self.next_tick));
        let timeout = until.saturating_duration_since(Instant::now());
        self.end_to_help();
        let index = self.handle.index();
        // Both are told before they are asked whether there is something, so that nothing comes unseen.
        let has_mail = self.handle.begin_to_wait();
        let is_idle = self.cx.shared.jobs().fall_asleep(index) && !has_mail;
        if is_idle {
            profile::mark(Doing::Sleeps, 0);
        }
        self.poll(events, if is_idle { timeout } else { Duration::ZERO });
        profile::mark(Doing::Turns, 0);
        if is_idle {
            self.cx.rested = self.cx.round;
        }
        self.is_helper = self.cx.shared.jobs().wake_up(index);
        self.handle.end_to_wait();
    }

    fn end_to_help(&mut self) {
        if std::mem::take(&mut self.is_helper) {
            self.cx.shared.jobs().end_to_help(self.handle.index(), self.cx.shared.workers());
        }
    }

    /// Whether more came in while the output that there is may still wait.
    fn finds_more(&mut self, events: &mut Events) -> bool {
        let took = std::mem::take(&mut self.cx.took);
        let pauses = FEW.contains(&took) && self.cx.shared.awake() >= CROWD;
        if self.cx.outbox.is_old() || !pauses && self.cx.outbox.is_empty() {
            return false;
        }
        self.poll(events, Duration::ZERO);
        if !events.is_empty() {
            self.cx.took = took;
        } else if pauses {
            // Many workers with little each wake up often, and meet at the outlets with small pieces. Peers
            // that wait for an answer after a message or two are not made to wait longer.
            std::thread::sleep(PAUSE);
            self.poll(events, Duration::ZERO);
        }
        !events.is_empty()
    }

    fn poll(&mut self, events: &mut Events, timeout: Duration) {
        // Only EINTR can happen here: look again in the next round.
        if self.poll.poll(events, Some(timeout)).is_err() {
            events.clear();
        }
    }

    fn enqueue(&mut self, at: usize) {
        if let Some(port) = self.ports.get_mut(at)
            && !std::mem::replace(port.queued(), true)
        {
            self.ready.push_back(at);
        }
    }

    /// One turn for every port that has something.
    fn round(&mut self) {
        self.cx.round += 1;
        let mut left = self.ready.len();
        while left > 0 {
            let next = left.min(APPROACHED);
            if next > 1 {
                self.approach(next);
            }
            self.turns(next);
            left -= next;
        }
    }

    /// These have their turns next. All of them are asked first to look at what they need for it: of
    /// thousands of ports nothing is in the processor's caches, and it waits for the memory of several at
    /// once then.
    fn approach(&self, count: usize) {
        self.ready.iter().take(count).filter_map(|at| self.ports.get(*at)).for_each(|port| port.approach());
    }

    fn turns(&mut self, count: usize) {
        for _ in 0..count {
            let Some(at) = self.ready.pop_front() else { return };
            let Some(port) = self.ports.get_mut(at) else { continue };
            *port.queued() = false;
            self.cx.token = Token(at);
            if profile::is_on() {
                profile::mark(Doing::Reads, port.source().map_or(u32::MAX, |source| source.step()));
            }
            let cx = &mut self.cx;
            // One connection's panic is one connection's end.
            let turn = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| port.turn(cx)));
            match turn {
                Ok(After::Idle) => {}
                Ok(After::Again) => self.enqueue(at),
                Ok(After::Close) => self.close(at),
                Err(_) => {
                    self.cx.outbox.roll_back();
                    port.panicked();
                    oplog::limited(
                        "port-panic",
                        oplog::Level::Error,
                        "Internal error contained, connection closed",
                        &[],
                    );
                    self.close(at);
                }
            }
        }
    }

    fn close(&mut self, at: usize) {
        if self.ports.contains(at) {
            let mut port = self.ports.remove(at);
            self.cx.token = Token(at);
            port.closed(&mut self.cx);
        }
    }

    /// Closes a port, unless it has something left to say.
    fn leave(&mut self, at: usize) {
        let Some(port) = self.ports.get_mut(at) else { return };
        self.cx.token = Token(at);
        match port.leave(&mut self.cx) {
            true => self.enqueue(at),
            false => self.close(at),
        }
    }

    /// Batches that wait for a free core. A worker with connections of its own to serve takes those only that
    /// it has read, and only when nobody else does.
    fn jobs(&mut self) {
        let shared = Arc::clone(&self.cx.shared);
        let jobs = shared.jobs();
        if !self.ready.is_empty() {
            self.end_to_help();
            if jobs.is_any()
                && !jobs.has_helpers()
                && let Some(job) = jobs.take_own(self.handle.index())
            {
                job.run(&mut self.cx);
            }
        } else if jobs.is_any() {
            if !std::mem::replace(&mut self.is_helper, true) {
                jobs.begin_to_help();
            }
            self.jobs_up_to(JOBS_AT_ONCE);
        }
    }

    fn jobs_up_to(&mut self, most: usize) {
        for _ in 0..most {
            match self.cx.shared.jobs().take() {
                Some(job) => job.run(&mut self.cx),
                None => return,
            }
        }
    }

    fn outlet_event(&mut self, id: u32) {
        if let Some(outlet) = self.handle.outlet(id) {
            outlet.event();
        }
    }

    fn timers(&mut self) {
        let now = Instant::now();
        while let Some(outlet) = self.timers.due(now) {
            outlet.pump();
        }
        if self.is_behind {
            self.is_behind = ticks::run(&mut self.cx);
        }
        if now >= self.next_tick {
            self.next_tick = now + TICK;
            for outlet in self.handle.outlets() {
                outlet.tick(now);
            }
            self.is_behind = ticks::run(&mut self.cx);
            let closing: Vec<usize> =
                self.ports.iter_mut().filter_map(|(at, port)| (!port.tick(now)).then_some(at)).collect();
            for at in closing {
                self.close(at);
            }
            let again: Vec<usize> =
                self.ports.iter().filter_map(|(at, port)| port.retry().then_some(at)).collect();
            for at in again {
                self.enqueue(at);
            }
        }
    }

    /// Returns whether the worker is to stop.
    fn commands(&mut self) -> bool {
        for command in self.handle.commands() {
            match command {
                Command::Add(make) => {
                    let entry = self.ports.vacant_entry();
                    let token = Token(entry.key());
                    match make(token, &self.cx) {
                        Ok(port) => {
                            entry.insert(port);
                            self.enqueue(token.0);
                        }
                        Err(error) => oplog::error("Error registering a descriptor", &[("error", &error)]),
                    }
                }
                Command::Ready(handle::CONTEXTS) => self.is_behind = true,
                Command::Ready(token) => self.enqueue(token.0),
                Command::PumpAt(at, outlet) => self.timers.add(at, outlet),
                Command::Each(mut visit) => {
                    let closing: Vec<usize> = self
                        .ports
                        .iter_mut()
                        .filter_map(|(at, port)| visit(&mut **port).then_some(at))
                        .collect();
                    for at in closing {
                        self.leave(at);
                    }
                }
                Command::Part(parting) => self.part(&parting),
                Command::Run(f) => f(&mut self.cx),
                Command::Barrier(done) => {
                    self.jobs_up_to(usize::MAX);
                    self.cx.outbox.flush();
                    drop(done);
                }
                Command::Stop => return true,
            }
        }
        false
    }

    /// Last turn: nothing more is read; what was read goes out.
    fn drain(&mut self) {
        let all: Vec<usize> = self.ports.iter().map(|(at, _)| at).collect();
        for at in all {
            self.close(at);
        }
        self.jobs_up_to(usize::MAX);
        self.cx.outbox.flush();
    }
}
