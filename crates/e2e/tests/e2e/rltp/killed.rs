//! Kills of both sides with the sender's queue on disk: what is with the receiver is not sent again. Doubles
//! are counted.

use super::pair::{receiver, send, sender};
use super::{assert_in_order, numbers};
use crate::durable::wait_on_disk;
use crate::messages::{assert_complete, block, wait_waiting};
use testkit::{Lab, Penstock, Signal, wait_until};

const COUNT: usize = 120_000;

/// `count` messages on the sender's disk, and no receiver yet.
fn waiting(options: &str) -> (Lab, Lab, Penstock) {
    let (here, there) = (Lab::new(), Lab::new());
    let from = Penstock::start(&here, &sending(&there, options));
    send(here.port("in"), block(0, COUNT)).join().expect("sent");
    wait_on_disk(&from, COUNT as u64);
    (here, there, from)
}

fn sending(there: &Lab, options: &str) -> String {
    sender(there.port("rltp"), &format!("disk-buffer(capacity-bytes(1GiB) reliable(yes)) {options}"))
}

/// Kills the sender again and again while the receiver takes what is on its disk. Returns how many messages
/// came twice.
#[track_caller]
fn sender_killed(options: &str, to: &str) -> usize {
    let (here, there, mut from) = waiting(options);
    let mut to = Penstock::start(&there, to);
    for part in 1..6 {
        wait_until("some messages", || there.lines("out").len() > part * COUNT / 6);
        from.signal(Signal::KILL);
        from.wait_end();
        from = Penstock::start(&here, &sending(&there, options));
    }
    wait_waiting(&mut from, 0).assert_nothing_lost();
    to.wait_settled_input().assert_nothing_lost();
    from.stop();
    to.stop();
    assert_in_order(&numbers(&there, 0), COUNT)
}

#[test]
fn a_sender_that_is_killed_sends_nothing_twice_of_what_is_on_its_disk() {
    assert_eq!(sender_killed("", &receiver("")), 0, "came twice");
}

#[test]
fn a_sender_that_is_killed_sends_nothing_twice_in_small_batches_and_windows() {
    let options = "flush-lines(500) rltp(window(256KiB) compress(yes))";
    assert_eq!(sender_killed(options, &receiver("")), 0, "came twice");
}

#[test]
fn what_is_left_on_disk_when_the_options_change_is_not_sent_twice() {
    let to = receiver("");
    let (here, there, mut from) = waiting("");
    let mut to = Penstock::start(&there, &to);
    for part in 1..5 {
        wait_until("some messages", || there.lines("out").len() > part * COUNT / 6);
        from.reload_with(&here, &sending(&there, &format!("rltp(window({part}MiB))")));
    }
    wait_waiting(&mut from, 0).assert_nothing_lost();
    to.wait_settled_input().assert_nothing_lost();
    from.stop();
    to.stop();
    assert_complete(&there.lines("out"), 1, COUNT);
}

/// Kills both, one after the other. Doubled can only be what the receiver wrote and did not come to note.
#[test]
fn when_both_are_killed_only_one_write_of_the_receiver_can_come_twice() {
    let config = receiver("");
    let (here, there, mut from) = waiting("");
    let mut to = Penstock::start(&there, &config);
    for part in 1..4 {
        wait_until("some messages", || there.lines("out").len() > part * COUNT / 5);
        to.signal(Signal::KILL);
        from.signal(Signal::KILL);
        to.wait_end();
        from.wait_end();
        from = Penstock::start(&here, &sending(&there, ""));
        to = Penstock::start(&there, &config);
    }
    wait_waiting(&mut from, 0).assert_nothing_lost();
    to.wait_settled_input();
    let repeated = assert_in_order(&numbers(&there, 0), COUNT);
    assert!(repeated < 3 * 10_000, "{repeated} came twice");
}
