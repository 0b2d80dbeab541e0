//! What was acknowledged is never lost, whatever becomes of its destination: judged by what the receivers got
//! against what the sender was told.

use crate::messages::{HEAD, assert_complete, message, send, wait_waiting};
use std::collections::BTreeSet;
use testkit::{Collector, Lab, Penstock, RelpSender, Sender, run_command, wait_until};

/// RELP in, with flow-control, to one destination.
fn config(name: &str, destination: &str) -> String {
    format!(
        "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination {name} {{ {destination} }};\nlog {{ source(s); destination({name}); flags(flow-control); }};\n"
    )
}

fn to_network(options: &str) -> String {
    format!("network(127.0.0.1 port(%port:out%) {options});")
}

fn sender(lab: &Lab, first: usize) -> RelpSender {
    let long = "x".repeat(600);
    RelpSender::start(lab.port("in"), first, move |n| Some(format!("{} {long}", message(0, n))))
}

/// Waits until the source takes nothing more.
#[track_caller]
fn wait_stuck(penstock: &Penstock) {
    let mut last = (0, 0);
    wait_until("the source to stop reading", || {
        let received = penstock.ledger().received();
        last = if received == last.0 { (received, last.1 + 1) } else { (received, 0) };
        received > 0 && last.1 > 50
    });
}

/// The numbers of the messages that were received, in order.
fn numbers(collector: &Collector) -> Vec<usize> {
    let number = |line: &String| line.split(' ').skip_while(|word| *word != "number").nth(1)?.parse().ok();
    collector.lines().iter().filter_map(number).collect()
}

/// Waits for everything that was acknowledged.
#[track_caller]
fn wait_for_all(collector: &Collector, acknowledged: &BTreeSet<usize>) {
    wait_until("all that was acknowledged", || {
        let got: BTreeSet<usize> = numbers(collector).into_iter().collect();
        acknowledged.is_subset(&got)
    });
}

#[test]
fn a_reload_at_capacity_loses_nothing_whatever_it_changes() {
    let full = |options: &str| to_network(&format!("disk-buffer(capacity-bytes(1MiB) {options})"));
    let yes = full("reliable(yes)");
    let changes = [
        full("reliable(yes)) time-reopen(2"),
        full("reliable(no)"),
        to_network("disk-buffer(capacity-bytes(2MiB) reliable(yes))"),
        full("reliable(yes) front-cache-size(10)"),
        full("reliable(yes)) log-fifo-size(77"),
        to_network(""),
    ];
    for change in &changes {
        for (before, after) in [(&yes, change), (change, &yes)] {
            let lab = Lab::new();
            let mut penstock = Penstock::start(&lab, &config("d", before));
            let sender = sender(&lab, 0);
            wait_stuck(&penstock);
            penstock.reload_with(&lab, &config("d", after));
            penstock.ledger().assert_balanced();
            penstock.reload_with(&lab, &config("d", before));
            wait_stuck(&penstock);
            let acknowledged = sender.stop();
            // Without a disk nothing needs to have been, but what came between the two reloads.
            assert!(!acknowledged.is_empty() || !before.contains("disk-buffer"), "{change}");
            let collector = Collector::tcp(lab.port("out"));
            wait_for_all(&collector, &acknowledged);
            let got = numbers(&collector);
            assert!(got.is_sorted_by(|a, b| a < b), "in order, once");
            penstock.ledger().assert_balanced();
            penstock.stop();
        }
    }
}

