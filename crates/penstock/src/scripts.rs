//! Runs the python blocks of a configuration while it is read: they may define calls that stand for text.

use crate::components::registry;
use conf_schema::Context;
use conf_syntax::{NewScripts, ScriptBlock, Scripts, same_keyword};
use engine::Environment;
use python::{Block, Generators, Script};
use std::path::Path;
use std::sync::Arc;

/// What may be called in a statement's body beside drivers, parsers and operations.
const WORDS: [&str; 12] = [
    "if",
    "elif",
    "else",
    "channel",
    "junction",
    "log",
    "source",
    "destination",
    "filter",
    "parser",
    "rewrite",
    "flags",
];

/// For the configuration of a folder.
pub fn scripts(folder: &Path) -> NewScripts {
    let folder = folder.to_path_buf();
    NewScripts(Arc::new(move || {
        Box::new(Python(Generators::new(Script::beside(Some(&folder), Environment::All.variables()))))
    }))
}

struct Python(Generators);

impl Scripts for Python {
    fn knows(&self, context: &str, name: &str) -> bool {
        let catalogue = registry().catalogue;
        let has = |context: Context| {
            catalogue.find(context, name).is_some()
                || catalogue.unavailable.iter().any(|u| u.context == context && same_keyword(u.name, name))
        };
        let is_known = match context {
            "source" => has(Context::Source),
            "destination" => has(Context::Destination),
            "parser" => has(Context::Parser),
            "rewrite" => rewrite::OPERATIONS.iter().any(|known| same_keyword(known.name, name)),
            _ => false,
        };
        is_known || WORDS.contains(&name)
    }

    fn run(&mut self, block: &ScriptBlock) -> Result<Vec<(String, String)>, String> {
        let block = Block { file: block.file.clone(), line: block.line, text: block.text.clone() };
        self.0.run(&block).map_err(|fault| fault.to_string())
    }

    fn generate(
        &mut self,
        context: &str,
        name: &str,
        arguments: &[(String, String)],
    ) -> Result<String, String> {
        self.0.generate(context, name, arguments).map_err(|fault| fault.to_string())
    }
}
