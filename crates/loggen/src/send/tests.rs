use std::io::Read;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::net::UnixListener;

use super::*;
use crate::verify::{self, Expected};

/// Takes `count` connections and returns all bytes of each.
fn collect(listener: TcpListener, count: usize) -> std::thread::JoinHandle<Vec<Vec<u8>>> {
    std::thread::spawn(move || {
        let sockets: Vec<_> = (0..count).map(|_| listener.accept().unwrap().0).collect();
        let readers: Vec<_> = sockets
            .into_iter()
            .map(|mut socket| {
                std::thread::spawn(move || {
                    let mut bytes = Vec::new();
                    socket.read_to_end(&mut bytes).unwrap();
                    bytes
                })
            })
            .collect();
        readers.into_iter().map(|reader| reader.join().unwrap()).collect()
    })
}

fn tcp() -> (TcpListener, Target) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = Target::Tcp(listener.local_addr().unwrap());
    (listener, target)
}

#[test]
fn everything_arrives_in_order_over_many_connections() {
    let (listener, target) = tcp();
    let load = Load::new(target).connections(20).total(20_007);
    let sink = collect(listener, 20);
    let outcome = load.run().unwrap();
    assert!(outcome.errors.is_empty(), "{:?}", outcome.errors);
    assert_eq!(outcome.messages, 20_007);
    assert_eq!(outcome.bytes, 20_007 * 400);
    let received = sink.join().unwrap();
    let report = verify::verify_bytes(
        &received.concat(),
        &Expected { connections: Some(20), number: Some(20_007), ..Expected::default() },
    );
    assert!(report.ok(), "{report}");
}

#[test]
fn octet_counted_frames_are_whole() {
    let (listener, target) = tcp();
    let style = Style::new(Syntax::Rfc5424, Body::Text, 300);
    let load = Load::new(target).style(style).octet_counted().total(5000);
    let sink = collect(listener, 1);
    load.run().unwrap();
    let bytes = sink.join().unwrap().concat();
    assert_eq!(bytes.len(), 5000 * 304);
    assert!(bytes.chunks(304).all(|frame| frame.starts_with(b"300 <") && frame.ends_with(b"\n")));
}

#[test]
fn a_deadline_leaves_whole_messages() {
    let (listener, target) = tcp();
    let load = Load::new(target).duration(Duration::from_millis(50));
    let sink = collect(listener, 1);
    let outcome = load.run().unwrap();
    let bytes = sink.join().unwrap().concat();
    assert_eq!(bytes.len() as u64, outcome.messages * 400);
    assert_eq!(bytes.last(), Some(&b'\n'));
}

#[test]
fn paced_messages_are_complete() {
    let (listener, target) = tcp();
    let load = Load::new(target).connections(3).rate(5000.0).total(300);
    let sink = collect(listener, 3);
    assert_eq!(load.run().unwrap().per_connection, [100, 100, 100]);
    assert_eq!(sink.join().unwrap().concat().len(), 300 * 400);
}

#[test]
fn datagrams_hold_one_message_each() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let load = Load::new(Target::Udp(socket.local_addr().unwrap())).total(100);
    assert_eq!(load.run().unwrap().messages, 100);
    let mut buffer = [0; 2048];
    for number in 0..100 {
        let count = socket.recv(&mut buffer).unwrap();
        assert_eq!(count, 400);
        let text = String::from_utf8_lossy(&buffer[..count]);
        assert!(text.contains(&format!("conn=0000 seq={number:09} ")), "{text}");
    }
}

#[test]
fn unix_stream_and_proxy_header() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let listener = UnixListener::bind(&path).unwrap();
    let mut load = Load::new(Target::UnixStream(path)).total(10);
    load.proxy = Some(Proxy::new(crate::proxy::Version::V1));
    let outcome = load.run().unwrap();
    assert_eq!(outcome.messages, 10);
    let mut text = String::new();
    listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
    assert!(text.starts_with("PROXY TCP4 "));
    assert_eq!(text.lines().count(), 11);
}

#[test]
fn a_file_is_replayed_by_each_connection() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    std::fs::write(&path, "<14>Nov  1 10:00:00 hst prog[12]: one\nnonsense\nNov  1 10:00:00 hst prog: two\n")
        .unwrap();
    let (listener, target) = tcp();
    let mut load = Load::new(target).connections(2);
    load.replay = Some(Replay::new(path));
    let sink = collect(listener, 2);
    assert_eq!(load.run().unwrap().messages, 4);
    for bytes in sink.join().unwrap() {
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("<14>") && lines[0].ends_with(" hst prog[12]: one"), "{text}");
        assert!(lines[1].starts_with("<38>") && lines[1].ends_with(" hst prog: two"), "{text}");
    }
}

#[test]
fn a_prepared_input_is_what_would_be_sent() {
    let load = Load::new(Target::UnixStream("/unused".into())).total(1000);
    let mut bytes = Vec::new();
    assert_eq!(load.write_to(&mut bytes).unwrap(), 1000);
    let expected = Expected { connections: Some(1), number: Some(1000), ..Expected::default() };
    assert!(verify::verify_bytes(&bytes, &expected).ok());
}

#[test]
fn bad_requests_are_refused() {
    let target = Target::UnixStream("/nonexistent/x".into());
    assert!(Load::new(target.clone()).connections(0).run().is_err());
    assert!(Load::new(target.clone()).connections(10_001).run().unwrap_err().said().contains("10000"));
    assert!(Load::new(target.clone()).rate(0.0).run().is_err());
    assert!(Load::new(target).run().unwrap_err().said().starts_with("error connecting socket"));
}

#[test]
fn shares_add_up() {
    let load = Load::new(Target::UnixStream("/unused".into())).connections(7).total(100);
    assert_eq!((0..7).filter_map(|index| load.share(index)).sum::<u64>(), 100);
    assert_eq!((load.share(0), load.share(6)), (Some(15), Some(14)));
}
