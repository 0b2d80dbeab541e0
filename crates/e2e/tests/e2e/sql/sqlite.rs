//! SQLite, read back with its own shell.

use super::{BAD, MANY, assert_messages, feed, settled, text};
use crate::messages::HEAD;
use std::process::Command;
use testkit::{Lab, Penstock, Sender, skip, wait_until};

pub const MISSING: &str = "sqlite3 is not installed, see `./x servers mariadb`";

pub fn config(options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ sql(type(sqlite3) database(\"%dir%/logs.db\") \
         columns(\"host text\", \"msg text CHECK(length(msg) < 60)\") values(\"$HOST\", \"$MSG\") {options}); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// What its shell says; `None` where there is none.
pub fn query(lab: &Lab, statement: &str) -> Option<Vec<String>> {
    let output = Command::new("sqlite3")
        .args(["-cmd", ".timeout 5000"])
        .arg(lab.path("logs.db"))
        .arg(statement)
        .output()
        .ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

#[test]
fn tables_are_made_and_bad_rows_told_from_the_others() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("indexes(host) null(\"-\")"));
    let mut sender = Sender::tcp(lab.port("in"));
    let message = |n: usize| if n == BAD { "x".repeat(100) } else { text(n) };
    let block: String = (0..MANY).map(|n| format!("<13>Nov 11 01:02:03 h app: {}\n", message(n))).collect();
    sender.raw(block.as_bytes());
    sender.raw(b"<13>Nov 11 01:02:03 - app: it's \t \\N\n");
    sender.finish();
    let ledger = settled(&mut penstock, MANY as u64 + 1);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (1, 1), "{ledger}");
    ledger.assert_balanced();
    let Some(rows) = query(&lab, "SELECT msg FROM messages WHERE host = 'h' ORDER BY rowid") else {
        return skip(MISSING);
    };
    let wanted: Vec<String> = (0..MANY).filter(|n| *n != BAD).map(text).collect();
    assert_eq!(rows, wanted);
    let last = query(&lab, "SELECT msg FROM messages WHERE host IS NULL").unwrap_or_default();
    assert_eq!(last, ["it's \t \\N"]);
    assert_eq!(
        query(&lab, "SELECT name FROM sqlite_master WHERE type = 'index'").unwrap_or_default(),
        ["messages_host_idx"]
    );
}

#[test]
fn who_writes_beside_it_is_waited_for() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config("table(\"logs_$PROGRAM\")"));
    feed(lab.port("in"), 0, 10);
    penstock.wait_settled(10).assert_nothing_lost();
    // Another program has begun to write, and stays.
    let mut shell = Command::new("sqlite3");
    shell.arg(lab.path("logs.db")).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
    let Ok(mut shell) = shell.spawn() else { return skip(MISSING) };
    let mut input = shell.stdin.take().expect("piped");
    std::io::Write::write_all(&mut input, b"BEGIN IMMEDIATE; SELECT 'begun';\n").expect("written");
    let mut said = [0; 6];
    std::io::Read::read_exact(shell.stdout.as_mut().expect("piped"), &mut said).expect("begun");
    feed(lab.port("in"), 10, 20);
    wait_until("them to wait", || penstock.ledger().waiting() == 10);
    penstock.wait_log("database is locked");
    std::io::Write::write_all(&mut input, b"ROLLBACK;\n").expect("written");
    drop(input);
    shell.wait().expect("ended");
    penstock.wait_settled(20).assert_nothing_lost();
    assert_messages(&query(&lab, "SELECT msg FROM logs_app ORDER BY rowid").unwrap_or_default(), 20);
}

#[test]
fn a_file_that_is_rotated_away_is_whole_and_another_one_is_begun() {
    let lab = Lab::new();
    let mut penstock = Penstock::start(&lab, &config(""));
    feed(lab.port("in"), 0, 10);
    penstock.wait_settled(10).assert_nothing_lost();
    std::fs::rename(lab.path("logs.db"), lab.path("old.db")).expect("renamed");
    feed(lab.port("in"), 10, 20);
    penstock.wait_settled(20).assert_nothing_lost();
    penstock.wait_log("Another file is begun");
    let rows = |file: &str| {
        let output = Command::new("sqlite3")
            .arg(lab.path(file))
            .arg("SELECT msg FROM messages ORDER BY rowid")
            .output();
        output.ok().map(|output| {
            String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect::<Vec<_>>()
        })
    };
    let (Some(old), Some(new)) = (rows("old.db"), rows("logs.db")) else { return skip(MISSING) };
    assert_messages(&[old, new].concat(), 20);
    // Removed with all that belongs to it.
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(lab.path(&format!("logs.db{end}")));
    }
    feed(lab.port("in"), 20, 30);
    penstock.wait_settled(30).assert_nothing_lost();
    assert_eq!(rows("logs.db").unwrap_or_default(), (20..30).map(text).collect::<Vec<_>>());
}

#[test]
fn a_message_that_names_what_is_the_servers_holds_nobody() {
    let lab = Lab::new();
    let config = config("table(\"$PROGRAM\")");
    let mut penstock = Penstock::start(&lab, &config);
    let mut sender = Sender::tcp(lab.port("in"));
    for program in ["app", "sqlite_master", "sqlite_x", "json_each", "app_view", "app"] {
        sender.raw(format!("<13>Nov 11 01:02:03 h {program}: m\n").as_bytes());
        wait_until("it to come", || penstock.ledger().waiting() == 0);
        query(&lab, "CREATE VIEW IF NOT EXISTS app_view AS SELECT 1 AS one");
    }
    sender.finish();
    let ledger = settled(&mut penstock, 6);
    assert_eq!((ledger.dropped(), ledger.dropped_for("refused")), (4, 4), "{ledger}");
    assert_eq!(query(&lab, "SELECT count(*) FROM app").unwrap_or_default(), ["2"]);
}
