//! `penstock ledger`: what became of every message, and whether it adds up.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;

use super::{CONTROL_FILE_NAME, Running, STATE_FILE_NAME, print, usage_exit};
use crate::client::{ANSWER_MAX, ask, request};
use crate::last_run::LastRun;
use crate::ledger::Ledger;
use stdio::CommandError;

/// Shows what became of every message: received, delivered, waiting, filtered, dropped with the reason.
#[derive(Debug, Parser)]
#[command(
    name = "penstock ledger",
    disable_version_flag = true,
    after_help = "\
Examples:
  penstock ledger
  penstock ledger --state-dir /var/lib/penstock-edge --json
  penstock ledger --last-run

Exit code: 0 every message is accounted for, 1 the balance does not add up, 2 no answer. With --last-run: 0 nothing was given up,
1 something was, 2 it is not known."
)]
struct Args {
    #[command(flatten)]
    running: Running,
    /// Show what the last run has left at its stop: what it kept on disk, and what it gave up. Needs no
    /// program that runs
    #[arg(long)]
    last_run: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Shows what is noted in the state folder. Whether nothing was given up.
fn show_last_run(running: &Running, json: bool) -> Result<bool, CommandError> {
    let folder = running.folder()?;
    let run = LastRun::read(&folder)?;
    let run = run.ok_or_else(|| format!("no run has noted anything in {}", folder.display()))?;
    let socket = running.control.clone().unwrap_or_else(|| folder.join(CONTROL_FILE_NAME));
    let runs = request(&socket, "HEALTHCHECK", Some(ANSWER_MAX)).is_ok() || has_lock(&folder);
    print(&if json { run.to_json(runs) } else { run.to_table(runs) });
    Ok(run.given_up() == 0)
}

/// Whether a program has the state folder: one that has its control socket elsewhere, say. The kernel drops
/// the lock with the process.
fn has_lock(folder: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::open(folder.join(STATE_FILE_NAME), flags, Mode::empty());
    file.is_ok_and(|file| flock(file, FlockOperation::NonBlockingLockShared) == Err(Errno::WOULDBLOCK))
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// Runs the command line, whose first argument is the program's name.
pub fn run_ledger(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args = match Args::try_parse_from(args) {
        Ok(args) => args,
        Err(error) => return usage_exit(&error, 2),
    };
    let shown = match args.last_run {
        true => show_last_run(&args.running, args.json),
        false => show(&args),
    };
    // 1 is an answer: it does not add up.
    stdio::finish(shown.map_err(CommandError::as_usage))
}

/// Whether what the running program has adds up.
fn show(args: &Args) -> Result<bool, CommandError> {
    let ledger = Ledger::from_json(&ask(&args.running.socket()?, "LEDGER JSON", ANSWER_MAX)?)?;
    print(&if args.json { ledger.to_json() } else { ledger.to_table() });
    Ok(ledger.balanced())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::ledger::{Flow, Row};
    use crate::server::{Server, ServerOptions};
    use crate::subject::fake::Fake;

    #[test]
    fn a_program_runs_that_has_the_lock() {
        let folder = tempfile::tempdir().expect("temporary folder");
        assert!(!has_lock(folder.path()));
        let file = std::fs::File::create(folder.path().join(STATE_FILE_NAME)).expect("file");
        assert!(!has_lock(folder.path()));
        flock(&file, FlockOperation::NonBlockingLockExclusive).expect("lock");
        assert!(has_lock(folder.path()));
        drop(file);
        assert!(!has_lock(folder.path()));
    }

    #[test]
    fn exit_codes_say_whether_it_adds_up() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let run = |folder: &Path| {
            let args = ["penstock ledger".into(), "--state-dir".into(), folder.into()] as [OsString; 3];
            format!("{:?}", run_ledger(args))
        };
        let [zero, one, two] = [0, 1, 2].map(|n| format!("{:?}", ExitCode::from(n)));
        let socket = folder.path().join(CONTROL_FILE_NAME);
        assert_eq!(run(folder.path()), two);

        let server = Server::start(ServerOptions::new(&socket), Arc::new(Fake::default())).expect("server");
        assert_eq!(run(folder.path()), zero);
        drop(server);

        let mut fake = Fake::default();
        let flow = Flow { received: 1, ..Flow::default() };
        fake.ledger.paths.push(Row { name: "log".into(), flow, ..Row::default() });
        let _server = Server::start(ServerOptions::new(&socket), Arc::new(fake)).expect("server");
        assert_eq!(run(folder.path()), one);
    }
}
