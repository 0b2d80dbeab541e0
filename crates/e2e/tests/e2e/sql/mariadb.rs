//! MariaDB, read back with its own client.

use super::{BAD, MANY, assert_messages, feed, settled, text};
use crate::messages::HEAD;
use crate::tls::{Authority, prepared};
use testkit::mariadb::MISSING;
use testkit::{Lab, Mariadb, Penstock, Sender, skip, wait_until};

/// Puts what comes in on TCP into a table, numbered by the server.
pub fn config(port: u16, options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ sql(type(mysql) host(\"127.0.0.1\") port({port}) username(log) password(secret) database(logs) \
         columns(\"id bigint auto_increment primary key\", \"host varchar(40)\", \"msg varchar(60)\") \
         values(default, \"$HOST\", \"$MSG\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

pub fn rows(server: &Mariadb, table: &str) -> Vec<String> {
    server.query(&format!("SELECT msg FROM {table} ORDER BY id"))
}

#[test]
fn tables_are_made_and_rows_read_back() {
    let lab = Lab::new();
    let Some(server) = Mariadb::start(&lab, None) else { return skip(MISSING) };
    let mut penstock =
        Penstock::start(&lab, &config(server.port(), "indexes(host) table(\"logs_$PROGRAM\") null(\"-\")"));
    feed(lab.port("in"), 0, 3000);
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(b"<13>Nov 11 01:02:03 h other: it's \\ a 'text' \\' \\N\n<13>Nov 11 01:02:03 h other: -\n");
    sender.raw("<13>Nov 11 01:02:03 h other: gr\u{f6}\u{df}er \u{1f600}\n".as_bytes());
    sender.finish();
    penstock.wait_settled(3003).assert_nothing_lost();
    assert_messages(&rows(&server, "logs_app"), 3000);
    let others = server.query("SELECT coalesce(msg, 'NULL') FROM logs_other ORDER BY id");
    assert_eq!(others, ["it's \\ a 'text' \\' \\N", "NULL", "gr\u{f6}\u{df}er \u{1f600}"]);
    let indexes = server.query("SHOW INDEX FROM logs_app WHERE Key_name = 'logs_app_host_idx'");
    assert_eq!(indexes.len(), 1, "{indexes:?}");
}

#[test]
fn bad_rows_are_dead_letters_and_nothing_is_cut() {
    let lab = Lab::new();
    let Some(server) = Mariadb::start(&lab, None) else { return skip(MISSING) };
    server.query("CREATE TABLE messages (id bigint auto_increment primary key, host varchar(40), msg varchar(60) UNIQUE)");
    let mut penstock = Penstock::start(&lab, &config(server.port(), ""));
    let mut sender = Sender::tcp(lab.port("in"));
    // One is too long, which the server's error names; one is there already, which it does not.
    let message = |n: usize| match n {
        BAD => "x".repeat(100),
        8000 => text(17),
        n => text(n),
    };
    let block: String = (0..MANY).map(|n| format!("<13>Nov 11 01:02:03 h app: {}\n", message(n))).collect();
    sender.raw(block.as_bytes());
    sender.finish();
    let ledger = settled(&mut penstock, MANY as u64);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (2, 2), "{ledger}");
    ledger.assert_balanced();
    let wanted: Vec<String> = (0..MANY).filter(|n| ![BAD, 8000].contains(n)).map(text).collect();
    assert_eq!(rows(&server, "messages"), wanted);
}

#[test]
fn passwords_and_certificates_are_waited_for() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let (cert, key) = (lab.path("server.pem"), lab.path("server.key"));
    let Some(server) = Mariadb::start(&lab, Some((&cert, &key))) else { return skip(MISSING) };
    server.query("ALTER USER log@'127.0.0.1' REQUIRE SSL");
    let trusting = |name: &str| config(server.port(), &format!("tls(ca-file(\"%dir%/{name}.pem\"))"));
    let mut penstock = Penstock::start(&lab, &trusting("other"));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("Destination cannot be reached");
    penstock.reload_with(&lab, &trusting("ca").replace("password(secret)", "password(wrong)"));
    penstock.wait_log("Access denied for user");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    penstock.reload_with(&lab, &trusting("ca"));
    penstock.wait_settled(10).assert_nothing_lost();
    assert_messages(&rows(&server, "messages"), 10);
}

#[test]
fn a_server_that_is_killed_and_started_loses_nothing() {
    let lab = Lab::new();
    let Some(mut server) = Mariadb::start(&lab, None) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-lines(100)"));
    let port = lab.port("in");
    let feeding = std::thread::spawn(move || feed(port, 0, MANY));
    for round in 1..=2 {
        wait_until("some of it", || penstock.ledger().destination("d").delivered >= round * 1000);
        server.kill();
        server.run();
    }
    feeding.join().expect("sent");
    penstock.wait_settled(MANY as u64).assert_nothing_lost();
    let distinct =
        server.query("SELECT msg FROM (SELECT msg, min(id) AS id FROM messages GROUP BY msg) m ORDER BY id");
    assert_messages(&distinct, MANY);
}

#[test]
fn rows_that_the_server_does_not_name_or_names_wrongly_cost_no_others() {
    let lab = Lab::new();
    let Some(server) = Mariadb::start(&lab, None) else { return skip(MISSING) };
    server.query(
        "CREATE TABLE messages (id bigint auto_increment primary key, host varchar(40), msg varchar(60), kind int as (length(msg)))",
    );
    // The row that it names is one of the statement in the trigger.
    server.query("CREATE TABLE audit (msg varchar(40))");
    server
        .query("CREATE TRIGGER t BEFORE INSERT ON messages FOR EACH ROW INSERT INTO audit VALUES (NEW.msg)");
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-timeout(500)"));
    let message = |n: usize| if n == 789 { "x".repeat(50) } else { text(n) };
    let block: String = (0..1000).map(|n| format!("<13>Nov 11 01:02:03 h app: {}\n", message(n))).collect();
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(block.as_bytes());
    sender.finish();
    let ledger = settled(&mut penstock, 1000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    let wanted: Vec<String> = (0..1000).filter(|n| *n != 789).map(text).collect();
    assert_eq!(rows(&server, "messages"), wanted);

    // Without a partition, and larger than the server takes at once.
    server.query("CREATE TABLE parted (id bigint, msg longtext, n int) PARTITION BY RANGE (n) (PARTITION p VALUES LESS THAN (100))");
    server.query("SET GLOBAL max_allowed_packet = 65536");
    let parted = config(server.port(), "table(parted)")
        .replace("\"msg varchar(60)\"", "\"msg longtext\", \"n int\"")
        .replace("\"$MSG\"", "\"$MSG\", \"$PID\"")
        .replace("options {", "options { log-msg-size(1000000);");
    penstock.reload_with(&lab, &parted);
    let mut sender = Sender::tcp(lab.port("in"));
    let long = "x".repeat(100_000);
    for (n, text) in [("1", "a"), ("300", "b"), ("2", "c"), ("3", &long), ("4", "d")] {
        sender.raw(format!("<13>Nov 11 01:02:03 h app[{n}]: {text}\n").as_bytes());
    }
    sender.finish();
    let ledger = settled(&mut penstock, 1005);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (3, 3), "{ledger}");
    assert_eq!(server.query("SELECT msg FROM parted ORDER BY n"), ["a", "c", "d"]);
}

#[test]
fn a_message_that_names_what_is_the_servers_holds_nobody() {
    let lab = Lab::new();
    let Some(server) = Mariadb::start(&lab, None) else { return skip(MISSING) };
    server.query("CREATE VIEW seen AS SELECT 1 AS one");
    let mut penstock = Penstock::start(&lab, &config(server.port(), "table(\"$PROGRAM\")"));
    let mut sender = Sender::tcp(lab.port("in"));
    for program in ["mysql.user", "foo.bar", "performance_schema.x", "seen", "app"] {
        sender.raw(format!("<13>Nov 11 01:02:03 h {program}: m\n").as_bytes());
    }
    sender.finish();
    let ledger = settled(&mut penstock, 5);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (4, 4), "{ledger}");
    assert_eq!(rows(&server, "app"), ["m"]);
}
