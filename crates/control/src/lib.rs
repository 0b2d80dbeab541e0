//! The outside of the running program: its counters, ledger and control socket, and every command line.
//!
//! Knows nothing of the engine: the program implements [`Subject`], this crate asks it.

pub mod answer;
pub mod asker;
pub mod capture;
pub mod catalog;
pub mod cli;
pub mod client;
pub mod counters;
pub mod explain;
pub mod last_run;
pub mod ledger;
pub mod look;
pub mod queues;
mod refusal;
pub mod render;
pub mod request;
pub mod running;
pub mod server;
pub mod subject;
pub mod take_over;
pub mod tap;

pub use counters::{Counter, PromName, State, Unit};
pub use ledger::{DropReason, Failures, Flow, Ledger, Row};
pub use refusal::Refusal;
pub use server::{Server, ServerError, ServerOptions};
pub use subject::{ConfigView, Health, InEffect, SetBy, Subject};
