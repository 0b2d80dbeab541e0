//! A connection against peers that hang up, are slow, come late, or talk.

mod encrypted;

use super::*;
use crate::dialing::Failback;
use crate::single::MakeSink;
use crate::target::{Connect, Lookup};
use crate::testing::{Rig, chunk, expect, numbered, wait_until};
use engine::ledger::DestinationCounters;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::time::Duration;

fn options() -> DialOptions {
    DialOptions {
        connect: Connect::default(),
        time_reopen: Duration::from_millis(10),
        failback: None,
        secure: None,
    }
}

/// Bytes on their way to a port of this machine that its connections have not acknowledged, by the kernel's
/// table.
fn unacknowledged_to(port: u16) -> u64 {
    let table = std::fs::read_to_string("/proc/net/tcp").expect("the table");
    let rows = table.lines().skip(1).filter_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (peer, queues) = (words.get(2)?, words.get(4)?);
        let to = u16::from_str_radix(peer.split_once(':')?.1, 16).ok()?;
        (to == port).then(|| u64::from_str_radix(queues.split_once(':')?.0, 16).ok())?
    });
    rows.sum()
}

fn make(hosts: &[&str], port: u16, options: DialOptions) -> MakeSink {
    make_with(hosts, port, options, true)
}

fn make_with(hosts: &[&str], port: u16, options: DialOptions, close_on_input: bool) -> MakeSink {
    let hosts: Vec<String> = hosts.iter().map(|h| (*h).to_owned()).collect();
    let options = Arc::new(options);
    Box::new(move |place| {
        let route = Route::new(hosts.iter().map(|h| Lookup::host(h, port, false)).collect());
        Box::new(StreamSink::new(place, route, Arc::clone(&options), close_on_input))
    })
}

fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = listener.local_addr().expect("address").port();
    (listener, port)
}

fn accept(listener: &TcpListener) -> TcpStream {
    listener.accept().expect("accept").0
}

#[test]
fn a_peer_that_hangs_up_is_connected_again_and_order_is_kept() {
    let (listener, port) = listen();
    let rig = Rig::new(make(&["localhost"], port, options()));
    rig.send(&numbered(0, 3));
    let mut peer = accept(&listener);
    expect(&mut peer, &numbered(0, 3));
    drop(peer);
    // The end of the connection is noticed before anything is written into it.
    let mut peer = accept(&listener);
    rig.send(&numbered(3, 6));
    rig.send(&numbered(6, 9));
    expect(&mut peer, &numbered(3, 9));
    wait_until("delivery", || rig.counters().delivered.value() == 9);
    assert_eq!(rig.counters().reconnects.value(), 1);
    wait_until("the note that it is reachable", || rig.counters().unreachable.value() == 0);
    rig.wait_balanced();
}

#[test]
fn messages_wait_for_a_peer_that_comes_late() {
    let (listener, port) = listen();
    drop(listener);
    let rig = Rig::new(make(&["127.0.0.1"], port, options()));
    rig.send(&numbered(0, 100));
    wait_until("the note that it is unreachable", || rig.counters().unreachable.value() == 1);
    let listener = TcpListener::bind(("127.0.0.1", port)).expect("bind");
    expect(&mut accept(&listener), &numbered(0, 100));
    wait_until("delivery", || rig.counters().delivered.value() == 100);
    wait_until("the note that it is reachable", || rig.counters().unreachable.value() == 0);
    rig.wait_balanced();
}

#[test]
fn what_the_peers_kernel_has_not_acknowledged_is_sent_again() {
    let (listener, port) = listen();
    // The window of a connection is what its listener says.
    socket2::SockRef::from(&listener).set_recv_buffer_size(8192).expect("option");
    let rig = Rig::new(make(&["127.0.0.1"], port, options()));
    let line = |n: usize| format!("message {n} {}\n", "x".repeat(100));
    let lines: Vec<String> = (0..10_000).map(line).collect();
    for piece in lines.chunks(500) {
        rig.send(piece);
    }
    let peer = accept(&listener);
    wait_until("the kernel to have taken much", || unacknowledged_to(port) > 400_000);
    assert!(rig.counters().delivered.value() < 2000, "the peer has not got it");
    let bytes = rig.counters().delivered_bytes.value();
    let messages = rig.counters().delivered.value() as usize;
    let whole: usize = lines.iter().take(messages).map(String::len).sum();
    assert!(bytes <= whole as u64, "bytes are acknowledged as messages are: {bytes} of {messages} messages");
    rig.wait_balanced();
    drop(peer);
    let peer = BufReader::new(accept(&listener));
    let mut number = None;
    for text in peer.lines() {
        let text = text.expect("read");
        let seen: usize = text.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a whole message");
        let expected = number.map_or(seen, |last: usize| last + 1);
        assert!(seen == expected && (number.is_some() || seen < 2000), "{seen} after {number:?}");
        number = Some(seen);
        if seen == lines.len() - 1 {
            break;
        }
    }
    wait_until("delivery", || rig.counters().delivered.value() == lines.len() as u64);
    wait_until("nothing to wait", || rig.counters().waiting.value() == 0);
    rig.wait_balanced();
}

