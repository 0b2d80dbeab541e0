//! The load generator and its judge: sends syslog messages faster than a receiver can take them, and says
//! afterwards which of them arrived. `cli` is the `loggen` command, `send::Load` the same engine for tests
//! and benchmarks, `verify` reads a receiver's output files.

pub mod cli;
pub mod message;
pub mod pace;
pub mod progress;
pub mod proxy;
pub mod ring;
pub mod send;
pub mod target;
pub mod verify;
pub mod wire;

mod clock;
mod digits;
