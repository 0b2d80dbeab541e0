//! What earlier versions have put on disk, kept in `tests/kept/`: later ones read it.

use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags};
use std::io::{BufRead, BufReader, IoSlice, Read, Write};
use std::mem::MaybeUninit;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::Command;

use testkit::{Collector, Lab, Penstock, run_command, wait_until};

/// Positions, a queue of 22 messages and 20 dead letters, written by version 0.1.
const OF_0_1: &str = "tests/kept/0.1-state-and-queues.tar.gz";
/// What a sender of `transport(rltp)` of version 0.1 says: hello, the start of run 9, a batch of three
/// messages of which one is empty, a ping, a batch without messages.
const SENDER_OF_0_1: &[u8] = include_bytes!("../kept/0.1-rltp-sender");
/// What a running program of version 0.1 says to one that takes its place: hello, two sockets, a connection
/// with the beginning of message 6, messages 1 to 5, which wait in its memory, that it has let go, that it is
/// done. With these ports of the source, of its datagrams and of the client, and its state here.
const HAND_OVER_OF_0_1: &[u8] = include_bytes!("../kept/0.1-take-over");
const PORTS_OF_0_1: [&str; 3] = ["40001", "40002", "40004"];
const STATE_OF_0_1: &str = "/tmp/kept/state/penstock.state";
/// The options and the destination with the queue, as they were then.
const CONFIG: &str = "@version: 4.11\n\
    options { keep-hostname(yes); use-dns(no); dead-letters(yes); };\n\
    source s_in { network(ip(127.0.0.1) port(%tcp:in%)); };\n\
    destination d_disk { network(127.0.0.1 port(%port:disk%) persist-name(\"kept-disk\") template(\"$MSG\\n\")\n\
        disk-buffer(reliable(yes) capacity-bytes(4MiB))); };\n\
    destination d_gone { network(127.0.0.1 port(%port:gone%) persist-name(\"kept-gone\") template(\"$MSG\\n\")); };\n\
    log { source(s_in); destination(d_disk); destination(d_gone); flags(flow-control); };\n";

fn unpack(lab: &Lab, archive: &str) {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(archive);
    let done = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(lab.dir()).status();
    assert!(done.expect("tar").success());
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("message number {number}")).collect()
}

#[test]
fn state_queues_and_dead_letters_of_0_1() {
    let lab = Lab::new();
    unpack(&lab, OF_0_1);
    let state = lab.path("state").display().to_string();
    let positions = run_command(&["state", "--state-dir", &state, "dump"]).stdout;
    assert!(positions.contains("affile_sd_curpos(/tmp/kept/in.log)"), "{positions}");
    let (disk, gone) = (Collector::tcp(lab.port("disk")), Collector::tcp(lab.port("gone")));
    let penstock = Penstock::start(&lab, CONFIG);
    // Two lines of a file waited among them.
    let mut waited = disk.wait_lines(22);
    waited.retain(|line| line.starts_with("message"));
    assert_eq!(waited, numbered(20));
    let shown = run_command(&["queue", "--state-dir", &state, "cat", "dead-letters", "--json"]).stdout;
    assert_eq!(shown.lines().count(), 20, "{shown}");
    let said = run_command(&["queue", "--state-dir", &state, "replay", "dead-letters"]);
    assert_eq!(gone.wait_lines(20), numbered(20), "{said:?}");
    penstock.stop();
}

/// Sent by hand, since the sender of today may say more.
#[test]
fn an_rltp_stream_of_0_1() {
    let lab = Lab::new();
    let penstock = Penstock::start(
        &lab,
        "@version: 4.11\n\
         source s_in { network(ip(127.0.0.1) port(%tcp:in%) transport(rltp)); };\n\
         destination d { file(\"%dir%/out\" template(\"$PROGRAM|$MSG\\n\")); };\n\
         log { source(s_in); destination(d); flags(flow-control); };\n",
    );
    let mut sender = TcpStream::connect(("127.0.0.1", lab.port("in"))).expect("a connection");
    sender.write_all(SENDER_OF_0_1).expect("sent");
    // The same first words, then frames, the last of which acknowledges batch 2.
    let acknowledged = b"\x03\0\0\0\x08\0\0\0\x02\0\0\0\0\0\0\0";
    let mut answer = Vec::new();
    while !answer.ends_with(acknowledged) {
        let mut bytes = [0; 4096];
        let count = sender.read(&mut bytes).expect("an answer");
        assert_ne!(count, 0, "the connection is closed after {answer:?}");
        answer.extend_from_slice(&bytes[..count]);
    }
    assert_eq!(answer[..8], SENDER_OF_0_1[..8]);
    wait_until("the messages", || lab.lines("out").len() == 2);
    assert_eq!(lab.lines("out"), ["app|one", "two|"]);
    penstock.stop();
}

const HEADER_BYTES: usize = 12;
const HELLO: u8 = 1;
const STOP: u8 = 2;
const SOCKET: u8 = 3;
const CONNECTION: u8 = 4;
const READY: u8 = 7;
const DONE: u8 = 8;

