//! Every row of what is known about RFC 5424 messages, and the round trip through the form penstock writes.

use crate::sdata;
use crate::syslog::SyslogOptions;
use crate::syslog::tests::{check_with, parsed, render, with};
use crate::timestamp::{StampFormatter, TimeFormat};
use proptest::prelude::*;
use record::{Flags, Stamp};

const NOW: &str = "2026-11-21T10:00:00.000005+00:00";
const AT: &str = "38 2026-11-21T10:00:07+01:00";

fn protocol() -> SyslogOptions {
    with(|f| f.syslog_protocol = true)
}

fn check(frame: &str, expected: &str) {
    check_with(protocol(), frame.as_bytes(), expected);
}

/// The frame is refused at the place `>@<` stands for. As in syslog-ng, the mark in the error message stands
/// in front of the byte before it.
fn refused(frame: &str, tags: &str) {
    let (before, after) = frame.split_once(">@<").expect("a place");
    let (before, byte) = before.split_at(before.len() - 1);
    marked(&format!("{before}>@<{byte}{after}"), tags);
}

/// The frame is refused with this mark.
fn marked(frame: &str, tags: &str) {
    let whole = frame.replace(">@<", "");
    check(
        &whole,
        &format!(
            "43 {NOW}|program=syslog-ng|pid={}|msg=Error processing log message: {frame}|#message.parse_error{tags}",
            std::process::id()
        ),
    );
}

#[test]
fn whole() {
    let sdata = "[exampleSDID@32473 iut=\"3\" eventSource=\"Application\" eventID=\"1011\"][examplePriority@32473 class=\"high\"]";
    for message in ["An application event log entry...".to_owned(), "m".repeat(100)] {
        check(
            &format!(
                "<38>1 2026-11-21T10:00:07+01:00 mymachine.example.com evntslog 77 ID47 {sdata} {message}"
            ),
            &format!(
                "{AT}|host=mymachine.example.com|program=evntslog|pid=77|msgid=ID47|sdata={sdata}|msg={message}"
            ),
        );
    }
    check("<38>1 2026-11-21T10:00:07+01:00 - - - - - m", &format!("{AT}|msg=m"));
    check("<38>1 2026-11-21T10:00:07+01:00 h a - - - m\n", &format!("{AT}|host=h|program=a|msg=m"));
    check("<38>1 2026-11-21T10:00:07+01:00 h a - - -  m", &format!("{AT}|host=h|program=a|msg= m"));
    check("<38>1 2026-11-21T10:00:07+01:00 h a - - - ", &format!("{AT}|host=h|program=a"));
    check(
        "<38>1 2026-11-21T10:00:07+01:00 -h a- -- --- - m",
        &format!("{AT}|host=-h|program=a-|pid=--|msgid=---|msg=m"),
    );
}

#[test]
fn stamps() {
    let tail = "m".repeat(64);
    for (stamp, expected) in [
        ("2026-11-21T10:00:07Z", "2026-11-21T10:00:07+00:00"),
        ("2026-11-21T10:00:07.Z", "2026-11-21T10:00:07+00:00"),
        ("2026-11-21T10:00:07.5Z", "2026-11-21T10:00:07.500000+00:00"),
        ("2026-11-21T10:00:07.123456-08:00", "2026-11-21T10:00:07.123456-08:00"),
        ("2026-11-21T10:00:07.1234567+00:00", "2026-11-21T10:00:07.123456+00:00"),
        ("2026-11-21T10:00:07.123456789+00:00", "2026-11-21T10:00:07.123456+00:00"),
        ("2026-11-21T10:00:07", "2026-11-21T10:00:07+01:00"),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00+00:00"),
        ("2026-11-31T10:00:07Z", "2026-12-01T10:00:07+00:00"),
        ("2024-02-29T12:00:00+14:00", "2024-02-29T12:00:00+14:00"),
    ] {
        for tail in ["m", &tail] {
            let expected = format!("38 {expected}|host=h|program=a|msg={tail}");
            check(&format!("<38>1 {stamp} h a - - - {tail}"), &expected);
        }
    }
    let missing = "|#missing_timestamp";
    check("<38>1 - h a - - - m", &format!("38 {NOW}|host=h|program=a|msg=m{missing}"));
    refused("<38>1 >@<2026-11-32T10:00:07Z h a - - - m", missing);
    refused("<38>1 >@<2026-11-21T25:00:07Z h a - - - m", missing);
    refused("<38>1 >@<Nov 21 10:00:07 h a - - - m", missing);
    refused("<38>1 >@<", missing);
    refused("<38>1 2026-11-21T10:00:07Z>@<x h a - - - m", "|#rfc5424_missing_hostname");
}

