use crate::testing::{HEAD, Running, errors, wait_until};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixDatagram, UnixStream};

const LAYOUT: &str =
    "${SOURCE}|${TRANSPORT}|${HOST}|${PROGRAM}|${PID}|${.unix.pid}|${.unix.uid}|${SOURCEIP}|${MSG}";

fn config(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\ndestination d {{ file(\"%dir%/out\" template(\"{LAYOUT}\\n\")); }};\n\
         log {{ source(s); destination(d); }};\n"
    )
}

fn expected(transport: &str, program: &str, pid: &str, message: &str, credentials: bool) -> String {
    let host = transport::local_host_name(false, None);
    let own = std::process::id();
    let who = if credentials { format!("{own}|{}", nix::unistd::getuid()) } else { "|".to_owned() };
    format!("s|local+{transport}|{host}|{program}|{pid}|{who}|127.0.0.1|{message}")
}

#[test]
fn a_stream_has_no_host_name_and_says_who_sends() {
    let running = Running::start(&config("unix-stream(\"%dir%/in\");"));
    let mut stream = UnixStream::connect(running.path("in")).expect("connect");
    stream
        .write_all(b"<13>Nov 11 01:02:03 app[4]: one\n<13>Nov 11 01:02:03 host app[4]: two\n")
        .expect("write");
    drop(stream);
    let lines = running.wait_lines("out", 2);
    assert_eq!(lines[0], expected("unix-stream", "app", "4", "one", true));
    assert_eq!(lines[1], expected("unix-stream", "host", "", "app[4]: two", true));
}

#[test]
fn a_datagram_is_a_message_whatever_ends_it() {
    let running = Running::start(&config("unix-dgram(\"%dir%/in\");"));
    let socket = UnixDatagram::unbound().expect("socket");
    for datagram in ["<13>Nov 11 01:02:03 app[4]: one\n", "<13>Nov 11 01:02:03 app: two\0", "", "three"] {
        socket.send_to(datagram.as_bytes(), running.path("in")).expect("send");
    }
    let lines = running.wait_lines("out", 3);
    assert_eq!(lines[0], expected("unix-dgram", "app", "4", "one", true));
    assert_eq!(lines[1], expected("unix-dgram", "app", "", "two", true));
    assert_eq!(lines[2], expected("unix-dgram", "three", "", "", true));
}

#[test]
fn nobody_is_asked_for_credentials_who_does_not_want_them() {
    for source in
        ["unix-dgram(\"%dir%/in\" so-passcred(no));", "unix-dgram(\"%dir%/in\" flags(ignore-aux-data));"]
    {
        let running = Running::start(&config(source));
        let socket = UnixDatagram::unbound().expect("socket");
        socket.send_to(b"<13>Nov 11 01:02:03 app: m", running.path("in")).expect("send");
        assert_eq!(running.wait_lines("out", 1), [expected("unix-dgram", "app", "", "m", false)]);
    }
}

#[test]
fn permissions_and_folders_are_made_as_asked() {
    let mut running = Running::start(&config(
        "unix-dgram(\"%dir%/a/b/in\" create-dirs(yes) dir-perm(0750) perm(0620)); unix-stream(\"%dir%/plain\");",
    ));
    let mode =
        |name: &str| std::fs::metadata(running.path(name)).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode("a/b/in"), mode("a"), mode("plain")), (0o620, 0o750, 0o666));
    running.stop();
    assert!(!running.path("plain").exists() && !running.path("a/b/in").exists(), "the sockets are removed");
}

#[test]
fn what_is_at_the_path_is_not_destroyed() {
    let mut running = Running::idle();
    std::fs::write(running.path("in"), "precious").expect("write");
    let error = running.reload(&config("unix-dgram(\"%dir%/in\");")).expect_err("a file is in the way");
    assert!(error.contains("remove it, or choose another path"), "{error}");
    assert_eq!(running.text("in"), "precious");
    std::fs::remove_file(running.path("in")).expect("remove");
    let other = UnixDatagram::bind(running.path("in")).expect("bind");
    let error = running.reload(&config("unix-dgram(\"%dir%/in\");")).expect_err("somebody listens");
    assert!(error.contains("another program listens"), "{error}");
    drop(other);
    running.reload(&config("unix-dgram(\"%dir%/in\");")).expect("what a dead program left is replaced");
}

