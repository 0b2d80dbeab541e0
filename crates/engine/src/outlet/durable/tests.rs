mod ends;
mod slow;

use super::*;
use crate::chunk::Whole;
use crate::ledger::DestinationCounters;
use crate::outlet::{Headroom, Progress, QueueLimits, Sink, Status, Supply};
use crate::window::{Budget, Ticket, Window};
use crate::worker::{Shared, Worker};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Takes so many messages, and then says that it is to be asked again later.
struct Fake {
    got: Arc<Mutex<Vec<u8>>>,
    room: Arc<Mutex<usize>>,
    /// It is only slow: whoever calls it says when it takes more.
    blocks: Arc<AtomicBool>,
    /// What it was last told.
    supply: Arc<Mutex<Supply>>,
}

impl Sink for Fake {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        *self.supply.lock() = progress.supply;
        while let Some(chunk) = chunks.front_mut() {
            let mut room = self.room.lock();
            while *room > 0
                && let Some(message) = chunk.front()
            {
                self.got.lock().extend_from_slice(message);
                let size = message.len();
                chunk.skip(1);
                progress.delivered(Whole { messages: 1, bytes: size });
                *room -= 1;
            }
            if !chunk.is_empty() {
                return match self.blocks.load(Ordering::SeqCst) {
                    true => Status::Blocked,
                    false => Status::Retry(Duration::ZERO),
                };
            }
            if let Some(chunk) = chunks.pop_front() {
                progress.finished(chunk);
            }
        }
        Status::Done
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {}
}

/// A folder, and what delivers from it.
struct Desk {
    dir: tempfile::TempDir,
    options: DiskBuffer,
    got: Arc<Mutex<Vec<u8>>>,
    room: Arc<Mutex<usize>>,
    blocks: Arc<AtomicBool>,
    supply: Arc<Mutex<Supply>>,
    running: Option<Running>,
    next: usize,
}

struct Running {
    outlet: Arc<Outlet>,
    shared: Arc<Shared>,
    _worker: Worker,
}

impl Desk {
    fn new(reliable: bool) -> Desk {
        let dir = tempfile::tempdir().expect("a folder");
        let options = DiskBuffer {
            key: "d".into(),
            dir: Some(dir.path().to_owned()),
            reliable,
            capacity_bytes: 1 << 30,
            memory_messages: Some(100),
            overflow_messages: 10,
            reserve_bytes: 0,
            write_max: 0,
            free_segments: None,
        };
        let mut desk = Desk {
            dir,
            options,
            got: Arc::default(),
            room: Arc::default(),
            blocks: Arc::default(),
            supply: Arc::default(),
            running: None,
            next: 0,
        };
        desk.start();
        desk
    }

    fn with(mut self, change: impl FnOnce(&mut DiskBuffer)) -> Desk {
        self.stop();
        change(&mut self.options);
        self.start();
        self
    }

    fn start(&mut self) {
        let shared = Shared::new(1, Budget::new(1 << 30), false);
        let worker = Worker::new(0, Arc::clone(&shared), template::Identity::new("here")).expect("worker");
        let outlet = self.make(&shared, &worker);
        outlet.attach();
        self.running = Some(Running { outlet, shared, _worker: worker });
    }

    fn make(&self, shared: &Shared, worker: &Worker) -> Arc<Outlet> {
        let sink = Fake {
            got: Arc::clone(&self.got),
            room: Arc::clone(&self.room),
            blocks: Arc::clone(&self.blocks),
            supply: Arc::clone(&self.supply),
        };
        let counters: Arc<DestinationCounters> = Arc::default();
        let limits = QueueLimits { messages_max: 5 };
        let outlet = Outlet::new("fake".into(), counters, limits, worker.handle(), |_| Box::new(sink));
        outlet.keep_on_disk(&shared.durable, &Arc::new(self.options.clone()), b"").expect("a log");
        outlet
    }

    /// A clean end.
    fn stop(&mut self) {
        let Some(Running { outlet, shared, .. }) = self.running.take() else { return };
        outlet.store_rest();
        shared.durable.settle();
        outlet.close();
        assert_balanced(&outlet);
        shared.durable.close();
    }

    /// A reload that changes the destination: another outlet takes the place of this one.
    fn reload(&mut self, change: impl FnOnce(&mut DiskBuffer)) {
        change(&mut self.options);
        let old = Arc::clone(self.outlet());
        let Some(Running { shared, _worker: worker, .. }) = self.running.take() else { return };
        let outlet = self.make(&shared, &worker);
        outlet.hold();
        outlet.inherit(&old, &shared.durable);
        old.close();
        assert_balanced(&old);
        outlet.release();
        assert_balanced(&outlet);
        self.running = Some(Running { outlet, shared, _worker: worker });
    }