#[test]
fn fields_are_cut() {
    for long in [300, 20] {
        let word = "w".repeat(long);
        let cut = |max: usize| "w".repeat(long.min(max));
        check(
            &format!("<38>1 2026-11-21T10:00:07+01:00 {word} {word} {word} {word} - m"),
            &format!("{AT}|host={}|program={}|pid={}|msgid={}|msg=m", cut(255), cut(48), cut(128), cut(32)),
        );
    }
}

#[test]
fn missing_parts() {
    let start = "<38>1 2026-11-21T10:00:07+01:00";
    refused(&format!("{start}>@<"), "|#rfc5424_missing_hostname");
    for fields in [" >@<", " >@<h", " >@<hh"] {
        marked(&format!("{start}{fields}"), "|#invalid_hostname|#rfc5424_missing_app_name");
    }
    marked("<38>>@<1", "");
    check_with(
        with(|f| (f.syslog_protocol, f.check_hostname) = (true, true)),
        b"<38>1 2026-11-21T10:00:07+01:00 h! a - - - m",
        &format!(
            "43 {NOW}|program=syslog-ng|pid={}|msg=Error processing log message: {start} >@<h! a - - - m\
             |#message.parse_error|#invalid_hostname|#rfc5424_missing_app_name",
            std::process::id()
        ),
    );
    for (fields, missing) in [
        (" h a", "|#rfc5424_missing_procid"),
        (" h a 1", "|#rfc5424_missing_msgid"),
        (" h a 1 ID", "|#rfc5424_missing_sdata"),
    ] {
        refused(&format!("{start}{fields}>@<"), missing);
    }
    // Two blanks have an empty field between them.
    check(&format!("{start}  a - - - m"), &format!("{AT}|program=a|msg=m"));
    check(&format!("{start} h a   - m"), &format!("{AT}|host=h|program=a|msg=m"));
    for end in [" ", " -", " - ", "  "] {
        check(&format!("{start} h a 1 ID{end}"), &format!("{AT}|host=h|program=a|pid=1|msgid=ID"));
    }
    check(&format!("{start} h a 1 ID [x]"), &format!("{AT}|host=h|program=a|pid=1|msgid=ID|sdata=[x]"));
}

#[test]
fn structured_data() {
    let start = "<38>1 2026-11-21T10:00:07+01:00 h a - -";
    let tail = "m".repeat(80);
    for tail in ["m", &tail] {
        let good = |sdata: &str, more: &str| {
            check(
                &format!("{start} {sdata} {tail}"),
                &format!("{AT}|host=h|program=a|sdata={sdata}|msg={tail}{more}"),
            );
        };
        good("[x]", "");
        good("[x][y@1]", "");
        good("[x a=\"\"]", "");
        good("[x a=\"1\" b=\"2\"][y c=\"3\"]", "");
        let mended = |sdata: &str, made: &str| {
            let made = made.replace('\\', "\\\\");
            check(
                &format!("{start} {sdata} {tail}"),
                &format!("{AT}|host=h|program=a|sdata={made}|msg={tail}"),
            );
        };
        mended("[x a=\"1]\"]", "[x a=\"1\\]\"]");
        mended("[Originator@6876 sub=vpxLro opID=h]", "[Originator@6876 sub=\"vpxLro\" opID=\"h\"]");
        mended("[x a=\"1\" ][y ]", "[x a=\"1\"][y]");
        mended("[ x a=\"1\" a=\"2\"][x b=\"3\"]", "[x a=\"2\" b=\"3\"]");
        good(
            "[timeQuality tzKnown=\"1\" isSynced=\"1\" syncAccuracy=\"60000000\"][meta sequenceId=\"1234\"]",
            "",
        );
        good(&format!("[x a=\"{}\"]", "v".repeat(500)), "");
        let bad = |sdata: &str| refused(&format!("{start} {sdata} {tail}"), "|#rfc5424_invalid_sdata");
        bad("[>@<]");
        bad("[x >@<  a=1]".replace("<  ", "< ").as_str());
        bad("[x >@< a=\"1\"]");
        bad("[x a>@<]");
        bad("[x a=\"1\">@<b=\"2\"]");
        bad("[x>@<\u{7f}]".replace('\u{7f}', "=").as_str());
        let unseparated =
            |sdata: &str| refused(&format!("{start} {sdata} {tail}"), "|#rfc5424_missing_message");
        unseparated(">@<x");
        unseparated("[x]>@<y");
        unseparated("->@<x");
        refused(&format!("{start} [x a=\"{tail}>@<"), "|#rfc5424_invalid_sdata");
        refused(&format!("{start} [x>@<"), "|#rfc5424_invalid_sdata");
    }
    let frame = format!("{start} [x a=\"q\\\"b\\]s\\\\n\"] m");
    let (b, r) = parsed(protocol(), frame.as_bytes());
    assert_eq!(b.bytes(r.sdata), b"[x a=\"q\\\"b\\]s\\\\n\"]");
    assert!(!r.flags.has(Flags::SDATA_CHANGED));
    // 255 bytes with prefix and dot: .SDATA. takes 7.
    check(
        &format!("{start} [{}] m", "i".repeat(248)),
        &format!("{AT}|host=h|program=a|sdata=[{}]|msg=m", "i".repeat(248)),
    );
    refused(&format!("{start} [>@<{}] m", "i".repeat(249)), "|#rfc5424_invalid_sdata");
    refused(&format!("{start} [{} >@<nn=\"\"] m", "i".repeat(246)), "|#rfc5424_invalid_sdata");
}

