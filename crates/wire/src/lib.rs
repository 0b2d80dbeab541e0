//! Codecs without I/O: bytes of a connection to frames, frames to records, and back. Nothing here opens,
//! reads or waits.
//!
//! The life of received bytes: [`framing::Framer`] finds the frames in a buffer, the caller makes a
//! [`record::Record`] of each, [`syslog::SyslogParser`] fills the records' fields with spans of the same
//! buffer.

pub mod backtrace;
pub mod escape;
pub mod framing;
pub mod json;
pub mod json_parts;
pub mod octet;
pub mod pacct;
pub mod pairs;
pub mod protobuf;
pub mod proxy;
pub mod queue_file;
pub mod relp;
mod rfc3164;
mod rfc5424;
pub mod rltp;
pub mod sdata;
pub mod syslog;
pub mod timestamp;
mod word;

pub use framing::{FrameError, Framer, FramerOptions, Framing};
pub use syslog::{ParseFlags, SyslogOptions, SyslogParser, msgformat};
pub use word::chunks::{Chunked, Chunks, json_marks, with_chunks};
pub use word::wide::{mask64, not_word64};
