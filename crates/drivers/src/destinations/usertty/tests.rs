//! Lines on pseudo terminals, and terminals that are not there.

use super::*;
use delivery::testing::Rig;
use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;

#[test]
fn control_characters_lose_their_power() {
    let check = |line: &[u8], expected: &[u8]| {
        let mut line = line.to_vec();
        disarm(&mut line);
        assert_eq!(line, expected);
    };
    check(b"plain\ttext\n", b"plain\ttext\n");
    check(b"\x1b[2Jtwo\nlines\n", b"?[2Jtwo?lines\n");
    check("grün \u{9b}2J\n".as_bytes(), "grün ??2J\n".as_bytes());
    check(b"\x9b2J \xff\n", b"?2J ?\n");
    check("à".as_bytes(), "à".as_bytes());
    check(b"", b"");
}

/// A pseudo terminal: the side a user sees, and its name below /dev.
fn terminal() -> (File, File, String) {
    let pty = nix::pty::openpty(None, None).expect("a pseudo terminal");
    let path =
        std::fs::read_link(format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&pty.slave.as_fd())));
    let path = path.expect("its name");
    let line = path.strip_prefix("/dev").expect("below /dev").to_str().expect("a name").to_owned();
    (File::from(pty.master), File::from(pty.slave), line)
}

#[test]
fn every_terminal_of_the_user_shows_the_line_and_a_failing_one_is_left_out() {
    let (mut mine, _slave, line) = terminal();
    let (other, _other_slave, other_line) = terminal();
    let utmp = tempfile::NamedTempFile::new().expect("temp file");
    let records = [(&*other_line, "bob"), ("pts/99999999", "ann"), (&*line, "ann")];
    let bytes: Vec<u8> = records.iter().flat_map(|(line, user)| utmp::record(7, line, user)).collect();
    std::fs::write(utmp.path(), bytes).expect("write");
    let path = utmp.path().to_owned();
    let rig = Rig::new(Box::new(move |_| {
        Box::new(TtySink { utmp: path.clone(), ..TtySink::new("ann", Duration::from_secs(60)) })
    }));
    rig.send(&["first \x1b[1m\n", "second\n"]);
    let mut seen = String::new();
    while !seen.contains("second\r\n") {
        let mut buffer = [0; 100];
        let size = mine.read(&mut buffer).expect("read");
        seen.push_str(&String::from_utf8_lossy(&buffer[..size]));
    }
    assert_eq!(seen, "first ?[1m\r\nsecond\r\n");
    assert_eq!(rig.counters().delivered.value(), 2);
    nix::fcntl::fcntl(&other, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).expect("option");
    assert!((&other).read(&mut [0; 10]).is_err(), "another user's terminal was written to");
}