#[test]
fn optional_goes_on_without_it() {
    let mut running = Running::idle();
    let error = running.reload(&config("unix-dgram(\"%dir%/none/in\");")).expect_err("there is no folder");
    assert!(error.contains("create-dirs(yes)"), "{error}");
    let optional = config("unix-dgram(\"%dir%/none/in\" optional(yes));");
    running.reload(&optional).expect("optional");
    running.reload(&optional).expect("still not there");
    std::fs::create_dir(running.path("none")).expect("mkdir");
    running.reload(&optional).expect("tried again");
    let identity = |running: &Running| {
        use std::os::unix::fs::MetadataExt;
        std::fs::metadata(running.path("none/in")).expect("it was made").ino()
    };
    let first = identity(&running);
    running.reload(&optional).expect("kept");
    assert_eq!(identity(&running), first, "what is open is not opened anew");
}

#[test]
fn a_reload_keeps_the_socket_and_its_connections() {
    let mut running = Running::start(&config("unix-stream(\"%dir%/in\" tags(a));"));
    let mut stream = UnixStream::connect(running.path("in")).expect("connect");
    stream.write_all(b"<13>Nov 11 01:02:03 app: one\n").expect("write");
    running.wait_lines("out", 1);
    running.reload(&config("unix-stream(\"%dir%/in\" program-override(new));")).expect("reload");
    stream.write_all(b"<13>Nov 11 01:02:03 app: two\n").expect("the same connection");
    let lines = running.wait_lines("out", 2);
    assert_eq!(lines[1], expected("unix-stream", "new", "", "two", true));
    running.reload(&config("unix-stream(\"%dir%/in\" keep-alive(no));")).expect("reload");
    wait_until("the connection to be closed", || stream.write_all(b"\n").is_err());
    UnixStream::connect(running.path("in")).expect("a new socket is at the old place");
}

#[test]
fn connections_above_the_limit_are_closed_and_counted() {
    let running = Running::start(&config("unix-stream(\"%dir%/in\" max-connections(1));"));
    let mut first = UnixStream::connect(running.path("in")).expect("connect");
    first.write_all(b"<13>Nov 11 01:02:03 app: one\n").expect("write");
    running.wait_lines("out", 1);
    let mut second = UnixStream::connect(running.path("in")).expect("connect");
    let mut byte = [0];
    assert!(matches!(std::io::Read::read(&mut second, &mut byte), Ok(0) | Err(_)));
    assert_eq!(running.source("s#0").counters.rejected_connections.value(), 1);
    drop(first);
    wait_until("a free place", || {
        let mut next = UnixStream::connect(running.path("in")).expect("connect");
        // The peer may have closed it already.
        let _ = next.write_all(b"<13>Nov 11 01:02:03 app: two\n");
        running.text("out").contains("|two")
    });
}

#[test]
fn the_longest_datagram_is_bounded_and_counted() {
    let running = Running::start(&config("unix-dgram(\"%dir%/in\" log-msg-size(100));"));
    let socket = UnixDatagram::unbound().expect("socket");
    let text = format!("<13>Nov 11 01:02:03 app: {}", "x".repeat(5000));
    socket.send_to(text.as_bytes(), running.path("in")).expect("send");
    let lines = running.wait_lines("out", 1);
    assert!(lines[0].ends_with(&"x".repeat(100 - 25)) && !lines[0].contains(&"x".repeat(76)), "{lines:?}");
    assert_eq!(running.source("s#0").counters.truncated.value(), 1);
}

#[test]
fn one_path_is_one_source() {
    let found = errors(&config("unix-dgram(\"%dir%/in\"); unix-dgram(\"%dir%/in\");"));
    assert!(found.contains("persist-name"), "{found}");
}