    fn outlet(&self) -> &Arc<Outlet> {
        &self.running.as_ref().expect("running").outlet
    }

    /// Numbered messages.
    fn push(&mut self, count: usize, flow_control: bool, ticket: Option<Ticket>) {
        let mut chunk = Chunk::default();
        for n in self.next..self.next + count {
            chunk.bytes.extend_from_slice(format!("{n}\n").as_bytes());
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.next += count;
        chunk.flow_control = flow_control;
        ticket.into_iter().for_each(|ticket| chunk.tickets.push(ticket));
        self.outlet().push_new(chunk);
        self.pump();
    }

    fn pump(&self) {
        self.outlet().event();
    }

    fn delivered(&self) -> Vec<usize> {
        let got = self.got.lock();
        let text = String::from_utf8_lossy(&got);
        text.lines().map(|line| line.parse().expect("a number")).collect()
    }

    fn let_through(&self, messages: usize) {
        *self.room.lock() += messages;
        self.pump();
    }

    /// Everything that is to come has come, and once, in order.
    #[track_caller]
    fn check_all(&self) {
        *self.room.lock() = usize::MAX;
        wait_until(|| {
            self.pump();
            self.outlet().waiting() == 0
        });
        assert_eq!(self.delivered(), (0..self.next).collect::<Vec<_>>());
        assert_balanced(self.outlet());
        assert_eq!(self.outlet().counters.waiting.value(), 0);
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        self.stop();
        assert!(self.dir.path().exists());
    }
}

#[track_caller]
fn assert_balanced(outlet: &Outlet) {
    let c = &outlet.counters;
    let known = c.delivered.value() + c.waiting.value() + c.dropped.total();
    assert_eq!(c.accepted.value(), known, "{c:?}");
}

/// Long enough for any machine.
#[track_caller]
fn wait_until(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < until, "it never came to that");
        std::thread::yield_now();
    }
}

fn both(test: impl Fn(bool)) {
    test(true);
    test(false);
}

#[test]
fn what_a_dead_destination_leaves_waits_on_disk_and_comes_in_order() {
    both(|reliable| {
        let mut desk = Desk::new(reliable);
        for _ in 0..100 {
            desk.push(37, false, None);
        }
        assert_eq!(desk.outlet().waiting(), 3700);
        assert!(desk.outlet().queue.lock().messages < 300, "the rest is on disk only");
        desk.let_through(1000);
        wait_until(|| {
            desk.pump();
            desk.delivered().len() == 1000
        });
        for _ in 0..10 {
            desk.push(100, false, None);
        }
        desk.check_all();
        desk.push(5, false, None);
        desk.check_all();
    });
}

#[test]
fn what_waits_at_the_end_is_found_at_the_beginning() {
    both(|reliable| {
        let mut desk = Desk::new(reliable);
        desk.push(10, false, None);
        desk.let_through(4);
        desk.stop();
        desk.start();
        let counters = Arc::clone(&desk.outlet().counters);
        assert_eq!((counters.recovered.value(), counters.waiting.value()), (6, 6), "to the message");
        desk.push(10, false, None);
        desk.check_all();
        desk.stop();
        desk.start();
        assert_eq!(desk.outlet().waiting(), 0);
    });
}

#[test]
fn many_ends_and_beginnings() {
    both(|reliable| {
        let mut desk = Desk::new(reliable);
        for round in 0..12 {
            desk.push(50 + 30 * round, round % 2 == 0, None);
            desk.let_through(20 * round);
            desk.stop();
            desk.start();
        }
        desk.check_all();
    });
}

#[test]
fn sources_hear_of_it_when_it_is_on_disk() {
    let mut desk = Desk::new(true);
    let window = Window::new(1 << 20, None, Budget::new(1 << 20));
    let ticket = window.ticket(100, 1);
    desk.push(1, true, Some(ticket.another()));
    wait_until(|| ticket.holders() == 1);
    assert_eq!(desk.outlet().waiting(), 1);
}

#[test]
fn without_reliable_they_hear_of_it_when_the_destination_stalls() {
    let mut desk = Desk::new(false);
    let window = Window::new(1 << 20, None, Budget::new(1 << 20));
    let ticket = window.ticket(100, 1);
    *desk.room.lock() = 1;
    desk.push(1, true, Some(ticket.another()));
    assert_eq!(ticket.holders(), 1, "delivered");
    assert_eq!(desk.outlet().on_disk().expect("it is").messages, 0, "and never on disk");
    desk.push(1, true, Some(ticket.another()));
    wait_until(|| ticket.holders() == 1);
    assert_eq!(desk.outlet().on_disk().expect("it is").messages, 1);
}

