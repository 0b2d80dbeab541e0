//! What earlier versions have put on disk, kept in `tests/kept/`: later ones read it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Command;

use testkit::{Collector, Lab, Penstock, run_command, wait_until};

/// Positions, a queue of 22 messages and 20 dead letters, written by version 0.1.
const OF_0_1: &str = "tests/kept/0.1-state-and-queues.tar.gz";
/// What a sender of `transport(rltp)` of version 0.1 says: hello, the start of run 9, a batch of three
/// messages of which one is empty, a ping, a batch without messages.
const SENDER_OF_0_1: &[u8] = include_bytes!("../kept/0.1-rltp-sender");
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

/// Sent by hand, since the sender of today may say more.
#[test]
fn an_rltp_stream_of_0_1() {
    let lab = Lab::new();
    let penstock = Penstock::start(
        &lab,
        "@version: 4.11\n\
         source s_in { network(ip(127.0.0.1) port(%tcp:in%) transport(rltp)); };\n\
         destination d { file(\"%dir%/out\" template(\"$PROGRAM|$MSG\\n\")); };\n\
         log { source(s_in); destination(d); flags(flow-control); };\n",
    );
    let mut sender = TcpStream::connect(("127.0.0.1", lab.port("in"))).expect("a connection");
    sender.write_all(SENDER_OF_0_1).expect("sent");
    // The same first words, then frames, the last of which acknowledges batch 2.
    let acknowledged = b"\x03\0\0\0\x08\0\0\0\x02\0\0\0\0\0\0\0";
    let mut answer = Vec::new();
    while !answer.ends_with(acknowledged) {
        let mut bytes = [0; 4096];
        let count = sender.read(&mut bytes).expect("an answer");
        assert_ne!(count, 0, "the connection is closed after {answer:?}");
        answer.extend_from_slice(&bytes[..count]);
    }
    assert_eq!(answer[..8], SENDER_OF_0_1[..8]);
    wait_until("the messages", || lab.lines("out").len() == 2);
    assert_eq!(lab.lines("out"), ["app|one", "two|"]);
    penstock.stop();
}
