//! What a database has to offer.

use crate::batch::Rows;
use crate::not_done::NotDone;
use crate::plan::Plan;
use flight::Detail;
use std::future::Future;

/// Something about where a row is.
pub type About = (&'static str, Detail);

/// A connection to a database, or none yet. Everything that fails for want of a connection closes it.
pub trait Server: Send {
    /// How a transaction begins.
    const BEGIN: &'static str;
    /// What stands behind a query whose rows nobody else may change until the end of the transaction; nothing
    /// where a transaction keeps others out anyway.
    const LOCKS: &'static str;
    /// The row that an error names is the one at fault.
    const IS_SURE_OF_ROWS: bool = true;

    fn is_open(&self) -> bool;

    fn open(&mut self) -> impl Future<Output = Result<(), NotDone>> + Send;

    /// The statements that a connection begins with were run.
    fn ready(&mut self) -> impl Future<Output = Result<(), NotDone>> + Send;

    fn close(&mut self);

    /// The columns of a table; `None`: there is no such table.
    fn columns(&mut self, table: &str) -> impl Future<Output = Result<Option<Vec<String>>, NotDone>> + Send;

    /// Runs a statement; the number of rows that it changed.
    fn execute(&mut self, statement: &str) -> impl Future<Output = Result<u64, NotDone>> + Send;

    /// What a query finds in the first column of its first row.
    fn number(&mut self, query: &str) -> impl Future<Output = Result<Option<u64>, NotDone>> + Send;

    /// Puts rows into a table. When it fails, some of them may be there for the transaction around it. `keys`
    /// hears what the server calls rows, as far as it says that and somebody asks.
    fn put(
        &mut self,
        plan: &Plan,
        table: &str,
        rows: &Rows,
        keys: &mut Keys,
    ) -> impl Future<Output = Result<(), NotDone>> + Send;

    /// Where its tables are.
    fn whereabouts(&self) -> Vec<About>;

    /// What the server calls the transaction under way, as far as it says that.
    fn transaction(&mut self) -> impl Future<Output = Result<Option<u64>, NotDone>> + Send;

    /// Makes what was done since the beginning certain.
    fn commit(&mut self) -> impl Future<Output = Result<(), NotDone>> + Send;
}

/// What the server calls those rows that somebody follows.
#[derive(Debug, Default)]
pub struct Keys {
    /// Places in the rows that are put, ascending.
    pub asked: Vec<usize>,
    /// The same, with what is known of each.
    pub said: Vec<(usize, About)>,
}
