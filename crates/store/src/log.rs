//! The log of a directory: opened once by one process, shared by all queues.

use crate::READ_PATIENCE;
use crate::commit::Committer;
use crate::control;
use crate::files::{Files, Folder};
use crate::load::Load;
use crate::origin::Lot;
use crate::queue::Queue;
use crate::recovery::{Recovered, recover};
use crate::report::{QueueInfo, Report, Stats};
use crate::shared::{QueueState, Shared};
use crate::snapshot::{NAME_MAX, QUEUES_MAX, Row};
use crate::writer::Writer;
use parking_lot::Mutex;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Below the directory.
pub(crate) const FOLDER: &str = "penstock-store";

pub struct Options {
    /// The log is in the folder `penstock-store` of this one.
    pub dir: PathBuf,
    pub segment_bytes: u64,
    /// Delivered segments that are kept for being written over.
    pub free_segments: usize,
    /// What cannot be read is tried again for so long before it counts as damage.
    pub read_patience: Duration,
    /// Another file system, for tests.
    pub files: Option<Box<dyn Files>>,
}

impl Options {
    pub fn new(dir: &Path) -> Options {
        Options {
            dir: dir.to_owned(),
            segment_bytes: 64 << 20,
            free_segments: 4,
            read_patience: READ_PATIENCE,
            files: None,
        }
    }
}

pub struct Opened {
    pub log: Arc<Log>,
    pub report: Report,
}

