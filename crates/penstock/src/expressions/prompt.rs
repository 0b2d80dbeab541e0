//! Lines typed at a terminal: edited, remembered, completed, and more than one where brackets are open.

use super::is_open;
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::MemHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use stdio::CommandError;

pub struct Prompt(Editor<Language, MemHistory>);

impl Prompt {
    pub fn open() -> Result<Prompt, CommandError> {
        let config = Config::builder().auto_add_history(true).build();
        let mut editor = Editor::with_history(config, MemHistory::new()).map_err(unreadable)?;
        editor.set_helper(Some(Language));
        Ok(Prompt(editor))
    }

    /// What is entered next; `None` at the end.
    pub fn entered(&mut self) -> Result<Option<String>, CommandError> {
        loop {
            match self.0.readline("> ") {
                Ok(text) => return Ok(Some(text)),
                // Ctrl-C gives the line up.
                Err(ReadlineError::Interrupted) => {}
                Err(ReadlineError::Eof) => return Ok(None),
                Err(error) => return Err(unreadable(error).into()),
            }
        }
    }
}

fn unreadable(error: ReadlineError) -> String {
    format!("cannot read from this terminal: {error}")
}

/// What the editor asks about the language.
struct Language;

impl Helper for Language {}
impl Highlighter for Language {}

impl Hinter for Language {
    type Hint = String;
}

impl Validator for Language {
    fn validate(&self, typed: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match is_open(typed.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Completer for Language {
    type Candidate = String;

    /// Names of functions.
    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let before = line.get(..at).unwrap_or_default();
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let word = before.trim_end_matches(is_part).len();
        let begun = before.get(word..).unwrap_or_default();
        if begun.is_empty() {
            return Ok((at, Vec::new()));
        }
        let fitting = filterx::functions().filter(|function| function.name.starts_with(begun));
        Ok((word, fitting.map(|function| format!("{}(", function.name)).collect()))
    }
}
