//! A reload removes destinations for which messages wait, and there is no store that could keep them: it is
//! refused with the count, until somebody says which of them may go.

use crate::messages::HEAD;
use std::path::Path;
use testkit::{Collector, Lab, Outcome, Penstock, run_command};

const COUNT: usize = 300;

/// A source of each name, with flow-control, to the destination of the same name where nobody listens.
fn config(stuck: &[&str]) -> String {
    renamed(stuck, "a")
}

/// The same with another name for the destination `a`.
fn renamed(stuck: &[&str], a: &str) -> String {
    let mut text = format!("{HEAD}destination o {{ file(\"%dir%/out\"); }};\n");
    for name in ["a", "b"] {
        text += &format!("source s_{name} {{ network(ip(127.0.0.1) port(%tcp:{name}%)); }};\n");
        match stuck.contains(&name) {
            true => {
                let called = if name == "a" { a } else { name };
                text += &format!(
                    "destination {called} {{ network(127.0.0.1 port(%port:out-{name}%)); }};\n\
                     log {{ source(s_{name}); destination({called}); flags(flow-control); }};\n"
                );
            }
            false => text += &format!("log {{ source(s_{name}); destination(o); }};\n"),
        }
    }
    text
}

/// So many messages of a connection wait for the destination of this name, and for no other.
fn fill(lab: &Lab, name: &str, count: usize) {
    let mut sender = testkit::Sender::tcp(lab.port(name));
    sender.raw(crate::messages::block(0, count).as_bytes());
    sender.finish();
}

/// The store cannot be made: something else is where its folder would be.
fn without_store(lab: &Lab) {
    std::fs::create_dir_all(lab.path("state")).expect("a state folder");
    std::fs::write(lab.path("state/penstock-store"), "in the way").expect("a file");
}

fn ctl(lab: &Lab, args: &[&str]) -> Outcome {
    let folder = std::fs::read_dir(lab.path("state")).expect("the state folder");
    let is_socket = |path: &Path| path.extension().is_some_and(|end| end == "ctl");
    let socket = folder.flatten().map(|entry| entry.path()).find(|path| is_socket(path)).expect("a socket");
    run_command(&[&["ctl"], args, &["--control", &socket.to_string_lossy()]].concat())
}

fn said(outcome: &Outcome) -> String {
    format!("{}{}", outcome.stdout, outcome.stderr)
}

#[track_caller]
fn wait_both(penstock: &mut Penstock, a: usize, b: usize) {
    penstock.wait_ledger(|ledger| {
        let there = (ledger.destination("a").waiting, ledger.destination("b").waiting);
        (there != (a as u64, b as u64)).then(|| format!("{a} and {b} waiting, there are {there:?}"))
    });
}

/// Both wait: `a` with `COUNT`, `b` with 7.
fn start(lab: &Lab) -> Penstock {
    without_store(lab);
    let mut penstock = Penstock::configure(lab, &config(&["a", "b"])).free().ready();
    fill(lab, "a", COUNT);
    fill(lab, "b", 7);
    wait_both(&mut penstock, COUNT, 7);
    penstock
}

#[test]
fn the_reload_is_refused_with_the_count_and_nothing_is_lost() {
    let lab = Lab::new();
    let penstock = start(&lab);
    penstock.rewrite(&lab, &config(&["b"]));
    let outcome = ctl(&lab, &["reload"]);
    let text = said(&outcome);
    assert_eq!(outcome.code, Some(1), "{text}");
    assert!(text.contains("a#0: 300 messages wait for it") && text.contains("reload --drop a`"), "{text}");
    assert!(!text.contains("b#0"), "{text}");
    // Both are named where both go.
    penstock.rewrite(&lab, &config(&[]));
    let text = said(&ctl(&lab, &["reload"]));
    assert!(text.contains("a#0: 300 messages") && text.contains("b#0: 7 messages"), "{text}");
    // What ran before runs on.
    let mut penstock = penstock;
    let (a, b) = (Collector::tcp(lab.port("out-a")), Collector::tcp(lab.port("out-b")));
    assert_eq!((a.wait_lines(COUNT).len(), b.wait_lines(7).len()), (COUNT, 7));
    penstock.ledger().assert_balanced();
    // With nothing that waits, the same reload is welcome.
    wait_both(&mut penstock, 0, 0);
    assert_eq!(ctl(&lab, &["reload"]).code, Some(0));
    penstock.stop();
}

