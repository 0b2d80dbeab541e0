//! What destinations stand on: messages formatted and queued, on disk too; connections to servers tried in
//! turn; files; what is sent and not acknowledged.

pub mod balanced;
pub mod batching;
pub mod bell;
pub mod datagram;
pub mod dialing;
pub mod disk_buffer;
pub mod files;
pub mod finish;
pub mod link;
pub mod paced;
pub mod positions;
pub mod runs;
pub mod sealing;
pub mod single;
pub mod stream;
pub mod target;
pub mod tunnel;
pub mod unacked;
pub mod unreachable;
pub mod writer;
pub mod writing;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
