//! `usertty()` with real pseudo terminals and a list of logins of the test's own, in a mount namespace where
//! nobody else sees it.

use crate::messages::{HEAD, line, message};
use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::process::Command;
use testkit::{Lab, Penstock, Sender, skip, wait_until};

/// Begins a shell that may mount what only it and its children see. In many containers that is not allowed.
const NAMESPACES: [&str; 5] = ["unshare", "--map-root-user", "--mount", "/bin/sh", "-c"];

/// A pseudo terminal: the side a user sees, and its name below /dev.
fn terminal() -> (File, File, String) {
    let pty = nix::pty::openpty(None, None).expect("a pseudo terminal");
    let name = std::fs::read_link(format!("/proc/self/fd/{}", pty.slave.as_raw_fd())).expect("its name");
    let name = name.strip_prefix("/dev").expect("below /dev").to_str().expect("a name").to_owned();
    let (seen, other) = (File::from(pty.master), File::from(pty.slave));
    nix::fcntl::fcntl(&seen, nix::fcntl::FcntlArg::F_SETFL(nix::fcntl::OFlag::O_NONBLOCK)).expect("option");
    (seen, other, name)
}

/// A record of utmp(5): somebody is logged in at a terminal.
fn login(user: &str, terminal: &str) -> Vec<u8> {
    let mut record = vec![0; if cfg!(target_arch = "x86_64") { 384 } else { 400 }];
    record[..2].copy_from_slice(&7_i16.to_ne_bytes());
    record[8..8 + terminal.len()].copy_from_slice(terminal.as_bytes());
    record[44..44 + user.len()].copy_from_slice(user.as_bytes());
    record
}

/// What a terminal shows by now.
fn look(terminal: &mut File, seen: &mut String) {
    let mut buffer = [0; 4096];
    while let Ok(size @ 1..) = terminal.read(&mut buffer) {
        seen.push_str(&String::from_utf8_lossy(&buffer[..size]));
    }
}

#[test]
fn lines_come_to_the_terminals_of_those_who_are_logged_in() {
    let tried = Command::new(NAMESPACES[0]).args(&NAMESPACES[1..]).arg("mount -t tmpfs none /run").output();
    if !tried.is_ok_and(|output| output.status.success()) {
        return skip("no user and mount namespaces here");
    }
    let lab = Lab::new();
    let [mut ann, mut bob] = [terminal(), terminal()];
    let logins = [login("bob", &bob.2), login("ann", &ann.2), login("ann", "pts/99999999")];
    std::fs::write(lab.path("utmp"), logins.concat()).expect("a list of logins");
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination ann {{ usertty(\"ann\"); }};\ndestination everybody {{ usertty(\"*\"); }};\n\
         filter urgent {{ message(\"number 1 \"); }};\n\
         log {{ source(s); destination(ann); flags(flow-control); }};\n\
         log {{ source(s); filter(urgent); destination(everybody); flags(flow-control); }};\n"
    );
    let prepared = "mount -t tmpfs none /run && cp utmp /run/utmp && exec \"$0\" \"$@\"";
    let words = [&NAMESPACES[..], &[prepared]].concat();
    let mut penstock = Penstock::configure(&lab, &config).under(&words).ready();
    let mut sender = Sender::tcp(lab.port("in"));
    for number in 0..3 {
        sender.line(&message(0, number));
    }
    sender.finish();
    penstock.wait_settled(3).assert_nothing_lost();
    let (mut of_ann, mut of_bob) = (String::new(), String::new());
    wait_until("four lines and one", || {
        look(&mut ann.0, &mut of_ann);
        look(&mut bob.0, &mut of_bob);
        of_ann.lines().count() >= 4 && of_bob.lines().count() >= 1
    });
    let shown = |numbers: &[usize]| -> Vec<String> { numbers.iter().map(|n| line(0, *n)).collect() };
    // Two destinations write to Ann's.
    let mut lines: Vec<&str> = of_ann.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, shown(&[0, 1, 1, 2]));
    assert_eq!(of_bob.lines().collect::<Vec<_>>(), shown(&[1]));
    assert!(of_bob.ends_with("\r\n"), "{of_bob:?}");
    penstock.wait_log("Cannot write to a terminal, leaving it out for a while");
    penstock.stop();
}
