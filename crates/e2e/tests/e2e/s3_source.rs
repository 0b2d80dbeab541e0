//! The source `s3()` with a real server, into which boto3 puts objects: without one these are skipped.

use crate::kafka_source::assert_all;
use crate::messages::HEAD;
use testkit::s3::{MISSING, S3};
use testkit::{Lab, Penstock, skip};

/// A source of the bucket, and `to`, a destination.
pub fn config_to(port: u16, options: &str, to: &str) -> String {
    format!(
        "{HEAD}source s {{ s3(url(\"http://127.0.0.1:{port}\") bucket(\"logs\") access-key(\"access\") secret-key(\"secret\") \
         follow-freq(1) time-reopen(1) {options}); }};\n\
         destination d {{ {to}; }};\n\
         log {{ source(s); destination(d); flags(flow-control); }};\n"
    )
}

/// Writes what comes to a file, in the words of a template.
pub fn config(port: u16, options: &str, template: &str) -> String {
    config_to(port, options, &format!("file(\"%dir%/out\" template(\"{template}\\n\"))"))
}

pub const WHOLE: &str = "flags(no-parse)";

#[track_caller]
pub fn assert_each_once(found: &[String], count: usize) {
    let more = assert_all(found, count);
    assert_eq!((found.len(), more), (count, 0), "some came twice");
}

#[test]
fn objects_are_read_once_those_that_come_later_and_after_a_restart_too() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    server.put_many("a/%03d", 10, 100);
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    penstock.wait_settled(1000).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 1000);
    // Names that come before those that were read.
    let body = |from: usize, to: usize| (from..to).map(|n| format!("value {n}\n")).collect::<String>();
    server.put(&[("0/first", body(1000, 1100).as_bytes()), ("b", body(1100, 1200).as_bytes())]);
    penstock.wait_settled(1200);
    penstock.stop();
    server.put(&[("a/between", body(1200, 1250).as_bytes()), ("empty", b""), ("folder/", b"")]);
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    penstock.wait_settled(50).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 1250);
}
