//! PostgreSQL, read back with psql.

use super::{BAD, MANY, assert_messages, feed, settled, text};
use crate::kept::queue;
use crate::messages::HEAD;
use crate::tls::{Authority, prepared};
use testkit::postgres::MISSING;
use testkit::{Lab, Penstock, Postgres, Sender, skip, wait_until};

/// Where the server is, and as whom it is spoken to.
fn login(port: u16) -> String {
    format!("type(pgsql) host(\"127.0.0.1\") port({port}) username(log) password(secret) database(logs)")
}

/// Puts what comes in on TCP into a table, numbered by the server.
pub fn config(port: u16, options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ sql({} columns(\"id bigserial\", \"host text\", \"msg text\") \
         values(default, \"$HOST\", \"$MSG\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n",
        login(port)
    )
}

pub fn rows(server: &Postgres, table: &str) -> Vec<String> {
    server.query(&format!("SELECT msg FROM {table} ORDER BY id"))
}

#[test]
fn tables_are_made_and_rows_read_back() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), "indexes(host)"));
    feed(lab.port("in"), 0, 3000);
    penstock.wait_settled(3000).assert_nothing_lost();
    assert_messages(&rows(&server, "messages"), 3000);
    let indexes = server.query("SELECT indexname FROM pg_indexes WHERE tablename = 'messages'");
    assert_eq!(indexes, ["messages_host_idx"]);
}

#[test]
fn what_no_text_may_hold_is_replaced() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let config = config(server.port(), "null(\"-\")").replacen("network(", "syslog(", 1);
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    let texts: [&[u8]; 4] =
        [b"tab\there \\N back\\slash \\t", b"nul \0 and \xff\xc3 gr\xc3\xb6\xc3\x9fer", b"-", b"\\N"];
    for text in texts {
        let message = [b"<13>1 - h app - - - ", text].concat();
        sender.raw(&[message.len().to_string().as_bytes(), b" ", &message].concat());
    }
    sender.finish();
    penstock.wait_settled(4).assert_nothing_lost();
    let found = server.query("SELECT coalesce(msg, 'NULL') FROM messages ORDER BY id");
    assert_eq!(
        found,
        ["tab\there \\N back\\slash \\t", "nul \u{fffd} and \u{fffd}\u{fffd} größer", "NULL", "\\N"]
    );
}

#[test]
fn rows_go_to_the_tables_that_messages_name() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    server.query("CREATE TABLE logs_two (id bigserial, msg text)");
    server.query("ALTER TABLE logs_two OWNER TO log");
    let mut penstock = Penstock::start(&lab, &config(server.port(), "table(\"logs_$PROGRAM\")"));
    let mut sender = Sender::tcp(lab.port("in"));
    for n in 0..900 {
        let program = ["one", "two", "th-ree/ü"][n % 3];
        sender.raw(format!("<13>Nov 11 01:02:03 h {program}: {}\n", text(n)).as_bytes());
    }
    sender.finish();
    penstock.wait_settled(900).assert_nothing_lost();
    for (at, table) in ["logs_one", "logs_two", "logs_th_ree___"].into_iter().enumerate() {
        let wanted: Vec<String> = (at..900).step_by(3).map(text).collect();
        assert_eq!(rows(&server, table), wanted, "{table}");
    }
    // The table that was there has the column it lacked.
    assert_eq!(server.query("SELECT DISTINCT host FROM logs_two"), ["h"]);
}

#[test]
fn one_bad_row_is_one_dead_letter_and_the_others_go_on_in_their_order() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let only_short = config(server.port(), "").replace("\"msg text\"", "\"msg varchar(60)\"");
    let only_short = only_short.replace("options {", "options { dead-letters(yes);");
    let mut penstock = Penstock::start(&lab, &only_short);
    let mut sender = Sender::tcp(lab.port("in"));
    let block: String = (0..MANY)
        .map(|n| match n {
            BAD => format!("<13>Nov 11 01:02:03 h app: {}\n", "x".repeat(100)),
            n => format!("<13>Nov 11 01:02:03 h app: {}\n", text(n)),
        })
        .collect();
    sender.raw(block.as_bytes());
    sender.finish();
    let ledger = settled(&mut penstock, MANY as u64);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    ledger.assert_balanced();
    let wanted: Vec<String> = (0..MANY).filter(|n| *n != BAD).map(text).collect();
    assert_eq!(rows(&server, "messages"), wanted);

    // The letter can be read, and goes where it now fits.
    let letters = queue(&lab, &["cat", "dead-letters"]);
    assert!(letters.contains(&"x".repeat(100)) && letters.lines().count() == 1, "{letters}");
    let told = queue(&lab, &["cat", "dead-letters", "--json"]);
    assert!(told.contains("value too long for type character varying(60)"), "{told}");
    server.query("ALTER TABLE messages ALTER COLUMN msg TYPE text");
    queue(&lab, &["replay", "dead-letters"]);
    wait_until("the letter in the table", || server.count("messages") == MANY);
    assert_eq!(server.query("SELECT count(*) FROM messages WHERE length(msg) = 100"), ["1"]);
}

