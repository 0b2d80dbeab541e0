//! The acknowledged protocol between two real processes, with cuts and kills in between; the ledgers of both are the oracle.

use crate::messages::{assert_complete, block, line, message};
use crate::tls::{block_of, prepared};
use std::io::{Read, Write};
use std::net::TcpStream;
use testkit::{Collector, Lab, Penstock, Proxy, Sender, Signal, wait_until};

const HEAD: &str = "@version: 4.11\noptions { keep-hostname(yes); use-dns(no); time-reopen(0.1); log-fifo-size(1000000); };\n";

fn receiver(options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:rltp%) transport(\"rltp\") {options}); }};\n\
         destination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn sender(port: u16, options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%) max-connections(100)); }};\n\
         destination d {{ network(127.0.0.1 port({port}) transport(\"rltp\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// `count` messages of each of `connections`, over as many connections at once.
fn feed(lab: &Lab, connections: usize, count: usize) {
    let port = lab.port("in");
    let threads: Vec<_> = (0..connections)
        .map(|connection| {
            std::thread::spawn(move || {
                let mut sender = Sender::tcp(port);
                sender.raw(block(connection, count).as_bytes());
                sender.finish();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("sent"));
}

/// Both ledgers know of `count` messages and of no other, nothing is lost and nothing waits.
#[track_caller]
fn assert_settled(to: &mut Penstock, from: &mut Penstock, count: usize) {
    from.wait_settled(count as u64).assert_nothing_lost();
    to.wait_settled(count as u64).assert_nothing_lost();
    assert_eq!(from.ledger().destination("d").delivered, count as u64);
}

#[track_caller]
fn relayed(to: &str, from: impl FnOnce(u16) -> String) {
    let (here, there) = (Lab::new(), Lab::new());
    prepared(&there);
    for file in ["ca.pem", "client.pem", "client.key"] {
        std::fs::copy(there.path(file), here.path(file)).expect("a certificate");
    }
    let mut to = Penstock::start(&there, to);
    let mut from = Penstock::start(&here, &from(there.port("rltp")));
    const COUNT: usize = 20_000;
    feed(&here, 2, COUNT);
    assert_settled(&mut to, &mut from, 2 * COUNT);
    from.stop();
    to.stop();
    assert_complete(&there.lines("out"), 2, COUNT);
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
    let (here, there) = (Lab::new(), Lab::new());
    let mut to = Penstock::start(&there, &receiver(""));
    let proxy = Proxy::to(there.port("rltp"));
    let mut from = Penstock::start(&here, &sender(proxy.port(), options));
    const COUNT: usize = 20_000;
    feed(&here, 1, COUNT);
    assert_settled(&mut to, &mut from, COUNT);
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
        let (here, there) = (Lab::new(), Lab::new());
        let mut to = Penstock::start(&there, &receiver(""));
        let proxy = Proxy::to(there.port("rltp"));
        proxy.cut_after(&random(seed, 30, max));
        let mut from = Penstock::start(&here, &sender(proxy.port(), options));
        const COUNT: usize = 15_000;
        feed(&here, 4, COUNT);
        assert_settled(&mut to, &mut from, 4 * COUNT);
        assert!(proxy.cuts() > 3, "{} cuts", proxy.cuts());
        to.stop();
        assert_complete(&there.lines("out"), 4, COUNT);
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

/// The numbers of the messages of a connection, in the order of the output. A killed program may leave half a line, to which the next
/// one adds a whole one.
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

#[test]
fn a_receiver_that_is_killed_goes_on_where_it_was() {
    let (here, there) = (Lab::new(), Lab::new());
    let mut to = Penstock::start(&there, &receiver(""));
    let mut from = Penstock::start(&here, &sender(there.port("rltp"), ""));
    const COUNT: usize = 60_000;
    let port = here.port("in");
    let feeding = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(0, COUNT).as_bytes());
        sender.finish();
    });
    for part in [1, 2] {
        wait_until("some messages", || there.lines("out").len() > part * COUNT / 4);
        to.signal(Signal::KILL);
        to.wait_end();
        to = Penstock::start(&there, &receiver(""));
    }
    feeding.join().expect("sent");
    from.wait_settled(COUNT as u64).assert_nothing_lost();
    to.wait_settled_input();
    // What was written in the instant before the kill, and not noted.
    let repeated = assert_in_order(&numbers(&there, 0), COUNT);
    assert!(repeated < 2 * 10_000, "{repeated} came twice");
}

#[test]
fn a_receiver_that_is_stopped_and_started_gets_nothing_twice() {
    let (here, there) = (Lab::new(), Lab::new());
    let mut to = Penstock::start(&there, &receiver(""));
    let mut from = Penstock::start(&here, &sender(there.port("rltp"), ""));
    const COUNT: usize = 60_000;
    let port = here.port("in");
    let feeding = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(0, COUNT).as_bytes());
        sender.finish();
    });
    for part in [1, 2] {
        wait_until("some messages", || there.lines("out").len() > part * COUNT / 4);
        to.stop();
        to = Penstock::start(&there, &receiver(""));
    }
    feeding.join().expect("sent");
    from.wait_settled(COUNT as u64).assert_nothing_lost();
    to.wait_settled_input().assert_nothing_lost();
    assert_complete(&there.lines("out"), 1, COUNT);
}

