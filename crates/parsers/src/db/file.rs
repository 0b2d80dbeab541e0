//! The file of a database: read again when it changes, off the message path.

use super::compiled::Compiled;
use parking_lot::{Mutex, RwLock};
use record::Demand;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use template::TemplateOptions;

/// Between two looks at a file.
const CHECK_EVERY: Duration = Duration::from_secs(5);

pub struct DatabaseFile {
    path: Box<str>,
    prefix: Box<str>,
    options: TemplateOptions,
    /// Taken once per batch.
    current: RwLock<Arc<Compiled>>,
    /// What the configuration was compiled for: a new database cannot ask for more.
    compiled_for: Terms,
    seen: Mutex<Option<Stamp>>,
    watching: OnceLock<()>,
}

struct Terms {
    reads: Demand,
    is_stateful: bool,
    is_sharded: bool,
}

/// Tells two versions of a file apart.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: (i64, i64),
    size: u64,
    inode: u64,
}

impl Stamp {
    fn of(path: &str) -> Option<Stamp> {
        let of =
            |m: Metadata| Stamp { modified: (m.mtime(), m.mtime_nsec()), size: m.size(), inode: m.ino() };
        std::fs::metadata(path).ok().map(of)
    }
}

impl DatabaseFile {
    pub fn new(path: &str, prefix: &str, options: TemplateOptions, compiled: Compiled) -> DatabaseFile {
        let compiled_for = Terms {
            reads: compiled.reads.clone(),
            is_stateful: compiled.is_stateful,
            is_sharded: compiled.is_sharded,
        };
        DatabaseFile {
            seen: Mutex::new(if compiled.is_absent { None } else { Stamp::of(path) }),
            path: path.into(),
            prefix: prefix.into(),
            options,
            current: RwLock::new(Arc::new(compiled)),
            compiled_for,
            watching: OnceLock::new(),
        }
    }

    /// A file that nobody looks after.
    pub fn fixed(path: &str, options: TemplateOptions, compiled: Compiled) -> DatabaseFile {
        let file = DatabaseFile::new(path, "", options, compiled);
        file.watching.get_or_init(|| ());
        file
    }

    pub fn current(&self) -> Arc<Compiled> {
        Arc::clone(&self.current.read())
    }

    /// Begins to look after the file, at the first message: a configuration that is only checked starts no
    /// thread.
    pub fn watch(self: &Arc<Self>) {
        self.watching.get_or_init(|| {
            let file = Arc::downgrade(self);
            let run = move || {
                loop {
                    std::thread::sleep(CHECK_EVERY);
                    let Some(file) = file.upgrade() else { return };
                    file.check();
                }
            };
            if let Err(error) = std::thread::Builder::new().name("db-parser".to_owned()).spawn(run) {
                oplog::error("Pattern databases are not looked after", &[("error", &error)]);
            }
        });
    }

    /// Takes the file if it has changed.
    pub fn check(&self) {
        let stamp = Stamp::of(&self.path);
        if stamp.is_none() || std::mem::replace(&mut *self.seen.lock(), stamp) == stamp {
            return;
        }
        match self.read() {
            Ok(compiled) => {
                let rules = compiled.rules.list.len();
                *self.current.write() = Arc::new(compiled);
                oplog::notice("Pattern database reloaded", &[("file", &self.path), ("rules", &rules)]);
            }
            Err(error) => {
                oplog::error(
                    "Error reloading pattern database, the one before is kept",
                    &[("file", &self.path), ("error", &error)],
                );
            }
        }
    }

    fn read(&self) -> Result<Compiled, String> {
        let bytes =
            regular::read(Path::new(&*self.path), filter::FILE_BYTES_MAX).map_err(|e| e.to_string())?;
        let (compiled, _) = Compiled::new(&self.path, &bytes, &self.prefix, &self.options)
            .map_err(|errors| errors.join("; "))?;
        let terms = &self.compiled_for;
        let more_state =
            compiled.is_stateful && !terms.is_stateful || terms.is_sharded && !compiled.is_sharded;
        if more_state {
            return Err(
                "it has contexts or actions of a kind it had not; reload the configuration".to_owned()
            );
        }
        let mut reads = terms.reads.clone();
        reads.merge(&compiled.reads);
        if reads != terms.reads {
            let new: Vec<&str> = compiled
                .reads
                .described()
                .into_iter()
                .filter(|name| !terms.reads.described().contains(name))
                .collect();
            return Err(format!(
                "its rules read what they did not before ({}); reload the configuration",
                new.join(", ")
            ));
        }
        Ok(compiled)
    }
}
