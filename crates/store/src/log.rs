//! The log of a directory: opened once by one process, shared by all queues.

use crate::queue::Queue;
use crate::report::{QueueInfo, Report, Stats};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub struct Options {
    /// The log is in the folder `penstock-store` of this one.
    pub dir: PathBuf,
    pub segment_bytes: u64,
    /// Delivered segments that are kept for being written over.
    pub free_segments: usize,
}

impl Options {
    pub fn new(dir: &Path) -> Options {
        Options { dir: dir.to_owned(), segment_bytes: 64 << 20, free_segments: 4 }
    }
}

pub struct Opened {
    pub log: Arc<Log>,
    pub report: Report,
}

pub struct Log {}

impl Log {
    /// Opens or makes the log. Damage is no error: it is in the report. That another process has it open is one.
    pub fn open(options: Options) -> io::Result<Opened> {
        let _ = options;
        todo!()
    }

    /// The queue of this name, which is made if there is none. `capacity` in bytes of messages; `on_room` is called, from any thread and
    /// without locks, when an append was refused and is worth another try. It takes the place of the one of an earlier call.
    pub fn queue(self: &Arc<Self>, name: &[u8], capacity: u64, on_room: Box<dyn Fn() + Send + Sync>) -> io::Result<Queue> {
        let _ = (name, capacity, on_room);
        todo!()
    }

    pub fn queues(&self) -> Vec<QueueInfo> {
        todo!()
    }

    /// Forgets a queue and everything that waits in it. Whether there was one.
    pub fn remove(&self, name: &[u8]) -> bool {
        let _ = name;
        todo!()
    }

    /// Waits until everything that was appended before is written; gives up when the disk refuses it.
    pub fn flush(&self) -> bool {
        todo!()
    }

    /// Writes and syncs everything, cursors included, and ends the committing thread. Appending is refused from now on, reading goes on.
    /// What cannot be written now is said; its `Held` values are not dropped.
    pub fn close(&self) {
        todo!()
    }

    pub fn stats(&self) -> Stats {
        todo!()
    }
}
