//! What a stop leaves: shown afterwards, and dead letters where the next configuration, or the next process,
//! has no place for it.

use crate::kept::{plain, queue};
use crate::messages::{HEAD, assert_complete, message, send, wait_waiting};
use std::collections::BTreeSet;
use testkit::{Collector, Lab, Outcome, Penstock, RelpSender, run_command, wait_until};

const COUNT: usize = 200;

fn last_run(lab: &Lab, args: &[&str]) -> Outcome {
    let state = lab.path("state").to_string_lossy().into_owned();
    run_command(&[&["ledger", "--last-run", "--state-dir", &state], args].concat())
}

fn json(lab: &Lab) -> serde_json::Value {
    let outcome = last_run(lab, &["--json"]);
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"))
}

/// Starts, fills the queue of a destination where nobody listens, and stops. What was said.
fn fill_and_stop(lab: &Lab, options: &str) -> String {
    let mut penstock = Penstock::start(lab, &plain(options));
    send(lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT);
    penstock.stop()
}

#[test]
fn what_was_given_up_is_shown_with_number_age_and_reason() {
    let lab = Lab::new();
    assert_eq!(last_run(&lab, &[]).code, Some(2), "nothing is known");
    let log = fill_and_stop(&lab, "keep-on-stop(no);");
    assert!(log.contains("oldest_seconds='") && log.contains("reason='keep-on-stop(no)'"), "{log}");
    let outcome = last_run(&lab, &[]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    for part in ["d#0", "200", "keep-on-stop(no)", "given up", "oldest"] {
        assert!(outcome.stdout.contains(part), "{part}: {outcome:?}");
    }
    let run = json(&lab);
    let rest = &run["destinations"][0];
    assert_eq!((&rest["given_up"], &rest["kept"]), (&COUNT.into(), &0.into()), "{run}");
    assert!(
        rest["oldest_seconds"].as_u64().is_some() && run["ended"].as_u64() > Some(1_700_000_000),
        "{run}"
    );
    // It is known while the next one runs, until that has come to its stop.
    let mut penstock = Penstock::start(&lab, &plain(""));
    assert_eq!(json(&lab)["destinations"][0]["given_up"], COUNT);
    assert_eq!(json(&lab)["killed"].as_array().map(Vec::len), Some(0), "it runs");
    send(&lab, 1, COUNT);
    wait_waiting(&mut penstock, COUNT);
    penstock.stop();
    let rest = &json(&lab)["destinations"][0];
    assert_eq!((&rest["given_up"], &rest["kept"], &rest["reason"]), (&0.into(), &COUNT.into(), &"".into()));
    assert_eq!(last_run(&lab, &[]).code, Some(0));
    // One that is killed has no stop.
    let mut penstock = Penstock::start(&lab, &plain(""));
    // One that has its control socket elsewhere runs as well.
    std::fs::remove_file(lab.path("state/penstock.ctl")).expect("a socket");
    assert_eq!(json(&lab)["killed"].as_array().map(Vec::len), Some(0), "it runs");
    penstock.process().child().kill().expect("it runs");
    penstock.wait_end();
    assert_eq!(json(&lab)["killed"].as_array().map(Vec::len), Some(1));
    let outcome = last_run(&lab, &[]);
    assert!(outcome.stdout.contains("ended without a stop"), "{outcome:?}");
}

#[test]
fn without_a_store_the_reason_says_what_is_wrong_with_it() {
    let lab = Lab::new();
    std::fs::create_dir_all(lab.path("state")).expect("a state folder");
    std::fs::write(lab.path("state/penstock-store"), "in the way").expect("a file");
    let log = fill_and_stop(&lab, "");
    assert!(log.contains("messages='200'") && log.contains("cannot be kept until the next start"), "{log}");
    let run = json(&lab);
    let rest = &run["destinations"][0];
    assert_eq!(rest["given_up"], COUNT, "{run}");
    assert!(rest["reason"].as_str().is_some_and(|why| why.contains("cannot use")), "{run}");
}

/// What a start without the destination makes of it: letters, shown, and given to whoever is named.
const OTHER: &str = "destination e { file(\"%dir%/e\"); };\nlog { source(s); destination(e); };\n";

fn other() -> String {
    format!("{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n{OTHER}")
}

#[test]
fn what_waits_for_a_destination_that_is_gone_at_the_start_becomes_dead_letters() {
    let lab = Lab::new();
    fill_and_stop(&lab, "");
    let penstock = Penstock::start(&lab, &other());
    let letters = queue(&lab, &["cat", "dead-letters", "--json"]);
    assert_eq!(letters.lines().count(), COUNT);
    assert!(letters.lines().all(|line| line.contains("\"destination\":\"d#0\"")), "{letters}");
    let listed = queue(&lab, &["ls"]);
    assert!(!listed.contains("out"), "no queue of the destination is left: {listed}");
    assert!(queue(&lab, &["replay", "dead-letters", "--to", "e"]).starts_with("200 dead letters"));
    wait_until("all of them in the file", || lab.lines("e").len() == COUNT);
    assert_complete(&lab.lines("e"), 1, COUNT);
    let log = penstock.stop();
    assert!(log.contains("are kept as dead letters") && log.contains("messages='200'"), "{log}");
    // Nothing comes a second time.
    let penstock = Penstock::start(&lab, &other());
    wait_until("the letters are gone", || queue(&lab, &["cat", "dead-letters"]).is_empty());
    penstock.stop();
    assert_eq!(lab.lines("e").len(), COUNT);
}

/// Twice stopped with it, then gone; the other destination keeps what is its own.
#[test]
fn only_the_destination_that_is_gone_loses_its_queue() {
    let lab = Lab::new();
    let second = |with_first: bool| {
        let first =
            "destination d { network(127.0.0.1 port(%port:out%)); };\nlog { source(s); destination(d); };\n";
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n{}\
             destination f {{ network(127.0.0.1 port(%port:other%)); }};\nlog {{ source(s); destination(f); }};\n",
            if with_first { first } else { "" }
        )
    };
    for round in 0..2 {
        let mut penstock = Penstock::start(&lab, &second(true));
        send(&lab, round, COUNT);
        wait_waiting(&mut penstock, 2 * (round + 1) * COUNT);
        penstock.stop();
    }
    let penstock = Penstock::start(&lab, &second(false));
    let collector = Collector::tcp(lab.port("other"));
    assert_complete(&collector.wait_lines(2 * COUNT), 2, COUNT);
    assert_eq!(queue(&lab, &["cat", "dead-letters"]).lines().count(), 2 * COUNT);
    // It comes back: nothing is left of its queue, and its letters are its own.
    let mut penstock = penstock;
    penstock.reload_with(&lab, &second(true));
    let back = Collector::tcp(lab.port("out"));
    assert!(queue(&lab, &["replay", "dead-letters"]).starts_with("400 dead letters"));
    assert_complete(&back.wait_lines(2 * COUNT), 2, COUNT);
    penstock.stop();
}