#[test]
fn a_destination_with_another_name_goes_on_with_what_waits_in_order() {
    for options in
        ["", "disk-buffer(capacity-bytes(1MiB) reliable(yes))", "disk-buffer(capacity-bytes(1MiB))"]
    {
        let lab = Lab::new();
        let mut penstock = Penstock::start(&lab, &config("d", &to_network(options)));
        let sender = sender(&lab, 0);
        wait_stuck(&penstock);
        penstock.reload_with(&lab, &config("e", &to_network(options)));
        penstock.ledger().assert_balanced();
        penstock.reload_with(&lab, &config("f", &to_network(&format!("{options} time-reopen(2)"))));
        wait_stuck(&penstock);
        let acknowledged = sender.stop();
        let collector = Collector::tcp(lab.port("out"));
        wait_for_all(&collector, &acknowledged);
        let ledger = penstock.wait_settled_input();
        ledger.assert_nothing_lost();
        // Its kernel has them; it may not have read them yet.
        let delivered = ledger.destination("f").delivered as usize;
        wait_until("all of it", || numbers(&collector).len() >= delivered);
        let got = numbers(&collector);
        assert!(!got.is_empty() && got.is_sorted_by(|a, b| a < b), "{options}: in order, once: {got:?}");
        penstock.stop();
    }
}

/// A message that a file refuses for good is dealt with: its sender is told so, and goes on.
#[test]
fn what_a_file_refuses_holds_up_nobody() {
    for (is_folder, name, options) in [
        (true, "o/$PROGRAM", ""),
        (false, "o/$PROGRAM/x", ""),
        (true, "o/$PROGRAM", "options { dead-letters(yes); };\n"),
    ] {
        let lab = Lab::new();
        std::fs::create_dir_all(lab.path(if is_folder { "o/bad" } else { "o" })).unwrap();
        if !is_folder {
            std::fs::write(lab.path("o/bad"), "").unwrap();
        }
        let config = config("d", &format!("file(\"%dir%/{name}\" create-dirs(yes));"));
        let mut penstock =
            Penstock::start(&lab, &config.replacen("source s", &format!("{options}source s"), 1));
        let text = |n: usize| format!("<13>Nov 11 01:02:03 host {}: number {n}", ["bad", "ok"][n % 2]);
        let sender = RelpSender::start(lab.port("in"), 0, move |n| (n < 200).then(|| text(n)));
        wait_until("all answers", || sender.acknowledged().len() == 200);
        sender.stop();
        let ledger = penstock.wait_settled_input();
        ledger.assert_balanced();
        assert_eq!(ledger.dropped_for("refused"), 100, "{name}");
        penstock.stop();
    }
}

#[test]
fn destinations_that_change_names_keep_their_places() {
    let lab = Lab::new();
    let two = |first: &str, second: &str| {
        format!(
            "{HEAD}source s {{ relp(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination {first} {{ network(127.0.0.1 port(%port:one%) template(\"one $MSG\\n\")); }};\n\
             destination {second} {{ network(127.0.0.1 port(%port:two%) template(\"two $MSG\\n\")); }};\n\
             log {{ source(s); destination({first}); destination({second}); flags(flow-control); }};\n"
        )
    };
    let mut penstock = Penstock::start(&lab, &two("a", "b"));
    let sender = sender(&lab, 0);
    wait_stuck(&penstock);
    penstock.reload_with(&lab, &two("b", "a"));
    let (one, two) = (Collector::tcp(lab.port("one")), Collector::tcp(lab.port("two")));
    wait_until("answers", || sender.acknowledged().len() > 300);
    let acknowledged = sender.stop();
    // Both stay until everything is delivered: more may be under way than is acknowledged.
    for (collector, name) in [(&one, "one "), (&two, "two ")] {
        wait_for_all(collector, &acknowledged);
        assert!(collector.lines().iter().all(|line| line.starts_with(name)), "{name}");
        assert!(numbers(collector).is_sorted_by(|a, b| a < b), "in order, once");
    }
    penstock.wait_settled_input().assert_nothing_lost();
}

/// Ends one process by another that takes over, and waits for that.
fn take_over(lab: &Lab, config: &str, mut old: Penstock) -> Penstock {
    let new = Penstock::configure(lab, config).arg("--take-over").ready();
    assert!(old.wait_end().success());
    new
}