#[test]
fn with_little_room_left_they_hear_of_it_when_it_is_delivered() {
    let mut desk = Desk::new(true).with(|options| options.reserve_bytes = options.capacity_bytes);
    let window = Window::new(1 << 20, None, Budget::new(1 << 20));
    let ticket = window.ticket(100, 1);
    desk.push(1, true, Some(ticket.another()));
    desk.running.as_ref().expect("running").shared.durable.settle();
    // Whoever writes lets go of its own part a moment later.
    wait_until(|| ticket.holders() == 2);
    desk.let_through(1);
    assert_eq!(ticket.holders(), 1);
}

fn small(reliable: bool) -> Desk {
    // Room for 93 messages of eleven bytes.
    let mut desk = Desk::new(reliable).with(|options| options.capacity_bytes = 1030);
    desk.next = 1_000_000_000;
    desk
}

/// What an end of the program left of a destination without `disk-buffer()` has no capacity: none is told.
#[test]
fn a_capacity_that_nobody_has_said_is_no_room() {
    let mut desk = Desk::new(false).with(|options| options.capacity_bytes = DiskBuffer::BOUNDLESS);
    desk.push(50, false, None);
    let room = desk.outlet().standing().room;
    assert!(!matches!(room, Some(Headroom::DiskBytes { .. })), "{room:?}");
    let mut desk = Desk::new(false);
    desk.push(50, false, None);
    let room = desk.outlet().standing().room;
    assert!(matches!(room, Some(Headroom::DiskBytes { max, .. }) if max == 1 << 30), "{room:?}");
}

#[test]
fn without_room_and_flow_control_messages_are_dropped_and_counted() {
    for (reliable, overflow) in [(true, 0), (false, 10)] {
        let mut desk = small(reliable);
        for _ in 0..30 {
            desk.push(9, false, None);
        }
        // To the message: pieces of nine do not fit exactly.
        let stored = 93;
        assert_eq!(desk.outlet().waiting(), stored + overflow);
        let dropped = desk.outlet().counters.dropped.value(Reason::QueueFull) as usize;
        assert_eq!(dropped, 270 - stored - overflow);
        assert_balanced(desk.outlet());
        *desk.room.lock() = usize::MAX;
        wait_until(|| {
            desk.pump();
            desk.outlet().waiting() == 0
        });
        let expected: Vec<usize> = (1_000_000_000..).take(stored + overflow).collect();
        assert_eq!(desk.delivered(), expected);
    }
}

#[test]
fn without_room_and_with_flow_control_the_source_waits_and_nothing_is_lost() {
    both(|reliable| {
        let mut desk = small(reliable);
        let window = Window::new(1 << 20, None, Budget::new(1 << 20));
        let tickets: Vec<_> = (0..30).map(|_| window.ticket(1, 9)).collect();
        for ticket in &tickets {
            desk.push(9, true, Some(ticket.another()));
        }
        let held = |tickets: &[Ticket]| tickets.iter().filter(|ticket| ticket.holders() > 1).count();
        wait_until(|| held(&tickets) == 20);
        desk.let_through(50);
        wait_until(|| {
            desk.pump();
            held(&tickets) < 20
        });
        *desk.room.lock() = usize::MAX;
        wait_until(|| {
            desk.pump();
            desk.outlet().waiting() == 0
        });
        assert_eq!(desk.delivered(), (1_000_000_000..).take(270).collect::<Vec<_>>());
        assert_balanced(desk.outlet());
        wait_until(|| held(&tickets) == 0);
    });
}

#[test]
fn a_chunk_that_never_fits_is_delivered_from_memory() {
    let mut desk = Desk::new(true).with(|options| options.capacity_bytes = 10);
    desk.push(40, true, None);
    desk.push(3, true, None);
    desk.check_all();
}

#[test]
fn it_catches_up_while_more_comes() {
    both(|reliable| {
        let mut desk = Desk::new(reliable).with(|options| options.memory_messages = None);
        for _ in 0..300 {
            desk.push(1000, false, None);
        }
        *desk.room.lock() = usize::MAX;
        let mut rounds = 0;
        wait_until(|| {
            desk.push(100, false, None);
            rounds += 1;
            let queue = desk.outlet().queue.lock();
            rounds > 100 && !queue.spool.as_ref().expect("a spool").is_behind()
        });
        desk.check_all();
    });
}

