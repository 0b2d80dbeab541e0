//! The sources.

mod file;
mod journal;
mod local;
mod network;

pub use file::{FILE, WILDCARD_FILE};
pub use journal::SYSTEMD_JOURNAL;
pub use local::{EXAMPLE_MSG_GENERATOR, INTERNAL, PIPE, PROGRAM, STDIN, UNIX_DGRAM, UNIX_STREAM};
pub use network::{NETWORK, SYSLOG, TCP, TCP6, UDP, UDP_BALANCER, UDP6};
