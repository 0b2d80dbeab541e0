//! The acknowledged protocol between two real processes, with cuts and kills in between; the ledgers of both
//! are the oracle.

mod killed;
mod pair;
mod several;

use crate::messages::{assert_complete, block, line, message};
use crate::tls::{block_of, prepared};
use pair::{Pair, receiver, sender};
use std::io::{Read, Write};
use std::net::TcpStream;
use testkit::{Collector, Lab, Penstock, Sender, Signal, wait_until};

#[track_caller]
fn relayed(to: &str, from: impl FnOnce(u16) -> String) {
    let (here, there) = (Lab::new(), Lab::new());
    prepared(&there);
    for file in ["ca.pem", "client.pem", "client.key"] {
        std::fs::copy(there.path(file), here.path(file)).expect("a certificate");
    }
    let pair = Pair::of((here, there), to, |_, port| from(port));
    const COUNT: usize = 20_000;
    pair.feed(2, COUNT);
    let there = pair.assert_complete(2, COUNT);
    assert!(there.lines("out").contains(&line(0, 7)));
}

#[test]
fn in_the_clear() {
    relayed(&receiver(""), |port| sender(port, ""));
}

#[test]
fn compressed() {
    relayed(&receiver(""), |port| sender(port, "rltp(compress(yes))"));
}

/// Bytes on the way for the same messages.
fn bytes_carried(options: &str) -> u64 {
    let (mut pair, proxy) = Pair::cut(&[], |port| sender(port, options));
    const COUNT: usize = 20_000;
    pair.feed(1, COUNT);
    pair.assert_settled(COUNT);
    proxy.bytes()
}

#[test]
fn compressed_it_is_less_than_a_fifth_of_the_bytes() {
    let (plain, packed) = (bytes_carried(""), bytes_carried("rltp(compress(yes))"));
    assert!(packed * 5 < plain, "{packed} bytes of {plain}");
}

#[test]
fn encrypted_and_compressed_in_the_new_format_on_several_connections() {
    let to = receiver(&block_of("server")).replace("network(", "syslog(");
    relayed(&to, |port| {
        let options = format!("{} rltp(connections(3) compress(yes))", block_of("client"));
        sender(port, &options).replace("d { network(", "d { syslog(")
    });
}

/// Numbers that look random and are the same in each run.
fn random(seed: u64, count: usize, max: u64) -> Vec<usize> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % max) as usize
    };
    std::iter::repeat_with(next).take(count).collect()
}

#[track_caller]
fn cut_and_complete(options: &str, max: u64) {
    for seed in 1..3 {
        let (pair, proxy) = Pair::cut(&random(seed, 30, max), |port| sender(port, options));
        const COUNT: usize = 15_000;
        pair.feed(4, COUNT);
        pair.assert_complete(4, COUNT);
        assert!(proxy.cuts() > 3, "{} cuts", proxy.cuts());
    }
}

#[test]
fn cut_anywhere_nothing_is_lost_or_doubled_or_out_of_order() {
    cut_and_complete("", 500_000);
}

#[test]
fn cut_anywhere_in_small_windows_and_batches() {
    cut_and_complete("flush-lines(100) rltp(window(64KiB))", 200_000);
}

#[test]
fn cut_anywhere_compressed() {
    cut_and_complete("rltp(compress(yes))", 10_000);
}

/// The numbers of the messages of a connection, in the order of the output. A killed program may leave half a
/// line, to which the next one adds a whole one.
fn numbers(lab: &Lab, connection: usize) -> Vec<usize> {
    let end = format!(" of connection {connection}");
    let number = |line: &String| line.rsplit_once("message number ")?.1.strip_suffix(&end)?.parse().ok();
    lab.lines("out").iter().filter_map(number).collect()
}

/// Without what is repeated every number is there, in order. Returns how many are repeated.
#[track_caller]
fn assert_in_order(numbers: &[usize], count: usize) -> usize {
    let mut next = 0;
    for number in numbers {
        assert!(*number <= next, "{number} came where {next} was due");
        next = next.max(number + 1);
    }
    assert_eq!(next, count, "the last ones are missing");
    numbers.len() - count
}

/// Ends the receiver twice while messages come.
#[track_caller]
fn restarted(signal: Signal, count: usize) -> Pair {
    let mut pair = Pair::new("");
    let feeding = pair.feeding(count);
    for part in [1, 2] {
        wait_until("some messages", || pair.there.lines("out").len() > part * count / 4);
        pair.restart_receiver(signal);
    }
    feeding.join().expect("sent");
    pair.from.wait_settled(count as u64).assert_nothing_lost();
    pair
}

#[test]
fn a_receiver_that_is_killed_goes_on_where_it_was() {
    const COUNT: usize = 60_000;
    let mut pair = restarted(Signal::KILL, COUNT);
    pair.to.wait_settled_input();
    // What was written in the instant before the kill, and not noted.
    let repeated = assert_in_order(&numbers(&pair.there, 0), COUNT);
    assert!(repeated < 2 * 10_000, "{repeated} came twice");
}

#[test]
fn a_receiver_that_is_stopped_and_started_gets_nothing_twice() {
    const COUNT: usize = 60_000;
    let mut pair = restarted(Signal::TERM, COUNT);
    pair.to.wait_settled_input().assert_nothing_lost();
    assert_complete(&pair.there.lines("out"), 1, COUNT);
}