#[test]
fn whatever_happens_in_whatever_order() {
    // Xorshift: the same sequences each time.
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below) as usize
    };
    for round in 0..60 {
        let memory = [Some(20), Some(100), None][random(3)];
        let capacity = if random(2) == 0 { 1 << 30 } else { 3000 };
        let mut desk = Desk::new(round % 2 == 0).with(|options| {
            options.memory_messages = memory;
            options.capacity_bytes = capacity;
        });
        for _ in 0..40 {
            match random(8) {
                // Without room, only messages with flow-control are all kept.
                0..=3 => desk.push(1 + random(60), capacity < 1 << 30 || random(2) == 0, None),
                4 => desk.let_through(random(200)),
                5 => desk.outlet().tick(Instant::now()),
                6 => desk.pump(),
                _ if capacity == 1 << 30 => {
                    desk.stop();
                    desk.start();
                }
                _ => {}
            }
            assert_balanced(desk.outlet());
        }
        desk.check_all();
    }
}

/// The number on disk of the message with this text.
fn number_of(desk: &Desk, text: &str) -> u64 {
    let shared = &desk.running.as_ref().expect("running").shared;
    assert!(shared.durable.places().iter().all(|place| place.log.flush()));
    let view = store::View::open(desk.dir.path()).expect("a log");
    let mut number = None;
    view.messages(0, 0, |message, _| {
        number = number.or(message.filter(|m| m.bytes == text.as_bytes()).map(|m| m.seq));
        std::ops::ControlFlow::Continue(())
    });
    number.expect("it is on disk")
}

#[test]
fn what_is_dropped_on_request_goes_from_the_front_and_is_counted() {
    let mut desk = Desk::new(true);
    for _ in 0..20 {
        desk.push(50, false, None);
    }
    desk.let_through(30);
    // In the middle of what came together, and beyond what is in memory.
    for (from, to) in [(30, 75), (75, 475), (475, 900)] {
        let until = number_of(&desk, &format!("{to}\n"));
        assert_eq!(desk.outlet().discard(until), (to - from, Ok(())));
        assert_eq!(desk.outlet().waiting(), 1000 - to);
        assert_eq!(desk.outlet().discard(until).0, 0, "once");
    }
    assert_eq!(desk.outlet().counters.dropped.value(Reason::Discarded), 870);
    assert_balanced(desk.outlet());
    desk.let_through(40);
    desk.stop();
    desk.start();
    assert_eq!(desk.outlet().waiting(), 60);
    *desk.room.lock() = usize::MAX;
    wait_until(|| {
        desk.pump();
        desk.outlet().waiting() == 0
    });
    assert_eq!(desk.delivered(), (0..30).chain(900..1000).collect::<Vec<_>>());
}

/// The rig's memory takes 100 messages.
#[test]
fn a_sink_hears_whether_more_can_come_before_it_is_done() {
    both(|reliable| {
        let mut desk = Desk::new(reliable);
        let told = |desk: &Desk| {
            wait_until(|| {
                desk.pump();
                desk.outlet().queue.try_lock().is_some_and(|queue| !queue.chunks.is_empty())
            });
            *desk.supply.lock()
        };
        desk.push(50, true, None);
        assert_eq!(told(&desk), Supply::Disk);
        desk.push(50, true, None);
        assert_eq!(told(&desk), Supply::Ended, "memory is full");
        desk.push(500, true, None);
        desk.let_through(30);
        assert_eq!(told(&desk), Supply::Ended, "more is on disk, and is read when half of this is done");
        desk.check_all();
        *desk.room.lock() = 0;
        desk.push(10, true, None);
        assert_eq!(told(&desk), Supply::Disk);
        desk.check_all();
    });
    let mut desk = small(true);
    for _ in 0..11 {
        desk.push(9, true, None);
    }
    wait_until(|| {
        desk.pump();
        *desk.supply.lock() == Supply::Ended
    });
    assert_eq!(desk.outlet().waiting(), 99, "the disk is full, and memory is not");
}

/// After a power loss no more than a stated size may come again: more is not let go before some is finished.
#[test]
fn a_sink_hears_that_it_has_all_that_it_gets_for_now() {
    let mut desk = Desk::new(true).with(|options| options.memory_messages = None);
    for _ in 0..40 {
        desk.push(100_000, true, None);
    }
    wait_until(|| {
        desk.pump();
        *desk.supply.lock() == Supply::Ended
    });
    assert!(!desk.outlet().queue.lock().spool.as_ref().expect("a spool").is_behind(), "memory has room");
    desk.check_all();
}
