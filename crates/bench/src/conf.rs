//! The receivers' configuration files, written for a case. penstock and syslog-ng get the very same text.

mod blocks;
mod connector;
mod processing;
mod python;
pub mod rsyslog;
pub mod syslog_ng;
