//! `penstock slogkey`, `slogencrypt` and `slogverify`, also called under these names: keys, entries and the
//! opening of sealed logs. They take the command lines of syslog-ng's tools.

pub mod slogencrypt;
pub mod slogkey;
pub mod slogverify;

use clap::Parser;
use slog::Error;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::ExitCode;
use stdio::CommandError;

/// A longer line is no entry of anything that was received.
const LINE_BYTES_MAX: u64 = 1 << 30;
/// What the tools take for their number of buffers. Nothing depends on it here, lines are taken one by one.
const BUFFERS: std::ops::RangeInclusive<u64> = 10..=4_294_967_295;

/// A tool's command line, whose first word is the program's name, and its work.
fn run<A: Parser>(
    tool: &str,
    args: Vec<OsString>,
    work: impl FnOnce(&A) -> Result<ExitCode, CommandError>,
) -> ExitCode {
    let args = match A::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => return crate::usage(&error),
    };
    work(&args).unwrap_or_else(|error| error.at(tool).report())
}

/// A release of syslog-ng or AxoSyslog, for what its programs open.
fn compat(release: &str) -> Result<slog::Scheme, String> {
    match release {
        "3.38" => Ok(slog::Scheme::Blocks),
        "4.27" => Ok(slog::Scheme::Expanded),
        _ => Err("it is 3.38 or 4.27".to_owned()),
    }
}

fn told(error: Error) -> String {
    format!("{error}\n  {}", error.help())
}

fn file(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// The number of buffers has to be a number, as in the other tools.
fn buffers(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| BUFFERS.contains(number));
    number.ok_or_else(|| format!("a number from {} to {}", BUFFERS.start(), BUFFERS.end()))
}

/// A file's lines without their ends. The last one needs no end.
struct Lines {
    input: BufReader<std::fs::File>,
    line: Vec<u8>,
}

impl Lines {
    fn of(path: &Path) -> Result<Lines, CommandError> {
        let input = std::fs::File::open(path).map_err(|e| file(path, &e))?;
        Ok(Lines { input: BufReader::with_capacity(1 << 16, input), line: Vec::new() })
    }

    fn next(&mut self) -> std::io::Result<Option<&[u8]>> {
        self.line.clear();
        let count = self.input.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut self.line)?;
        if count as u64 == LINE_BYTES_MAX {
            return Err(std::io::Error::other("a line has more than a gigabyte"));
        }
        if count == 0 {
            return Ok(None);
        }
        Ok(Some(self.line.strip_suffix(b"\n").unwrap_or(&self.line)))
    }
}

#[cfg(test)]
mod tests;