/// Messages so large that one fills every buffer on the way.
fn huge(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("<{n}>{}\n", "x".repeat(8 << 20))).collect()
}

#[test]
fn a_slow_peer_gets_every_byte_in_order() {
    let (listener, port) = listen();
    let rig = Rig::new(make(&["127.0.0.1"], port, options()));
    let messages = huge(3);
    rig.send(&messages[..2]);
    rig.send(&messages[2..]);
    let mut peer = accept(&listener);
    assert!(rig.outlet.waiting() > 0);
    expect(&mut peer, &messages);
    wait_until("delivery", || rig.counters().delivered.value() == 3);
    rig.wait_balanced();
}

#[test]
fn a_message_cut_off_by_a_broken_connection_is_sent_whole_on_the_next() {
    let (listener, port) = listen();
    let rig = Rig::new(make(&["127.0.0.1"], port, options()));
    let messages = huge(2);
    rig.send(&messages);
    let mut peer = accept(&listener);
    peer.read_exact(&mut vec![0; 1 << 20]).expect("read");
    // What was not read makes this a reset.
    drop(peer);
    expect(&mut accept(&listener), &messages);
    wait_until("delivery", || rig.counters().delivered.value() == 2);
}

#[test]
fn the_next_server_takes_over_and_the_first_comes_back() {
    let second = TcpListener::bind("127.0.0.2:0").expect("bind");
    let port = second.local_addr().expect("address").port();
    let failback = Some(Failback { interval: Duration::from_millis(1), successes: 2 });
    let rig = Rig::new(make(&["127.0.0.1", "127.0.0.2"], port, DialOptions { failback, ..options() }));
    rig.send(&numbered(0, 2));
    let mut peer = accept(&second);
    expect(&mut peer, &numbered(0, 2));
    let first = TcpListener::bind(("127.0.0.1", port)).expect("bind");
    // Probes are connections that close again; the one that stays carries the messages.
    let serving = std::thread::spawn(move || {
        loop {
            let mut peer = accept(&first);
            let mut start = [0; 9];
            if peer.read_exact(&mut start).is_ok() {
                assert_eq!(&start, b"message 2");
                return;
            }
        }
    });
    let mut rest = Vec::new();
    peer.set_nonblocking(true).expect("option");
    wait_until("the connection to be given up", || {
        rig.outlet.event();
        matches!(peer.read_to_end(&mut rest), Ok(0))
    });
    assert_eq!(rest, b"");
    rig.send(&numbered(2, 4));
    serving.join().expect("the first server");
}

#[test]
fn going_back_waits_for_the_end_of_a_message() {
    let (listener, port) = listen();
    let rig = Rig::new(make(&["127.0.0.1"], port, options()));
    let messages = huge(2);
    rig.send(&messages);
    let mut peer = accept(&listener);
    // A reload with keep-alive(no) in the middle of the first message.
    rig.destination.restart.store(true, std::sync::atomic::Ordering::Relaxed);
    rig.outlet.event();
    expect(&mut peer, &messages[..1]);
    let mut rest = Vec::new();
    peer.read_to_end(&mut rest).expect("read");
    assert_eq!(rest, b"");
    expect(&mut accept(&listener), &messages[1..]);
}

