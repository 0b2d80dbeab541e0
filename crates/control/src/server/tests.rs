//! Tests of the socket with real clients, good and bad.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType};
use std::os::fd::OwnedFd;

use super::*;
use crate::client::{ClientError, Reply, Status, request};
use crate::subject::fake::Fake;

struct Bench {
    folder: tempfile::TempDir,
    fake: Arc<Fake>,
    server: Option<Server>,
}

impl Bench {
    fn new(fake: Fake) -> Bench {
        Self::with(fake, |_| {})
    }

    fn with(fake: Fake, change: impl FnOnce(&mut ServerOptions)) -> Bench {
        let folder = tempfile::tempdir().expect("temporary folder");
        let fake = Arc::new(fake);
        let mut options = ServerOptions::new(folder.path().join("x.ctl"));
        change(&mut options);
        let server = Server::start(options, Arc::clone(&fake) as Arc<dyn Subject>).expect("server");
        Bench { folder, fake, server: Some(server) }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("x.ctl")
    }

    fn ask(&self, line: &str) -> Reply {
        request(&self.path(), line, None).expect(line)
    }

    fn raw(&self) -> UnixStream {
        UnixStream::connect(self.path()).expect("connect")
    }
}

fn reply_of(stream: &UnixStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut text = String::new();
    while !text.ends_with("\n.\n") && text != ".\n" {
        if reader.read_line(&mut text).expect("read") == 0 {
            break;
        }
    }
    text
}

#[test]
fn one_line_in_one_reply_out() {
    let bench = Bench::new(Fake::default());
    let stats = bench.ask("STATS");
    assert_eq!(stats.status, Status::Ok);
    assert!(stats.text.starts_with("SourceName;"), "{}", stats.text);
    assert_eq!(bench.ask("QUERY GET nothing").text, "");
    assert_eq!(bench.ask("BOGUS"), Reply { status: Status::Fail, text: "unknown command 'BOGUS'\n".into() });
    assert_eq!(bench.ask("STOP").text, "Shutdown initiated\n");
    assert!(bench.fake.stopped.load(Ordering::SeqCst));
}

#[test]
fn a_dot_inside_a_reply_does_not_end_it() {
    let bench = Bench::new(Fake::default());
    assert_eq!(bench.ask("CONFIG GET ORIGINAL").text, "@version: 4.11\n. \nlog {};\n");
}

#[test]
fn several_requests_on_one_connection() {
    let bench = Bench::new(Fake::default());
    let mut stream = bench.raw();
    stream.write_all(b"QUERY LIST center*\n\nCONFIG ID\nLOG LEVEL\n").expect("write");
    stream.shutdown(std::net::Shutdown::Write).expect("shutdown");
    let mut all = String::new();
    stream.read_to_string(&mut all).expect("read");
    assert_eq!(all, "center.received.processed\n.\nOK abc123\n.\nOK default\n.\n");
}

#[test]
fn a_slow_reload_keeps_nobody_waiting() {
    let fake = Fake::default();
    let open = fake.gate();
    let bench = Bench::new(fake);
    let mut waiting = bench.raw();
    waiting.write_all(b"RELOAD\n").expect("write");
    // The control thread takes clients in order, so after this reply the reload has begun.
    while bench.ask("HEALTHCHECK").status != Status::Retry {}
    assert_eq!(bench.ask("RELOAD").status, Status::Fail);
    assert_eq!(bench.ask("LOG LEVEL").text, "default\n");
    open.send(Err("Syntax error, previous config remained intact".into())).expect("gate");
    assert_eq!(reply_of(&waiting), "FAIL Syntax error, previous config remained intact\n.\n");
    while bench.ask("HEALTHCHECK").status == Status::Retry {}
    open.send(Ok("Config reload successful".into())).expect("gate");
    assert_eq!(bench.ask("RELOAD").text, "Config reload successful\n");
}

