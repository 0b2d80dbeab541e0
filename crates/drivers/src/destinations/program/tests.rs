//! Programs that end, refuse to end, and are started again.

use super::*;
use delivery::single::MakeSink;
use delivery::testing::{Rig, numbered, wait_until};
use std::path::Path;

fn make(command: String) -> MakeSink {
    with_grace(command, Duration::from_secs(60))
}

fn with_grace(command: String, grace: Duration) -> MakeSink {
    let time_reopen = Duration::from_millis(10);
    let options = Arc::new(ProgramOptions { command, environment: Environment::Listed, time_reopen, grace });
    Box::new(move |place| Box::new(ProgramSink::new(place, Arc::clone(&options))))
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

#[test]
fn a_program_gets_everything_before_it_is_ended() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("out");
    let rig = Rig::new(make(format!("cat > {}", out.display())));
    let messages = numbered(0, 50_000);
    rig.send(&messages);
    wait_until("delivery", || rig.counters().delivered.value() == 50_000);
    rig.wait_balanced();
    drop(rig);
    assert_eq!(text(&out), messages.concat());
}

#[test]
fn a_program_that_ends_is_started_again() {
    let folder = tempfile::tempdir().expect("folder");
    let out = folder.path().join("out");
    let rig = Rig::new(make(format!("head -n 1 >> {}", out.display())));
    for n in 0..2 {
        wait_until("the start", || rig.counters().reconnects.value() == n);
        rig.send(&numbered(n as usize, n as usize + 1));
        wait_until("the line", || text(&out) == numbered(0, n as usize + 1).concat());
    }
}

#[test]
fn closing_leaves_nothing_of_the_process_group() {
    let folder = tempfile::tempdir().expect("folder");
    let pids = folder.path().join("pids");
    // Neither reads its input, and one is a child of the other.
    let command =
        format!("sleep 1000 & echo $! > {0}.new; echo $$ >> {0}.new; mv {0}.new {0}; wait", pids.display());
    let rig = Rig::new(with_grace(command, Duration::from_millis(50)));
    wait_until("the start", || text(&pids).lines().count() == 2);
    drop(rig);
    for pid in text(&pids).lines() {
        // A process that was killed but not yet taken note of by its parent is a zombie.
        wait_until("its end", || {
            let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
            status.is_empty() || status.contains("State:\tZ")
        });
    }
}

#[test]
fn a_program_that_cannot_go_on_reading_gets_the_message_again() {
    let folder = tempfile::tempdir().expect("folder");
    let (flag, out) = (folder.path().join("flag"), folder.path().join("out"));
    // The first one ends in the middle of the message, the second one takes it.
    let command =
        format!("if mkdir {}; then head -c 10 > /dev/null; else cat > {}; fi", flag.display(), out.display());
    let rig = Rig::new(make(command));
    let message = format!("{}\n", "x".repeat(1 << 20));
    rig.send(&[&message]);
    wait_until("delivery", || rig.counters().delivered.value() == 1);
    drop(rig);
    assert_eq!(text(&out).len(), message.len());
}
