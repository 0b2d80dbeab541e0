//! Random outcomes in random order against a server that writes down what it has said: nothing is lost,
//! nothing comes twice but where the server kept silent, order is kept, and the queue's front never passes a
//! message without a fate.

use crate::{Client, FlightSink, Limits, Outcome, Part, Piece, Verdict, enclose, opened};
use engine::ledger::{DestinationCounters, Reason};
use engine::{Budget, Chunk, Progress, Sink, Status, Supply, Wake, Window};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Server {
    away: Vec<(u32, Vec<usize>)>,
    answers: Vec<(u32, Outcome)>,
    /// What it said it has, in the order in which it said so, and what it refused.
    delivered: Vec<usize>,
    refused: Vec<usize>,
    keys: Vec<Vec<u8>>,
    /// What batches were sent from, as far as they were sent from where they lay.
    pieces: Vec<Option<Vec<u8>>>,
    largest: usize,
    due: Option<Instant>,
}

struct Fake {
    server: Arc<Mutex<Server>>,
    room: usize,
    /// Of the batch that begins next.
    pieces: Option<Vec<Piece>>,
}

impl Client for Fake {
    fn room(&self) -> usize {
        self.room - self.server.lock().expect("lock").away.len()
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        let numbers = part.messages.iter().map(|m| std::str::from_utf8(m).expect("text").parse().expect("n"));
        let mut server = self.server.lock().expect("lock");
        server.largest = server.largest.max(part.messages.len());
        server.keys.push(part.key.to_vec());
        let pieces = self.pieces.take();
        let pieces = pieces.map(|pieces| pieces.iter().flat_map(Piece::as_ref).copied().collect::<Vec<u8>>());
        if let Some(pieces) = &pieces {
            let joined: Vec<u8> =
                part.messages.iter().flat_map(|message| [message, &b";"[..]].concat()).collect();
            assert_eq!(pieces, &joined);
        }
        server.pieces.push(pieces);
        server.away.push((id, numbers.collect()));
    }

    fn shares(&self) -> Option<&[u8]> {
        Some(b";")
    }

    fn share(&mut self, _id: u32, pieces: Vec<Piece>) {
        self.pieces = Some(pieces);
    }

    fn outcomes(&mut self, out: &mut Vec<(u32, Outcome)>) {
        out.append(&mut self.server.lock().expect("lock").answers);
    }

    fn due(&self, now: Instant) -> Option<Instant> {
        self.server.lock().expect("lock").due.filter(|due| *due > now)
    }

    fn close(&mut self) {}
}

fn is_bad(n: usize) -> bool {
    n % 11 == 5
}

impl Server {
    /// Answers one of the batches.
    fn answer(&mut self, which: usize, kind: u8, salt: usize) {
        if self.away.is_empty() {
            return;
        }
        let (id, numbers) = self.away.remove(which % self.away.len());
        let outcome = match kind {
            0 if numbers.iter().any(|n| is_bad(*n)) => {
                if numbers.len() == 1 {
                    self.refused.push(numbers[0]);
                }
                Outcome::Split("bad".into())
            }
            0 => {
                self.delivered.extend(&numbers);
                Outcome::Delivered
            }
            1 => {
                let verdicts = numbers.iter().map(|n| match (is_bad(*n), (n + salt) % 3) {
                    (_, 0) if n % 2 == 0 => Verdict::Hold("right".into()),
                    (_, 0) => Verdict::Again,
                    (true, _) => {
                        self.refused.push(*n);
                        Verdict::Refused("bad".into())
                    }
                    (false, _) => {
                        self.delivered.push(*n);
                        Verdict::Delivered
                    }
                });
                Outcome::Judged { verdicts: verdicts.collect(), after: None }
            }
            2 => Outcome::Again { after: Some(Duration::from_secs(1)), counts: false, why: "busy".into() },
            3 => Outcome::Unknown("no answer".into()),
            4 => Outcome::Away("refused".into()),
            _ => Outcome::Hold("password".into()),
        };
        self.answers.push((id, outcome));
    }
}

