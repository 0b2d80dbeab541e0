//! Files that are read again when they change, off the message path.

use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Tells two versions of a file apart.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    modified: (i64, i64),
    size: u64,
    inode: u64,
}

impl Stamp {
    /// `None` for a file that is not there.
    pub fn of(path: &Path) -> Option<Stamp> {
        let of =
            |m: Metadata| Stamp { modified: (m.mtime(), m.mtime_nsec()), size: m.size(), inode: m.ino() };
        std::fs::metadata(path).ok().map(of)
    }
}

/// Whether a file is looked after.
#[derive(Default)]
pub struct Watched(OnceLock<()>);

/// How that is done, and what is said where there is no thread for it.
pub struct Watch {
    pub thread: &'static str,
    pub every: Duration,
    pub failure: &'static str,
}

impl Watched {
    /// Nobody is to look after it.
    pub fn never(&self) {
        self.0.get_or_init(|| ());
    }

    /// Begins to ask `check` now and then, on a thread that ends with the file. To be called at the first
    /// message: a configuration that is only checked starts no thread.
    pub fn begin<F: Send + Sync + 'static>(&self, file: &Arc<F>, watch: &Watch, check: fn(&F)) {
        self.0.get_or_init(|| {
            let (file, every) = (Arc::downgrade(file), watch.every);
            let run = move || {
                loop {
                    std::thread::sleep(every);
                    let Some(file) = file.upgrade() else { return };
                    check(&file);
                }
            };
            if let Err(error) = std::thread::Builder::new().name(watch.thread.to_owned()).spawn(run) {
                oplog::error(watch.failure, &[("error", &error)]);
            }
        });
    }
}