#[test]
fn work_for_a_client_that_leaves_ends() {
    let bench = Bench::new(Fake::default());
    let mut leaving = bench.raw();
    leaving.write_all(b"PROFILE 3600\n").expect("write");
    let mut patient = bench.raw();
    patient.write_all(b"PROFILE 3600\n").expect("write");
    // Clients are taken in order: the work has begun.
    bench.ask("LOG LEVEL");
    assert_eq!(bench.fake.profiled.load(Ordering::SeqCst), 0);
    drop(leaving);
    while bench.fake.profiled.load(Ordering::SeqCst) == 0 {
        std::thread::yield_now();
    }
    // It has sent all it will send, and waits.
    patient.shutdown(std::net::Shutdown::Write).expect("shutdown");
    bench.ask("LOG LEVEL");
    assert_eq!(bench.fake.profiled.load(Ordering::SeqCst), 1);
    drop(patient);
    while bench.fake.profiled.load(Ordering::SeqCst) == 1 {
        std::thread::yield_now();
    }
}

#[test]
fn hostile_clients_cost_only_themselves() {
    let bench = Bench::new(Fake::default());
    let mut half = bench.raw();
    half.write_all(b"STA").expect("write");

    let mut endless = bench.raw();
    // The server may close before all of it is taken; that is the point.
    let _ = endless.write_all(&vec![b'x'; 1 << 20]);
    assert!(reply_of(&endless).starts_with("FAIL request longer than"));
    let mut rest = Vec::new();
    assert!(matches!(endless.read_to_end(&mut rest), Ok(0) | Err(_)), "the connection is closed");

    let mut garbage = bench.raw();
    garbage.write_all(b"\xff\xfe\0\x01\n").expect("write");
    assert!(reply_of(&garbage).starts_with("FAIL unknown command"));

    let gone = bench.raw();
    drop(gone);
    assert_eq!(bench.ask("LOG LEVEL").text, "default\n");
    half.write_all(b"TS WITHOUT_HEADER\n").expect("write");
    assert!(reply_of(&half).starts_with("center;"));
}

#[test]
fn silent_clients_make_room_for_an_operator() {
    let bench = Bench::with(Fake::default(), |options| options.connections_count_max = 4);
    let silent: Vec<UnixStream> = (0..100).map(|_| bench.raw()).collect();
    assert_eq!(bench.ask("LOG LEVEL").text, "default\n");
    let mut first = silent.first().expect("one");
    assert_eq!(first.read(&mut [0; 8]).expect("closed by the server"), 0);
}

#[test]
fn a_reader_who_does_not_read_holds_up_nobody() {
    let fake = Fake::default();
    let row = crate::Counter::new("src.host", "", &"h".repeat(1000), "processed", 1);
    *fake.counters.lock() = vec![row; 2000];
    let bench = Bench::new(fake);
    let mut lazy = bench.raw();
    lazy.write_all(b"STATS\nLOG LEVEL\n").expect("write");
    assert_eq!(bench.ask("LOG LEVEL").text, "default\n");
    let first = reply_of(&lazy);
    assert_eq!(first.lines().count(), 2002);
}

#[test]
fn a_defect_in_an_answer_is_contained() {
    oplog::set_stderr(false);
    let bench = Bench::new(Fake { panic_on_graph: true, ..Fake::default() });
    assert_eq!(bench.ask("EXPORT_CONFIG_GRAPH").status, Status::Fail);
    assert_eq!(bench.ask("LOG LEVEL").text, "default\n");
}

#[test]
fn the_file_is_private_and_goes_with_the_server() {
    let mut bench = Bench::new(Fake::default());
    let mode = fs::metadata(bench.path()).expect("metadata").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    bench.server = None;
    assert!(!bench.path().exists());
    let open = Bench::with(Fake::default(), |options| options.mode = 0o660);
    assert_eq!(fs::metadata(open.path()).expect("metadata").permissions().mode() & 0o777, 0o660);
}

