//! What earlier versions have put on disk, kept in `tests/kept/`: later ones read it.

use std::path::Path;
use std::process::Command;

use testkit::{Collector, Lab, Penstock, run_command};

/// Positions, a queue of 22 messages and 20 dead letters, written by version 0.1.
const OF_0_1: &str = "tests/kept/0.1-state-and-queues.tar.gz";
/// The options and the destination with the queue, as they were then.
const CONFIG: &str = "@version: 4.11\n\
    options { keep-hostname(yes); use-dns(no); dead-letters(yes); };\n\
    source s_in { network(ip(127.0.0.1) port(%tcp:in%)); };\n\
    destination d_disk { network(127.0.0.1 port(%port:disk%) persist-name(\"kept-disk\") template(\"$MSG\\n\")\n\
        disk-buffer(reliable(yes) capacity-bytes(4MiB))); };\n\
    destination d_gone { network(127.0.0.1 port(%port:gone%) persist-name(\"kept-gone\") template(\"$MSG\\n\")); };\n\
    log { source(s_in); destination(d_disk); destination(d_gone); flags(flow-control); };\n";

fn unpack(lab: &Lab, archive: &str) {
    let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join(archive);
    let done = Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(lab.dir()).status();
    assert!(done.expect("tar").success());
}

fn numbered(count: usize) -> Vec<String> {
    (1..=count).map(|number| format!("message number {number}")).collect()
}

#[test]
fn state_queues_and_dead_letters_of_0_1() {
    let lab = Lab::new();
    unpack(&lab, OF_0_1);
    let state = lab.path("state").display().to_string();
    let positions = run_command(&["state", "--state-dir", &state, "dump"]).stdout;
    assert!(positions.contains("affile_sd_curpos(/tmp/kept/in.log)"), "{positions}");
    let (disk, gone) = (Collector::tcp(lab.port("disk")), Collector::tcp(lab.port("gone")));
    let penstock = Penstock::start(&lab, CONFIG);
    // Two lines of a file waited among them.
    let mut waited = disk.wait_lines(22);
    waited.retain(|line| line.starts_with("message"));
    assert_eq!(waited, numbered(20));
    let shown = run_command(&["queue", "--state-dir", &state, "cat", "dead-letters", "--json"]).stdout;
    assert_eq!(shown.lines().count(), 20, "{shown}");
    let said = run_command(&["queue", "--state-dir", &state, "replay", "dead-letters"]);
    assert_eq!(gone.wait_lines(20), numbered(20), "{said:?}");
    penstock.stop();
}
