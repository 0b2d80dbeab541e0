//! Batches of messages as rows of a database: one transaction a batch, tables made as they are needed, and a
//! row that the server does not take told from the others.
//!
//! A database is a [`Server`]: it opens a connection, runs statements, and puts rows into a table. Everything
//! else is the same for all of them, in [`session`].

mod account;
mod batch;
mod cursor;
mod followed;
mod mysql;
mod not_done;
mod offsets;
pub mod place;
mod plan;
mod postgres;
pub mod row;
mod schema;
mod server;
mod session;
pub mod shape;
mod sqlite;

pub use batch::{Load, load};
pub use cursor::Cursor;
pub use mysql::Mysql;
pub use offsets::Offsets;
pub use plan::{Column, Login, Plan, TlsFiles};
pub use postgres::Postgres;
pub use schema::{is_identifier, sanitize};
pub use session::{HowFar, serve};
pub use shape::{Shape, Shapes};
pub use sqlite::Sqlite;
