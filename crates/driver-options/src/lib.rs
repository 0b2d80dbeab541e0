//! What the options of sources and destinations have in common: groups of option tables, and what `port()`,
//! `tls()`, the options of sockets, templates and owners mean.

pub mod batch_groups;
mod codes;
pub mod console_groups;
pub mod disk_buffer;
pub mod file_groups;
pub mod health_groups;
pub mod hook_commands;
pub mod needs;
pub mod output_groups;
pub mod ownership;
pub mod pairs;
pub mod ports;
mod reading;
pub mod request_groups;
pub mod rltp_groups;
pub mod sandbox_group;
pub mod secure;
pub mod socket_groups;
pub mod sockets;
pub mod source_groups;
pub mod templates;
pub mod tls_groups;
pub mod words;

pub use codes::CODES;
pub use reading::Reading;

/// The longest time an option takes: ten years.
pub const SECONDS_MAX: u32 = 315_360_000;
/// Numbers are positive and 31 bits wide in syslog-ng.
pub const INT_MAX: i64 = i32::MAX as i64;