struct Bench {
    server: Arc<Mutex<Server>>,
    sink: FlightSink<Fake>,
    chunks: VecDeque<Chunk>,
    counters: Arc<DestinationCounters>,
    now: Instant,
    pushed: usize,
    supply: Supply,
}

impl Bench {
    fn new(limits: Limits) -> Bench {
        let (server, counters) = (Arc::default(), Arc::new(DestinationCounters::default()));
        let fake = Fake { server: Arc::clone(&server), room: limits.away, pieces: None };
        let sink = FlightSink::new(fake, limits, "test".into(), 1, &counters);
        Bench {
            server,
            sink,
            chunks: VecDeque::new(),
            counters,
            now: Instant::now(),
            pushed: 0,
            supply: Supply::Sources,
        }
    }

    fn push(&mut self, messages: usize) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for n in self.pushed..self.pushed + messages {
            bytes.extend_from_slice(n.to_string().as_bytes());
            ends.push(bytes.len() as u32);
        }
        self.pushed += messages;
        self.chunks.extend(Chunk::of(bytes, ends));
    }

    /// The same, with what stands between them.
    fn push_delimited(&mut self, messages: usize) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        for n in self.pushed..self.pushed + messages {
            bytes.extend_from_slice(format!("{n};").as_bytes());
            ends.push(bytes.len() as u32);
        }
        self.pushed += messages;
        let mut chunk = Chunk::of(bytes, ends).expect("whole");
        chunk.set_tail(1);
        self.chunks.push_back(chunk);
    }

    fn write(&mut self) -> Status {
        let mut progress = Progress { supply: self.supply, ..Progress::new(&self.counters) };
        self.sink.write_at(&mut self.chunks, &mut progress, self.now)
    }

    fn settled(&self) -> usize {
        (self.counters.delivered.value() + self.counters.dropped.value(Reason::Refused)) as usize
    }

    /// What holds at every moment.
    fn check(&self) {
        let waiting: usize = self.chunks.iter().map(Chunk::messages).sum();
        assert_eq!(self.settled() + waiting, self.pushed);
        let server = self.server.lock().expect("lock");
        for n in 0..self.settled() {
            assert!(server.delivered.contains(&n) || server.refused.contains(&n), "{n} has no fate");
        }
    }

    /// Everything is answered as it deserves.
    fn drain(&mut self) {
        for _ in 0..20_000 {
            self.write();
            if self.chunks.is_empty() {
                return;
            }
            self.now += Duration::from_secs(120);
            self.server.lock().expect("lock").answer(0, 0, 0);
        }
        panic!("it does not come to an end");
    }

    fn ends(&self) -> (Vec<usize>, Vec<usize>) {
        let server = self.server.lock().expect("lock");
        (server.delivered.clone(), server.refused.clone())
    }
}

#[derive(Clone, Debug)]
enum Op {
    Push(usize),
    Write,
    Answer(usize, u8, usize),
    Pass(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (1usize..20).prop_map(Op::Push),
        Just(Op::Write),
        (0usize..8, 0u8..6, 0usize..3).prop_map(|(which, kind, salt)| Op::Answer(which, kind, salt)),
        (1u64..30_000).prop_map(Op::Pass),
    ]
}