#[test]
fn what_may_be_dropped_is_said_by_name_and_nothing_else_is() {
    let lab = Lab::new();
    let mut penstock = start(&lab);
    penstock.rewrite(&lab, &config(&[]));
    for (args, wrong) in [
        (&["reload", "--drop", "nobody"][..], "nobody"),
        (&["reload", "--drop", "a", "--drop", "nobody", "--drop", "b"], "nobody"),
        (&["reload", "--drop", "b"], "a#0: 300 messages"),
        (&["reload", "--drop", "a"], "b#0: 7 messages"),
        (&["reload", "--drop", "a", "--drop", "b", "--drop", "o"], "o"),
    ] {
        let outcome = ctl(&lab, args);
        assert!(outcome.code == Some(1) && said(&outcome).contains(wrong), "{args:?}: {outcome:?}");
    }
    wait_both(&mut penstock, COUNT, 7);
    let outcome = ctl(&lab, &["reload", "--drop", "a", "--drop", "b#0"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    assert_eq!((ledger.dropped_for("discarded"), ledger.dropped()), (COUNT as u64 + 7, COUNT as u64 + 7));
    assert_eq!(ledger.waiting(), 0, "{ledger}");
    // Their sources go on.
    send_on(&lab);
    let log = penstock.stop();
    for count in ["destination='a#0', messages='300'", "destination='b#0', messages='7'"] {
        assert!(log.contains(count), "{count}: {log}");
    }
}

fn send_on(lab: &Lab) {
    fill(lab, "a", 5);
    testkit::wait_until("the new destination has them", || lab.lines("out").len() == 5);
}

/// With a store, `--drop` lets go as well, and the count is said.
#[test]
fn what_may_be_dropped_is_dropped_where_it_could_be_kept() {
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, &config(&["a", "b"])).free().ready();
    fill(&lab, "a", COUNT);
    fill(&lab, "b", 7);
    wait_both(&mut penstock, COUNT, 7);
    penstock.rewrite(&lab, &config(&[]));
    let outcome = ctl(&lab, &["reload", "--drop", "a"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    assert_eq!((ledger.dropped_for("discarded"), ledger.dropped_for("dead-letter")), (COUNT as u64, 7));
    penstock.stop();
}

/// A destination that only gets another name keeps what waits, whoever wants to drop it by the old name or by
/// the new one.
#[test]
fn what_waits_at_a_renamed_destination_is_not_dropped() {
    let lab = Lab::new();
    let mut penstock = start(&lab);
    let refused = |args: &[&str], why: &str| {
        let outcome = ctl(&lab, args);
        assert!(outcome.code == Some(1) && said(&outcome).contains(why), "{args:?}: {outcome:?}");
    };
    let taken =
        "destination a { network(127.0.0.1 port(%port:other%)); };\nlog { source(s_b); destination(a); };\n";
    for more in ["", taken] {
        penstock.rewrite(&lab, &(renamed(&["a", "b"], "c") + more));
        for name in ["a", "a#0"] {
            refused(&["reload", "--drop", name], "goes on as c#0");
        }
        refused(&["reload", "--drop", "c"], "there is no destination c");
        wait_both(&mut penstock, COUNT, 7);
    }
    penstock.rewrite(&lab, &renamed(&["a"], "c"));
    refused(&["reload"], "b#0: 7 messages");
    refused(&["reload", "--drop", "a", "--drop", "b"], "goes on as c#0");
    wait_both(&mut penstock, COUNT, 7);
    let outcome = ctl(&lab, &["reload", "--drop", "b"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    assert_eq!((ledger.destination("c").waiting, ledger.dropped_for("discarded")), (COUNT as u64, 7));
    // From now on it is known by the new name.
    penstock.rewrite(&lab, &config(&[]));
    refused(&["reload"], "c#0: 300 messages");
    refused(&["reload", "--drop", "a"], "there is no destination a");
    let receiver = Collector::tcp(lab.port("out-a"));
    assert_eq!(receiver.wait_lines(COUNT).len(), COUNT);
    penstock.wait_ledger(|ledger| (ledger.waiting() > 0).then(|| "nothing waiting".to_owned()));
    let outcome = ctl(&lab, &["reload", "--drop", "c"]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    penstock.ledger().assert_balanced();
    penstock.stop();
}
