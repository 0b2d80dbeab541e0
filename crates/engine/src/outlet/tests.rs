use super::*;
use crate::durable::Durable;
use crate::profile::Profiling;
use crate::window::{Budget, Wake, Window};
use crate::worker::{Shared, Worker};
use std::cell::Cell;
use std::sync::atomic::Ordering;
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// A sink that takes what the test lets it: so many messages, and half of the next one.
struct Fake {
    got: Arc<Mutex<Vec<u8>>>,
    /// Messages it still takes before it says `then`.
    room: Arc<Mutex<usize>>,
    then: fn() -> Status,
    /// The peer takes the rest of a message at the end.
    finishes: Arc<AtomicBool>,
    /// So often something was heard.
    heard: Arc<AtomicUsize>,
}

impl Sink for Fake {
    fn event(&mut self) {
        self.heard.fetch_add(1, Ordering::SeqCst);
    }

    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        while let Some(chunk) = chunks.front_mut() {
            let mut room = self.room.lock();
            if *room == 0 {
                let half = chunk.rest().is_empty().then(|| chunk.front().map_or(0, |m| m.len() / 2));
                self.take(chunk, half.unwrap_or(0), progress);
                return (self.then)();
            }
            if let Some(message) = chunk.front() {
                assert_ne!(message, b"panic", "as the test asks");
                let size = if chunk.rest().is_empty() { message.len() } else { chunk.rest().len() };
                self.take(chunk, size, progress);
                *room -= 1;
            }
            if chunk.is_empty()
                && let Some(chunk) = chunks.pop_front()
            {
                progress.finished(chunk);
            }
        }
        Status::Done
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {}

    fn finish(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>, _until: Instant) {
        if self.finishes.load(Ordering::SeqCst) {
            self.take(chunk, chunk.rest().len(), progress);
        }
    }
}

impl Fake {
    fn take(&self, chunk: &mut Chunk, size: usize, progress: &mut Progress<'_>) {
        self.got.lock().extend_from_slice(&chunk.pending()[..size]);
        progress.delivered(chunk.advance(size));
    }
}

struct Bench {
    outlet: Arc<Outlet>,
    got: Arc<Mutex<Vec<u8>>>,
    room: Arc<Mutex<usize>>,
    finishes: Arc<AtomicBool>,
    heard: Arc<AtomicUsize>,
}

fn bench(messages_max: usize, room: usize, then: fn() -> Status) -> Bench {
    let shared = Shared::new(1, Budget::new(1 << 20), false);
    let worker = Worker::new(0, shared, template::Identity::new("here")).expect("worker");
    let (got, room) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(room)));
    let finishes = Arc::new(AtomicBool::new(true));
    let heard: Arc<AtomicUsize> = Arc::default();
    let sink = Fake {
        got: Arc::clone(&got),
        room: Arc::clone(&room),
        then,
        finishes: Arc::clone(&finishes),
        heard: Arc::clone(&heard),
    };
    let limits = QueueLimits { messages_max };
    let outlet = Outlet::new("fake".into(), Arc::default(), limits, worker.handle(), |_| Box::new(sink));
    Bench { outlet, got, room, finishes, heard }
}

fn chunk(messages: &[&str]) -> Chunk {
    let mut chunk = Chunk::default();
    for message in messages {
        chunk.bytes.extend_from_slice(message.as_bytes());
        chunk.ends.push(chunk.bytes.len() as u32);
    }
    chunk
}

impl Bench {
    fn push(&self, chunk: Chunk) {
        self.outlet.push_new(chunk);
        self.outlet.pump();
    }

    /// The ledger of the outlet balances, and what arrived is this.
    #[track_caller]
    /// What can be looked at afterwards.
    fn remains(&self, reason: Reason) -> Vec<String> {
        let kept = self.outlet.counters.remains.since(reason, 0).into_iter();
        kept.map(|remain| String::from_utf8(remain.text).expect("text")).collect()
    }

    fn check(&self, got: &str, waiting: u64, dropped: u64) {
        let c = &self.outlet.counters;
        assert_eq!(String::from_utf8_lossy(&self.got.lock()), got);
        assert_eq!((c.waiting.value(), c.dropped.total()), (waiting, dropped));
        assert_eq!(c.accepted.value(), c.delivered.value() + waiting + dropped);
        assert_eq!(self.outlet.waiting() as u64, waiting);
    }
}

#[test]
fn a_blocked_sink_goes_on_where_it_stopped() {
    let b = bench(100, 2, || Status::Blocked);
    b.push(chunk(&["a", "b", "c"]));
    b.push(chunk(&["d"]));
    b.check("ab", 2, 0);
    *b.room.lock() = 10;
    b.outlet.event();
    b.check("abcd", 0, 0);
}

