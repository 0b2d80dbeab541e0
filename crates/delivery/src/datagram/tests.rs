//! Datagrams that are too long, that nobody wants, that wait for a slow reader.

use super::*;
use crate::single::MakeSink;
use crate::testing::{Rig, numbered, wait_until};
use engine::ledger::Reason;
use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;
use std::path::Path;

fn make(lookup: impl Fn() -> Lookup + Send + Sync + 'static) -> MakeSink {
    let time_reopen = Duration::from_millis(10);
    let options = Arc::new(DatagramOptions { connect: Connect::default(), time_reopen, spoof_source: false });
    Box::new(move |place| Box::new(DatagramSink::new(place, lookup(), Arc::clone(&options))))
}

fn receive(socket: &UdpSocket) -> Vec<u8> {
    let mut buffer = vec![0; 65_536];
    let size = socket.recv(&mut buffer).expect("receive");
    buffer.truncate(size);
    buffer
}

#[test]
fn a_message_too_long_for_a_datagram_is_dropped_alone() {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("bind");
    let port = receiver.local_addr().expect("address").port();
    let rig = Rig::new(make(move || Lookup::host("localhost", port, false)));
    rig.send(&["one".to_owned(), "x".repeat(70_000), "two".to_owned()]);
    assert_eq!((receive(&receiver), receive(&receiver)), (b"one".to_vec(), b"two".to_vec()));
    wait_until("the count", || rig.counters().delivered.value() == 2);
    assert_eq!(rig.counters().dropped.value(Reason::Refused), 1);
    rig.wait_balanced();
}

#[test]
fn refusals_do_not_stop_the_sending() {
    let receiver = UdpSocket::bind("127.0.0.1:0").expect("bind");
    let address = receiver.local_addr().expect("address");
    drop(receiver);
    let rig = Rig::new(make(move || Lookup::host("127.0.0.1", address.port(), false)));
    for n in 0..200 {
        rig.send(&numbered(n, n + 1));
    }
    wait_until("the sending", || rig.counters().delivered.value() == 200);
    let receiver = UdpSocket::bind(address).expect("bind");
    rig.send(&["after"]);
    assert_eq!(receive(&receiver), b"after");
    rig.wait_balanced();
}

fn unix(path: &Path) -> MakeSink {
    let path = path.to_owned();
    make(move || Lookup::path(&path))
}

#[test]
fn a_slow_reader_of_a_unix_socket_gets_everything() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("socket");
    let rig = Rig::new(unix(&path));
    rig.send(&numbered(0, 1));
    wait_until("the note that it is unreachable", || rig.counters().unreachable.value() == 1);
    let receiver = UnixDatagram::bind(&path).expect("bind");
    rig.send(&numbered(1, 2000));
    let mut buffer = [0; 100];
    for expected in numbered(0, 2000) {
        let size = receiver.recv(&mut buffer).expect("receive");
        assert_eq!(String::from_utf8_lossy(&buffer[..size]), expected);
    }
    wait_until("the count", || rig.counters().delivered.value() == 2000);
    rig.wait_balanced();
}

#[test]
fn a_reader_that_was_started_again_is_found() {
    let folder = tempfile::tempdir().expect("folder");
    let path = folder.path().join("socket");
    let receiver = UnixDatagram::bind(&path).expect("bind");
    let rig = Rig::new(unix(&path));
    let mut buffer = [0; 100];
    rig.send(&["one"]);
    assert_eq!(receiver.recv(&mut buffer).expect("receive"), 3);
    drop(receiver);
    std::fs::remove_file(&path).expect("remove");
    rig.send(&["second"]);
    let receiver = UnixDatagram::bind(&path).expect("bind");
    assert_eq!(receiver.recv(&mut buffer).expect("receive"), 6);
    wait_until("the count", || rig.counters().delivered.value() == 2);
}