#[test]
fn what_waits_in_memory_at_a_take_over_survives_a_kill_after_it() {
    let lab = Lab::new();
    let config = config("d", &to_network(""));
    let penstock = Penstock::start(&lab, &config);
    let first = sender(&lab, 0);
    wait_stuck(&penstock);
    assert!(first.acknowledged().is_empty());
    let penstock = take_over(&lab, &config, penstock);
    // What the old process had read is acknowledged.
    wait_until("answers", || !first.acknowledged().is_empty());
    let acknowledged = first.stop();
    penstock.signal(testkit::Signal::KILL);
    drop(penstock);
    let mut penstock = Penstock::start(&lab, &config);
    let collector = Collector::tcp(lab.port("out"));
    wait_for_all(&collector, &acknowledged);
    penstock.wait_settled_input().assert_nothing_lost();
    penstock.stop();
}

#[test]
fn what_a_full_disk_buffer_had_no_room_for_is_kept_by_a_stop_and_a_take_over() {
    for stops in [true, false] {
        let lab = Lab::new();
        let config = format!(
            "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
             destination d {{ {} }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n",
            to_network("disk-buffer(capacity-bytes(1MiB) reliable(yes))")
        );
        let penstock = Penstock::start(&lab, &config);
        let long = "x".repeat(4000);
        let mut sender = Sender::tcp(lab.port("in"));
        const COUNT: usize = 400;
        (0..COUNT).for_each(|n| sender.line(&format!("{} {long}", message(0, n))));
        drop(sender);
        wait_until("everything received", || penstock.ledger().received() == COUNT as u64);
        let mut penstock = if stops {
            let log = penstock.stop();
            assert!(!log.contains("given up"), "{log}");
            Penstock::start(&lab, &config)
        } else {
            take_over(&lab, &config, penstock)
        };
        let collector = Collector::tcp(lab.port("out"));
        wait_until("all of them", || numbers(&collector).len() >= COUNT);
        assert!(numbers(&collector).into_iter().eq(0..COUNT), "in order, once");
        penstock.wait_settled_input().assert_nothing_lost();
    }
}

#[test]
fn peers_whose_messages_are_given_up_are_let_go_at_once() {
    let lab = Lab::new();
    let buffer = to_network("disk-buffer(capacity-bytes(1MiB) reliable(yes))");
    let config = format!("options {{ keep-on-stop(no); }};\n{}", config("d", &buffer).replacen(HEAD, "", 1));
    let config = format!("{HEAD}{config}");
    let penstock = Penstock::start(&lab, &config);
    let sender = sender(&lab, 0);
    wait_stuck(&penstock);
    // The old process would wait for five minutes for answers that never come.
    let penstock = take_over(&lab, &config, penstock);
    let acknowledged = sender.stop();
    let collector = Collector::tcp(lab.port("out"));
    wait_for_all(&collector, &acknowledged);
    penstock.stop();
}

#[test]
fn what_a_removed_destination_leaves_on_disk_is_not_counted_twice() {
    let lab = Lab::new();
    let buffer = to_network("disk-buffer(capacity-bytes(1MiB) reliable(yes))");
    let mut penstock = Penstock::configure(&lab, &config("d", &buffer)).free().ready();
    let sender = sender(&lab, 0);
    wait_stuck(&penstock);
    penstock.reload_with(&lab, &config("e", "file(\"%dir%/e\");"));
    let acknowledged = sender.stop();
    let ledger = penstock.wait_settled_input();
    ledger.assert_balanced();
    assert!(ledger.dropped_for("dead-letter") > 0, "{ledger}");
    penstock.reload_with(&lab, &config("d", &buffer));
    let collector = Collector::tcp(lab.port("out"));
    penstock.wait_settled_input().assert_balanced();
    assert!(!acknowledged.is_empty() && numbers(&collector).is_sorted_by(|a, b| a < b));
    penstock.stop();
}

pub fn queue(lab: &Lab, args: &[&str]) -> String {
    let state = lab.path("state").to_string_lossy().into_owned();
    let outcome = run_command(&[&["queue", "--state-dir", &state], args].concat());
    assert_eq!(outcome.code, Some(0), "{args:?}: {outcome:?}");
    outcome.stdout
}

#[test]
fn what_waits_for_a_destination_that_is_removed_becomes_dead_letters() {
    let lab = Lab::new();
    let mut penstock = Penstock::configure(&lab, &config("d", &to_network(""))).free().ready();
    let sender = sender(&lab, 0);
    wait_stuck(&penstock);
    assert!(sender.acknowledged().is_empty());
    penstock.reload_with(&lab, &config("e", "file(\"%dir%/e\");"));
    wait_until("the sender to be answered", || sender.acknowledged().len() > 300);
    let acknowledged = sender.stop();
    let ledger = penstock.ledger();
    ledger.assert_balanced();
    let letters = ledger.dropped_for("dead-letter");
    assert!(letters > 0 && ledger.dropped() == letters, "{letters} of {}", ledger.dropped());
    assert_eq!(queue(&lab, &["cat", "dead-letters"]).lines().count() as u64, letters);
    assert!(
        queue(&lab, &["replay", "dead-letters", "--to", "e"]).starts_with(&format!("{letters} dead letters"))
    );
    let number = |line: String| line.split(' ').skip_while(|w| *w != "number").nth(1)?.parse::<usize>().ok();
    wait_until("all that was acknowledged in the file", || {
        let got: BTreeSet<usize> = lab.lines("e").into_iter().filter_map(number).collect();
        acknowledged.is_subset(&got)
    });
    let log = penstock.stop();
    assert!(log.contains("are kept as dead letters"), "{log}");
}

/// Plain TCP in, no flow-control, no `disk-buffer()`.
pub fn plain(options: &str) -> String {
    format!(
        "{HEAD}options {{ {options} }};\nsource s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ {} }};\nlog {{ source(s); destination(d); }};\n",
        to_network("")
    )
}

#[test]
fn what_a_stop_leaves_is_sent_after_the_next_start_before_anything_newer() {
    const COUNT: usize = 1000;
    let lab = Lab::new();
    let config = plain("");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT);
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    wait_waiting(&mut penstock, COUNT);
    send(&lab, 1, COUNT);
    wait_waiting(&mut penstock, 2 * COUNT);
    penstock.stop();
    // Twice, and with more behind it.
    let penstock = Penstock::start(&lab, &config);
    let collector = Collector::tcp(lab.port("out"));
    let lines = collector.wait_lines(2 * COUNT);
    assert_complete(&lines, 2, COUNT);
    assert!(lines[COUNT - 1].ends_with("of connection 0") && lines[COUNT].ends_with("of connection 1"));
    penstock.ledger().assert_balanced();
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    wait_waiting(&mut penstock, 0);
    assert_eq!(collector.lines().len(), 2 * COUNT, "nothing twice");
}

