//! A server spoken by hand: it cuts connections, refuses, and answers late.

use super::*;
use delivery::testing::{Rig, numbered, wait_until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

fn rig(port: u16, window: usize) -> Rig {
    let options = Arc::new(DialOptions {
        connect: Connect::default(),
        time_reopen: Duration::from_millis(10),
        failback: None,
        secure: None,
    });
    Rig::new(Box::new(move |place| {
        let route = Route::hosts(&["127.0.0.1".to_owned()], port, false);
        Box::new(RelpSink::new(place, route, Arc::clone(&options), window))
    }))
}

fn listen() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
    let port = listener.local_addr().expect("address").port();
    (listener, port)
}

struct Server(BufReader<TcpStream>);

impl Server {
    /// Accepts a connection and the session on it.
    fn accept(listener: &TcpListener) -> Server {
        let mut server = Server(BufReader::new(listener.accept().expect("accept").0));
        let (txnr, command, data) = server.frame();
        assert_eq!((txnr, command.as_str()), (1, "open"));
        assert!(data.contains("commands=syslog"), "{data}");
        let mut out = Vec::new();
        wire::relp::accept(&mut out, txnr);
        server.write(&out);
        server
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).expect("write");
    }

    fn answer(&mut self, txnr: u32) {
        self.write(format!("{txnr} rsp 6 200 OK\n").as_bytes());
    }

    fn word(&mut self) -> String {
        let mut word = Vec::new();
        loop {
            let mut byte = [0];
            self.0.read_exact(&mut byte).expect("read");
            match byte[0] {
                b' ' | b'\n' => return String::from_utf8(word).expect("text"),
                other => word.push(other),
            }
        }
    }

    fn frame(&mut self) -> (u32, String, String) {
        let (txnr, command, length) = (self.word(), self.word(), self.word());
        let length: usize = length.parse().expect("a length");
        let mut data = vec![0; length];
        self.0.read_exact(&mut data).expect("read");
        if length > 0 {
            self.0.read_until(b'\n', &mut Vec::new()).expect("read");
        }
        (txnr.parse().expect("a number"), command, String::from_utf8(data).expect("text"))
    }

    /// Receives messages `from..to` and says their numbers.
    #[track_caller]
    fn expect(&mut self, from: usize, to: usize) -> Vec<u32> {
        (from..to)
            .map(|n| {
                let (txnr, command, data) = self.frame();
                assert_eq!((command.as_str(), data), ("syslog", format!("message {n}")));
                txnr
            })
            .collect()
    }
}

#[test]
fn messages_are_delivered_when_they_are_answered() {
    let (listener, port) = listen();
    let rig = rig(port, 100);
    rig.send(&numbered(0, 3));
    let mut server = Server::accept(&listener);
    let numbers = server.expect(0, 3);
    assert_eq!(numbers, [2, 3, 4]);
    assert_eq!((rig.counters().delivered.value(), rig.outlet.waiting()), (0, 3));
    server.answer(2);
    wait_until("a delivery", || rig.counters().delivered.value() == 1);
    server.answer(3);
    server.answer(4);
    wait_until("delivery", || rig.counters().delivered.value() == 3);
    rig.wait_balanced();
    assert_eq!(rig.outlet.waiting(), 0);
}

#[test]
fn the_window_is_kept() {
    let (listener, port) = listen();
    let rig = rig(port, 2);
    rig.send(&numbered(0, 5));
    let mut server = Server::accept(&listener);
    let mut numbers = server.expect(0, 2);
    server.0.get_mut().set_nonblocking(true).expect("option");
    rig.outlet.event();
    assert!(server.0.read(&mut [0]).is_err(), "a third one came");
    server.0.get_mut().set_nonblocking(false).expect("option");
    for next in 2..5 {
        server.answer(numbers.remove(0));
        numbers.extend(server.expect(next, next + 1));
    }
    numbers.into_iter().for_each(|number| server.answer(number));
    wait_until("delivery", || rig.counters().delivered.value() == 5);
}

