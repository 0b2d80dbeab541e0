//! The numbers that destinations give to messages: `$SEQNUM` goes on over reloads and restarts, and no number
//! is given twice.

use crate::messages::HEAD;
use testkit::{Lab, Penstock, Sender, Signal, wait_until};

fn config(format: &str) -> String {
    format!(
        "{HEAD}source s {{ unix-stream(\"%dir%/in\"); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"{format}\\n\") persist-name(\"numbered\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn send(lab: &Lab, penstock: &mut Penstock, count: usize) {
    let before = penstock.ledger().received();
    let mut sender = Sender::unix_stream(&lab.path("in"));
    (0..count).for_each(|n| sender.line(&format!("<13>Nov 11 01:02:03 app: message {n}")));
    sender.finish();
    penstock.wait_settled(before + count as u64);
}

#[test]
fn they_go_on_after_a_reload_and_a_restart() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("$SEQNUM"));
    send(&lab, &mut penstock, 3);
    penstock.reload_with(&lab, &config("$SEQNUM $MSG"));
    send(&lab, &mut penstock, 1);
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config("$SDATA"));
    send(&lab, &mut penstock, 2);
    penstock.stop();
    let expected = ["1", "2", "3", "4 message 0", "[meta sequenceId=\"5\"]", "[meta sequenceId=\"6\"]"];
    assert_eq!(lab.lines("out"), expected);
}

#[test]
fn none_is_given_twice_after_a_kill() {
    let lab = Lab::new();
    let mut numbers: Vec<u64> = Vec::new();
    for _ in 0..3 {
        let mut penstock = Penstock::start(&lab, &config("$SEQNUM"));
        send(&lab, &mut penstock, 5);
        wait_until("the lines", || lab.lines("out").len() == numbers.len() + 5);
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        numbers = lab.lines("out").iter().map(|line| line.parse().unwrap()).collect();
    }
    assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    // A kill leaves a gap, not a hole without end.
    assert!(numbers.last().is_some_and(|n| *n < 100_000), "{numbers:?}");
}