#[test]
fn what_a_peer_does_not_read_before_the_stop_comes_once_after_the_next_start() {
    const COUNT: usize = 3000;
    let lab = Lab::new();
    let collector = Collector::tcp(lab.port("out"));
    collector.pause();
    let penstock = Penstock::start(&lab, &plain(""));
    let long = "x".repeat(4000);
    let mut sender = Sender::tcp(lab.port("in"));
    (0..COUNT).for_each(|n| sender.line(&format!("{} {long}", message(0, n))));
    wait_until("everything received", || penstock.ledger().received() == COUNT as u64);
    assert!(penstock.ledger().waiting() > 0, "the sockets have taken it all");
    drop(sender);
    penstock.stop();
    collector.resume();
    let penstock = Penstock::start(&lab, &plain(""));
    wait_until("all of them", || numbers(&collector).into_iter().collect::<BTreeSet<_>>().len() == COUNT);
    let whole = collector.lines().into_iter().filter(|line| line.ends_with(&long)).count();
    assert_eq!(whole, COUNT, "each once, whole");
    penstock.stop();
}

#[test]
fn with_keep_on_stop_no_it_is_given_up_and_said() {
    const COUNT: usize = 100;
    let lab = Lab::new();
    let config = plain("keep-on-stop(no);");
    let mut penstock = Penstock::start(&lab, &config);
    send(&lab, 0, COUNT);
    wait_waiting(&mut penstock, COUNT);
    let log = penstock.stop();
    assert!(log.contains("given up with it") && log.contains("messages='100'"), "{log}");
    let penstock = Penstock::start(&lab, &config);
    assert_eq!(penstock.ledger().waiting(), 0);
}
