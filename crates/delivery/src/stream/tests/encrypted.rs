//! An encrypted connection that is cut within a record: its beginning is with the peer's kernel, and nobody
//! can read it.

use super::*;
use crate::dialing::Secured;
use tls::{Acceptor, PeerVerify, Session};

/// Who shows a certificate that it has signed itself, and who does not mind.
fn ends(folder: &std::path::Path) -> (Arc<Acceptor>, DialOptions) {
    let made = rcgen::generate_simple_self_signed(vec!["127.0.0.1".to_owned()]).expect("a certificate");
    let (key, cert) = (folder.join("key.pem"), folder.join("cert.pem"));
    std::fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
    std::fs::write(&cert, made.cert.pem()).expect("a file");
    let nobody = PeerVerify::named("none").expect("a known word");
    let server = tls::Options {
        key_file: Some(key),
        cert_file: Some(cert),
        peer_verify: nobody,
        ..tls::Options::default()
    };
    let anybody = PeerVerify::named("optional-untrusted").expect("a known word");
    let client = tls::Options { peer_verify: anybody, ..tls::Options::default() };
    let options = DialOptions { secure: Some(Secured::new(client)), ..options() };
    (Acceptor::load(&server).expect("a certificate"), options)
}

struct Peer {
    socket: TcpStream,
    session: Session,
    /// What could be read.
    plain: Vec<u8>,
}

impl Peer {
    fn accept(listener: &TcpListener, acceptor: &Acceptor) -> Peer {
        let (mut socket, mut session) = (accept(listener), acceptor.session().expect("a session"));
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("option");
        let mut buffer = [0; 4096];
        loop {
            socket.write_all(session.outgoing()).expect("write");
            session.sent(session.outgoing().len());
            if session.is_open() {
                break;
            }
            let n = socket.read(&mut buffer).expect("read");
            assert!(n > 0, "the handshake comes to its end");
            session.handshake(&buffer[..n]).expect("a handshake");
        }
        let plain = session.take_early();
        Peer { socket, session, plain }
    }

    /// Whether more came.
    fn read(&mut self) -> bool {
        let mut buffer = Vec::new();
        self.session.begin(&mut buffer);
        let at = buffer.len();
        buffer.resize(at + (1 << 16), 0);
        let n = self.socket.read(&mut buffer[at..]).unwrap_or_default();
        buffer.truncate(at + n);
        self.session.decrypt(&mut buffer, &mut self.plain).expect("records");
        n > 0
    }

    /// The numbers of all whole messages.
    fn numbers(&self) -> Vec<usize> {
        let text = String::from_utf8_lossy(&self.plain);
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        whole.map(|line| line.split(' ').nth(1).and_then(|n| n.parse().ok()).expect("a message")).collect()
    }
}

#[test]
fn what_stands_in_a_record_the_peer_has_not_whole_is_sent_again() {
    let folder = tempfile::tempdir().expect("folder");
    let (acceptor, options) = ends(folder.path());
    let (listener, port) = listen();
    // Less than one record.
    socket2::SockRef::from(&listener).set_recv_buffer_size(8192).expect("option");
    let rig = Rig::new(make(&["127.0.0.1"], port, options));
    let lines: Vec<String> = (0..5000).map(|n| format!("message {n} {}\n", "x".repeat(100))).collect();
    rig.send(&lines);
    let mut first = Peer::accept(&listener, &acceptor);
    wait_until("the kernel to have taken a piece", || unacknowledged_to(port) > 100_000);
    let mut beginning = [0; 4096];
    wait_until("the beginning of a record", || first.socket.peek(&mut beginning).is_ok_and(|n| n > 1000));
    socket2::SockRef::from(&listener).set_recv_buffer_size(1 << 20).expect("option");
    first.socket.shutdown(std::net::Shutdown::Write).expect("shutdown");
    let mut second = Peer::accept(&listener, &acceptor);
    while first.read() {}
    while second.numbers().last() != Some(&(lines.len() - 1)) && second.read() {}
    let (first, second) = (first.numbers(), second.numbers());
    let next = first.last().map_or(0, |last| last + 1);
    assert!(second[0] <= next, "{next} to {} are lost", second[0]);
    assert!(second.iter().copied().eq(second[0]..lines.len()), "in order, each once");
    wait_until("delivery", || rig.counters().delivered.value() == lines.len() as u64);
    wait_until("nothing to wait", || rig.counters().waiting.value() == 0);
    rig.wait_balanced();
}