/// Reads a file, so that it can go on where the receiver was.
fn sender_of_a_file(port: u16) -> String {
    sender(port, "")
        .replace("network(ip(127.0.0.1) port(%tcp:in%) max-connections(100))", "file(\"%dir%/in\")")
}

#[test]
fn a_sender_that_is_killed_reads_its_file_again_from_what_was_acknowledged() {
    let (here, there) = (Lab::new(), Lab::new());
    let mut to = Penstock::start(&there, &receiver(""));
    const COUNT: usize = 60_000;
    std::fs::write(here.path("in"), block(0, COUNT)).expect("a file");
    let mut from = Penstock::start(&here, &sender_of_a_file(there.port("rltp")));
    wait_until("some messages", || there.lines("out").len() > COUNT / 4);
    from.signal(Signal::KILL);
    from.wait_end();
    from = Penstock::start(&here, &sender_of_a_file(there.port("rltp")));
    wait_until("the last message", || numbers(&there, 0).contains(&(COUNT - 1)));
    from.wait_settled_input().assert_nothing_lost();
    to.wait_settled_input().assert_nothing_lost();
    assert_in_order(&numbers(&there, 0), COUNT);
}

#[test]
fn a_sender_that_is_stopped_has_delivered_what_it_took_and_goes_on_with_its_stream() {
    let (here, there) = (Lab::new(), Lab::new());
    let mut to = Penstock::start(&there, &receiver(""));
    const COUNT: usize = 40_000;
    std::fs::write(here.path("in"), block(0, COUNT)).expect("a file");
    let from = Penstock::start(&here, &sender_of_a_file(there.port("rltp")));
    wait_until("some messages", || there.lines("out").len() > COUNT / 4);
    from.stop();
    let mut from = Penstock::start(&here, &sender_of_a_file(there.port("rltp")));
    wait_until("all messages", || there.lines("out").len() >= COUNT);
    from.wait_settled_input().assert_nothing_lost();
    to.wait_settled(COUNT as u64).assert_nothing_lost();
    assert_complete(&there.lines("out"), 1, COUNT);
}