#[test]
fn byte_order_mark() {
    let (b, r) = parsed(protocol(), b"<38>1 - h a - - - \xef\xbb\xbf\xc3\xa9");
    assert_eq!(render(&b, &r), format!("38 {NOW}|host=h|program=a|msg=\\xc3\\xa9|utf8|#missing_timestamp"));
    let (b, r) = parsed(protocol(), b"<38>1 - h a - - - \xef\xbb\xbf");
    assert_eq!(render(&b, &r), format!("38 {NOW}|host=h|program=a|utf8|#missing_timestamp"));
}

#[test]
fn other_versions() {
    let at = "38 2026-11-21T10:00:07+01:00";
    check("<38>Nov 21 10:00:07 h a: m", &format!("{at}|host=h|program=a|hdr=a: |msg=m|text"));
    check(
        &format!("<38>Nov 21 10:00:07 h a: {}", "m".repeat(90)),
        &format!("{at}|host=h|program=a|hdr=a: |msg={}|text", "m".repeat(90)),
    );
    check(
        "<38>2 - h a - - - m",
        "38 2026-11-21T11:00:00.000005+01:00|program=2|hdr=2 |msg=- h a - - - m|#missing_timestamp|#rfc3164_missing_header",
    );
    check("<38m", &format!("13 {NOW}|msg=<38m|#invalid_pri"));
    check("1 - h a - - - m", &format!("13 {NOW}|host=h|program=a|msg=m|#missing_pri|#missing_timestamp"));
    check(
        "21 <38>1 - h a - - - m",
        &format!("38 {NOW}|host=h|program=a|msg=m|#missing_timestamp|#unexpected_framing"),
    );
}

fn name() -> impl Strategy<Value = String> {
    "[!#-<>-Z\\^-~]{1,30}"
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    /// What is written in the protocol's form is read back as it was.
    #[test]
    fn round_trip(
        pri in 0u16..192,
        secs in 0i64..10_000_000_000,
        usec in 0u32..1_000_000,
        minutes in -900i32..900,
        words in proptest::collection::vec("[!-,.-~][!-~]{0,29}", 4),
        pairs in proptest::collection::vec((name(), name(), ".{0,60}"), 0..4),
        message in "[ -~é]{0,90}[!-~]",
    ) {
        let stamp = Stamp { secs, usec, offset: minutes * 60 };
        let mut frame = format!("<{pri}>1 ").into_bytes();
        StampFormatter::new(TimeFormat::Iso, 6).append(&mut frame, &stamp, stamp.offset);
        frame.extend_from_slice(format!(" {} ", words.join(" ")).as_bytes());
        let mut builder = sdata::Builder::new(&mut frame);
        for (id, name, value) in &pairs {
            builder.param(id.as_bytes(), name.as_bytes(), value.as_bytes());
        }
        if !builder.finish() {
            frame.push(b'-');
        }
        frame.push(b' ');
        frame.extend_from_slice(message.as_bytes());
        let (b, r) = parsed(protocol(), &frame);
        prop_assert_eq!((r.pri, r.stamp, r.flags), (pri, stamp, Flags::IETF));
        for (span, word) in [r.host, r.program, r.pid, r.msgid].into_iter().zip(&words) {
            prop_assert_eq!(b.bytes(span), word.as_bytes());
        }
        prop_assert_eq!(b.bytes(r.message), message.as_bytes());
        let mut buffer = Vec::new();
        let read: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> = sdata::params(b.bytes(r.sdata))
            .map(|p| (p.id.to_vec(), p.name.to_vec(), sdata::unescape(p.value, &mut buffer).to_vec()))
            .collect();
        let written: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)> =
            pairs.into_iter().map(|(i, n, v)| (i.into_bytes(), n.into_bytes(), v.into_bytes())).collect();
        prop_assert_eq!(read, written);
    }
}