#[test]
fn what_was_not_answered_is_sent_again_after_a_cut() {
    let (listener, port) = listen();
    let rig = rig(port, 100);
    rig.send(&numbered(0, 4));
    let mut server = Server::accept(&listener);
    let numbers = server.expect(0, 4);
    server.answer(numbers[0]);
    wait_until("a delivery", || rig.counters().delivered.value() == 1);
    drop(server);
    let mut server = Server::accept(&listener);
    rig.send(&numbered(4, 6));
    for number in server.expect(1, 6) {
        server.answer(number);
    }
    wait_until("delivery", || rig.counters().delivered.value() == 6);
    rig.wait_balanced();
    assert_eq!((rig.counters().dropped.total(), rig.counters().reconnects.value()), (0, 1));
}

fn refuse(server: &mut Server, txnr: u32) {
    server.write(format!("{txnr} rsp 10 500 cannot\n").as_bytes());
}

#[test]
fn a_server_that_takes_nothing_is_left_and_costs_one_message_after_three_refusals() {
    let (listener, port) = listen();
    let rig = rig(port, 100);
    rig.send(&numbered(0, 3));
    for _ in 0..2 {
        let mut server = Server::accept(&listener);
        let numbers = server.expect(0, 3);
        numbers.into_iter().for_each(|number| refuse(&mut server, number));
        assert_eq!(server.0.read_to_end(&mut Vec::new()).expect("read"), 0);
    }
    let mut server = Server::accept(&listener);
    let numbers = server.expect(0, 3);
    refuse(&mut server, numbers[0]);
    server.answer(numbers[1]);
    server.answer(numbers[2]);
    wait_until("delivery", || rig.counters().delivered.value() == 2);
    assert_eq!(rig.counters().dropped.value(engine::ledger::Reason::Refused), 1);
    rig.wait_balanced();
}

#[test]
fn one_bad_message_is_sent_again_alone_and_doubles_no_other() {
    let (listener, port) = listen();
    let rig = rig(port, 100);
    rig.send(&numbered(0, 5));
    let mut server = Server::accept(&listener);
    let numbers = server.expect(0, 5);
    refuse(&mut server, numbers[2]);
    refuse(&mut server, numbers[1]);
    [0, 3, 4].into_iter().for_each(|n| server.answer(numbers[n]));
    wait_until("the refusals to be heard", || rig.counters().delivered.value() == 1);
    // What comes now waits until it is known what becomes of those.
    rig.send(&numbered(5, 6));
    for last in [false, true] {
        let number = server.expect(1, 2)[0];
        refuse(&mut server, number);
        assert_eq!(rig.counters().dropped.total(), 0, "{last}");
    }
    // The other one is taken the second time.
    let number = server.expect(2, 3)[0];
    assert_eq!(rig.counters().dropped.value(engine::ledger::Reason::Refused), 1);
    server.answer(number);
    let number = server.expect(5, 6)[0];
    server.answer(number);
    wait_until("delivery", || rig.counters().delivered.value() == 5);
    assert_eq!((rig.counters().dropped.total(), rig.counters().reconnects.value()), (1, 0));
    rig.wait_balanced();
    assert_eq!(rig.outlet.waiting(), 0);
}

#[test]
fn an_end_of_the_session_in_order_loses_nothing() {
    let (listener, port) = listen();
    let rig = rig(port, 100);
    rig.send(&numbered(0, 2));
    let mut server = Server::accept(&listener);
    let numbers = server.expect(0, 2);
    server.answer(numbers[0]);
    server.write(b"0 serverclose 0\n");
    let mut server = Server::accept(&listener);
    let numbers = server.expect(1, 2);
    server.answer(numbers[0]);
    wait_until("delivery", || rig.counters().delivered.value() == 2);
    // A reload with keep-alive(no) ends it from this side.
    rig.destination.restart.store(true, std::sync::atomic::Ordering::Relaxed);
    rig.outlet.event();
    assert_eq!(server.frame().1, "close");
    let mut server = Server::accept(&listener);
    rig.send(&numbered(2, 3));
    let numbers = server.expect(2, 3);
    server.answer(numbers[0]);
    wait_until("delivery", || rig.counters().delivered.value() == 3);
}
