//! A receiver against senders made by hand: acknowledgement, resuming, connections that hang.

use crate::testing::{HEAD, Running, free_port, wait_until};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use wire::rltp::{self, Frame, Hello, Number, Packer, Payload, Start, Welcome};

fn config(port: u16, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port({port}) transport(rltp)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

const FILE: &str = "file(\"%dir%/out\" template(\"$MSG|$TRANSPORT\\n\"));";

/// One connection of a sender.
struct Peer {
    stream: TcpStream,
    input: Vec<u8>,
}

impl Peer {
    /// Says who it is; the answer comes when nothing of an earlier connection is under way.
    fn join(port: u16, lane: u16) -> Peer {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
        stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).expect("a time-out");
        let hello = Hello { oldest: 1, newest: 1, packs: true, lane, stream: [7; 16] };
        stream.write_all(&rltp::hello(&hello)).expect("write");
        let mut magic = [0; 8];
        stream.read_exact(&mut magic).expect("an answer");
        assert_eq!(magic, rltp::MAGIC);
        Peer { stream, input: Vec::new() }
    }

    /// The next frame but pings; nothing at the end.
    fn next<T>(&mut self, take: impl Fn(&Frame<'_>) -> T) -> Option<T> {
        loop {
            match rltp::next(&self.input, 0).expect("a good frame") {
                Some((frame, length)) => {
                    let taken = (frame != Frame::Ping).then(|| take(&frame));
                    self.input.drain(..length);
                    if taken.is_some() {
                        return taken;
                    }
                }
                None => {
                    let mut buffer = [0; 4096];
                    match self.stream.read(&mut buffer) {
                        Ok(n) if n > 0 => self.input.extend_from_slice(&buffer[..n]),
                        _ => return None,
                    }
                }
            }
        }
    }

    #[track_caller]
    fn welcome(&mut self) -> Welcome {
        let frame =
            |frame: &Frame<'_>| if let Frame::Welcome(welcome) = frame { Some(*welcome) } else { None };
        self.next(frame).flatten().expect("a welcome")
    }

    #[track_caller]
    fn wait_ack(&mut self, sequence: u64) {
        let frame = |frame: &Frame<'_>| if let Frame::Ack(sequence) = frame { Some(*sequence) } else { None };
        while self.next(frame).flatten().expect("an acknowledgement") < sequence {}
    }

    fn refusal(&mut self) -> Option<u16> {
        self.next(|frame| if let Frame::Refuse { code, .. } = frame { Some(*code) } else { None }).flatten()
    }

    fn start(&mut self, run: u64) {
        self.stream.write_all(&start_of(run)).expect("write");
    }

    fn batch(&mut self, sequence: u64, messages: &[&str], packer: Option<&mut Packer>) {
        self.stream.write_all(&batch_of(sequence, messages, packer)).expect("write");
    }
}

fn start_of(run: u64) -> Vec<u8> {
    let mut out = Vec::new();
    rltp::start(&mut out, Start { run, numbering: 0 });
    out
}

fn batch_of<T: AsRef<str>>(sequence: u64, messages: &[T], packer: Option<&mut Packer>) -> Vec<u8> {
    let (mut bytes, mut ends) = (Vec::new(), Vec::new());
    for message in messages {
        bytes.extend_from_slice(format!("<13>Nov 11 01:02:03 h app: {}\n", message.as_ref()).as_bytes());
        ends.push(bytes.len() as u32);
    }
    let payload = Payload { bytes: &bytes, ends: &ends, start: 0 };
    let number = Number { sequence, position: 0 };
    let mut out = Vec::new();
    match packer.and_then(|packer| packer.pack(payload)) {
        Some(packed) => {
            rltp::packed_batch(&mut out, number, payload, packed.len());
            out.extend_from_slice(packed);
        }
        None => {
            rltp::batch(&mut out, number, payload);
            out.extend_from_slice(&bytes);
        }
    }
    out
}

#[test]
fn batches_are_acknowledged_and_a_sender_goes_on_where_it_was() {
    let port = free_port();
    let running = Running::start(&config(port, FILE));
    let mut peer = Peer::join(port, 0);
    let welcome = peer.welcome();
    assert_eq!((welcome.version, welcome.packs, welcome.run, welcome.acknowledged), (1, true, 0, 0));
    peer.start(5);
    let mut packer = Packer::new(1).expect("memory");
    peer.batch(1, &["one", "two"], None);
    peer.batch(2, &["the same text"; 9], Some(&mut packer));
    peer.wait_ack(2);
    let lines = running.wait_lines("out", 11);
    assert_eq!((lines[0].as_str(), lines[10].as_str()), ("one|rltp", "the same text|rltp"));
    drop(peer);
    let mut peer = Peer::join(port, 0);
    let welcome = peer.welcome();
    assert_eq!((welcome.run, welcome.acknowledged), (5, 2));
    peer.start(5);
    peer.batch(3, &["three"], None);
    peer.wait_ack(3);
    // Another connection of the same sender is a stream of its own, and another numbering begins anew.
    let mut other = Peer::join(port, 1);
    assert_eq!(other.welcome().run, 0);
    drop(peer);
    let mut peer = Peer::join(port, 0);
    assert_eq!(peer.welcome().acknowledged, 3);
    peer.start(6);
    peer.batch(1, &["four"], None);
    peer.wait_ack(1);
    assert_eq!(running.wait_lines("out", 13)[12], "four|rltp");
    let counters = &running.source("s#0").counters;
    assert_eq!((counters.received.value(), counters.routed.value()), (13, 13));
}

#[test]
fn a_connection_that_hangs_is_taken_over_and_its_batches_come_first() {
    let port = free_port();
    let stuck = TcpListener::bind("127.0.0.1:0").expect("bind");
    let to = stuck.local_addr().expect("address").port();
    // A destination that takes nothing: what is sent stays under way.
    let held = "network(127.0.0.1 port(PORT) time-reopen(0.1) template(\"$MSG\\n\"));"
        .replace("PORT", &to.to_string());
    let running = Running::start(&config(port, &held));
    let (mut taken, _) = stuck.accept().expect("accept");
    drop(stuck);
    drop(taken.shutdown(std::net::Shutdown::Both));
    let mut old = Peer::join(port, 0);
    old.welcome();
    old.start(5);
    let received = || running.source("s#0").counters.received.value();
    wait_until("the destination to be gone", || taken.read(&mut [0]).is_ok_and(|n| n == 0));
    old.batch(1, &["one"], None);
    wait_until("the first batch", || received() == 1);
    let mut new = Peer::join(port, 0);
    assert_eq!(old.refusal(), Some(rltp::code::SUPERSEDED));
    // The old connection is closed: nothing of it counts any more.
    assert_eq!(old.refusal(), None);
    // Until the first batch is dealt with there is no welcome; when the destination is back there is.
    let back = TcpListener::bind(("127.0.0.1", to)).expect("bind");
    let reading = std::thread::spawn(move || {
        let (mut stream, _) = back.accept().expect("accept");
        let mut bytes = Vec::new();
        while !bytes.ends_with(b"two\n") {
            let mut buffer = [0; 64];
            let n = stream.read(&mut buffer).expect("read");
            bytes.extend_from_slice(&buffer[..n]);
        }
        String::from_utf8(bytes).expect("text")
    });
    let welcome = new.welcome();
    assert_eq!((welcome.run, welcome.acknowledged), (5, 1));
    new.start(5);
    new.batch(2, &["two"], None);
    new.wait_ack(2);
    assert_eq!(reading.join().expect("read"), "one\ntwo\n");
    assert_eq!(received(), 2);
}

#[test]
fn what_comes_right_behind_the_start_of_a_sender_that_is_back_is_taken_at_once() {
    let port = free_port();
    let running = Running::start(&config(port, FILE));
    let mut peer = Peer::join(port, 0);
    peer.welcome();
    peer.start(5);
    peer.batch(1, &["one"], None);
    peer.wait_ack(1);
    drop(peer);
    // Known from before, it is looked at batch by batch.
    wait_until("the end of the connection", || running.source("s#0").counters.connections.value() == 0);
    let mut peer = Peer::join(port, 0);
    assert_eq!(peer.welcome().acknowledged, 1);
    let words = [start_of(5), batch_of(2, &["two"], None), batch_of(3, &["three"], None)].concat();
    peer.stream.write_all(&words).expect("write");
    peer.wait_ack(3);
    assert_eq!(running.wait_lines("out", 3)[1..], ["two|rltp", "three|rltp"]);
}

/// A sender that is cut after any byte, or hangs and is back before its last bytes are, with batches of other
/// sizes each time.
#[track_caller]
fn cut_anywhere(seed: u64) {
    const COUNT: usize = 4000;
    let mut state = seed;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let port = free_port();
    let running = Running::start(&config(port, "file(\"%dir%/out\" template(\"$MSG\\n\"));"));
    let messages: Vec<String> = (0..COUNT).map(|n| format!("message {n}")).collect();
    // Where each batch ended, the one before the first as well.
    let mut ends = vec![0];
    // A connection that hangs, and what it will still say.
    let mut hanging: Option<(Peer, Vec<u8>)> = None;
    let mut begun = false;
    loop {
        let mut peer = Peer::join(port, 0);
        if let Some((mut old, rest)) = hanging.take() {
            // It may be gone already.
            let _ = old.stream.write_all(&rest);
        }
        let welcome = peer.welcome();
        // One that was never looked at before it was superseded has begun nothing.
        assert!(welcome.run == 5 || !begun, "seed {seed}: the numbering is forgotten");
        begun |= welcome.run == 5;
        ends.truncate(welcome.acknowledged as usize + 1);
        if ends.last() == Some(&COUNT) {
            break;
        }
        let mut words = start_of(5);
        while words.len() < 8000
            && let Some(begin) = ends.last().copied().filter(|end| *end < COUNT)
        {
            let end = (begin + 1 + random(60)).min(COUNT);
            words.extend(batch_of(ends.len() as u64, &messages[begin..end], None));
            ends.push(end);
        }
        let cut = 24 + random(words.len());
        let rest = words.split_off(cut.min(words.len()));
        peer.stream.write_all(&words).expect("write");
        if random(2) == 0 {
            hanging = Some((peer, rest));
        }
    }
    assert_eq!(running.wait_lines("out", COUNT), messages, "seed {seed}");
    assert_eq!(running.source("s#0").counters.received.value(), COUNT as u64, "seed {seed}");
}

#[test]
fn wherever_it_is_cut_each_message_is_taken_once() {
    (1..6).for_each(cut_anywhere);
}

#[track_caller]
fn refused(speak: impl FnOnce(&mut Peer), expected: u16) {
    let port = free_port();
    let running = Running::start(&config(port, FILE));
    let mut peer = Peer::join(port, 0);
    peer.welcome();
    speak(&mut peer);
    loop {
        match peer.next(|frame| if let Frame::Refuse { code, .. } = frame { Some(*code) } else { None }) {
            Some(None) => {}
            other => break assert_eq!(other.flatten(), Some(expected)),
        }
    }
    wait_until("the end of the connection", || running.source("s#0").counters.connections.value() == 0);
}

#[test]
fn batches_out_of_order_and_words_of_a_receiver_end_the_connection() {
    refused(|peer| peer.batch(1, &["too early"], None), rltp::code::PROTOCOL);
    refused(
        |peer| {
            peer.start(1);
            peer.batch(2, &["not the first"], None);
        },
        rltp::code::PROTOCOL,
    );
    refused(
        |peer| {
            let mut out = Vec::new();
            rltp::ack(&mut out, 1);
            peer.stream.write_all(&out).expect("write");
        },
        rltp::code::PROTOCOL,
    );
    refused(|peer| peer.stream.write_all(&[6, 0, 0, 0, 0, 0, 0, 255]).expect("write"), rltp::code::PROTOCOL);
}

#[test]
fn encoding_is_refused() {
    let errors = crate::testing::errors(
        &config(5514, FILE).replace("transport(rltp)", "transport(rltp) encoding(\"latin1\")"),
    );
    assert!(
        errors.contains("D0122") && errors.contains("encoding() does not go with transport(rltp)"),
        "{errors}"
    );
}
