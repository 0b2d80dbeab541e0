//! `sql()` with real servers, read back with their own clients: where there is none, these are skipped.

mod changed;
mod exactly_once;
mod mariadb;
mod offsets;
mod postgres;
pub mod sqlite;
mod unique;

use crate::messages::message;
use testkit::{Ledger, Penstock, Sender};

const MANY: usize = 10_000;
/// The message that no table takes.
const BAD: usize = 6789;

/// Messages from one number to another.
fn feed(port: u16, from: usize, to: usize) {
    let mut sender = Sender::tcp(port);
    let block: String = (from..to).map(|n| message(0, n) + "\n").collect();
    sender.raw(block.as_bytes());
    sender.finish();
}

fn text(n: usize) -> String {
    format!("message number {n} of connection 0")
}

/// The rows are the messages from 0 on, in their order.
#[track_caller]
fn assert_messages(rows: &[String], count: usize) {
    for (n, row) in rows.iter().enumerate() {
        assert_eq!(*row, text(n), "row {n}");
    }
    assert_eq!(rows.len(), count);
}

/// Waits until nothing of so many messages waits.
#[track_caller]
fn settled(penstock: &mut Penstock, count: u64) -> Ledger {
    penstock.wait_ledger(|ledger| {
        (ledger.received() < count || ledger.waiting() > 0).then(|| format!("{count} messages dealt with"))
    })
}
