//! How a command ends: what it says when it cannot do what it was asked, and its exit code.

use std::fmt;
use std::process::ExitCode;

/// The exit code of a command that could not do what it was asked, or whose answer is no.
pub const EXIT_FAILED: u8 = 1;
/// The exit code of a command that was asked wrongly.
pub const EXIT_USAGE: u8 = 2;

/// Why a command has not done what it was asked, in words for whoever has called it, and the exit code that
/// says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandError {
    said: String,
    exit: u8,
}

impl CommandError {
    /// It could not be done: exit code 1.
    pub fn failed(said: impl Into<String>) -> CommandError {
        CommandError { said: said.into(), exit: EXIT_FAILED }
    }

    /// It was asked wrongly, or cannot be asked here: exit code 2.
    pub fn usage(said: impl Into<String>) -> CommandError {
        CommandError { said: said.into(), exit: EXIT_USAGE }
    }

    /// The same words with the exit code of wrong usage, in commands where 1 is an answer.
    #[must_use]
    pub fn as_usage(self) -> CommandError {
        CommandError { exit: EXIT_USAGE, ..self }
    }

    /// The same with what it is about in front.
    #[must_use]
    pub fn at(self, place: impl fmt::Display) -> CommandError {
        CommandError { said: format!("{place}: {}", self.said), ..self }
    }

    pub fn said(&self) -> &str {
        &self.said
    }

    /// Says it on standard error; the exit code.
    pub fn report(&self) -> ExitCode {
        crate::err!("{}", self.said.trim_end());
        ExitCode::from(self.exit)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for CommandError {}

impl From<String> for CommandError {
    fn from(said: String) -> CommandError {
        CommandError::failed(said)
    }
}

impl From<&str> for CommandError {
    fn from(said: &str) -> CommandError {
        CommandError::failed(said)
    }
}

/// The end of a command: whether all is well, or why it could not be done.
pub fn finish(done: Result<bool, CommandError>) -> ExitCode {
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(EXIT_FAILED),
        Err(error) => error.report(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_says_how_it_ended() {
        assert_eq!(finish(Ok(true)), ExitCode::SUCCESS);
        assert_eq!(finish(Ok(false)), ExitCode::from(EXIT_FAILED));
        assert_eq!(finish(Err("no such file".into())), ExitCode::from(EXIT_FAILED));
        assert_eq!(finish(Err(CommandError::usage("which file?"))), ExitCode::from(EXIT_USAGE));
        let error = CommandError::failed("no such file");
        assert_eq!(finish(Err(error.clone().as_usage())), ExitCode::from(EXIT_USAGE));
        assert_eq!(error.at("a.log").said(), "a.log: no such file");
    }
}
