//! What commands print to standard output, and how they end when it cannot be written.

use std::io;
use std::process::ExitCode;

use stdio::CommandError;
use template::{NoScope, Template, TemplateOptions};

/// Prints a text. Whether it could be written is looked at when the command ends, see [`stdio::end`].
pub fn print(text: &str) -> ExitCode {
    stdio::out_text!("{text}");
    ExitCode::SUCCESS
}

/// A closed pipe behind us (`| head`) is no error.
pub fn written(outcome: io::Result<()>) -> Result<(), CommandError> {
    match outcome {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write: {error}").into())
        }
        _ => Ok(()),
    }
}

/// A template of the command line, with `\n` and the like in it.
pub fn template(text: &str) -> Result<Template, CommandError> {
    let made = Template::compile(&unescape(text), &TemplateOptions::default(), &NoScope);
    Ok(made.map_err(|error| format!("wrong template: {error}"))?)
}

fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match (c, if c == '\\' { rest.next() } else { None }) {
            ('\\', Some('n')) => out.push('\n'),
            ('\\', Some('t')) => out.push('\t'),
            ('\\', Some('r')) => out.push('\r'),
            ('\\', Some(other)) => out.push(other),
            (c, _) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_closed_pipe_is_no_error() {
        assert_eq!(written(Ok(())), Ok(()));
        assert_eq!(written(Err(io::ErrorKind::BrokenPipe.into())), Ok(()));
        assert!(
            written(Err(io::ErrorKind::StorageFull.into()))
                .is_err_and(|e| e.said().starts_with("cannot write"))
        );
    }
}
