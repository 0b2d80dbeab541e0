//! `penstock convert`: a configuration of rsyslog written in the language of syslog-ng, as far as it says the
//! same. What it cannot say is listed, never guessed.

mod actions;
mod conditions;
mod directives;
mod inputs;
mod known;
mod output;
mod reader;
mod selectors;
mod statements;
mod templates;
mod written;

use crate::{EXIT_CONFIG, printing};
use control::cli::ConvertArgs;
use serde_json::{Value, json};
use statements::Converter;
use std::fmt;
use std::process::ExitCode;
use stdio::CommandError;

/// Of the JSON; grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

/// What was read, and what is not converted of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// `/etc/rsyslog.conf:12`
    pub at: String,
    /// The text, in one line.
    pub text: String,
    pub why: NoCounterpart,
}

/// Why something of rsyslog is not converted: nothing here does the same, or it is not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCounterpart(String);

impl From<String> for NoCounterpart {
    fn from(why: String) -> NoCounterpart {
        NoCounterpart(why)
    }
}

impl From<&str> for NoCounterpart {
    fn from(why: &str) -> NoCounterpart {
        NoCounterpart(why.to_owned())
    }
}

impl fmt::Display for NoCounterpart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

pub fn run(args: &ConvertArgs) -> ExitCode {
    let same = |path: &std::path::Path| std::fs::canonicalize(path).ok();
    if let Some(output) = args.output.as_deref().filter(|output| same(output) == same(&args.config))
        && output.exists()
    {
        let text = format!("{} is what is converted: name another file", output.display());
        return CommandError::usage(text).report();
    }
    let mut converter = Converter::default();
    if let Err(error) = converter.file(&args.config) {
        return error.report();
    }
    let (text, left) = output::render(converter, &args.config.display().to_string());
    match args.json {
        true => {
            let list: Vec<Value> = left
                .iter()
                .map(|Left { at, text, why }| json!({ "at": at, "text": text, "why": why.to_string() }))
                .collect();
            let report = json!({ "version": VERSION, "configuration": text, "not_converted": list });
            printing::print(&format!("{report:#}\n"));
        }
        false => {
            for Left { at, text, why } in &left {
                stdio::err!("{at}: not converted: {text} ({why})");
            }
        }
    }
    match &args.output {
        None if args.json => {}
        None => {
            printing::print(&text);
        }
        Some(path) => {
            if let Err(error) = std::fs::write(path, &text) {
                return CommandError::usage(format!("cannot write {}: {error}", path.display())).report();
            }
        }
    }
    if left.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) }
}

#[cfg(test)]
mod tests;
