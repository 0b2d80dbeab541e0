//! `penstock filterx`: expressions and blocks tried on one message, given as arguments, line by line, or at a
//! prompt.

mod answer;
mod prompt;
mod session;

use crate::EXIT_CONFIG;
use answer::Answer;
use control::cli::FilterxArgs;
use prompt::Prompt;
use session::Session;
use std::io::{BufRead, IsTerminal, Read, stdin, stdout};
use std::process::ExitCode;
use stdio::CommandError;

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
        Err(error) => return error.as_usage().report(),
    };
    let mut trial = Trial { session, json: args.json, all_is_well: true };
    let read = if !args.expressions.is_empty() {
        args.expressions.iter().for_each(|text| trial.text(text));
        Ok(())
    } else if stdin().is_terminal() && stdout().is_terminal() {
        trial.prompt()
    } else {
        trial.lines()
    };
    if let Err(why) = &read {
        stdio::err!("{why}");
    }
    if read.is_ok() && trial.all_is_well { ExitCode::SUCCESS } else { ExitCode::from(EXIT_CONFIG) }
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
    fn lines(&mut self) -> Result<(), CommandError> {
        let mut input = stdin().lock();
        let mut text = String::new();
        loop {
            let line = next_line(&mut input, TEXT_BYTES_MAX - text.len())?;
            text.push_str(&line);
            if !line.trim().is_empty() && is_open(&text) {
                continue;
            }
            if !text.trim().is_empty() && !self.entered(&text) || line.is_empty() {
                return Ok(());
            }
            text.clear();
        }
    }

    fn prompt(&mut self) -> Result<(), CommandError> {
        let mut prompt = Prompt::open()?;
        stdio::out!("FilterX: an expression or statements, :help for more, Ctrl-D to end.");
        while let Some(text) = prompt.entered()? {
            if !text.trim().is_empty() && !self.entered(&text) {
                break;
            }
        }
        Ok(())
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
            _ => Err(format!("there is no command :{name}; :help names them").into()),
        };
        if let Err(why) = done {
            self.all_is_well = false;
            stdio::err!("{why}");
        }
        true
    }
}

/// A line with its end, of so many bytes at most; nothing where there are no more.
fn next_line(input: &mut impl BufRead, room: usize) -> Result<String, CommandError> {
    let mut line = Vec::new();
    let read = input.take(room as u64 + 1).read_until(b'\n', &mut line);
    read.map_err(|error| format!("cannot read standard input: {error}"))?;
    if line.len() > room {
        return Err(format!("a text has more than {TEXT_BYTES_MAX} bytes").into());
    }
    Ok(String::from_utf8(line).map_err(|_| "standard input is not UTF-8".to_owned())?)
}

/// Whether more is to come: a bracket or a quote is open. Commands end with their line.
fn is_open(text: &str) -> bool {
    !text.trim_start().starts_with(':') && filterx::grammar::is_open(text)
}
