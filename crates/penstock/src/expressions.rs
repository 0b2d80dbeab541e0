//! `penstock filterx`: expressions and blocks tried on one message, given as arguments, line by line, or at a
//! prompt.

mod answer;
mod prompt;
mod session;

use crate::{EXIT_CONFIG, EXIT_USAGE};
use answer::Answer;
use control::cli::FilterxArgs;
use prompt::Prompt;
use session::Session;
use std::io::{BufRead, IsTerminal, stdin, stdout};
use std::process::ExitCode;

/// Bytes of a text on standard input.
const TEXT_BYTES_MAX: usize = 1 << 20;

const HELP: &str = "\
An expression shows its value; a statement does what it does in a block, and what it sets stays.
  :message TEXT     another message, as with --message
  :set NAME=VALUE   a value of the message, a string
  :show             the values of the message
  :reset            the first message again, and no variables
  :quit             the end, as Ctrl-D";

pub fn run(args: &FilterxArgs) -> ExitCode {
    let session = match Session::new(args.message.as_deref(), &args.values) {
        Ok(session) => session,
        Err(why) => {
            stdio::err!("{why}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    let mut trial = Trial { session, json: args.json, all_is_well: true };
    if !args.expressions.is_empty() {
        args.expressions.iter().for_each(|text| trial.text(text));
    } else if stdin().is_terminal() && stdout().is_terminal() {
        trial.prompt();
    } else if let Err(why) = trial.lines() {
        stdio::err!("{why}");
        return ExitCode::from(EXIT_CONFIG);
    }
    if trial.all_is_well { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) }
}

struct Trial {
    session: Session,
    json: bool,
    all_is_well: bool,
}

impl Trial {
    /// Tries a text and prints what became of it.
    fn text(&mut self, text: &str) {
        let answer = self.session.run(text);
        self.all_is_well &= answer.is_value();
        self.print(&answer);
    }

    fn print(&self, answer: &Answer) {
        match (self.json, answer.is_value()) {
            (true, _) => stdio::out!("{}", answer.json()),
            (false, true) => stdio::out!("{}", answer.text()),
            (false, false) => stdio::err!("{}", answer.text()),
        }
    }

    /// Standard input that nobody types.
    fn lines(&mut self) -> Result<(), String> {
        let mut lines = stdin().lock();
        let mut text = String::new();
        loop {
            let before = text.len();
            let count = lines.read_line(&mut text).map_err(|e| format!("cannot read standard input: {e}"))?;
            if text.len() > TEXT_BYTES_MAX {
                return Err(format!("a text has more than {TEXT_BYTES_MAX} bytes"));
            }
            if count > 0 && !text.get(before..).unwrap_or_default().trim().is_empty() && is_open(&text) {
                continue;
            }
            if !text.trim().is_empty() && !self.entered(&text) {
                return Ok(());
            }
            text.clear();
            if count == 0 {
                return Ok(());
            }
        }
    }

    fn prompt(&mut self) {
        let mut prompt = match Prompt::open() {
            Ok(prompt) => prompt,
            Err(error) => return stdio::err!("cannot read from this terminal: {error}"),
        };
        stdio::out!("FilterX: an expression or statements, :help for more, Ctrl-D to end.");
        while let Some(text) = prompt.entered() {
            if !text.trim().is_empty() && !self.entered(&text) {
                return;
            }
        }
    }

    /// Does what was entered; whether more is to be read.
    fn entered(&mut self, text: &str) -> bool {
        let Some(command) = text.trim().strip_prefix(':') else {
            self.text(text);
            return true;
        };
        let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
        let done = match name {
            "quit" | "q" => return false,
            "help" => {
                stdio::out!("{HELP}");
                Ok(())
            }
            "show" => {
                stdio::out_text!("{}", self.session.values());
                Ok(())
            }
            "reset" => self.session.reset(),
            "message" => self.session.message(rest),
            "set" => self.session.set(rest),
            _ => Err(format!("there is no command :{name}; :help names them")),
        };
        if let Err(why) = done {
            self.all_is_well = false;
            stdio::err!("{why}");
        }
        true
    }
}

/// Whether more is to come: a bracket or a quote is open. Commands end with their line.
fn is_open(text: &str) -> bool {
    !text.trim_start().starts_with(':') && filterx::grammar::is_open(text)
}
