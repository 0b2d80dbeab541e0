//! What a database has to offer.

use crate::batch::Rows;
use crate::not_done::NotDone;
use std::future::Future;

/// A connection to a database, or none yet. Everything that fails for want of a connection closes it.
pub trait Server: Send {
    /// How a transaction begins.
    const BEGIN: &'static str;

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

    /// Puts rows into a table. When it fails, some of them may be there for the transaction around it.
    fn put(&mut self, table: &str, rows: &Rows) -> impl Future<Output = Result<(), NotDone>> + Send;

    /// Makes what was done since the beginning certain.
    fn commit(&mut self) -> impl Future<Output = Result<(), NotDone>> + Send;
}
