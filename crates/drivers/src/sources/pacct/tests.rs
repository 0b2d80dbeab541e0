use crate::testing::{HEAD, Running};
use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

fn config(template: &str) -> String {
    format!(
        "{HEAD}source s {{ pacct(file(\"%dir%/in\") follow-freq(0.01)); }};\n\
         destination d {{ file(\"%dir%/out\" template(\"{template}\\n\")); }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// The record of a command with a number.
fn record(command: &str, pid: u32) -> Vec<u8> {
    let mut out = vec![0, 3, 1, 0];
    for number in [0u32, 1000, 100, pid, 1, 1_700_000_000, 2.5f32.to_bits()] {
        out.extend(number.to_le_bytes());
    }
    for number in [7u16, 0x2001, 0, 0, 0, 0, 0, 0] {
        out.extend(number.to_le_bytes());
    }
    out.extend(command.bytes().chain(std::iter::repeat(0)).take(16));
    out
}

fn append(path: &Path, bytes: &[u8]) {
    let mut file = OpenOptions::new().append(true).create(true).open(path).expect("open");
    file.write_all(bytes).expect("write");
}

#[test]
fn records_are_messages_with_values_as_the_file_grows_and_is_rotated() {
    let running = Running::start(&config(
        "${.pacct.ac_comm}|${.pacct.ac_pid}|${.pacct.ac_uid}|${.pacct.ac_etime}|${.pacct.ac_utime}|${.pacct.ac_stime}|$TAGS",
    ));
    let path = running.path("in");
    append(&path, &record("true", 7));
    let lines = running.wait_lines("out", 1);
    // In the order in which this process has come to know them.
    let (values, tags) = lines[0].rsplit_once('|').expect("tags");
    assert_eq!(values, "true|7|1000|     2.50|7.00|8.00");
    assert!(matches!(tags, ".pacct,.source.s" | ".source.s,.pacct"), "{tags}");
    // In pieces.
    let second = record("a name that is long", 8);
    append(&path, &second[..30]);
    append(&path, &second[30..]);
    assert!(running.wait_lines("out", 2)[1].starts_with("a name that is l|8|"));
    std::fs::rename(&path, running.path("in.1")).expect("rename");
    append(&path, &record("third", 9));
    append(&running.path("in.1"), &record("late", 10));
    let lines = running.wait_lines("out", 4);
    let mut found: Vec<&str> = lines[2..].iter().filter_map(|line| line.split('|').next()).collect();
    found.sort_unstable();
    assert_eq!(found, ["late", "third"]);
}

#[test]
fn what_is_no_record_is_left_out_and_the_text_lists_all() {
    let running = Running::start(&config("$MSG"));
    let mut old = record("old", 1);
    old[1] = 1;
    append(&running.path("in"), &[old, record("new", 2)].concat());
    let lines = running.wait_lines("out", 1);
    let text = "ac_flag=00 ac_version=3 ac_tty=1 ac_exitcode=0 ac_uid=1000 ac_gid=100 ac_pid=2 ac_ppid=1 ac_btime=1700000000 \
                ac_etime=     2.50 ac_utime=7.00 ac_stime=8.00 ac_mem=0 ac_io=0 ac_rw=0 ac_minflt=0 ac_majflt=0 ac_swaps=0 ac_comm=new";
    assert_eq!(lines, [text]);
}