proptest! {
    #[test]
    fn every_message_has_one_fate(
        ops in prop::collection::vec(op(), 1..120),
        away in 1usize..5,
        lines in 1usize..40,
    ) {
        let limits = Limits { lines, away, retries: u32::MAX, ..Limits::default() };
        let mut bench = Bench::new(limits);
        for op in ops {
            match op {
                Op::Push(n) => bench.push(n),
                Op::Write => drop(bench.write()),
                Op::Answer(which, kind, salt) => {
                    bench.server.lock().expect("lock").answer(which, kind, salt);
                    bench.write();
                }
                Op::Pass(ms) => bench.now += Duration::from_millis(ms),
            }
            bench.check();
        }
        bench.drain();
        let (mut delivered, mut refused) = bench.ends();
        delivered.sort_unstable();
        refused.sort_unstable();
        let (bad, good): (Vec<usize>, Vec<usize>) = (0..bench.pushed).partition(|n| is_bad(*n));
        prop_assert_eq!(delivered, good, "the server has said so once of each");
        prop_assert_eq!(refused, bad);
        prop_assert_eq!(bench.counters.delivered.value() as usize + bench.ends().1.len(), bench.pushed);
        prop_assert!(bench.server.lock().expect("lock").largest <= lines);
    }

    #[test]
    fn one_batch_at_a_time_keeps_the_order(
        kinds in prop::collection::vec((0u8..6).prop_filter("whole batches", |kind| *kind != 1), 1..60),
        lines in 1usize..40,
    ) {
        let mut bench = Bench::new(Limits { lines, retries: u32::MAX, ..Limits::default() });
        for kind in kinds {
            bench.push(7);
            bench.write();
            bench.server.lock().expect("lock").answer(0, kind, 0);
            bench.now += Duration::from_secs(61);
        }
        bench.drain();
        let (delivered, refused) = bench.ends();
        prop_assert!(delivered.is_sorted() && refused.is_sorted());
        prop_assert_eq!(delivered.len() + refused.len(), bench.pushed);
    }
}

/// Answers each batch by the numbers of its messages until all is dealt with. Returns how many there were.
fn serve(bench: &mut Bench, outcome: impl Fn(&[usize]) -> Outcome) -> usize {
    let mut requests = 0;
    while !bench.chunks.is_empty() {
        bench.write();
        let mut server = bench.server.lock().expect("lock");
        let Some((id, numbers)) = server.away.pop() else { continue };
        requests += 1;
        server.answers.push((id, outcome(&numbers)));
    }
    requests
}

#[test]
fn one_bad_in_ten_thousand_is_one_dead_letter() {
    let limits = Limits { lines: 10_000, ..Limits::default() };
    let mut bench = Bench::new(limits);
    bench.push(10_000);
    let requests = serve(&mut bench, |numbers| match numbers.contains(&7_777) {
        true => Outcome::Split("bad".into()),
        false => Outcome::Delivered,
    });
    assert_eq!((bench.counters.delivered.value(), bench.counters.dropped.total()), (9_999, 1));
    assert!(requests < 32, "{requests} requests");
}

/// Sends messages in batches of a thousand to a server that refuses batches with a bad one, and names it if
/// it `names`. Returns what was delivered, what was dropped, and the requests that it took.
fn let_go(messages: usize, names: bool, is_bad: impl Fn(usize) -> bool) -> (u64, u64, usize) {
    let mut bench = Bench::new(Limits { lines: 1000, ..Limits::default() });
    bench.push(messages);
    let requests = serve(&mut bench, |numbers| match numbers.iter().position(|n| is_bad(*n)) {
        Some(place) => Outcome::LetGo { why: "bad".into(), named: names.then_some(place) },
        None => Outcome::Delivered,
    });
    (bench.counters.delivered.value(), bench.counters.dropped.total(), requests)
}

#[test]
fn one_that_is_let_go_costs_itself() {
    for (names, most) in [(true, 4), (false, 32)] {
        let (delivered, dropped, requests) = let_go(2000, names, |n| n == 777);
        assert_eq!((delivered, dropped), (1999, 1));
        assert!(requests <= most, "{requests} requests");
    }
}

#[test]
fn many_that_are_let_go_cost_themselves() {
    for names in [true, false] {
        let (delivered, dropped, requests) = let_go(3000, names, |n| n % 100 == 42);
        assert_eq!((delivered, dropped), (2970, 30));
        assert!(requests < 500, "{requests} requests");
    }
}

#[test]
fn where_all_is_let_go_it_goes_soon() {
    for names in [true, false] {
        let (delivered, dropped, requests) = let_go(3000, names, |_| true);
        assert_eq!((delivered, dropped), (0, 3000));
        assert!(requests < 120, "{requests} requests");
    }
}