#[test]
fn whoever_looks_sees_the_worker_write_and_go_on_with_what_it_did() {
    thread_local! {
        static LOOKS: Cell<Option<Profiling>> = const { Cell::new(None) };
        static WROTE: Cell<Option<(Doing, u32)>> = const { Cell::new(None) };
    }
    const WORKER: usize = 200;
    fn at(profiling: &Profiling) -> Option<(Doing, u32)> {
        profiling.look(WORKER).map(|(doing, number, _)| (doing, number))
    }
    let _turn = profile::tests::TURN.lock();
    profile::enter(WORKER);
    // The sink is asked for its answer in the middle of a write.
    let b = bench(100, 0, || {
        let profiling = LOOKS.take();
        WROTE.set(profiling.as_ref().and_then(at));
        LOOKS.set(profiling);
        Status::Blocked
    });
    b.outlet.push_new(chunk(&["a"]));
    LOOKS.set(Some(Profiling::begin()));
    profile::mark(Doing::Steps, 5);
    b.outlet.pump();
    assert_eq!(WROTE.get(), Some((Doing::Writes, b.outlet.id)));
    assert_eq!(LOOKS.take().as_ref().and_then(at), Some((Doing::Steps, 5)));
}

#[test]
fn an_unreachable_outlet_keeps_what_the_fifo_allows_and_the_oldest_first() {
    let b = bench(3, 0, || Status::Retry(Duration::from_secs(3600)));
    b.push(chunk(&["a", "b"]));
    b.push(chunk(&["c", "d", "e"]));
    b.push(chunk(&["f"]));
    b.check("", 3, 3);
    *b.room.lock() = 10;
    b.outlet.event();
    b.check("abc", 0, 3);
    b.push(chunk(&["g"]));
    b.check("abcg", 0, 3);
}

