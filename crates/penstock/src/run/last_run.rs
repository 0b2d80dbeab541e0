//! What a run has left at its stop, written beside the state for `penstock ledger --last-run`.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use control::last_run::{LastRun, Rest};
use engine::LeftBehind;

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// A run begins.
pub fn begin(state_dir: &Path) {
    if let Err(error) = LastRun::begin(state_dir, now()) {
        oplog::warning("Cannot note that a run begins", &[("error", &error)]);
    }
}

/// The run has come to its stop.
pub fn note(state_dir: &Path, left: &[LeftBehind]) {
    write(state_dir, &LastRun { ended: now(), rests: rests(left), began: Vec::new() });
}

/// The process whose place another one has taken has ended: it is said when something was left all the same.
pub fn note_late(state_dir: &Path, left: &[LeftBehind]) {
    if !left.is_empty() {
        let began = LastRun::read(state_dir).ok().flatten().map(|run| run.began).unwrap_or_default();
        write(state_dir, &LastRun { ended: now(), rests: rests(left), began });
    }
}

fn write(state_dir: &Path, run: &LastRun) {
    if let Err(error) = run.write(state_dir) {
        oplog::error("Cannot note what was left at the stop", &[("error", &error)]);
    }
}

fn rests(left: &[LeftBehind]) -> Vec<Rest> {
    let rest = |left: &LeftBehind| Rest {
        destination: left.destination.clone(),
        kept: left.kept,
        given_up: left.given_up.messages as u64,
        oldest_seconds: left.given_up.oldest.map_or(0, |came| came.elapsed().as_secs()),
        reason: if left.given_up.messages > 0 { left.given_up.why.clone() } else { String::new() },
    };
    left.iter().map(rest).collect()
}