#[test]
fn what_a_reload_removes_while_it_empties_becomes_dead_letters_too() {
    let lab = Lab::new();
    fill_and_stop(&lab, "");
    let mut penstock = Penstock::start(&lab, &plain(""));
    wait_waiting(&mut penstock, COUNT);
    penstock.reload_with(&lab, &other());
    wait_until("the letters", || queue(&lab, &["cat", "dead-letters"]).lines().count() == COUNT);
    penstock.stop();
}

/// RELP in, with flow-control: whatever was acknowledged, before or by the stop, is among the letters.
#[test]
fn what_was_acknowledged_is_among_the_letters() {
    let lab = Lab::new();
    let source = "source s { relp(ip(127.0.0.1) port(%tcp:in%)); };\n";
    let config = format!(
        "{HEAD}{source}destination d {{ network(127.0.0.1 port(%port:out%)); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    );
    let penstock = Penstock::start(&lab, &config);
    let sender = RelpSender::start(lab.port("in"), 0, |n| Some(message(0, n)));
    wait_until("some are under way", || penstock.ledger().received() > 50);
    penstock.stop();
    let acknowledged = sender.stop();
    let penstock = Penstock::start(&lab, &format!("{HEAD}{source}{OTHER}"));
    let letters = queue(&lab, &["cat", "dead-letters"]);
    let number = |line: &str| line.split(' ').skip_while(|word| *word != "number").nth(1)?.parse().ok();
    let kept: BTreeSet<usize> = letters.lines().filter_map(number).collect();
    assert!(acknowledged.is_subset(&kept), "{acknowledged:?} {kept:?}");
    penstock.stop();
}

/// The old process has no store any more: what it cannot deliver is kept by the new one.
#[test]
fn what_the_old_process_of_a_take_over_cannot_deliver_is_kept_by_the_new_one() {
    let several = |destination: &str| {
        format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ {destination} }};\nlog {{ source(s); destination(d); }};\n"
        )
    };
    for destination in [
        "network(127.0.0.1 port(%port:out%));",
        "network(127.0.0.1 port(%port:out%) load-balance(servers(\"127.0.0.2\")));",
    ] {
        let lab = Lab::new();
        let mut old = Penstock::start(&lab, &several(destination));
        send(&lab, 0, COUNT);
        wait_waiting(&mut old, COUNT);
        let mut new =
            Penstock::configure(&lab, &other()).arg("--take-over").arg("--linger").arg("0").spawned();
        assert!(old.wait_end().success());
        new.wait_log("Everything is handed over, ending");
        wait_until("the letters", || queue(&lab, &["cat", "dead-letters"]).lines().count() == COUNT);
        assert!(queue(&lab, &["replay", "dead-letters", "--to", "e"]).starts_with("200 dead letters"));
        wait_until("all of them in the file", || lab.lines("e").len() == COUNT);
        new.stop();
    }
}

/// A destination with several outlets that the new process has too: it delivers what the old one could not.
#[test]
fn what_waits_in_several_outlets_goes_along() {
    let config = format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ network(127.0.0.1 port(%port:out%) load-balance(servers(\"127.0.0.2\"))); }};\nlog {{ source(s); destination(d); }};\n"
    );
    let lab = Lab::new();
    let mut old = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_waiting(&mut old, COUNT);
    let mut new = Penstock::configure(&lab, &config).arg("--take-over").arg("--linger").arg("0").spawned();
    assert!(old.wait_end().success());
    new.wait_log("Everything is handed over, ending");
    let collector = Collector::tcp(lab.port("out"));
    let lines: BTreeSet<String> = collector.wait_lines(COUNT).into_iter().collect();
    assert_eq!(lines.len(), COUNT);
    new.stop();
}