#[test]
fn failures_that_count_end_with_the_message_alone() {
    let mut bench = Bench::new(Limits { lines: 8, retries: 3, ..Limits::default() });
    bench.push(8);
    let mut alone = 0;
    while !bench.chunks.is_empty() {
        bench.now += Duration::from_secs(61);
        bench.write();
        let mut server = bench.server.lock().expect("lock");
        let Some((id, numbers)) = server.away.pop() else { continue };
        alone += usize::from(numbers == [3]);
        let outcome = match numbers.contains(&3) {
            true => Outcome::Again { after: None, counts: true, why: "504".into() },
            false => Outcome::Delivered,
        };
        server.answers.push((id, outcome));
    }
    assert_eq!((bench.counters.delivered.value(), bench.counters.dropped.total(), alone), (7, 1, 1));
}

#[test]
fn keys_are_kept_apart_and_taken_off() {
    let mut bench = Bench::new(Limits { lines: 100, keyed: true, ..Limits::default() });
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for (key, message) in [("a", "0"), ("a", "1"), ("b", "2"), ("a", "3")] {
        enclose(&mut bytes, key.as_bytes(), message.as_bytes());
        ends.push(bytes.len() as u32);
    }
    assert_eq!(opened(&bytes[..6]), (&b"a"[..], &b"0"[..]));
    bench.chunks.extend(Chunk::of(bytes, ends));
    bench.pushed = 4;
    bench.drain();
    assert_eq!(bench.ends().0, [0, 1, 2, 3]);
    assert_eq!(bench.server.lock().expect("lock").keys, [b"a", b"b", b"a"]);
}

#[test]
fn waiting_for_an_answer_is_no_outage_until_it_is_late() {
    let mut bench =
        Bench::new(Limits { lines: 8, answer: Some(Duration::from_secs(10)), ..Limits::default() });
    bench.push(8);
    assert_eq!(bench.write(), Status::Blocked);
    assert!(bench.sink.is_well(bench.now + Duration::from_secs(10)));
    assert!(!bench.sink.is_well(bench.now + Duration::from_secs(11)));
    bench.server.lock().expect("lock").answer(0, 4, 0);
    assert!(matches!(bench.write(), Status::Retry(_)), "an outage is one");
    assert!(!bench.sink.is_well(bench.now));
    assert_eq!(bench.counters.unreachable.value(), 1);
    bench.now += Duration::from_secs(1);
    bench.write();
    bench.server.lock().expect("lock").answer(0, 2, 0);
    let status = bench.write();
    assert!(matches!(status, Status::Wait(_)), "{status:?}");
    assert!(bench.sink.is_well(bench.now), "a busy server is well for a while");
    bench.now += Duration::from_secs(1);
    bench.drain();
    assert_eq!(bench.counters.unreachable.value(), 0);
}

#[test]
fn a_throttle_lets_so_many_go() {
    let mut bench = Bench::new(Limits { lines: 100, throttle: 10, ..Limits::default() });
    bench.push(25);
    let mut sizes = Vec::new();
    let begin = bench.now;
    while !bench.chunks.is_empty() {
        match bench.write() {
            Status::Wait(wait) => bench.now += wait,
            Status::Blocked => bench.now += Duration::from_millis(1),
            other => assert_eq!(other, Status::Done),
        }
        let mut server = bench.server.lock().expect("lock");
        sizes.extend(server.away.first().map(|(_, numbers)| numbers.len()));
        let away = server.away.drain(..).collect::<Vec<_>>();
        server.answers.extend(away.into_iter().map(|(id, _)| (id, Outcome::Delivered)));
    }
    assert_eq!((sizes.first(), sizes.iter().sum::<usize>()), (Some(&10), 25));
    assert!((bench.now - begin).as_secs_f64() > 1.4);
}

#[test]
fn what_was_taken_away_and_comes_back_is_sent_again() {
    let mut bench = Bench::new(Limits { lines: 4, ..Limits::default() });
    bench.push(4);
    bench.write();
    bench.chunks.iter_mut().for_each(Chunk::rewind);
    bench.write();
    // The answer to the batch that was forgotten counts for nothing.
    bench.server.lock().expect("lock").away.remove(0);
    bench.drain();
    assert_eq!((bench.counters.delivered.value(), bench.ends().0.len()), (4, 4));
}

