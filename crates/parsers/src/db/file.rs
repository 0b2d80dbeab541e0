//! The file of a database: read again when it changes, off the message path.

use super::compiled::Compiled;
use crate::watched::{Stamp, Watch, Watched};
use parking_lot::{Mutex, RwLock};
use record::Demand;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use template::TemplateOptions;

const WATCH: Watch = Watch {
    thread: "db-parser",
    every: Duration::from_secs(5),
    failure: "Pattern databases are not looked after",
};

pub struct DatabaseFile {
    path: Box<str>,
    prefix: Box<str>,
    options: TemplateOptions,
    /// Taken once per batch.
    current: RwLock<Arc<Compiled>>,
    /// What the configuration was compiled for: a new database cannot ask for more.
    compiled_for: Terms,
    seen: Mutex<Option<Stamp>>,
    watching: Watched,
}

struct Terms {
    reads: Demand,
    is_stateful: bool,
    is_sharded: bool,
}

impl DatabaseFile {
    pub fn new(path: &str, prefix: &str, options: TemplateOptions, compiled: Compiled) -> DatabaseFile {
        let compiled_for = Terms {
            reads: compiled.reads.clone(),
            is_stateful: compiled.is_stateful,
            is_sharded: compiled.is_sharded,
        };
        DatabaseFile {
            seen: Mutex::new(if compiled.is_absent { None } else { Stamp::of(Path::new(path)) }),
            path: path.into(),
            prefix: prefix.into(),
            options,
            current: RwLock::new(Arc::new(compiled)),
            compiled_for,
            watching: Watched::default(),
        }
    }

    /// A file that nobody looks after.
    pub fn fixed(path: &str, options: TemplateOptions, compiled: Compiled) -> DatabaseFile {
        let file = DatabaseFile::new(path, "", options, compiled);
        file.watching.never();
        file
    }

    pub fn current(&self) -> Arc<Compiled> {
        Arc::clone(&self.current.read())
    }

    /// Begins to look after the file.
    pub fn watch(self: &Arc<Self>) {
        self.watching.begin(self, &WATCH, DatabaseFile::check);
    }

    /// Takes the file if it has changed.
    pub fn check(&self) {
        let stamp = Stamp::of(Path::new(&*self.path));
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
