//! `penstock profile`: where the time of the running program goes, by step and destination, what it waits
//! for, and what limits it, in one sentence.
//!
//! A hundred and fifty times a second a thread looks what each worker does; nothing is interrupted. How
//! much processor time that is, and how much a thread waited for a processor, comes from the kernel.

mod causes;
mod report;
mod sampler;
mod threads;
mod verdict;

pub use sampler::run as sample;

use control::cli::ProfileArgs;
use control::client::ask;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use stdio::CommandError;

/// Given to the program beyond the time for which it looks.
const ANSWER_MAX: Duration = Duration::from_secs(30);

pub fn run(args: &ProfileArgs) -> ExitCode {
    let answer = args.running.socket().and_then(|socket| profile(&socket, args.seconds));
    let shown = answer.and_then(|text| if args.json { Ok(text) } else { report::text(&text) });
    stdio::finish(shown.map(|text| {
        crate::printing::print(&text);
        true
    }))
}

/// A profile of so many seconds, for people.
pub fn text_of(socket: &Path, seconds: u64) -> Result<String, CommandError> {
    report::text(&profile(socket, seconds)?)
}

fn profile(socket: &Path, seconds: u64) -> Result<String, CommandError> {
    ask(socket, &format!("PROFILE {seconds}"), Duration::from_secs(seconds) + ANSWER_MAX)
}