fn start_at(path: &Path) -> Result<Server, ServerError> {
    Server::start(ServerOptions::new(path), Arc::new(Fake::default()))
}

#[test]
fn a_stale_socket_is_replaced_and_a_live_one_is_not() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("x.ctl");
    drop(UnixListener::bind(&path).expect("stale socket"));
    let first = start_at(&path).expect("replaces the stale one");
    assert!(matches!(start_at(&path), Err(ServerError::InUse(_))));
    assert_eq!(request(&path, "LOG LEVEL", None).expect("still answers").text, "default\n");
    drop(first);
    fs::write(&path, "precious").expect("a file in the way");
    assert!(matches!(start_at(&path), Err(ServerError::NotASocket(_))));
    assert_eq!(fs::read(&path).expect("untouched"), b"precious");
    let long = folder.path().join("x".repeat(200));
    let _beyond_an_address = start_at(&long).expect("bound through its folder");
    assert_eq!(request(&long, "LOG LEVEL", None).expect("answers").text, "default\n");
}

#[test]
fn anothers_socket_is_not_removed() {
    let mut bench = Bench::new(Fake::default());
    fs::remove_file(bench.path()).expect("remove");
    let other = UnixListener::bind(bench.path()).expect("another server");
    bench.server = None;
    assert!(bench.path().exists());
    drop(other);
}

#[test]
fn a_connection_that_is_given_away_and_a_server_that_is_replaced() {
    let mut bench = Bench::new(Fake::default());
    let path = bench.path();
    let mut stream = UnixStream::connect(&path).expect("connect");
    stream.write_all(b"TAKE_OVER 30\n").expect("write");
    let frame = crate::take_over::receive(&stream).expect("the word of another protocol");
    assert_eq!(crate::take_over::Reader(&frame.body).number(), Some(30));
    let options = ServerOptions { replaces: true, ..ServerOptions::new(&path) };
    let next = Server::start(options.clone(), Arc::new(Fake::default())).expect("beside the other");
    drop(next);
    assert!(!path.with_added_extension("new").exists());
    let subject = Arc::new(Fake::default());
    let next = Server::start(options, Arc::clone(&subject) as Arc<dyn Subject>).expect("beside the other");
    next.replace().expect("replaced");
    assert!(request(&path, "STOP", None).is_ok());
    assert!(subject.stopped.load(Ordering::SeqCst), "the new one answers");
    drop(bench.server.take());
    assert!(request(&path, "LICENSE", None).is_ok(), "the socket is the new one's");
}

/// A socket that takes nobody, before which so many wait that nobody can be added.
fn crowded(path: &Path) -> (OwnedFd, Vec<OwnedFd>) {
    let address = SocketAddrUnix::new(path).expect("an address");
    let socket = |flags| {
        rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).expect("a socket")
    };
    let listener = socket(SocketFlags::CLOEXEC);
    rustix::net::bind(&listener, &address).expect("bound");
    rustix::net::listen(&listener, 0).expect("listening");
    let mut crowd = Vec::new();
    loop {
        let one = socket(SocketFlags::CLOEXEC | SocketFlags::NONBLOCK);
        match rustix::net::connect(&one, &address) {
            Ok(()) => crowd.push(one),
            Err(errno) => {
                assert_eq!(errno, rustix::io::Errno::AGAIN);
                return (listener, crowd);
            }
        }
    }
}

#[test]
fn a_program_that_takes_nobody_keeps_nobody_waiting_for_ever() {
    let folder = tempfile::tempdir().expect("temporary folder");
    let path = folder.path().join("x.ctl");
    let _crowd = crowded(&path);
    let error = request(&path, "HEALTHCHECK", Some(Duration::from_millis(50))).expect_err("it is full");
    assert!(matches!(error, ClientError::TimedOut(_)), "{error}");
    assert!(matches!(start_at(&path), Err(ServerError::InUse(_))));
}
