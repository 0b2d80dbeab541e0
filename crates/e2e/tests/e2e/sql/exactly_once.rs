//! `exactly-once(yes)`: a collector that is killed, and a server that is, double nothing.

use super::postgres::{config, rows};
use super::{MANY, assert_messages, feed, text};
use testkit::postgres::MISSING;
use testkit::{Lab, Penstock, Postgres, Signal, skip, wait_until};

const QUEUE: &str = "batch-lines(50) exactly-once(yes) disk-buffer(reliable(yes) capacity-bytes(64MiB))";

#[test]
fn kills_of_the_collector_and_the_server_neither_lose_nor_double() {
    let lab = Lab::new();
    let Some(mut server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let text_of = config(server.port(), QUEUE);
    // All of it waits on disk before anything can be delivered.
    let mut penstock = Penstock::start(&lab, &text_of.replace("password(secret)", "password(wrong)"));
    feed(lab.port("in"), 0, MANY);
    crate::durable::wait_on_disk(&penstock, MANY as u64);
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    let mut penstock = Penstock::start(&lab, &text_of);
    let mut last = 0;
    for round in 0..12 {
        wait_until("more of it", || {
            let count = server.count("messages");
            count > last || count == MANY
        });
        last = server.count("messages");
        if round % 4 == 3 {
            server.kill();
            server.run();
        }
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        penstock = Penstock::start(&lab, &text_of);
    }
    wait_until("an empty queue", || penstock.ledger().waiting() == 0);
    assert_messages(&rows(&server, "messages"), MANY);
    let cursors = server.query("SELECT count(*), count(position) FROM penstock_cursor");
    assert_eq!(cursors, ["1|1"]);
}

#[test]
fn a_bad_row_is_a_dead_letter_once_and_the_position_goes_on() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let narrow = config(server.port(), &QUEUE.replace("(50)", "(500)"));
    server.query(
        "CREATE TABLE messages (id bigserial, host text, msg text CHECK (msg NOT LIKE '% number %7 of%'))",
    );
    server.query("ALTER TABLE messages OWNER TO log");
    let mut penstock = Penstock::start(&lab, &narrow);
    feed(lab.port("in"), 0, 1000);
    let ledger = super::settled(&mut penstock, 1000);
    assert_eq!(ledger.dropped_for("refused"), 100, "{ledger}");
    ledger.assert_balanced();
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    let mut penstock = Penstock::start(&lab, &narrow);
    feed(lab.port("in"), 1000, 1005);
    penstock.wait_ledger(|ledger| {
        (ledger.received() < 5 || ledger.waiting() > 0).then(|| "all of it".to_owned())
    });
    let wanted: Vec<String> = (0..1005).filter(|n| n % 10 != 7).map(text).collect();
    assert_eq!(rows(&server, "messages"), wanted);
}

#[test]
fn a_position_that_a_copy_has_moved_is_not_believed() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let text_of = config(server.port(), QUEUE);
    let mut penstock = Penstock::start(&lab, &text_of);
    feed(lab.port("in"), 0, 10);
    penstock.wait_settled(10).assert_nothing_lost();
    penstock.stop();
    server.query("UPDATE penstock_cursor SET run = run - 1, position = position + 100");
    let mut penstock = Penstock::start(&lab, &text_of);
    feed(lab.port("in"), 10, 20);
    penstock.wait_log("was moved by a copy of this collector");
    assert_eq!((penstock.ledger().waiting(), penstock.ledger().dropped()), (10, 0));
    server.query("DELETE FROM penstock_cursor");
    penstock.wait_settled(10).assert_nothing_lost();
    assert_messages(&rows(&server, "messages"), 20);
}
