//! The source `s3()` with a real server, into which boto3 puts objects: without one these are skipped.

mod endings;
mod hard;
mod told;
mod wrong;

use crate::kafka_source::assert_all;
use crate::messages::HEAD;
use std::io::Write;
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

pub fn body(from: usize, to: usize) -> Vec<u8> {
    (from..to).map(|n| format!("value {n}\n")).collect::<String>().into_bytes()
}

pub fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text).expect("into memory");
    encoder.finish().expect("into memory")
}

pub fn zstd(text: &[u8]) -> Vec<u8> {
    let mut packed = Vec::with_capacity(zstd_safe::compress_bound(text.len()));
    zstd_safe::compress(&mut packed, text, 1).expect("packed");
    packed
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
    server.put(&[("0/first", &body(1000, 1100)), ("b", &body(1100, 1200))]);
    penstock.wait_settled(1200);
    penstock.stop();
    server.put(&[("a/between", &body(1200, 1250)), ("empty", b""), ("folder/", b"")]);
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    penstock.wait_settled(50).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 1250);
}

#[test]
fn objects_are_unpacked_whatever_their_names_say() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let members = [gzip(&body(1000, 1500)), gzip(&body(1500, 2000))].concat();
    let frames = [zstd(&body(2000, 2500)), zstd(&body(2500, 3000))].concat();
    let unfinished = [&body(3000, 3009)[..], b"value 3009"].concat();
    server.put(&[
        ("a b+c%20\u{e9}&<\u{1f600}>'\"", &body(0, 1000)),
        ("m.log", &members),
        ("z.gz", &frames),
        ("no-line-end", &unfinished),
        ("empty.gz", &gzip(b"")),
    ]);
    let mut penstock = Penstock::start(&lab, &config(server.port(), WHOLE, "$MSG"));
    penstock.wait_settled(3010).assert_nothing_lost();
    assert_each_once(&lab.lines("out"), 3010);
}

#[test]
fn messages_are_syslog_and_have_what_is_known_of_their_object_as_values() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let text = b"<13>Nov 11 01:02:03 web app[7]: one\n<13>Nov 11 01:02:03 db app[7]: two\n";
    server.put(&[("logs/x y", text), ("other/z", text)]);
    let template = "$HOST|$PROGRAM|$MSG|${.s3.bucket}|${.s3.key}|${.s3.offset}|${.s3.size}|$FILE_NAME|$TRANSPORT|${.s3.last_modified}";
    let options = "prefix(\"logs/\")";
    let mut penstock = Penstock::start(&lab, &config(server.port(), options, template));
    penstock.wait_settled(2);
    let lines = lab.lines("out");
    let expected = ["web|app|one|logs|logs/x y|0|71", "db|app|two|logs|logs/x y|36|71"];
    for (line, expected) in lines.iter().zip(expected) {
        let rest = line.strip_prefix(expected).unwrap_or_else(|| panic!("{line}"));
        let modified = rest.strip_prefix("|s3://logs/logs/x y|local+s3|").unwrap_or_else(|| panic!("{line}"));
        assert!(modified.parse::<u64>().is_ok_and(|ms| ms > 1_700_000_000_000), "{line}");
    }
    penstock.stop();
    // All of them where everything is asked for; none.
    let all = "$(format-json --key .s3.*)";
    for (options, names) in [("", 5), ("store-metadata(no)", 0)] {
        let lab = Lab::new();
        let options = format!("prefix(\"logs/\") {WHOLE} {options}");
        let mut penstock = Penstock::start(&lab, &config(server.port(), &options, all));
        penstock.wait_settled(2);
        let line: serde_json::Value = serde_json::from_str(&lab.lines("out")[1]).expect("JSON");
        let found = line.pointer("/_s3").or(line.pointer("/.s3")).and_then(|of| of.as_object());
        assert_eq!(found.map_or(0, |of| of.len()), names, "{line}");
    }
}

#[test]
fn lines_are_joined_and_decoded_as_in_files() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let lines = "value one\n  more \u{e9}\nvalue two\n  more\n";
    let utf16: Vec<u8> = lines.encode_utf16().flat_map(u16::to_le_bytes).collect();
    server.put(&[("x", &gzip(&utf16))]);
    let options = format!("{WHOLE} encoding(\"utf-16le\") multi-line-mode(indented)");
    let mut penstock = Penstock::start(&lab, &config(server.port(), &options, "[$MSG]"));
    penstock.wait_settled(2);
    assert_eq!(lab.lines("out"), ["[value one", "  more \u{e9}]", "[value two", "  more]"]);
}

#[test]
fn thousands_of_objects_are_read_once_in_any_order_of_names() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let options = format!("{WHOLE} object-pattern(\"*.log\") start-after(\"a/\") download-threads(8)");
    let config = config(server.port(), &options, "$MSG");
    server.put(&[("a/x.txt", b"not this\n"), ("0.log", b"nor this\n")]);
    server.put_many("a/%04d.log", 1500, 3);
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_settled(4500).assert_nothing_lost();
    server.put_many("a/-%04d.log", 1200, 3);
    penstock.wait_settled(8100).assert_nothing_lost();
    let mut found = lab.lines("out");
    assert_each_once(&found[..4500], 4500);
    found.drain(..4500);
    assert_each_once(&found, 3600);
    penstock.stop();
    let mut penstock = Penstock::start(&lab, &config);
    server.put(&[("a/last.log", &body(0, 1))]);
    penstock.wait_settled(1);
    assert_eq!(lab.lines("out").len(), 8101);
}

#[test]
fn names_in_order_are_listed_behind_the_last_one() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    let config = config(server.port(), &format!("{WHOLE} object-order(ascending)"), "$MSG");
    server.put_many("a/%04d", 30, 10);
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_settled(300);
    penstock.stop();
    // As the manual says: what comes before the last one is not seen.
    server.put(&[("a/0000-late", b"never\n"), ("b", &body(300, 310))]);
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_settled(10);
    assert_each_once(&lab.lines("out"), 310);
}

#[test]
fn what_was_there_before_is_left_out_where_that_is_asked_for() {
    let lab = Lab::new();
    let Some(server) = S3::start(&lab) else { return skip(MISSING) };
    server.put(&[("old", b"never\n")]);
    let config = config(server.port(), &format!("{WHOLE} read-old-records(no)"), "$MSG");
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_log("Objects of S3 are listed");
    server.put(&[("new", &body(0, 10))]);
    penstock.wait_settled(10);
    penstock.stop();
    server.put(&[("newer", &body(10, 20))]);
    let mut penstock = Penstock::start(&lab, &config);
    penstock.wait_settled(10);
    assert_each_once(&lab.lines("out"), 20);
}
