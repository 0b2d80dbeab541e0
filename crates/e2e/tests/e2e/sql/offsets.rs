//! `offsets()`: what comes again from a sequence is known by its number, read back with the clients of the
//! databases.

use super::{assert_messages, settled, text};
use crate::messages::HEAD;
use testkit::kafka::Kafka;
use testkit::{Lab, Mariadb, Penstock, Postgres, Sender, Signal, run_command, skip, wait_until};

/// The number of a message is where others have that of their process.
const OFFSETS: &str = "offsets(\"$HOST/0\" \"$PID\")";

fn feed(port: u16, from: usize, to: usize) {
    let line = |n| format!("<13>Nov 11 01:02:03 host app[{n}]: {}\n", text(n));
    let mut sender = Sender::tcp(port);
    sender.raw((from..to).map(line).collect::<String>().as_bytes());
    sender.finish();
}

/// What comes again is passed over, and so is what comes twice.
#[track_caller]
fn feed_again(penstock: &mut Penstock, port: u16) {
    feed(port, 0, 1000);
    // Connections are read side by side.
    penstock.wait_settled(1000);
    feed(port, 500, 1500);
    penstock.wait_settled(2000).assert_nothing_lost();
}

#[test]
fn postgresql_passes_over_what_was_reached_and_no_dead_letter_that_is_tried_again() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(testkit::postgres::MISSING) };
    let options = format!("table(\"logs_$PROGRAM\") {OFFSETS} batch-lines(300)");
    let config = super::postgres::config(server.port(), &options) + "options { dead-letters(yes); };\n";
    let mut penstock = Penstock::start(&lab, &config);
    feed_again(&mut penstock, lab.port("in"));
    let rows = || super::postgres::rows(&server, "logs_app");
    assert_messages(&rows(), 1500);
    // What has no place is put whenever it comes.
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"<13>Nov 11 01:02:03 host other: one\n<13>Nov 11 01:02:03 host other: one\n");
    sender.finish();
    penstock.wait_settled(2002);
    assert_eq!(server.count("logs_other"), 2);
    // One with rows that no table takes, among rows that are there and rows that are not.
    server.query("ALTER TABLE logs_app ADD CONSTRAINT odd CHECK (msg NOT LIKE '% number 2_00 of%')");
    feed(lab.port("in"), 1000, 3000);
    let ledger = settled(&mut penstock, 4002);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (10, 10), "{ledger}");
    let is_odd = |n: &usize| (2000..3000).contains(n) && n.is_multiple_of(100);
    let mut wanted: Vec<String> = (0..3000).filter(|n| !is_odd(n)).map(text).collect();
    assert_eq!(rows(), wanted);
    assert_eq!(server.query("SELECT place, position FROM penstock_offsets"), ["host/0|3000"]);
    // Behind them all was put what comes after them.
    server.query("ALTER TABLE logs_app DROP CONSTRAINT odd");
    let state = penstock.state().display().to_string();
    let replayed = run_command(&["queue", "--state-dir", &state, "replay", "dead-letters"]);
    assert_eq!(replayed.code, Some(0), "{replayed:?}");
    wait_until("the dead letters", || rows().len() == 3000);
    wanted.extend((0..3000).filter(is_odd).map(text));
    assert_eq!(rows(), wanted);
    penstock.stop();
}

#[test]
fn mariadb_passes_over_what_was_reached() {
    let lab = Lab::new();
    let Some(server) = Mariadb::start(&lab, None) else { return skip(testkit::mariadb::MISSING) };
    let config = super::mariadb::config(server.port(), OFFSETS);
    let mut penstock = Penstock::start(&lab, &config);
    feed_again(&mut penstock, lab.port("in"));
    assert_messages(&super::mariadb::rows(&server, "messages"), 1500);
}

#[test]
fn sqlite_passes_over_what_was_reached() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &super::sqlite::config(OFFSETS));
    feed_again(&mut penstock, lab.port("in"));
    let Some(rows) = super::sqlite::query(&lab, "SELECT msg FROM messages ORDER BY rowid") else {
        return skip("sqlite3 is not installed, see `./x servers mariadb`");
    };
    assert_messages(&rows, 1500);
}

/// Two members of a group, killed in turn: no key of the table says what is there.
#[test]
fn members_of_a_group_that_are_killed_put_each_message_of_kafka_once() {
    const COUNT: usize = 20_000;
    let lab = Lab::new();
    let Some(mut server) = Postgres::start(&lab, None) else { return skip(testkit::postgres::MISSING) };
    let Some(kafka) = Kafka::start(&lab, "", None) else { return skip(testkit::kafka::MISSING) };
    kafka.create("logs", 4, &[]);
    kafka.produce("logs", &(0..COUNT).map(|n| format!("key {n}:value {n}\n")).collect::<String>());
    let config = format!(
        "{HEAD}source s {{ kafka(bootstrap-servers(\"{}\") topic(\"logs\" => \"-1\") read-old-records(yes) flags(no-parse) \
         persist-store(remote) config(\"group.id\" => \"workers\" \"session.timeout.ms\" => \"6000\" \
         \"heartbeat.interval.ms\" => \"500\")); }};\n\
         destination d {{ sql(type(pgsql) host(\"127.0.0.1\") port({}) username(log) password(secret) database(logs) \
         columns(\"id bigserial\", \"part int\", \"off bigint\", \"msg text\") \
         values(default, \"${{.kafka.partition}}\", \"${{.kafka.offset}}\", \"$MSG\") time-reopen(1) batch-lines(20) throttle(1000) \
         offsets(\"${{.kafka.topic}}/${{.kafka.partition}}\" \"${{.kafka.offset}}\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        kafka.server(),
        server.port()
    );
    let labs = [Lab::new(), Lab::new()];
    let mut members = labs.each_ref().map(|lab| Penstock::start(lab, &config));
    let (mut last, mut kills) = (0, 0);
    for round in 0..8 {
        wait_until("more rows", || {
            let count = server.count("messages");
            count >= last + 200 || count == COUNT
        });
        last = server.count("messages");
        if round == 5 {
            server.kill();
            server.run();
        }
        kills += usize::from(last < COUNT);
        let (member, lab) = (&mut members[round % 2], &labs[round % 2]);
        member.signal(Signal::KILL);
        member.wait_end();
        *member = Penstock::start(lab, &config);
    }
    assert!(kills >= 2, "all of it was there before a second one was killed");
    wait_until("all rows", || server.count("messages") >= COUNT);
    // What was read again comes to nothing.
    members.into_iter().for_each(|mut member| {
        member.wait_settled_input();
        member.stop();
    });
    assert_eq!(
        server.query("SELECT count(*), count(DISTINCT msg) FROM messages"),
        [format!("{COUNT}|{COUNT}")]
    );
    let steps = "SELECT off - lag(off, 1, -1) OVER (PARTITION BY part ORDER BY id) AS step FROM messages";
    assert_eq!(server.query(&format!("SELECT DISTINCT step FROM ({steps}) AS steps")), ["1"]);
    let reached = "SELECT sum(position), count(*) FROM penstock_offsets";
    assert_eq!(server.query(reached), [format!("{COUNT}|4")]);
}
