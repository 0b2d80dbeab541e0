//! Receivers whose peers wait for acknowledgements: over a take-over, and over a reload that opens the source
//! anew, nothing comes twice.

use super::take_over;
use crate::messages::{HEAD, assert_complete, block};
use crate::tls::{block_of, prepared};
use testkit::{Lab, Penstock, Sender, wait_until};

const COUNT: usize = 60_000;

fn receiver(source: &str) -> String {
    format!(
        "{HEAD}source s {{ {source} }};\ndestination d {{ file(\"%dir%/out\"); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn sender(destination: &str) -> String {
    format!(
        "{HEAD}options {{ time-reopen(0.1); }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {destination} }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// What the receiver does while messages come: `change` gets the number of the time.
#[track_caller]
fn changed(
    source: &str,
    destination: impl FnOnce(&Lab) -> String,
    mut change: impl FnMut(&Lab, Penstock, usize) -> Penstock,
) {
    let (here, there) = (Lab::new(), Lab::new());
    prepared(&there);
    let mut to = Penstock::start(&there, &receiver(source));
    let mut from = Penstock::start(&here, &sender(&destination(&there)));
    let port = here.port("in");
    let feeding = std::thread::spawn(move || {
        let mut sender = Sender::tcp(port);
        sender.raw(block(0, COUNT).as_bytes());
        sender.finish();
    });
    for time in 1..4 {
        wait_until("some messages", || there.lines("out").len() > time * COUNT / 5);
        to = change(&there, to, time);
    }
    feeding.join().expect("sent");
    from.wait_settled(COUNT as u64).assert_nothing_lost();
    to.wait_settled_input();
    from.stop();
    to.stop();
    assert_complete(&there.lines("out"), 1, COUNT);
}

#[track_caller]
fn taken_over(source: &str, destination: impl FnOnce(&Lab) -> String) {
    changed(source, destination, |lab, old, time| {
        let new = take_over(lab, old, &receiver(source));
        // From then on it answers on the control socket.
        wait_until("the new process to be alone", || {
            new.log().matches("The program before this one has ended").count() == time
        });
        new
    });
}

/// A source that listens with other options is opened anew.
#[track_caller]
fn reloaded(source: &str, destination: impl FnOnce(&Lab) -> String) {
    changed(source, destination, |lab, mut running, time| {
        let other =
            receiver(&source.replace("max-connections(100)", &format!("max-connections({})", 100 + time)));
        running.reload_with(lab, &other);
        running
    });
}

const RELP_IN: &str = "relp(ip(127.0.0.1) port(%tcp:peer%) max-connections(100));";
const RLTP_IN: &str = "network(ip(127.0.0.1) port(%tcp:peer%) transport(\"rltp\") max-connections(100));";

fn relp(lab: &Lab) -> String {
    format!("relp(127.0.0.1 port({}) window-size(500));", lab.port("peer"))
}

fn rltp(lab: &Lab) -> String {
    format!(
        "network(127.0.0.1 port({}) transport(\"rltp\") flush-lines(100) rltp(window(64KiB)));",
        lab.port("peer")
    )
}

#[test]
fn nothing_comes_twice_by_relp() {
    taken_over(RELP_IN, relp);
}

#[test]
fn nothing_comes_twice_by_relp_encrypted() {
    let source = RELP_IN.replace("max-connections", &format!("{} max-connections", block_of("server")));
    taken_over(&source, |lab| {
        let certificates = block_of("client").replace("%dir%", &lab.dir().display().to_string());
        relp(lab).replace("window-size", &format!("{certificates} window-size"))
    });
}

#[test]
fn nothing_comes_twice_by_rltp() {
    taken_over(RLTP_IN, rltp);
}

#[test]
fn nothing_comes_twice_by_relp_over_reloads() {
    reloaded(RELP_IN, relp);
}

#[test]
fn nothing_comes_twice_by_rltp_over_reloads() {
    reloaded(RLTP_IN, rltp);
}

#[test]
fn a_message_of_several_lines_is_finished_at_the_new_process() {
    let lab = Lab::new();
    let config = receiver(
        "network(ip(127.0.0.1) port(%tcp:in%) flags(no-parse) multi-line-mode(prefix-garbage) multi-line-prefix(\"^>\"));",
    )
    .replace("file(\"%dir%/out\")", "file(\"%dir%/out\" template(\"[${MSG}]\\n\"))");
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b">one\n more\n>two\n mo");
    penstock.wait_settled(1);
    let penstock = take_over(&lab, penstock, &config);
    sender.raw(b"re\n>three\n");
    wait_until("the second message", || lab.lines("out").len() == 4);
    assert_eq!(lab.lines("out"), ["[>one", " more]", "[>two", " more]"]);
    sender.finish();
    wait_until("the last message", || lab.lines("out").len() == 5);
    penstock.stop();
}
