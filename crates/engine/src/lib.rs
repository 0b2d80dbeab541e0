//! The engine: log paths compiled to programs, workers that run them batch by batch, lanes that keep order,
//! windows that bound, and the ledger that says what became of every message.

pub mod capture;
mod chunk;
mod codes;
pub mod compile;
pub mod dead_letters;
pub mod driver;
mod durable;
mod environment;
mod exec;
pub mod explain;
mod feed;
mod friction;
pub mod hand_over;
mod hooks;
pub mod inject;
mod lane;
pub mod ledger;
mod need;
mod outbox;
mod outlet;
pub mod plan_map;
pub mod profile;
pub mod program;
mod pump;
pub mod reader;
mod receipt;
pub mod replay;
mod runtime;
pub mod source;
mod turns;
pub mod watch;
mod window;
pub mod worker;

pub use chunk::{Chunk, Piece, Whole};
pub use codes::CODES;
pub use durable::{DiskBuffer, Durable, LogFolder, QueueNames, SafeLatency};
pub use environment::Environment;
pub use exec::{Machine, Outcome};
pub use feed::{Feed, Read};
pub use friction::{Friction, friction};
pub use need::{Address, Key, Made, Need, Privilege};
pub use outbox::Outbox;
pub use outlet::{
    Form, Headroom, OnDisk, Outlet, Progress, QueueLimits, Sink, Standing, Status, Supply, Waits,
};
pub use receipt::{Detail, End, Receipt, Said};
pub use runtime::take_over::{Parted, take_in};
pub use runtime::{Engine, EngineOptions, LeftBehind, Rest, View};
pub use store::Origin;
pub use window::{Acknowledge, Budget, Mark, Share, Ticket, Tickets, Wake, Window};
pub use worker::{Shared, Worker, WorkerHandle};