/// The words that were kept, with these ports and this path in the place of those of then.
fn handed_over(ports: [u16; 3], state: &str) -> Vec<Vec<u8>> {
    let mut rest = HAND_OVER_OF_0_1.to_vec();
    for (old, new) in PORTS_OF_0_1.iter().zip(ports.map(|port| port.to_string())) {
        // Texts have their lengths before them.
        assert_eq!(old.len(), new.len());
        for (at, bytes) in HAND_OVER_OF_0_1.windows(old.len()).enumerate() {
            if bytes == old.as_bytes() {
                rest[at..at + old.len()].copy_from_slice(new.as_bytes());
            }
        }
    }
    let mut words = Vec::new();
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[8..HEADER_BYTES].try_into().expect("four bytes"));
        let behind = rest.split_off(HEADER_BYTES + length as usize);
        words.push(std::mem::replace(&mut rest, behind));
    }
    // Behind the header and the version: its length in eight bytes, and itself.
    let (hello, at) = (&mut words[0], HEADER_BYTES + 8);
    let old = [&(STATE_OF_0_1.len() as u64).to_le_bytes(), STATE_OF_0_1.as_bytes()].concat();
    assert!(hello[at..].starts_with(&old), "{hello:?}");
    let new = [&(state.len() as u64).to_le_bytes(), state.as_bytes()].concat();
    hello.splice(at..at + old.len(), new);
    let length = (hello.len() - HEADER_BYTES) as u32;
    hello[8..HEADER_BYTES].copy_from_slice(&length.to_le_bytes());
    words
}

fn say(mut stream: &UnixStream, word: &[u8], with: Option<BorrowedFd<'_>>) {
    assert_eq!(word[5] == 1, with.is_some());
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let with = with.map(|fd| [fd]);
    if let Some(fds) = &with {
        assert!(ancillary.push(SendAncillaryMessage::ScmRights(fds)));
    }
    let header = [IoSlice::new(&word[..HEADER_BYTES])];
    let sent = rustix::net::sendmsg(stream, &header, &mut ancillary, SendFlags::empty()).expect("sent");
    assert_eq!(sent, HEADER_BYTES);
    stream.write_all(&word[HEADER_BYTES..]).expect("sent");
}

/// Its kind.
fn heard(reader: &mut impl Read) -> u8 {
    let mut header = [0; HEADER_BYTES];
    reader.read_exact(&mut header).expect("a word");
    let length = u32::from_le_bytes(header[8..].try_into().expect("four bytes"));
    reader.read_exact(&mut vec![0; length as usize]).expect("all of it");
    assert_eq!(&header[..4], b"PSTO");
    header[4]
}

/// Said by hand, since the program of today may say more.
#[test]
fn a_running_0_1_hands_over() {
    let lab = Lab::new();
    let out = Collector::tcp(lab.port("out"));
    std::fs::create_dir(lab.path("state")).expect("a folder");
    let control = UnixListener::bind(lab.path("state/penstock.ctl")).expect("the control socket");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    let udp = datagrams.local_addr().expect("an address").port();
    let mut client = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    let (accepted, from) = listener.accept().expect("a connection");
    let mut waiting = TcpStream::connect(("127.0.0.1", port)).expect("a connection that nobody has accepted");
    waiting.write_all(b"<13>Nov 24 12:00:00 other app[7]: from one that waits\n").expect("sent");
    let config = format!(
        "@version: 4.11\noptions {{ keep-hostname(yes); use-dns(no); keep-on-stop(no); }};\n\
         source s_in {{ network(ip(127.0.0.1) port({port})); network(ip(127.0.0.1) port({udp}) transport(udp)); }};\n\
         destination d_out {{ network(127.0.0.1 port(%port:out%) template(\"$MSG\\n\")); }};\n\
         log {{ source(s_in); destination(d_out); flags(flow-control); }};\n"
    );
    let mut penstock = Penstock::configure(&lab, &config).arg("--take-over").spawned();
    let (stream, _) = control.accept().expect("somebody who takes over");
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    let mut asked = String::new();
    reader.read_line(&mut asked).expect("a line");
    assert_eq!(asked.split(' ').next(), Some("TAKE_OVER"), "{asked}");
    let sockets = [listener.as_fd(), datagrams.as_fd()];
    let mut sockets = sockets.iter().copied();
    let state = lab.path("state/penstock.state").display().to_string();
    for word in handed_over([port, udp, from.port()], &state) {
        let with = match word[4] {
            SOCKET => sockets.next(),
            CONNECTION => Some(accepted.as_fd()),
            DONE => {
                assert_eq!(heard(&mut reader), READY);
                None
            }
            _ => None,
        };
        say(&stream, &word, with);
        if word[4] == HELLO {
            assert_eq!(heard(&mut reader), STOP);
            // As it does before it lets go.
            std::fs::remove_file(lab.path("state/penstock.ctl")).expect("its control socket");
        }
    }
    drop((reader, stream, control, listener, datagrams, accepted));
    penstock.wait_log("The program before this one has ended");
    client.write_all(b"ber 6\n").expect("the rest of a message");
    let mut expected = numbered(6);
    wait_until("the messages", || out.lines().len() == 7);
    let datagrams = UdpSocket::bind("127.0.0.1:0").expect("a port");
    datagrams.send_to(b"<13>Nov 24 12:00:00 sender app[7]: in a datagram", ("127.0.0.1", udp)).expect("sent");
    let mut lines = out.wait_lines(8);
    expected.extend(["in a datagram".to_owned()]);
    lines.retain(|line| line != "from one that waits");
    assert_eq!(lines, expected);
    penstock.stop();
}