#[test]
fn a_slow_receiver_holds_the_sender_back() {
    let (here, there) = (Lab::new(), Lab::new());
    let collector = Collector::tcp(there.port("out"));
    collector.pause();
    let config =
        receiver("").replace("file(\"%dir%/out\")", "network(127.0.0.1 port(%port:out%) so-sndbuf(8192))");
    let mut to = Penstock::start(&there, &config);
    let mut from = Penstock::start(&here, &sender(there.port("rltp"), "rltp(window(64KiB)) so-sndbuf(8192)"));
    const COUNT: usize = 120_000;
    let port = here.port("in");
    let feeding = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(0, COUNT).as_bytes());
        sender.finish();
    });
    let mut last = (0, 0);
    wait_until("the source to stop reading", || {
        let received = from.ledger().received();
        last = if received == last.0 { (received, last.1 + 1) } else { (received, 0) };
        received > 0 && last.1 > 50
    });
    assert!((last.0 as usize) < COUNT, "the source took all {COUNT} messages");
    from.ledger().assert_balanced();
    to.ledger().assert_balanced();
    assert_eq!((from.ledger().dropped(), to.ledger().dropped()), (0, 0));
    collector.resume();
    feeding.join().expect("sent");
    assert_settled(&mut to, &mut from, COUNT);
    assert_complete(&collector.wait_lines(COUNT), 1, COUNT);
}

#[test]
fn several_connections_keep_the_order_of_each_sender_over_cuts() {
    let (here, there) = (Lab::new(), Lab::new());
    let mut to = Penstock::start(&there, &receiver(""));
    let proxy = Proxy::to(there.port("rltp"));
    proxy.cut_after(&random(7, 30, 400_000));
    let sources: String =
        (0..6).map(|n| format!("source s{n} {{ network(ip(127.0.0.1) port(%tcp:in{n}%)); }};\n")).collect();
    let paths: String = (0..6).map(|n| format!("source(s{n}); ")).collect();
    let config = format!(
        "{HEAD}{sources}destination d {{ network(127.0.0.1 port({}) transport(\"rltp\") rltp(connections(4))); }};\n\
         log {{ {paths} destination(d); flags(flow-control); }};\n",
        proxy.port()
    );
    let mut from = Penstock::start(&here, &config);
    const COUNT: usize = 10_000;
    let threads: Vec<_> = (0..6)
        .map(|connection| {
            let port = here.port(&format!("in{connection}"));
            std::thread::spawn(move || {
                let mut sender = Sender::tcp(port);
                sender.raw(block(connection, COUNT).as_bytes());
                sender.finish();
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("sent"));
    assert_settled(&mut to, &mut from, 6 * COUNT);
    assert_complete(&there.lines("out"), 6, COUNT);
    let lanes = to.log().matches("Syslog connection accepted;").count();
    assert!(lanes >= 4 && proxy.cuts() > 0, "{lanes} connections, {} cuts", proxy.cuts());
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
    let (here, there) = (Lab::new(), Lab::new());
    let mut to = Penstock::start(&there, &receiver(""));
    let port = there.port("rltp");
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
    hello.extend_from_slice(&[6, 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    let text = String::from_utf8_lossy(&answer(port, &hello)).into_owned();
    assert!(text.ends_with("a batch came where it does not belong"), "{text}");
    let mut from = Penstock::start(&here, &sender(port, ""));
    feed(&here, 1, 100);
    assert_settled(&mut to, &mut from, 100);
}

#[test]
fn servers_that_speak_something_else_are_left_and_nothing_is_lost() {
    let (here, there) = (Lab::new(), Lab::new());
    let listener = std::net::TcpListener::bind(("127.0.0.9", there.port("rltp"))).expect("bind");
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.write_all(b"220 mail.example.com ESMTP\r\n");
            let _ = stream.read(&mut [0; 64]);
        }
    });
    let mut to = Penstock::start(&there, &receiver(""));
    let config = sender(there.port("rltp"), "failover(servers(127.0.0.1))")
        .replace("network(127.0.0.1 ", "network(127.0.0.9 ");
    let mut from = Penstock::start(&here, &config);
    let mut one = Sender::tcp(here.port("in"));
    one.line(&message(0, 0));
    one.finish();
    from.wait_log("the peer does not speak rltp, it begins with \"220 mail.example\"");
    assert_settled(&mut to, &mut from, 1);
}
