//! A sender against receivers made by hand: windows, cuts, servers that know nothing or the wrong thing.

use super::identity::Stream;
use super::*;
use delivery::dialing::DialOptions;
use delivery::single::MakeSink;
use delivery::target::{Connect, Lookup, Route};
use delivery::testing::{Rig, numbered, wait_until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use wire::rltp::{self, Frame, Hello, Reached, Start, Welcome};

fn rig(port: u16, window: usize) -> Rig {
    let wishes = Wishes { connections: 1, window, level: None };
    let options = Arc::new(DialOptions {
        connect: Connect::default(),
        time_reopen: Duration::from_millis(10),
        failback: None,
        secure: None,
    });
    let make: MakeSink = Box::new(move |place| {
        let route = Route::new(vec![Lookup::host("127.0.0.1", port, false)]);
        Box::new(RltpSink::new(place, route, Arc::clone(&options), wishes, (Stream::default(), 3)))
    });
    Rig::new(make)
}

fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = listener.local_addr().expect("address").port();
    (listener, port)
}

/// A receiver's side of a connection.
struct Peer {
    stream: TcpStream,
    input: Vec<u8>,
}

#[derive(Debug, PartialEq)]
enum Said {
    Start(u64),
    Batch(u64, Vec<String>),
}

impl Peer {
    fn accept(listener: &TcpListener) -> Peer {
        let (mut stream, _) = listener.accept().expect("accept");
        let mut hello = [0; rltp::HELLO_BYTES];
        stream.read_exact(&mut hello).expect("a hello");
        let Ok(Some(Hello { lane: 3, packs: false, .. })) = rltp::read_hello(&hello) else {
            panic!("{hello:?}")
        };
        stream.write_all(&rltp::MAGIC).expect("write");
        Peer { stream, input: Vec::new() }
    }

    fn say(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut out = Vec::new();
        write(&mut out);
        self.stream.write_all(&out).expect("write");
    }

    fn welcome(&mut self, run: u64, acknowledged: u64) {
        self.welcome_of(run, acknowledged, 1 << 20);
    }

    /// The same with the largest batch it takes.
    fn welcome_of(&mut self, run: u64, acknowledged: u64, payload_bytes_max: u32) {
        let reached = Reached::default();
        let welcome = Welcome { version: 1, packs: false, payload_bytes_max, run, acknowledged, reached };
        self.say(|out| rltp::welcome(out, &welcome));
    }

    fn hear(&mut self) -> Said {
        self.hear_within(&mut usize::MAX.clone()).expect("no end of it")
    }

    /// Takes no more than so many bytes; nothing once they are used up.
    fn hear_within(&mut self, budget: &mut usize) -> Option<Said> {
        loop {
            let (said, length) = match rltp::next(&self.input, 1 << 20).expect("a good frame") {
                Some((Frame::Start(Start { run, .. }), length)) => (Some(Said::Start(run)), length),
                Some((Frame::Batch(batch), length)) => {
                    let mut messages = Vec::new();
                    let text =
                        |span: record::Span| String::from_utf8_lossy(span.of(batch.payload)).into_owned();
                    rltp::messages(batch.payload, batch.messages, 0, |span| messages.push(text(span)))
                        .expect("a good batch");
                    (Some(Said::Batch(batch.sequence, messages)), length)
                }
                Some((_, length)) => (None, length),
                None => {
                    let mut buffer = [0; 4096];
                    let most = buffer.len().min(*budget);
                    if most == 0 {
                        return None;
                    }
                    let n = self.stream.read(&mut buffer[..most]).expect("read");
                    assert!(n > 0, "the sender has gone");
                    *budget -= n;
                    self.input.extend_from_slice(&buffer[..n]);
                    continue;
                }
            };
            self.input.drain(..length);
            if said.is_some() {
                return said;
            }
        }
    }

