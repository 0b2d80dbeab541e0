//! The Python of a configuration: its blocks, where its modules are, and the processes that run it.

use super::objects::Objects;
use crate::environment::Environment;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, SourceMap};
use python::{Block, Pool, Script};
use std::cell::OnceCell;
use std::sync::Arc;

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
        let usual = Script::beside(objects.folder.as_deref(), Environment::All.variables());
        let cores = || std::thread::available_parallelism().map_or(2, usize::from);
        let asked = globals.int("python-workers").and_then(|count| usize::try_from(count).ok());
        let program = Script {
            blocks: objects.python.iter().map(block).collect(),
            processes: asked.unwrap_or_else(cores),
            bound: globals.seconds("python-timeout").unwrap_or(usual.bound),
            memory_max: globals.size("python-memory").unwrap_or(usual.memory_max),
            ..usual
        };
        python::judge_with(template::python::judge);
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