#[test]
fn a_client_that_waits_for_a_time_is_called_then() {
    let mut bench = Bench::new(Limits { away: 1, ..Limits::default() });
    bench.push(1);
    assert!(matches!(bench.write(), Status::Blocked));
    let due = bench.now + Duration::from_millis(200);
    bench.server.lock().expect("lock").due = Some(due);
    assert!(matches!(bench.write(), Status::Wait(after) if after == Duration::from_millis(200)));
    assert!(matches!(bench.write(), Status::Blocked), "it is asked for once");
    bench.now = due;
    assert!(matches!(bench.write(), Status::Blocked), "it is past");
}

struct Nobody;

impl Wake for Nobody {
    fn wake(&self) {}
}

#[test]
fn a_batch_for_which_its_source_waits_goes_before_it_is_full() {
    let timeout = Some(Duration::from_secs(60));
    let mut bench = Bench::new(Limits { lines: 100, timeout, ..Limits::default() });
    let window = Window::new(10, None, Budget::new(1000));
    let waker: Arc<dyn Wake> = Arc::new(Nobody);
    bench.push(10);
    bench.chunks[0].comes();
    bench.now = Instant::now();
    bench.chunks[0].tickets.push(window.ticket(10, 10));
    assert!(matches!(bench.write(), Status::Wait(after) if after < Duration::from_secs(1)));
    bench.now += Duration::from_secs(1);
    bench.write();
    assert!(bench.server.lock().expect("lock").away.is_empty(), "more may come");
    assert!(!window.may_read(&waker));
    bench.now += Duration::from_secs(1);
    bench.write();
    assert_eq!(bench.server.lock().expect("lock").away.len(), 1);
    bench.drain();
    assert!(window.may_read(&waker));
}

/// Its source waits for it, and for the disk too: that lets it go sooner, and the batch gets full.
#[test]
fn a_batch_with_a_disk_behind_it_goes_only_when_that_brings_nothing_more() {
    let timeout = Some(Duration::from_secs(60));
    let mut bench = Bench::new(Limits { lines: 100, timeout, ..Limits::default() });
    let window = Window::new(10, None, Budget::new(1000));
    let waker: Arc<dyn Wake> = Arc::new(Nobody);
    bench.supply = Supply::Disk;
    bench.push(10);
    bench.chunks[0].comes();
    bench.now = Instant::now();
    bench.chunks[0].tickets.push(window.ticket(10, 10));
    assert!(!window.may_read(&waker));
    bench.now += Duration::from_secs(10);
    bench.write();
    assert!(bench.server.lock().expect("lock").away.is_empty(), "the disk takes what comes");
    bench.supply = Supply::Ended;
    bench.write();
    assert_eq!(bench.server.lock().expect("lock").away.len(), 1, "there is no room for more");
    bench.drain();
}

#[test]
fn batches_are_sent_from_where_they_lie_when_they_were_never_sent() {
    let mut bench = Bench::new(Limits { lines: 4, away: 9, ..Limits::default() });
    bench.push_delimited(3);
    bench.push_delimited(5);
    bench.push(1);
    bench.push_delimited(2);
    bench.write();
    let sent = |bench: &Bench| {
        let server = bench.server.lock().expect("lock");
        let texts = server.pieces.iter().map(|pieces| pieces.clone().map(String::from_utf8));
        texts.map(|text| text.map(|text| text.expect("text"))).collect::<Vec<_>>()
    };
    let first = [Some("0;1;2;3;".to_owned()), Some("4;5;6;7;".to_owned()), None];
    assert_eq!(sent(&bench), first, "one in the last batch has nothing behind it");
    bench.server.lock().expect("lock").answer(0, 4, 0);
    bench.write();
    bench.now += Duration::from_secs(3600);
    bench.write();
    assert_eq!(sent(&bench)[3], None, "what is sent again is put together");
    let mut round = 0;
    while bench.settled() < bench.pushed {
        round += 1;
        bench.server.lock().expect("lock").answer(0, 1, round);
        bench.server.lock().expect("lock").answer(0, 2, 0);
        bench.now += Duration::from_secs(3600);
        bench.write();
        bench.check();
    }
    assert!(bench.counters.dropped.value(Reason::Refused) > 0 && bench.chunks.is_empty());
}
