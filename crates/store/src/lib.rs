//! What waits on disk for destinations: one append-only log for all queues of a directory, written in group
//! commits, read back in order, recovered after crashes and damage. Its bytes stand in docs/store-format.md.
//!
//! A queue is what one outlet keeps here. What is appended comes back in order by `read`, until `done` says
//! that it is not needed any more. `append` never waits for the disk: one thread writes what has come
//! together since its last write, and tells the [`Held`] values of what is safe now.
//!
//! ```
//! # fn main() -> std::io::Result<()> {
//! # let dir = tempfile::tempdir()?;
//! use store::{Log, Options, Safe};
//! let opened = Log::open(Options::new(dir.path()))?;
//! let queue = opened.log.queue(b"d_central#0", 1 << 30, Box::new(|| ()))?;
//! let seqs = queue.append(b"one\ntwo\n", &[4, 8], Safe::Synced, Box::new(())).unwrap();
//! opened.log.flush();
//! let read = queue.read(queue.first_waiting(), 65536)?;
//! assert_eq!((read.bytes.as_slice(), read.ends.as_slice()), (&b"one\ntwo\n"[..], &[4, 8][..]));
//! queue.done(seqs.end, 2, 8);
//! opened.log.close();
//! # Ok(()) }
//! ```

mod ahead;
mod append;
mod checksum;
mod commit;
mod compact;
mod control;
mod damage;
mod files;
mod frame;
mod free;
mod group;
mod key;
mod load;
mod log;
#[cfg(test)]
mod model;
mod origin;
mod progress;
mod queue;
mod read;
mod recovery;
mod report;
mod scan;
mod shared;
mod snapshot;
mod stage;
mod together;
mod view;
mod walk;
mod writer;

pub use ahead::{AHEAD_BUSY_BYTES_MAX, AHEAD_BYTES_MAX};
pub use files::{Files, SegmentFile};
pub use load::Load;
pub use log::{Log, Opened, Options};
/// Bytes of a message.
pub const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// For so long, what cannot be read is tried again; then it counts as damage.
pub const READ_PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

pub use origin::{Lot, Origin};
pub use queue::{Full, Held, OnSafe, Queue, Read, Safe};
pub use report::{Damaged, Latency, QueueInfo, Report, Stats, Waiting};
pub use together::Together;
pub use view::{Border, Checked, Message, Position, Space, View};
