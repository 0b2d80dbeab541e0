//! systemd's journal: over kills, with a file that is damaged, and where nothing runs systemd.

use crate::messages::HEAD;
use std::collections::HashSet;
use testkit::{Lab, Penstock, Signal, root};

fn place(lab: &Lab, name: &str) {
    let packed =
        std::fs::read(root().join(format!("crates/journal/tests/files/{name}.journal.zst"))).expect("a file");
    let size = zstd_safe::get_frame_content_size(&packed).expect("a frame").expect("its size");
    let mut bytes = Vec::with_capacity(size as usize);
    zstd_safe::decompress(&mut bytes, &packed).expect("unpacked");
    std::fs::create_dir_all(lab.path("journal")).expect("folder");
    std::fs::write(lab.path("made"), bytes).expect("written");
    std::fs::rename(lab.path("made"), lab.path(&format!("journal/{name}.journal"))).expect("renamed");
}

fn config() -> String {
    format!(
        "{HEAD}source s {{ systemd-journal(directory(\"%dir%/journal\")); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"${{UNIXTIME}}.${{USEC}} ${{PROGRAM}} $(length ${{MESSAGE}})\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

#[test]
fn read_on_behind_what_was_delivered_after_a_kill() {
    let lab = Lab::new();
    place(&lab, "compact");
    std::fs::write(lab.path("journal/broken.journal"), [b'x'; 4096]).expect("written");
    let mut penstock = Penstock::start(&lab, &config());
    penstock.wait_settled(120).assert_nothing_lost();
    penstock.wait_log("it is no journal file");
    penstock.signal(Signal::KILL);
    penstock.wait_end();
    place(&lab, "odd");
    let mut penstock = Penstock::start(&lab, &config());
    penstock.wait_settled(15).assert_nothing_lost();
    penstock.stop();
    let lines = lab.lines("out");
    assert_eq!(lines.len(), 135);
    assert_eq!(lines.iter().collect::<HashSet<_>>().len(), 135, "one is repeated");
}

/// The event is there afterwards, as far as it can be read.
#[test]
fn what_is_left_of_a_damaged_entry_can_be_looked_at() {
    let lab = Lab::new();
    place(&lab, "compact");
    let path = lab.path("journal/compact.journal");
    let mut bytes = std::fs::read(&path).expect("a file");
    // The head of the value's object, 72 bytes in front of it, says what it is: 1, a value.
    let text = bytes.windows(8).rposition(|window| window == b"MESSAGE=").expect("a message");
    assert_eq!(bytes[text - 72], 1);
    bytes[text - 72] = 9;
    std::fs::write(&path, bytes).expect("written");
    let mut penstock = Penstock::start(&lab, &config());
    let ledger = penstock.wait_settled(120);
    let dropped = ledger.dropped_for("framing");
    assert!(dropped >= 1, "{ledger}");
    let state = lab.path("state").display().to_string();
    let outcome =
        testkit::run_command(&["tap", "--state-dir", &state, "--dropped", "framing", "--past", "--json"]);
    assert_eq!(outcome.stdout.lines().count() as u64, dropped, "{outcome:?}");
    assert!(outcome.stdout.contains("PRIORITY=") && !outcome.stdout.contains("\\nMESSAGE="), "{outcome:?}");
    penstock.stop();
}

#[test]
fn system_is_what_this_machine_has() {
    let lab = Lab::new();
    std::fs::write(
        lab.path("conf"),
        "@version: 4.11\nsource s { system(); internal(); };\nlog { source(s); };\n",
    )
    .expect("written");
    let outcome = testkit::run_command(&["check", &lab.path("conf").display().to_string()]);
    assert_eq!(outcome.code, Some(0), "{}{}", outcome.stdout, outcome.stderr);
}
