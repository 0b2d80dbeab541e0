//! The engine: log paths compiled to programs, workers that run them batch by batch, lanes that keep order, windows that bound,
//! and the ledger that says what became of every message.

mod chunk;
mod exec;
mod lane;
pub mod ledger;
mod outbox;
mod outlet;
pub mod program;
pub mod reader;
pub mod source;
mod window;
pub mod worker;

pub use chunk::Chunk;
pub use exec::{Machine, Outcome};
pub use outbox::Outbox;
pub use outlet::{Outlet, Progress, QueueLimits, Sink, Status};
pub use window::{Budget, Ticket, Wake, Window};
pub use worker::{Shared, Worker, WorkerHandle};