pub struct Log {
    pub(crate) shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Log {
    /// Opens or makes the log. Damage is no error: it is in the report. That another process has it open is
    /// one.
    pub fn open(options: Options) -> io::Result<Opened> {
        let (log, committer, report) = Self::prepare(options)?;
        log.shared.lock().tells_time = true;
        log.shared.ahead.use_thread();
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(|| committer.run())?;
        *log.thread.lock() = Some(thread);
        Ok(Opened { log, report })
    }

    /// Whether there is one in the folder.
    pub fn exists(dir: &Path) -> bool {
        dir.join(FOLDER).is_dir()
    }

    /// The log without its threads.
    pub(crate) fn prepare(options: Options) -> io::Result<(Arc<Log>, Committer, Report)> {
        let began = Instant::now();
        let path = options.dir.join(FOLDER);
        let files = options.files.map_or_else(|| Arc::new(Folder::new(&path)) as Arc<dyn Files>, Arc::from);
        let Recovered { key, state, table, free, noted, mut report } =
            recover(&files, options.free_segments, options.read_patience)?;
        let next = state.next_seq;
        let limits = (options.segment_bytes.max(1 << 14), options.free_segments);
        let mut shared = Shared::new(files, key, path.display().to_string(), limits, state, noted);
        shared.read_patience = options.read_patience;
        let shared = Arc::new(shared);
        let writer = Writer::new(shared.clone(), next, &table, free);
        let committer = Committer::new(shared.clone(), writer);
        report.took = began.elapsed();
        Ok((Arc::new(Log { shared, thread: Mutex::new(None) }), committer, report))
    }

    /// The queue of this name, which is made if there is none. `capacity` in bytes of messages; `on_room` is
    /// called, from any thread and without locks, when an append was refused and is worth another try. It
    /// takes the place of the one of an earlier call.
    pub fn queue(
        self: &Arc<Self>,
        name: &[u8],
        capacity: u64,
        on_room: Box<dyn Fn() + Send + Sync>,
    ) -> io::Result<Queue> {
        if name.len() > NAME_MAX {
            return Err(io::Error::new(ErrorKind::InvalidInput, "the name of a queue is too long"));
        }
        let mut state = self.shared.lock();
        let known = state.queues.iter().find(|(_, queue)| queue.row.name == name).map(|(id, _)| *id);
        let id = match known {
            Some(id) => id,
            None => {
                let id = (0..QUEUES_MAX).find(|id| !state.queues.contains_key(id));
                let full = || io::Error::new(ErrorKind::QuotaExceeded, "the store takes no more queues");
                let id = id.ok_or_else(full)?;
                let before = state.retired.get(&id).copied().unwrap_or_default();
                let (seq, name) = (state.next_seq, name.to_vec());
                let row =
                    Row { name, appended: before, done: before, end: seq, cursor: seq, ..Row::default() };
                state.note(self.shared.key, &control::defined(id, &row));
                state.queues.insert(id, QueueState::new(row));
                id
            }
        };
        if let Some(queue) = state.queues.get_mut(&id) {
            queue.capacity = capacity;
            queue.on_room = Some(on_room.into());
        }
        drop(state);
        self.shared.work.notify_one();
        Ok(Queue::new(self.clone(), id))
    }

    /// What tells this log from others: a random number that it keeps, and that is nobody else's business.
    pub fn key(&self) -> u64 {
        self.shared.key
    }

    pub fn queues(&self) -> Vec<QueueInfo> {
        self.shared.lock().infos()
    }

    /// Whether something may come again that is here.
    pub fn may_repeat(&self) -> bool {
        self.shared.may_repeat.load(Ordering::Relaxed)
    }

    /// Of messages that come for the queue of this name, how many of the first are there since before the
    /// start.
    pub fn repeated(&self, name: &[u8], lot: &Lot) -> u32 {
        let mut state = self.shared.lock();
        let queue = state.queues.values_mut().find(|queue| queue.row.name == name);
        let repeated = queue.map_or(0, |queue| queue.known.repeated(lot));
        let may_repeat = state.queues.values().any(|queue| !queue.known.is_empty());
        self.shared.may_repeat.store(may_repeat, Ordering::Relaxed);
        repeated
    }

    /// Forgets a queue and everything that waits in it. Whether there was one.
    pub fn remove(&self, name: &[u8]) -> bool {
        let mut state = self.shared.lock();
        let Some(id) = state.queues.iter().find(|(_, queue)| queue.row.name == name).map(|(id, _)| *id)
        else {
            return false;
        };
        if let Some(queue) = state.queues.remove(&id) {
            state.retired.insert(id, queue.row.appended);
        }
        state.note(self.shared.key, &control::removed(id));
        drop(state);
        self.shared.work.notify_one();
        true
    }

    /// Waits until the disk has everything that was appended and done before. `false` when the disk refuses
    /// it or the log is closed.
    pub fn flush(&self) -> bool {
        let mut state = self.shared.lock();
        let target = state.next_seq;
        state.flush = true;
        self.shared.work.notify_one();
        while state.synced < target || state.flush {
            if state.trouble || state.closed {
                return false;
            }
            self.shared.progress.wait(&mut state);
        }
        true
    }

    /// Writes and syncs everything, cursors included, and ends the committing thread. Appending is refused
    /// from now on, reading goes on. What cannot be written now is said; its [`crate::Held`] values are told
    /// that it never is.
    pub fn close(&self) {
        let Some(thread) = self.thread.lock().take() else { return };
        let mut state = self.shared.lock();
        state.closed = true;
        state.flush = true;
        drop(state);
        self.shared.work.notify_one();
        if thread.join().is_err() {
            oplog::error("The thread of the store has failed", &[("dir", &self.shared.path)]);
        }
        self.shared.ahead.end();
        self.shared.files.release();
    }

    /// Has what is written looked after when it is not where the next start would look for it. To be called
    /// now and then: with nothing to write, nobody else would notice.
    pub fn look_after(&self) {
        let mut state = self.shared.lock();
        let open = state.segments.values().find(|segment| !segment.sealed);
        let open = open.map(|segment| (segment.name.clone(), segment.file.clone()));
        if state.closed {
            return;
        }
        drop(state);
        let file = open.as_ref().map(|(name, file)| (name.as_str(), &**file));
        if self.shared.files.is_in_place(file) {
            return;
        }
        state = self.shared.lock();
        // The committing thread looks at each group, an empty one too.
        state.flush = true;
        drop(state);
        self.shared.work.notify_one();
    }

    /// How much there is to make safe.
    pub fn load(&self) -> &Arc<Load> {
        &self.shared.load
    }

    pub fn stats(&self) -> Stats {
        let bytes_free = self.shared.files.bytes_free().unwrap_or(0);
        let state = self.shared.lock();
        let mut stats = state.stats.clone();
        stats.segments = state.segments.len();
        stats.bytes_on_disk = state.segments.values().map(|segment| segment.length).sum::<u64>()
            + stats.segments_free as u64 * self.shared.segment_bytes;
        stats.bytes_free = bytes_free;
        stats.bytes_pending += state.pending.bytes() as u64;
        stats
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.close();
    }
}

#[cfg(test)]
mod tests;
