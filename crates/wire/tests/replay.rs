//! Replays the seeds of the fuzz targets as an ordinary test: what fuzzing found once stays found.

#[path = "replay/invariants.rs"]
mod invariants;

use std::path::Path;

fn replay(target: &str, run: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut count = 0;
    for entry in entries {
        let path = entry.expect("a folder entry").path();
        println!("{}", path.display());
        run(&std::fs::read(&path).expect("a seed"));
        count += 1;
    }
    assert!(count > 0, "no seeds in {}", folder.display());
}

#[test]
fn framer() {
    replay("framer", invariants::framer);
}

#[test]
fn queue_file() {
    replay("queue_file", invariants::queue_file);
}

#[test]
fn rfc3164() {
    replay("rfc3164", invariants::rfc3164);
}

#[test]
fn rfc5424() {
    replay("rfc5424", invariants::rfc5424);
}

#[test]
fn proxy() {
    replay("proxy", invariants::proxy);
}

#[test]
fn relp() {
    replay("relp", invariants::relp);
}

#[test]
fn backtrace() {
    replay("backtrace", invariants::backtrace);
}

#[test]
fn rltp() {
    replay("rltp", invariants::rltp);
}

#[test]
fn json_parts() {
    replay("json_parts", invariants::json_parts);
}
