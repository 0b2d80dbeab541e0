//! What the commands of the benchmark that users call have in common.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;
use stdio::CommandError;

/// Reads the words behind a command's name and does its work, which says whether all is as it should be. Exit
/// codes: 0 when it is and for help, 1 when it is not or something stood in the way, 2 for words that are not
/// understood.
pub fn run<A: Parser>(
    name: &str,
    words: impl IntoIterator<Item = OsString>,
    work: impl FnOnce(&A) -> Result<bool, CommandError>,
) -> ExitCode {
    let args = match A::try_parse_from(std::iter::once(OsString::from(name)).chain(words)) {
        Ok(args) => args,
        Err(error) => {
            stdio::note(error.print());
            return if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    stdio::finish(work(&args).map_err(|error| error.at(name)))
}

/// Whether an aim is met, as the commands print it.
pub fn verdict(is_met: bool) -> &'static str {
    if is_met { "met" } else { "MISSED" }
}
