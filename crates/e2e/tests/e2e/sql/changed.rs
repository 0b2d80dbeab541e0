//! Columns and tables that change while rows wait: each row goes where it was made for.

use super::sqlite::{MISSING, query};
use crate::messages::HEAD;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use testkit::{Lab, Penstock, Sender, skip, wait_until};

const DISK: &str = "disk-buffer(reliable(yes) capacity-bytes(8MiB))";

fn config(table: &str, columns: &str, values: &str, options: &str) -> String {
    format!(
        "{HEAD}source s {{ network(ip(127.0.0.1) port(%tcp:in%)); }};\n\
         destination d {{ sql(type(sqlite3) database(\"%dir%/logs.db\") time-reopen(1) table(\"{table}\") \
         columns({columns}) values({values}) {options}); }};\nlog {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

fn say(lab: &Lab, text: &str) {
    let mut sender = Sender::tcp(lab.port("in"));
    sender.raw(format!("<13>Nov 11 01:02:03 web app: {text}\n").as_bytes());
    sender.finish();
}

/// Somebody else who writes to the database and does not come to an end.
fn another_writer(lab: &Lab) -> Option<Child> {
    let mut shell = Command::new("sqlite3");
    shell.arg(lab.path("logs.db")).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut shell = shell.spawn().ok()?;
    let input = shell.stdin.as_mut().expect("piped");
    input.write_all(b"PRAGMA journal_mode=WAL; BEGIN IMMEDIATE; SELECT 'begun';\n").expect("written");
    let mut said = [0; 10];
    shell.stdout.as_mut().expect("piped").read_exact(&mut said).expect("begun");
    Some(shell)
}

/// One message comes with each of the configurations while nothing can be put.
#[track_caller]
fn check(configs: &[String], restarts: bool, statement: &str, expected: &[&str]) {
    let lab = Lab::new();
    let Some(mut other) = another_writer(&lab) else { return skip(MISSING) };
    let mut penstock = Penstock::start(&lab, &configs[0]);
    for (at, config) in configs.iter().enumerate() {
        if at > 0 && restarts {
            penstock.stop();
            penstock = Penstock::start(&lab, config);
        } else if at > 0 {
            penstock.reload_with(&lab, config);
        }
        say(&lab, &format!("m{at}"));
        wait_until("it to wait", || penstock.ledger().waiting() == at as u64 + 1);
    }
    drop(other.stdin.take());
    other.wait().expect("ended");
    wait_until("nothing to wait", || penstock.ledger().waiting() == 0);
    assert_eq!(query(&lab, statement).unwrap_or_default(), expected);
    assert_eq!(penstock.ledger().dropped(), 0);
    penstock.ledger().assert_balanced();
}

#[test]
fn rows_that_wait_go_into_the_columns_they_were_made_for() {
    let changed = |options: &str| {
        [
            config("t", "\"msg text\"", "\"$MSG\"", options),
            config("t", "\"msg text\", \"host text\"", "\"$MSG\", \"$HOST\"", options),
            // As many as before, and others.
            config("t", "\"host text\", \"program text\"", "\"$HOST\", \"$PROGRAM\"", options),
        ]
    };
    let rows = "SELECT quote(msg), quote(host), quote(program) FROM t ORDER BY rowid";
    let expected = ["'m0'|NULL|NULL", "'m1'|'web'|NULL", "NULL|'web'|'app'"];
    check(&changed(""), false, rows, &expected);
    check(&changed(DISK), false, rows, &expected);
    check(&changed(&format!("persist-name(own) {DISK}")), true, rows, &expected);
}

#[test]
fn rows_that_wait_go_into_the_table_they_were_made_for() {
    let own = |table: &str| config(table, "\"msg text\"", "\"$MSG\"", "");
    let rows =
        "SELECT 'a', msg FROM a UNION ALL SELECT 'of_app', msg FROM of_app UNION ALL SELECT 'b', msg FROM b";
    check(&[own("a"), own("of_$PROGRAM"), own("b")], false, rows, &["a|m0", "of_app|m1", "b|m2"]);
}
