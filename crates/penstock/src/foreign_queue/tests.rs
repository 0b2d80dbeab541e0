//! Messages of a file that syslog-ng has written.

use super::{Foreign, add, batch, line};
use std::path::{Path, PathBuf};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/queue_file").join(name)
}

#[test]
fn lines() {
    let file = Foreign::open(&sample("reliable.rqf")).expect("a queue file");
    let mut lines = Vec::new();
    file.messages(|message| {
        lines.push(String::from_utf8(line(message)).expect("text"));
        true
    });
    assert_eq!(
        lines[1..3],
        [
            "<34>2026-11-22T06:40:01.000000+00:00 h a[66]: number 66",
            "<165>2003-08-24T05:14:15.000003-07:00 ietf.host prog[1000]: structured 0"
        ]
    );
    let wrong = Foreign::open(Path::new("/dev/null")).err().expect("no queue file");
    assert!(wrong.said().starts_with("/dev/null: ") && wrong.said().contains("SLRQ"), "{wrong}");
}

#[test]
fn a_message_has_all_that_it_had() {
    let file = Foreign::open(&sample("reliable.rqf")).expect("a queue file");
    let mut batch = batch();
    file.messages(|message| {
        add(&mut batch, message);
        true
    });
    assert_eq!(batch.records.len(), 4);
    let record = batch.records[2];
    let mut value = |name: &str| {
        let id = batch.names.id(b"", name.as_bytes())?;
        batch.value(&record, id).map(|value| String::from_utf8_lossy(value.bytes).into_owned())
    };
    let mut check = |name: &str, expected: &str| assert_eq!(value(name).as_deref(), Some(expected), "{name}");
    check("MESSAGE", "structured 0");
    check("PROGRAM", "prog");
    check("MSGID", "ID0");
    check("HOST_FROM", "localhost");
    check(".my.value", "värde");
    check(".SDATA.ex@32473.eventID", "100");
    assert_eq!((record.pri, record.stamp.offset), (165, -25_200));
    let tags: Vec<&str> = batch.tags(&record).into_iter().map(|tag| batch.tag_name(tag)).collect();
    assert!(tags.contains(&"one-tag"), "{tags:?}");
}
