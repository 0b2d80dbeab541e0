//! What commands print: to standard output and standard error, which may be a closed pipe or a full disk at
//! any moment.
//!
//! The macros of the standard library panic then. These do not: nobody is left to tell when standard error
//! fails, and a closed pipe behind standard output (`| head`) is what somebody wanted. Any other failure of
//! standard output is kept for [`end`], which makes it the outcome of the command.

mod command;

pub use command::{CommandError, EXIT_FAILED, EXIT_USAGE, finish};

use std::fmt::Arguments;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;

/// The exit code of a command whose standard output cannot be written.
pub const EXIT_CANNOT_WRITE: u8 = 1;

/// The first failure of standard output that counts.
static FAILED: Mutex<Option<io::Error>> = Mutex::new(None);

/// A line on standard output.
#[macro_export]
macro_rules! out {
    ($($text:tt)*) => { $crate::write_out(format_args!("{}\n", format_args!($($text)*))) };
}

/// Text on standard output, without the end of a line.
#[macro_export]
macro_rules! out_text {
    ($($text:tt)*) => { $crate::write_out(format_args!($($text)*)) };
}

/// A line on standard error.
#[macro_export]
macro_rules! err {
    ($($text:tt)*) => { $crate::write_err(format_args!("{}\n", format_args!($($text)*))) };
}

/// Text on standard error, without the end of a line.
#[macro_export]
macro_rules! err_text {
    ($($text:tt)*) => { $crate::write_err(format_args!($($text)*)) };
}

/// What the macros for standard output do.
pub fn write_out(text: Arguments<'_>) {
    note(io::stdout().lock().write_fmt(text));
}

/// What the macros for standard error do.
pub fn write_err(text: Arguments<'_>) {
    // Nobody is left to tell.
    let _ = io::stderr().lock().write_fmt(text);
}

/// Whether the environment asks for no colours: NO_COLOR is set, and not empty.
pub fn is_colourless() -> bool {
    std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
}

/// Keeps a failure of standard output for the end, unless nobody reads any more.
pub fn note(outcome: io::Result<()>) {
    if let Err(error) = outcome
        && error.kind() != io::ErrorKind::BrokenPipe
        && let Ok(mut failed) = FAILED.lock()
    {
        failed.get_or_insert(error);
    }
}

/// The end of a command: `code`, or that its output could not be written, which is said on standard error.
pub fn end(code: ExitCode) -> ExitCode {
    note(io::stdout().lock().flush());
    match FAILED.lock().ok().and_then(|mut failed| failed.take()) {
        Some(error) => {
            err!("cannot write to standard output: {error}");
            ExitCode::from(EXIT_CANNOT_WRITE)
        }
        None => code,
    }
}

/// A count as people say it: `counted(1, "message waits", "messages wait")`.
pub fn counted(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_would_have_read_is_a_failure() {
        note(Err(io::ErrorKind::BrokenPipe.into()));
        assert_eq!(end(ExitCode::SUCCESS), ExitCode::SUCCESS);
        note(Err(io::ErrorKind::StorageFull.into()));
        note(Ok(()));
        assert_eq!(end(ExitCode::SUCCESS), ExitCode::from(EXIT_CANNOT_WRITE));
        assert_eq!(end(ExitCode::SUCCESS), ExitCode::SUCCESS);
    }

    #[test]
    fn one_is_one() {
        let said = [0, 1, 2].map(|count| counted(count, "message waits", "messages wait"));
        assert_eq!(said, ["0 messages wait", "1 message waits", "2 messages wait"]);
    }
}
