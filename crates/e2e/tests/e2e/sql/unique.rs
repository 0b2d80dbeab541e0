//! `unique()`: what comes twice is there once, read back with the clients of the databases.

use super::{MANY, assert_messages, feed, settled, text};
use crate::messages::HEAD;
use testkit::{Lab, Mariadb, Penstock, Postgres, Signal, run_command, skip, wait_until};

#[test]
fn postgresql_passes_over_what_is_there_in_each_of_many_tables() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(testkit::postgres::MISSING) };
    let config = super::postgres::config(server.port(), "table(\"logs_$PROGRAM\") unique(msg, host)");
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 1000);
    // Connections are read side by side.
    penstock.wait_settled(1000);
    feed(lab.port("in"), 500, 2000);
    penstock.wait_settled(2500).assert_nothing_lost();
    assert_messages(&super::postgres::rows(&server, "logs_app"), 2000);
    // One with a row that no table takes, among rows that are there and rows that are not.
    server.query("ALTER TABLE logs_app ADD CHECK (msg NOT LIKE '% number 2500 of%')");
    feed(lab.port("in"), 1500, 3000);
    let ledger = settled(&mut penstock, 4000);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    let wanted: Vec<String> = (0..3000).filter(|n| *n != 2500).map(text).collect();
    assert_eq!(super::postgres::rows(&server, "logs_app"), wanted);
}

#[test]
fn a_collector_that_is_killed_without_a_disk_buffer_doubles_nothing_that_is_sent_again() {
    let lab = Lab::new();
    let Some(mut server) = Postgres::start(&lab, None) else { return skip(testkit::postgres::MISSING) };
    let config = super::postgres::config(server.port(), "unique(msg) batch-lines(50)");
    let mut penstock = Penstock::start(&lab, &config);
    for round in 0..6 {
        let before = server.count("messages");
        let port = lab.port("in");
        // What a sender does that had no answer: all of it again.
        let sender = std::thread::spawn(move || {
            let mut sender = testkit::Sender::tcp(port);
            let block: String = (0..MANY).map(|n| crate::messages::message(0, n) + "\n").collect();
            let _ = sender.try_raw(block.as_bytes());
        });
        wait_until("some of it", || server.count("messages") > before || before == MANY);
        if round == 3 {
            server.kill();
            server.run();
        }
        penstock.signal(Signal::KILL);
        penstock.wait_end();
        sender.join().expect("the sender");
        penstock = Penstock::start(&lab, &config);
    }
    feed(lab.port("in"), 0, MANY);
    penstock.wait_settled(MANY as u64).assert_nothing_lost();
    assert_messages(&super::postgres::rows(&server, "messages"), MANY);
}

#[test]
fn a_table_without_such_an_index_is_waited_for() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(testkit::postgres::MISSING) };
    server.query("CREATE TABLE messages (id bigserial, host text, msg text)");
    server.query("ALTER TABLE messages OWNER TO log");
    let config = super::postgres::config(server.port(), "unique(msg) time-reopen(1)");
    let mut penstock = Penstock::start(&lab, &config);
    feed(lab.port("in"), 0, 10);
    penstock.wait_log("no unique or exclusion constraint matching the ON CONFLICT");
    assert_eq!((penstock.ledger().waiting(), penstock.ledger().dropped()), (10, 0));
    server.query("CREATE UNIQUE INDEX one ON messages (msg)");
    penstock.wait_settled(10).assert_nothing_lost();
    assert_messages(&super::postgres::rows(&server, "messages"), 10);
}

#[test]
fn mariadb_passes_over_what_is_there() {
    let lab = Lab::new();
    let Some(server) = Mariadb::start(&lab, None) else { return skip(testkit::mariadb::MISSING) };
    let mut penstock = Penstock::start(&lab, &super::mariadb::config(server.port(), "unique(host, msg)"));
    feed(lab.port("in"), 0, 1000);
    // Connections are read side by side.
    penstock.wait_settled(1000);
    feed(lab.port("in"), 500, 1500);
    penstock.wait_settled(2000).assert_nothing_lost();
    assert_messages(&super::mariadb::rows(&server, "messages"), 1500);
}

#[test]
fn sqlite_passes_over_what_is_there() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &super::sqlite::config("unique(msg)"));
    feed(lab.port("in"), 0, 1000);
    // Connections are read side by side.
    penstock.wait_settled(1000);
    feed(lab.port("in"), 500, 1500);
    penstock.wait_settled(2000).assert_nothing_lost();
    let Some(rows) = super::sqlite::query(&lab, "SELECT msg FROM messages ORDER BY rowid") else {
        return skip(super::sqlite::MISSING);
    };
    assert_messages(&rows, 1500);
}

#[test]
fn columns_that_cannot_tell_rows_apart_are_errors() {
    let lab = Lab::new();
    for (options, words) in
        [("unique(nobody)", "unique() names `nobody`"), ("unique(id)", "the server makes up `id`")]
    {
        let config = format!(
            "{HEAD}source s {{ internal(); }};\n\
             destination d {{ sql(type(pgsql) columns(\"id bigserial\", \"msg text\") values(default, \"$MSG\") {options}); }};\n\
             log {{ source(s); destination(d); }};\n"
        );
        let path = lab.path("unique.conf");
        std::fs::write(&path, config).expect("it is written");
        let outcome = run_command(&["check", &path.display().to_string()]);
        assert!(outcome.code == Some(1) && outcome.stderr.contains(words), "{outcome:?}");
    }
}

#[test]
fn what_an_index_or_a_trigger_refuses_is_one_dead_letter() {
    let lab = Lab::new();
    let Some(server) = Postgres::start(&lab, None) else { return skip(testkit::postgres::MISSING) };
    server.query("CREATE TABLE messages (id bigserial, host text, msg text UNIQUE)");
    server.query("ALTER TABLE messages OWNER TO log");
    server.query(
        "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.msg LIKE '% number 7 of%' \
         THEN RAISE EXCEPTION 'no' USING ERRCODE = 'U0001'; END IF; RETURN NEW; END $$",
    );
    server.query("CREATE TRIGGER t BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION f()");
    let mut penstock = Penstock::start(&lab, &super::postgres::config(server.port(), "unique(msg)"));
    feed(lab.port("in"), 0, 10);
    let ledger = settled(&mut penstock, 10);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    let wanted: Vec<String> = (0..10).filter(|n| *n != 7).map(text).collect();
    assert_eq!(super::postgres::rows(&server, "messages"), wanted);
}