/// A sender that reads a file, so that it can go on where the receiver was. It is ended in the middle and
/// started anew.
#[track_caller]
fn reading_a_file(signal: Signal, count: usize) -> Pair {
    let config = |port| {
        sender(port, "")
            .replace("network(ip(127.0.0.1) port(%tcp:in%) max-connections(100))", "file(\"%dir%/in\")")
    };
    let mut pair = Pair::of((Lab::new(), Lab::new()), &receiver(""), |here, port| {
        std::fs::write(here.path("in"), block(0, count)).expect("a file");
        config(port)
    });
    wait_until("some messages", || pair.there.lines("out").len() > count / 4);
    pair.from.signal(signal);
    pair.from.wait_end();
    pair.from = Penstock::start(&pair.here, &config(pair.there.port("rltp")));
    wait_until("the last message", || numbers(&pair.there, 0).contains(&(count - 1)));
    pair.from.wait_settled_input().assert_nothing_lost();
    pair
}

#[test]
fn a_sender_that_is_killed_reads_its_file_again_from_what_was_acknowledged() {
    const COUNT: usize = 60_000;
    let mut pair = reading_a_file(Signal::KILL, COUNT);
    pair.to.wait_settled_input().assert_nothing_lost();
    assert_in_order(&numbers(&pair.there, 0), COUNT);
}

#[test]
fn a_sender_that_is_stopped_has_delivered_what_it_took_and_goes_on_with_its_stream() {
    const COUNT: usize = 40_000;
    let mut pair = reading_a_file(Signal::TERM, COUNT);
    pair.to.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_complete(&pair.there.lines("out"), 1, COUNT);
}

#[test]
fn a_slow_receiver_holds_the_sender_back() {
    let there = Lab::new();
    let collector = Collector::tcp(there.port("out"));
    collector.pause();
    let config =
        receiver("").replace("file(\"%dir%/out\")", "network(127.0.0.1 port(%port:out%) so-sndbuf(8192))");
    let mut pair =
        Pair::of((Lab::new(), there), &config, |_, port| sender(port, "rltp(window(64KiB)) so-sndbuf(8192)"));
    const COUNT: usize = 120_000;
    let feeding = pair.feeding(COUNT);
    let mut last = (0, 0);
    wait_until("the source to stop reading", || {
        let received = pair.from.ledger().received();
        last = if received == last.0 { (received, last.1 + 1) } else { (received, 0) };
        received > 0 && last.1 > 50
    });
    assert!((last.0 as usize) < COUNT, "the source took all {COUNT} messages");
    for ledger in [pair.from.ledger(), pair.to.ledger()] {
        ledger.assert_balanced();
        assert_eq!(ledger.dropped(), 0);
    }
    collector.resume();
    feeding.join().expect("sent");
    pair.assert_settled(COUNT);
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
}

/// What a peer is told, or nothing.
fn answer(port: u16, words: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("connect");
    stream.write_all(words).expect("write");
    let mut answer = Vec::new();
    // A reset is an end as well.
    let _ = stream.read_to_end(&mut answer);
    answer
}

#[test]
fn wrong_peers_are_told_apart_and_others_go_on() {
    let mut pair = Pair::new("");
    let (to, port) = (&mut pair.to, pair.there.port("rltp"));
    assert_eq!(answer(port, b"<13>Nov 11 01:02:03 h app: plain\n"), b"");
    to.wait_log("which looks like plain syslog: it has to send with transport(rltp)");
    assert_eq!(answer(port, b"\x16\x03\x01\x02\x00\x01"), b"");
    to.wait_log("which is TLS");
    let mut hello = b"\x93PRLTP\r\n\x07\x09\0\0\0\0\0\0".to_vec();
    hello.extend_from_slice(&[5; 16]);
    let told = answer(port, &hello);
    let text = String::from_utf8_lossy(&told);
    assert!(text.ends_with("versions 1 to 1 of rltp are spoken here, the sender speaks 7 to 9"), "{text}");
    // Not greeted yet, and a batch already: the bytes of one of no messages.
    hello[8..10].copy_from_slice(&[1, 1]);
    hello.extend_from_slice(&[6, 0, 0, 0, 24, 0, 0, 0, 1]);
    hello.extend_from_slice(&[0; 23]);
    let text = String::from_utf8_lossy(&answer(port, &hello)).into_owned();
    assert!(text.ends_with("a batch came where it does not belong"), "{text}");
    pair.feed(1, 100);
    pair.assert_settled(100);
}

#[test]
fn servers_that_speak_something_else_are_left_and_nothing_is_lost() {
    let there = Lab::new();
    let listener = std::net::TcpListener::bind(("127.0.0.9", there.port("rltp"))).expect("bind");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.write_all(b"220 mail.example.com ESMTP\r\n");
            let _ = stream.read(&mut [0; 64]);
        }
    });
    let mut pair = Pair::of((Lab::new(), there), &receiver(""), |_, port| {
        sender(port, "failover(servers(127.0.0.1))").replace("network(127.0.0.1 ", "network(127.0.0.9 ")
    });
    let mut one = Sender::tcp(pair.here.port("in"));
    one.line(&message(0, 0));
    one.finish();
    pair.from.wait_log("the peer does not speak rltp, it begins with \"220 mail.example\"");
    pair.assert_settled(1);
}