#[test]
fn flow_controlled_messages_are_never_dropped_and_hold_their_source() {
    let b = bench(1, 0, || Status::Retry(Duration::from_secs(3600)));
    struct Flag(AtomicBool);
    impl Wake for Flag {
        fn wake(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    let flag: Arc<dyn Wake> = Arc::new(Flag(AtomicBool::new(false)));
    let window = Window::new(1, None, Budget::new(1 << 20));
    let mut held = chunk(&["a", "b", "c"]);
    held.flow_control = true;
    held.tickets.push(window.ticket(3, 3));
    b.push(held);
    b.check("", 3, 0);
    assert!(!window.may_read(&flag));
    *b.room.lock() = 10;
    b.outlet.event();
    b.check("abc", 0, 0);
    assert!(window.may_read(&flag));
}

#[test]
fn without_flow_control_a_stalled_outlet_lets_its_sources_go() {
    let b = bench(10, 0, || Status::Blocked);
    let flag: Arc<dyn Wake> = Arc::new(crate::worker::NoWake);
    let window = Window::new(1, None, Budget::new(1 << 20));
    let mut held = chunk(&["a"]);
    held.tickets.push(window.ticket(1, 1));
    b.push(held);
    assert!(!window.may_read(&flag), "a slow peer is felt");
    b.outlet.tick(Instant::now());
    b.outlet.tick(Instant::now());
    assert!(window.may_read(&flag), "one that does not move is not");
    b.check("", 1, 0);
}

#[test]
fn a_panic_in_a_sink_costs_its_chunk_only() {
    let b = bench(10, 10, || Status::Blocked);
    b.push(chunk(&["a", "panic", "b"]));
    b.push(chunk(&["c"]));
    b.outlet.event();
    b.check("ac", 0, 2);
    assert_eq!(b.remains(Reason::Contained), ["panic", "b"]);
}

#[test]
fn closing_counts_what_is_left() {
    let b = bench(10, 1, || Status::Blocked);
    b.push(chunk(&["a", "b"]));
    b.outlet.close();
    b.check("a", 0, 1);
    b.outlet.push_new(chunk(&["late"]));
    b.check("a", 0, 2);
    assert_eq!(b.remains(Reason::Abandoned), ["b", "late"]);
}

#[test]
fn a_successor_takes_over_at_the_end_of_a_message() {
    let (old, new) = (bench(10, 1, || Status::Blocked), bench(10, 10, || Status::Blocked));
    old.push(chunk(&["aa", "bb", "cc"]));
    old.check("aab", 2, 0);
    new.outlet.inherit(&old.outlet, &Durable::default());
    old.outlet.close();
    assert_eq!(*old.got.lock(), b"aabb");
    // The old one's ledger says where it left them as long as it can be asked.
    assert_eq!((old.outlet.waiting(), old.outlet.counters.waiting.value()), (0, 1));
    new.check("cc", 0, 0);
}

#[test]
fn a_message_the_old_peer_does_not_take_is_begun_anew() {
    let (old, new) = (bench(10, 1, || Status::Blocked), bench(10, 10, || Status::Blocked));
    old.finishes.store(false, Ordering::SeqCst);
    old.push(chunk(&["aa", "bb", "cc"]));
    new.outlet.inherit(&old.outlet, &Durable::default());
    new.check("bbcc", 0, 0);
    let c = &new.outlet.counters;
    assert_eq!((c.accepted_bytes.value(), c.delivered_bytes.value()), (4, 4));
}

#[test]
fn what_is_inherited_comes_before_what_came_here() {
    let (old, new) = (bench(10, 0, || Status::Blocked), bench(10, 10, || Status::Blocked));
    old.push(chunk(&["a", "b"]));
    new.outlet.hold();
    new.push(chunk(&["11", "22"]));
    new.check("", 2, 0);
    new.outlet.inherit(&old.outlet, &Durable::default());
    new.check("", 4, 0);
    new.outlet.release();
    new.check("ab1122", 0, 0);
}

#[test]
fn closing_finishes_a_message_that_was_begun() {
    let b = bench(10, 0, || Status::Blocked);
    b.push(chunk(&["aa", "bb"]));
    b.check("a", 2, 0);
    b.outlet.close();
    b.check("aa", 0, 1);
}

#[test]
fn the_sink_of_an_outlet_that_has_ended_hears_of_nothing_and_opens_nothing() {
    let b = bench(10, 9, || Status::Blocked);
    b.outlet.event();
    assert_eq!(b.heard.load(Ordering::SeqCst), 1);
    b.outlet.close();
    b.outlet.event();
    b.outlet.tick(Instant::now());
    assert_eq!(b.heard.load(Ordering::SeqCst), 1);
}

#[test]
fn closing_waits_for_nobody_when_nothing_moved() {
    let b = bench(10, 0, || Status::Blocked);
    b.push(chunk(&["aa", "bb"]));
    b.outlet.tick(Instant::now());
    b.outlet.tick(Instant::now());
    b.outlet.close();
    b.check("a", 0, 2);
}

#[test]
fn several_queues_go_to_several_successors_in_order() {
    let olds = [bench(10, 0, || Status::Blocked), bench(10, 0, || Status::Blocked)];
    let [first, second, third] = [1, 2, 3].map(|_| bench(10, 1, || Status::Blocked));
    olds[0].push(chunk(&["a", "b"]));
    olds[1].push(chunk(&["c"]));
    for heir in [&first, &second, &third] {
        heir.outlet.hold();
    }
    first.push(chunk(&["1"]));
    second.push(chunk(&["2"]));
    let inherit = |old: &Bench| first.outlet.inherit(&old.outlet, &Durable::default());
    let messages = olds.iter().rev().map(inherit).sum();
    assert_eq!(messages, 3);
    first.outlet.lead(&[Arc::clone(&second.outlet), Arc::clone(&third.outlet)], messages);
    for heir in [&first, &second, &third] {
        heir.outlet.release();
    }
    third.push(chunk(&["3"]));
    assert!(first.outlet.leads());
    first.check("a", 3, 0);
    second.check("", 1, 0);
    third.check("", 1, 0);
    *first.room.lock() = 2;
    first.outlet.event();
    first.check("abc", 1, 0);
    second.check("2", 0, 0);
    third.check("3", 0, 0);
    assert!(!first.outlet.leads());
}

#[test]
fn who_leads_and_has_no_room_frees_its_followers() {
    let old = bench(10, 0, || Status::Blocked);
    let retry = || Status::Retry(Duration::from_secs(3600));
    let (first, second) = (bench(1, 0, retry), bench(10, 9, || Status::Blocked));
    old.push(chunk(&["a", "b"]));
    first.outlet.hold();
    second.outlet.hold();
    let messages = first.outlet.inherit(&old.outlet, &Durable::default());
    first.outlet.lead(&[Arc::clone(&second.outlet)], messages);
    second.push(chunk(&["1"]));
    second.outlet.release();
    first.outlet.release();
    first.check("", 1, 1);
    second.check("", 1, 0);
    *first.room.lock() = 9;
    first.outlet.event();
    first.check("a", 0, 1);
    second.check("1", 0, 0);
}
