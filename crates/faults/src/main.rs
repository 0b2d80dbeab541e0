//! The fault bench: everything that can go wrong with a machine done to the real binary, over and over, and
//! every message accounted for.
//!
//! What is sent is acknowledged (RELP), kept on disk (`disk-buffer(reliable(yes))`) and passed on over TCP to
//! a receiver that knows the number of every message. See docs/faults.md.

mod cgroup;
mod estate;
mod kinds;
mod mount;
mod report;
mod source;
mod tally;
mod target;
mod tls;
mod trial;
mod world;

use clap::Parser;
use report::Outcome;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;

/// Runs faults against the real binary and prints what became of every message.
#[derive(Parser)]
struct Options {
    /// The long run: more rounds, more messages.
    #[arg(long)]
    long: bool,
    /// A few rounds of the faults that take little time, and no verdict on times: for a run beside other
    /// tests.
    #[arg(long, conflicts_with = "long")]
    short: bool,
    /// Only faults whose names contain this.
    #[arg(long)]
    only: Option<String>,
    /// So many rounds of each, instead of its own number.
    #[arg(long)]
    rounds: Option<usize>,
    /// Where random choices begin: the same seed makes the same choices.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// So many storms at the same time.
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// The binary to harm [default: PENSTOCK_BIN, or the one built here].
    #[arg(long, value_name = "PATH")]
    penstock: Option<PathBuf>,
    /// A binary of an earlier version, for the fault `upgrade`; scripts/earlier builds one.
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    if let Some(path) = &options.penstock {
        match path.canonicalize() {
            Ok(path) => testkit::use_binary(&path),
            Err(error) => {
                eprintln!("{}: {error}", path.display());
                return ExitCode::from(2);
            }
        }
    }
    report::head();
    let (mut passed, mut failed, mut skipped) = (0, 0, 0);
    for kind in kinds::ALL {
        if options.only.as_ref().is_some_and(|only| !kind.name.contains(only.as_str())) {
            continue;
        }
        let rounds = match (options.short, options.long) {
            (true, _) => kind.rounds[0],
            (_, false) => kind.rounds[1],
            (_, true) => kind.rounds[2],
        };
        let rounds = options.rounds.unwrap_or(rounds);
        if rounds == 0 {
            continue;
        }
        let plan = trial::Plan {
            rounds,
            seed: options.seed,
            jobs: options.jobs.max(1),
            long: options.long,
            short: options.short,
            from: options.from.clone(),
        };
        let ran = catch_unwind(AssertUnwindSafe(|| (kind.run)(&plan)));
        let outcome = ran.unwrap_or_else(|_| trial::Verdict::Ran {
            tally: tally::Tally::default(),
            restart_ms: 0,
            problems: vec!["the bench failed, see above".to_owned()],
            notes: Vec::new(),
        });
        match report::row(kind.name, &outcome) {
            Outcome::Passed => passed += 1,
            Outcome::Failed => failed += 1,
            Outcome::Skipped => skipped += 1,
        }
    }
    println!("{passed} passed, {failed} failed, {skipped} skipped");
    if failed > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
