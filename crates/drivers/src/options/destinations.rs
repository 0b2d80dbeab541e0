//! The destinations.

mod local;
mod network;

pub use local::{FILE, PIPE, PROGRAM, STDOUT, UNIX_DGRAM, UNIX_STREAM, USERTTY};
pub use network::{NETWORK, NO_ANSWER, SYSLOG, TCP, TCP6, UDP, UDP6};