#[test]
fn many_bad_rows_among_good_ones_are_all_found() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let options = "flags(dont-create-tables)";
    let config = config(server.port(), options);
    server.query("CREATE TABLE messages (id bigserial, host text, msg text)");
    server.query("ALTER TABLE messages OWNER TO log");
    server.query("ALTER TABLE messages ADD CHECK (msg NOT LIKE '%7 of%')");
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 1000);
    let ledger = settled(&mut penstock, 1000);
    assert_eq!(ledger.dropped_for("refused"), 100, "{ledger}");
    ledger.assert_balanced();
    let mut wanted: Vec<String> = (0..1000).filter(|n| n % 10 != 7).map(text).collect();
    let mut found = rows(&server, "messages");
    wanted.sort();
    found.sort();
    assert_eq!(found, wanted);
}

#[test]
fn what_is_refused_at_the_end_of_a_transaction_only_is_found_too() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    server.query(
        "CREATE TABLE messages (id bigserial, host text, msg text UNIQUE DEFERRABLE INITIALLY DEFERRED)",
    );
    server.query("ALTER TABLE messages OWNER TO log");
    let mut penstock = Penstock::start(&lab, &config(server.port(), "flags(dont-create-tables)"));
    feed(lab.port("in"), 0, 1000);
    settled(&mut penstock, 1000);
    // The first ten are there, and the others are not.
    feed(lab.port("in"), 990, 1010);
    let ledger = settled(&mut penstock, 1020);
    assert_eq!(ledger.dropped_for("refused"), 10, "{ledger}");
    ledger.assert_balanced();
    let mut found = rows(&server, "messages");
    let mut wanted: Vec<String> = (0..1010).map(text).collect();
    found.sort();
    wanted.sort();
    assert_eq!(found, wanted);
}

#[test]
fn what_an_operator_has_to_do_is_waited_for() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let right = config(server.port(), "");
    let mut penstock = Penstock::start(&lab, &right.replace("password(secret)", "password(wrong)"));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("password authentication failed for user \"log\" (28P01)");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    penstock.reload_with(&lab, &right);
    penstock.wait_settled(10).assert_nothing_lost();

    // A right that is taken away, and given back.
    server.query("ALTER TABLE messages OWNER TO postgres");
    feed(lab.port("in"), 10, 20);
    penstock.wait_log("permission denied for table messages (42501)");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    server.query("ALTER TABLE messages OWNER TO log");
    penstock.wait_settled(20).assert_nothing_lost();
    assert_messages(&rows(&server, "messages"), 20);
}

#[test]
fn only_a_server_with_the_right_certificate_gets_anything() {
    let lab = Lab::new();
    prepared(&lab);
    Authority::new(&lab, "other");
    let (cert, key) = (lab.path("server.pem"), lab.path("server.key"));
    let Some(server) = Postgres::start(&lab, Some((&cert, &key))) else { return skip(MISSING) };
    let trusting = |name: &str| config(server.port(), &format!("tls(ca-file(\"%dir%/{name}.pem\"))"));
    let mut penstock = Penstock::start(&lab, &trusting("other"));
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("Destination cannot be reached");
    let ledger = penstock.ledger();
    assert_eq!((ledger.waiting(), ledger.dropped()), (10, 0));
    assert_eq!(server.count("messages"), 0);
    penstock.reload_with(&lab, &trusting("ca"));
    penstock.wait_settled(10).assert_nothing_lost();
    assert_messages(&rows(&server, "messages"), 10);
}

#[test]
fn a_server_that_is_killed_and_started_loses_nothing() {
    let lab = Lab::new();
    let Some(mut server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &config(server.port(), "batch-lines(100)"));
    let port = lab.port("in");
    let feeding = std::thread::spawn(move || feed(port, 0, MANY));
    for round in 1..=3 {
        wait_until("some of it", || server.count("messages") >= round * 1000);
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
fn reloads_under_load_double_nothing() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let text = config(server.port(), "batch-lines(200)");
    let mut penstock = Penstock::start(&lab, &text);
    let port = lab.port("in");
    let feeding = std::thread::spawn(move || feed(port, 0, MANY));
    for round in 1..=4 {
        wait_until("some of it", || server.count("messages") >= round * 1000);
        penstock.reload_with(&lab, &text);
    }
    feeding.join().expect("sent");
    penstock.wait_settled(MANY as u64).assert_nothing_lost();
    assert_messages(&rows(&server, "messages"), MANY);
}

#[test]
fn a_message_that_names_what_is_the_servers_holds_nobody() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    server.query("CREATE VIEW seen AS SELECT 1 AS one");
    server.query("CREATE SEQUENCE counted");
    server.query("ALTER VIEW seen OWNER TO log; ALTER SEQUENCE counted OWNER TO log");
    let mut penstock = Penstock::start(&lab, &config(server.port(), "table(\"$PROGRAM\")"));
    let mut sender = Sender::tcp(lab.port("in"));
    for program in
        ["pg_class", "pg_user", "pg_catalog.x", "information_schema.tables", "seen", "counted", "app"]
    {
        sender.raw(format!("<13>Nov 11 01:02:03 h {program}: m\n").as_bytes());
    }
    sender.finish();
    let ledger = settled(&mut penstock, 7);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (6, 6), "{ledger}");
    assert_eq!(rows(&server, "app"), ["m"]);
}

#[test]
fn a_table_has_the_name_that_syslog_ng_gives_it() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(MISSING) };
    let config = config(server.port(), "table(\"2024-web logs\")").replace("\"host text\"", "\"_host text\"");
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 3);
    penstock.wait_settled(3).assert_nothing_lost();
    assert_eq!(server.query("SELECT DISTINCT _host FROM _024_web_logs"), ["host0"]);
}