    #[track_caller]
    fn start(&mut self) -> u64 {
        match self.hear() {
            Said::Start(run) => run,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn expect(&mut self, sequence: u64, from: usize, to: usize) {
        assert_eq!(self.hear(), Said::Batch(sequence, numbered(from, to)));
    }
}

fn delivered(rig: &Rig, count: u64) {
    wait_until("delivery", || rig.counters().delivered.value() == count);
    rig.wait_balanced();
}

#[test]
fn after_a_cut_what_the_receiver_has_not_is_sent_again() {
    let (listener, port) = listen();
    let rig = rig(port, 1 << 20);
    for n in 0..4 {
        rig.send(&numbered(n * 10, n * 10 + 10));
    }
    let mut peer = Peer::accept(&listener);
    peer.welcome(0, 0);
    let run = peer.start();
    for n in 0..4 {
        peer.expect(n + 1, n as usize * 10, n as usize * 10 + 10);
    }
    assert_eq!((rig.counters().delivered.value(), rig.outlet.waiting()), (0, 40));
    peer.say(|out| rltp::ack(out, 1));
    delivered(&rig, 10);
    drop(peer);
    // It has dealt with one more than it could say.
    let mut peer = Peer::accept(&listener);
    peer.say(rltp::ping);
    peer.welcome(run, 2);
    assert_eq!(peer.start(), run);
    peer.expect(3, 20, 30);
    peer.expect(4, 30, 40);
    delivered(&rig, 20);
    rig.send(&numbered(40, 45));
    peer.expect(5, 40, 45);
    peer.say(|out| rltp::ack(out, 5));
    delivered(&rig, 45);
    assert_eq!(rig.outlet.waiting(), 0);
}

#[test]
fn a_receiver_that_knows_another_numbering_gets_everything() {
    let (listener, port) = listen();
    let rig = rig(port, 1 << 20);
    rig.send(&numbered(0, 5));
    let mut peer = Peer::accept(&listener);
    peer.welcome(77, 9);
    let run = peer.start();
    assert_ne!(run, 77);
    peer.expect(1, 0, 5);
    drop(peer);
    // Another server, whose number says nothing about what this one was sent.
    let mut peer = Peer::accept(&listener);
    peer.welcome(0, 0);
    assert_ne!(peer.start(), run);
    peer.expect(1, 0, 5);
    peer.say(|out| rltp::ack(out, 1));
    delivered(&rig, 5);
}

#[test]
fn no_more_is_sent_than_the_window_holds() {
    let (listener, port) = listen();
    let rig = rig(port, 200);
    for n in 0..6 {
        rig.send(&numbered(n * 10, n * 10 + 10));
    }
    let mut peer = Peer::accept(&listener);
    peer.welcome(0, 0);
    peer.start();
    // Each batch has 100 bytes or a few more.
    peer.expect(1, 0, 10);
    peer.expect(2, 10, 20);
    peer.stream.set_nonblocking(true).expect("nonblocking");
    peer.say(|out| rltp::ack(out, 1));
    delivered(&rig, 10);
    peer.stream.set_nonblocking(false).expect("blocking");
    peer.expect(3, 20, 30);
    peer.say(|out| rltp::ack(out, 3));
    peer.expect(4, 30, 40);
    peer.expect(5, 40, 50);
    peer.say(|out| rltp::ack(out, 5));
    peer.expect(6, 50, 60);
    peer.say(|out| rltp::ack(out, 6));
    delivered(&rig, 60);
}

#[test]
fn a_receiver_that_says_nonsense_is_left_and_nothing_counts() {
    let (listener, port) = listen();
    let rig = rig(port, 1 << 20);
    rig.send(&numbered(0, 5));
    let mut peer = Peer::accept(&listener);
    peer.welcome(0, 0);
    let run = peer.start();
    peer.expect(1, 0, 5);
    peer.say(|out| rltp::ack(out, 2));
    // It acknowledged what was never sent.
    let mut peer = Peer::accept(&listener);
    peer.say(|out| rltp::refuse(out, rltp::code::VERSION, "no"));
    let mut peer = Peer::accept(&listener);
    peer.welcome(run, 0);
    assert_eq!(peer.start(), run);
    peer.expect(1, 0, 5);
    assert_eq!(rig.counters().delivered.value(), 0);
    peer.say(|out| rltp::ack(out, 1));
    delivered(&rig, 5);
}

/// Numbers below a bound that look random and are the same in each run.
fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed;
    move |below| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    }
}

/// A receiver that is cut off after any byte, tells of some of what it has dealt with, and takes batches of
/// another size each time.
#[track_caller]
fn cut_anywhere(seed: u64) {
    const COUNT: usize = 3000;
    const WINDOW: usize = 2000;
    let mut random = random(seed);
    let (listener, port) = listen();
    let rig = rig(port, WINDOW);
    let mut sent = 0;
    while sent < COUNT {
        let next = (sent + 1 + random(300)).min(COUNT);
        rig.send(&numbered(sent, next));
        sent = next;
    }
    let (mut run, mut acknowledged, mut dealt) = (0, 0, Vec::new());
    while dealt.len() < COUNT {
        let mut peer = Peer::accept(&listener);
        let (mut budget, mut untold) = (random(6000), 0);
        if budget == 0 {
            continue;
        }
        peer.welcome_of(run, acknowledged, 1024 + random(2000) as u32);
        while dealt.len() < COUNT
            && let Some(said) = peer.hear_within(&mut budget)
        {
            match said {
                Said::Start(started) => {
                    assert!(started == run || dealt.is_empty(), "seed {seed}: a new numbering");
                    run = started;
                }
                Said::Batch(sequence, messages) => {
                    assert_eq!(sequence, acknowledged + 1, "seed {seed}");
                    acknowledged = sequence;
                    untold += messages.concat().len();
                    dealt.extend(messages);
                    // A sender whose window is full waits for it.
                    if random(3) == 0 || untold >= WINDOW {
                        peer.say(|out| rltp::ack(out, acknowledged));
                        untold = 0;
                    }
                }
            }
        }
    }
    assert_eq!(dealt, numbered(0, COUNT), "seed {seed}");
    Peer::accept(&listener).welcome(run, acknowledged);
    delivered(&rig, COUNT as u64);
    assert_eq!(rig.outlet.waiting(), 0);
}

#[test]
fn wherever_it_is_cut_each_message_is_sent_until_it_is_dealt_with_and_no_longer() {
    (1..6).for_each(cut_anywhere);
}