#[test]
fn what_a_peer_says_ends_the_connection_or_is_forgotten() {
    let (listener, port) = listen();
    let strict = Rig::new(make(&["127.0.0.1"], port, options()));
    let mut peer = accept(&listener);
    strict.send(&numbered(0, 1));
    expect(&mut peer, &numbered(0, 1));
    peer.write_all(b"hello\n").expect("write");
    let mut again = accept(&listener);
    strict.send(&numbered(1, 2));
    expect(&mut again, &numbered(1, 2));
    drop(strict);

    let (listener, port) = listen();
    let patient = Rig::new(make_with(&["127.0.0.1"], port, options(), false));
    let mut peer = accept(&listener);
    peer.write_all(&[b'x'; 10_000]).expect("write");
    patient.send(&numbered(0, 1));
    expect(&mut peer, &numbered(0, 1));
    peer.write_all(b"more").expect("write");
    patient.send(&numbered(1, 2));
    expect(&mut peer, &numbered(1, 2));
    assert_eq!(patient.counters().reconnects.value(), 0);
}

#[test]
fn the_local_address_is_used() {
    let (listener, port) = listen();
    let from: SocketAddr = "127.0.0.5:0".parse().expect("address");
    let connect = Connect { from: Some(from), ..Connect::default() };
    let _rig = Rig::new(make(&["127.0.0.1"], port, DialOptions { connect, ..options() }));
    assert_eq!(listener.accept().expect("accept").1.ip(), from.ip());
}

#[test]
fn unix_streams() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("socket");
    let options = Arc::new(options());
    let to = path.clone();
    let rig = Rig::new(Box::new(move |place| {
        Box::new(StreamSink::new(place, Route::new(vec![Lookup::path(&to)]), Arc::clone(&options), true))
    }));
    rig.send(&numbered(0, 5));
    wait_until("the note that it is unreachable", || rig.counters().unreachable.value() == 1);
    let listener = UnixListener::bind(&path).expect("bind");
    expect(&mut listener.accept().expect("accept").0, &numbered(0, 5));
    wait_until("delivery", || rig.counters().delivered.value() == 5);
}

#[test]
fn the_message_under_way_is_finished_before_the_queue_goes_elsewhere() {
    let (listener, port) = listen();
    let rig = Rig::new(make(&["127.0.0.1"], port, options()));
    let place = SinkContext {
        id: rig.outlet.id,
        home: rig.engine.shared().any_worker().expect("a worker").clone(),
        counters: Arc::default(),
        nudge: Arc::default(),
        restart: Arc::default(),
    };
    let mut peer = accept(&listener);
    let counted = Arc::clone(&place.counters);
    let mut sink = make(&["127.0.0.1"], port, options())(place);
    let counters = DestinationCounters::default();
    let messages = huge(3);
    let mut progress = Progress::new(&counters);
    let mut chunks = VecDeque::from([chunk(&messages)]);
    drop(std::mem::replace(&mut peer, {
        sink.event();
        accept(&listener)
    }));
    wait_until("the beginning of a message", || {
        sink.event();
        sink.write(&mut chunks, &mut progress);
        !chunks.front().expect("not all").rest().is_empty()
    });
    let mut got = Vec::new();
    let reading = std::thread::spawn(move || {
        peer.read_to_end(&mut got).expect("read");
        got
    });
    let chunk = chunks.front_mut().expect("not all");
    sink.finish(chunk, &mut progress, Instant::now() + Duration::from_secs(60));
    assert_eq!((chunk.messages(), chunk.rest().len()), (2, 0));
    // It was given to the kernel, as any other: should the connection break now, it comes back.
    assert_eq!((counters.delivered.value(), sink.unsettled()), (0, 1));
    sink.close(&mut chunks);
    assert_eq!((counted.delivered.value(), counted.waiting.value()), (1, 0));
    assert!(reading.join().expect("the peer") == messages[0].as_bytes(), "one message, whole");
}

#[test]
fn a_peer_that_takes_nothing_more_does_not_hold_the_queue() {
    let (listener, port) = listen();
    let rig = Rig::new(make(&["127.0.0.1"], port, options()));
    rig.send(&huge(1));
    let peer = accept(&listener);
    wait_until("the beginning of a message", || unacknowledged_to(port) > 0);
    rig.outlet.close();
    assert_eq!((rig.counters().delivered.value(), rig.counters().dropped.total()), (0, 1));
    assert_eq!(rig.counters().delivered_bytes.value(), 0, "of a message that was begun nothing is delivered");
    drop(peer);
}
