//! The position in the queue, kept in a table of the database: in the transaction that puts the rows, so that
//! what comes again after a kill is known.

use crate::not_done::NotDone;
use crate::server::Server;

const TABLE: &str = "penstock_cursor";

/// The queue of an outlet, as the table knows it.
pub struct Cursor {
    /// Letters and digits.
    pub name: String,
    /// Of this start of the program; at most 63 bits.
    pub run: u64,
    /// Whether a run that the table names was one of this queue, and not of a copy of it.
    pub is_own: Box<dyn Fn(u64) -> bool + Send + Sync>,
}

impl Cursor {
    /// The position that the table has; from now on this run moves it.
    pub async fn open<S: Server>(&self, server: &mut S) -> Result<u64, NotDone> {
        let Cursor { name, run, .. } = self;
        if server.columns(TABLE).await?.is_none() {
            let columns = "name varchar(64) PRIMARY KEY, position bigint NOT NULL, run bigint NOT NULL";
            server.execute(&format!("CREATE TABLE {TABLE} ({columns})")).await.map_err(held)?;
        }
        let last =
            server.number(&format!("SELECT run FROM {TABLE} WHERE name = '{name}'")).await.map_err(held)?;
        let Some(last) = last else {
            let row = format!("INSERT INTO {TABLE} (name, position, run) VALUES ('{name}', 0, {run})");
            server.execute(&row).await.map_err(held)?;
            return Ok(0);
        };
        if !(self.is_own)(last) {
            return Err(NotDone::Hold(format!(
                "the row `{name}` of {TABLE} was moved by a copy of this collector: what it has cannot be told; \
                 remove the row, and some may come twice"
            )));
        }
        // First, so that one who still moves it, an outlet that a reload has replaced, does it before we look
        // or not at all.
        let moved = format!("UPDATE {TABLE} SET run = {run} WHERE name = '{name}'");
        server.execute(&moved).await.map_err(held)?;
        let position = server.number(&format!("SELECT position FROM {TABLE} WHERE name = '{name}'")).await;
        Ok(position.map_err(held)?.unwrap_or(0))
    }

    /// In a transaction: everything before this number is in its tables.
    pub async fn move_to<S: Server>(&self, server: &mut S, position: u64) -> Result<(), NotDone> {
        let Cursor { name, run, .. } = self;
        let moved = format!("UPDATE {TABLE} SET position = {position} WHERE name = '{name}' AND run = {run}");
        match server.execute(&moved).await.map_err(held)? {
            1 => Ok(()),
            // Read again by a new connection, which says what it is.
            _ => Err(NotDone::Away(format!("the row `{name}` of {TABLE} was moved by somebody else"))),
        }
    }
}

/// Nothing that is wrong here is a row's fault.
fn held(fault: NotDone) -> NotDone {
    match fault {
        NotDone::Row { why, .. } | NotDone::Rows(why) | NotDone::Table(why) => {
            NotDone::Hold(format!("{TABLE}: {why}"))
        }
        fault => fault,
    }
}
