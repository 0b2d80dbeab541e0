//! The Python of a configuration: its blocks, where its modules are, and the processes that run it.

use super::objects::Objects;
use crate::environment::Environment;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, SourceMap};
use python::{Block, Pool, Script};
use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// `python-memory()`, unless it is given.
const MEMORY_MAX: u64 = 1 << 30;
/// Where modules are looked for, beside the folder of the configuration and PYTHONPATH.
const FOLDERS: [&str; 2] = ["/etc/syslog-ng/python", "/etc/syslog-ng/pylib"];

pub(super) struct Python {
    program: Script,
    pool: OnceCell<Arc<Pool>>,
}

impl Python {
    pub fn new(objects: &Objects<'_>, globals: &Settings, texts: &SourceMap) -> Python {
        let block = |block: &&conf_syntax::RawBlock| {
            let place = texts.locate(block.span);
            Block { file: place.file, line: place.line, text: block.text.clone() }
        };
        let beside = objects.folder.iter().map(|folder| folder.join("python"));
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        let asked = globals.int("python-workers").and_then(|count| usize::try_from(count).ok());
        let program = Script {
            blocks: objects.python.iter().map(block).collect(),
            processes: asked.unwrap_or_else(cores),
            bound: globals.seconds("python-timeout").unwrap_or(Duration::from_secs(60)),
            paths: beside.chain(FOLDERS.map(PathBuf::from)).collect(),
            environment: Environment::All.variables(),
            memory_max: globals.size("python-memory").unwrap_or(MEMORY_MAX),
            debug_level: match oplog::verbosity() {
                oplog::Verbosity::Trace => 2,
                oplog::Verbosity::Default => 0,
                _ => 1,
            },
        };
        Python { program, pool: OnceCell::new() }
    }

    pub fn pool(&self) -> Arc<Pool> {
        Arc::clone(self.pool.get_or_init(|| python::pool(self.program.clone())))
    }

    /// Runs the blocks, to see whether they can be.
    pub fn check(&self, objects: &Objects<'_>, diags: &mut Diagnostics) {
        if let Some(first) = objects.python.first()
            && let Err(fault) = self.pool().check()
        {
            let text = format!("the python blocks cannot be used: {}", fault.to_string().trim_end());
            diags.push(Diagnostic::error("E0124", text, first.span));
        }
    }
}
