//! Tests of the dispatcher and of what the flags ask for; the ways of checking used by the tests of both
//! protocols.

use super::*;
use crate::timestamp::{StampFormatter, TimeFormat};
use proptest::prelude::*;
use record::{Context, Span, Stamp, ValueType, tag_name};

/// 2026-11-21 10:00:00.000005 UTC, Saturday.
pub(crate) const RECEIVED: Stamp = Stamp { secs: 1_795_255_200, usec: 5, offset: 0 };

/// One hour east of UTC, so that a zone that is forgotten shows.
pub(crate) fn options() -> SyslogOptions {
    SyslogOptions { recv_zone: Zone::Fixed(3600), ..SyslogOptions::default() }
}

pub(crate) fn with(change: impl FnOnce(&mut ParseFlags)) -> SyslogOptions {
    let mut options = options();
    change(&mut options.flags);
    options
}

pub(crate) fn batch(received: Stamp, frames: &[&[u8]]) -> Batch {
    let context = Arc::new(Context::local("s_test", "here", "local+file"));
    let mut batch = Batch::new(Vec::new(), context, received);
    for frame in frames {
        let span = batch.append(frame);
        batch.records.push(Record::new(span));
    }
    batch
}

/// All there is to know about a record, empty parts left out.
pub(crate) fn render(batch: &Batch, record: &Record) -> String {
    let mut stamp = Vec::new();
    let digits = if record.stamp.usec == 0 { 0 } else { 6 };
    StampFormatter::new(TimeFormat::Iso, digits).append(&mut stamp, &record.stamp, record.stamp.offset);
    let mut parts = vec![format!("{} {}", record.pri, String::from_utf8_lossy(&stamp))];
    for (name, span) in [
        ("host", record.host),
        ("program", record.program),
        ("pid", record.pid),
        ("msgid", record.msgid),
        ("sdata", record.sdata),
        ("hdr", record.msghdr),
        ("msg", record.message),
    ] {
        if !span.is_empty() {
            parts.push(format!(
                "{name}={}",
                batch.bytes(span).escape_ascii().to_string().replace("\\\"", "\"")
            ));
        }
    }
    if record.stamp_text != Record::NO_TEXT {
        let text = batch.bytes(Span::new(record.stamp_text as usize, 15));
        let mut printed = Vec::new();
        StampFormatter::new(TimeFormat::Bsd, 0).append(&mut printed, &record.stamp, record.stamp.offset);
        assert_eq!(text.escape_ascii().to_string(), printed.escape_ascii().to_string(), "stamp_text");
        parts.push("text".to_owned());
    }
    for (flag, name) in [(Flags::UTF8, "utf8"), (Flags::SDATA_CHANGED, "sdata changed")] {
        if record.flags.has(flag) {
            parts.push(name.to_owned());
        }
    }
    let mut tags: Vec<&str> = batch.tags(record).into_iter().map(tag_name).collect();
    tags.sort_unstable();
    parts.extend(tags.iter().map(|tag| format!("#{}", tag.trim_start_matches("syslog."))));
    parts.join("|")
}

pub(crate) fn parsed(options: SyslogOptions, frame: &[u8]) -> (Batch, Record) {
    let mut batch = batch(RECEIVED, &[frame]);
    SyslogParser::new(options).parse_batch(&mut batch, 0);
    let record = batch.records[0];
    (batch, record)
}

/// Parses one frame alone, then among others, where the fast paths can be taken and the memory of stamps is
/// filled.
pub(crate) fn check_with(options: SyslogOptions, frame: &[u8], expected: &str) {
    let (alone, record) = parsed(options.clone(), frame);
    assert_eq!(render(&alone, &record), expected, "{}", frame.escape_ascii());
    let filler = [b'~'; 100];
    let mut many = batch(RECEIVED, &[frame, frame, &filler, frame, &filler]);
    SyslogParser::new(options).parse_batch(&mut many, 0);
    for index in [0, 1, 3] {
        let record = many.records[index];
        assert_eq!(render(&many, &record), expected, "{} at {index}", frame.escape_ascii());
    }
}

pub(crate) fn check(frame: &[u8], expected: &str) {
    check_with(options(), frame, expected);
}

fn value(batch: &Batch, record: &Record, name: &str) -> Option<String> {
    let value = batch.value(record, batch.names.known(name)?)?;
    Some(value.bytes.escape_ascii().to_string())
}

const HEADER: &str = "38 2026-11-21T10:00:07+01:00|host=h|program=app|pid=1|hdr=app[1]: ";

#[test]
fn raw() {
    let expected = "13 2026-11-21T10:00:00.000005+00:00|msg=<38>Nov 21 10:00:07 h app[1]: m";
    check_with(with(|f| f.no_parse = true), b"<38>Nov 21 10:00:07 h app[1]: m\r\n\0", expected);
    let options = SyslogOptions { default_pri: 22, ..with(|f| f.no_parse = true) };
    check_with(options, b"x", "22 2026-11-21T10:00:00.000005+00:00|msg=x");
}

#[test]
fn pri_only() {
    let no_header = || with(|f| f.no_header = true);
    let expected = "38 2026-11-21T10:00:00.000005+00:00|msg=Nov 21 10:00:07 h app[1]: m";
    check_with(no_header(), b"<38>Nov 21 10:00:07 h app[1]: m\n", expected);
    check_with(no_header(), b"m", "13 2026-11-21T10:00:00.000005+00:00|msg=m|#missing_pri");
    check_with(no_header(), b"<3m", "13 2026-11-21T10:00:00.000005+00:00|msg=<3m|#invalid_pri");
}

#[test]
fn keep_timestamp_no() {
    let options = |change: fn(&mut ParseFlags)| SyslogOptions { keep_timestamp: false, ..with(change) };
    let at = "38 2026-11-21T11:00:00.000005+01:00|host=h|program=app|pid=1|hdr=app[1]: |msg=m";
    check_with(options(|_| ()), b"<38>Nov 20 10:00:07 h app[1]: m", at);
    // What Cisco's mark says of the stamp goes with it.
    check_with(options(|_| ()), b"<38>*Nov 20 10:00:07 h app[1]: m", at);
    let expected = "38 2026-11-21T11:00:00.000005+01:00|host=h|program=app|msg=m";
    check_with(options(|f| f.syslog_protocol = true), b"<38>1 2026-11-20T10:00:07Z h app - - - m", expected);
    let expected = "13 2026-11-21T11:00:00.000005+01:00|msg=<38>m";
    check_with(options(|f| f.no_parse = true), b"<38>m", expected);
}

#[test]
fn legacy_msghdr() {
    let expected = "38 2026-11-21T10:00:07+01:00|host=h|program=app|pid=1|msg=m|text";
    check_with(with(|f| f.store_legacy_msghdr = false), b"<38>Nov 21 10:00:07 h app[1]: m", expected);
}

#[test]
fn raw_message() {
    let (b, r) = parsed(with(|f| f.store_raw_message = true), b"<38>Nov 21 10:00:07 h app[1]: m\n");
    assert_eq!(value(&b, &r, "RAWMSG").as_deref(), Some("<38>Nov 21 10:00:07 h app[1]: m"));
    assert_eq!(render(&b, &r), format!("{HEADER}|msg=m|text"));
}

#[test]
fn no_multi_line() {
    let joined = || with(|f| f.no_multi_line = true);
    let frame = b"<38>Nov 21 10:00:07 h app[1]: one\r\ntwo\nthree\n";
    let (b, r) = parsed(joined(), frame);
    assert_eq!(render(&b, &r), format!("{HEADER}|msg=one  two three|text"));
    let (b, r) = parsed(joined(), b"<38>Nov 21 10:00:07 h app\r[1]: one\r\ntwo\n");
    assert_eq!((b.bytes(r.program), b.bytes(r.message)), (&b"app\r"[..], &b"one  two"[..]));
    check(frame, &format!("{HEADER}|msg=one\\r\\ntwo\\nthree|text"));
    check_with(joined(), b"<38>Nov 21 10:00:07 h app[1]: a\0b", &format!("{HEADER}|msg=a b|text"));
    check_with(joined(), b"<38>Nov 21 10:00:07 h app[1]: one", &format!("{HEADER}|msg=one|text"));
    let (b, r) = parsed(with(|f| (f.no_parse, f.no_multi_line) = (true, true)), b"a\nb\n");
    assert_eq!(b.bytes(r.message), b"a b");
}

#[test]
fn utf8() {
    let good = "<38>Nov 21 10:00:07 h app[1]: \u{e9}\n".as_bytes();
    let bad = b"<38>Nov 21 10:00:07 h app[1]: a\xe9b\xc3\xa9\xff\n";
    let good_msg = format!("{HEADER}|msg=\\xc3\\xa9|text");
    let bad_msg = format!("{HEADER}|msg=a\\xe9b\\xc3\\xa9\\xff|text");
    check(good, &good_msg);
    check_with(with(|f| f.assume_utf8 = true), bad, &format!("{bad_msg}|utf8"));
    check_with(with(|f| f.validate_utf8 = true), good, &format!("{good_msg}|utf8"));
    check_with(with(|f| f.validate_utf8 = true), bad, &bad_msg);
    check_with(with(|f| f.sanitize_utf8 = true), good, &format!("{good_msg}|utf8"));
    let clean = format!("{HEADER}|msg=a\\\\xe9b\\xc3\\xa9\\\\xff|text|utf8|#message.utf8_sanitized");
    check_with(with(|f| f.sanitize_utf8 = true), bad, &clean);
    let mixed = b"<38>Nov 21 10:00:07 h app[1]: C:\\new\t\x01\xff\n";
    let clean = format!("{HEADER}|msg=C:\\\\\\\\new\\\\t\\\\x01\\\\xff|text|utf8|#message.utf8_sanitized");
    check_with(with(|f| f.sanitize_utf8 = true), mixed, &clean);
    let (_, r) = parsed(with(|f| f.sanitize_utf8 = true), bad);
    assert_eq!(r.msghdr.end(), r.message.start as usize, "header and message stay together");
}

#[test]
fn guess_timezone() {
    // Received at 10:00 UTC: half past three on the sender's wall is five and a half hours east.
    let guess = |stamp: &str, expected: &str| {
        for (protocol, frame, rest) in [
            (false, format!("<38>{stamp} h a: m"), "|host=h|program=a|hdr=a: |msg=m"),
            (true, format!("<38>1 {stamp} h a - - - m"), "|host=h|program=a|msg=m"),
        ] {
            if !protocol || stamp.starts_with('2') {
                let options = with(|f| (f.guess_timezone, f.syslog_protocol) = (true, protocol));
                check_with(options, frame.as_bytes(), &format!("38 {expected}{rest}"));
            }
        }
    };
    guess("Nov 21 15:30:07", "2026-11-21T15:30:07+05:30");
    guess("Nov 21 02:00:00", "2026-11-21T02:00:00-08:00");
    guess("2026-11-21T12:59:45Z", "2026-11-21T12:59:45+03:00");
    guess("2026-11-21T10:00:01+01:00", "2026-11-21T10:00:01+00:00");
    // Late, not elsewhere: 25 minutes, five hours and 33 minutes, more than a day.
    guess("Nov 21 10:35:00", "2026-11-21T10:35:00+01:00");
    guess("Nov 21 05:27:00", "2026-11-21T05:27:00+01:00");
    guess("Nov 20 02:00:00", "2026-11-20T02:00:00+01:00");
    guess("2026-11-21T09:35:00Z", "2026-11-21T09:35:00+00:00");
    guess("2026-11-21T09:35:00.25+00:00", "2026-11-21T09:35:00.250000+00:00");
}

#[test]
fn kernel() {
    let local = || {
        let mut options = SyslogOptions { local: true, ..options() };
        options.flags.expect_hostname = false;
        options
    };
    let now = "2026-11-21T11:00:00.000005+01:00";
    let expected = format!("4 {now}|program=kernel|msg=[1.5] usb 1-1: new|#missing_timestamp");
    check_with(local(), b"<4>[1.5] usb 1-1: new", &expected);
    let expected =
        format!("12 {now}|hdr=[1.5] |msg=usb: new|pid=1.5|#missing_timestamp|#rfc3164_missing_header");
    let (b, r) = parsed(local(), b"<12>[1.5] usb: new");
    assert_eq!(
        render(&b, &r).replace("|pid=1.5|hdr=[1.5] |msg=usb: new", "|hdr=[1.5] |msg=usb: new|pid=1.5"),
        expected
    );
    assert!(r.flags.has(Flags::LOCAL));
    check_with(
        with(|f| f.kernel = true),
        b"[1.5] usb",
        &format!("5 {now}|program=kernel|msg=[1.5] usb|#missing_pri|#missing_timestamp"),
    );
    // With a time stamp there is a header as in any other message.
    let host = |text: &[u8]| {
        let (b, r) = parsed(with(|f| f.kernel = true), text);
        [b.bytes(r.host), b.bytes(r.program), b.bytes(r.message)].map(<[u8]>::to_vec)
    };
    assert_eq!(host(b"<4>Nov 11 01:02:03 web [1.5] usb"), [&b"web"[..], b"", b"usb"]);
    assert_eq!(host(b"Nov 11 01:02:03 web app: usb"), [&b"web"[..], b"app", b"usb"]);
    // Two in one batch share the word.
    let mut b = batch(RECEIVED, &[b"<4>a", b"<5>b"]);
    SyslogParser::new(local()).parse_batch(&mut b, 0);
    assert_eq!(b.records[0].program, b.records[1].program);
    assert_eq!(b.bytes(b.records[1].program), b"kernel");
}

#[test]
fn sdata_prefix() {
    let mut options = with(|f| f.syslog_protocol = true);
    options.sdata_prefix = ".my.".into();
    let frame = b"<38>1 - h a - - [x@1 k=\"v\\\"w\" l=\"2\"][empty] m";
    let (b, r) = parsed(options, frame);
    assert!(r.sdata.is_empty());
    assert_eq!(value(&b, &r, ".my.x@1.k").as_deref(), Some("v\\\"w"));
    assert_eq!(value(&b, &r, ".my.x@1.l").as_deref(), Some("2"));
    assert_eq!(
        b.value(&r, b.names.known(".my.empty").expect("learnt")).map(|v| v.kind),
        Some(ValueType::String)
    );
}

#[test]
fn errors() {
    let only = |piggyback| {
        with(|f| (f.syslog_protocol, f.no_rfc3164_fallback, f.piggyback_errors) = (true, true, piggyback))
    };
    let now = "2026-11-21T10:00:00.000005+00:00";
    let pid = std::process::id();
    check_with(
        only(true),
        b"<38>Nov 21 10:00:07 h app: m\n",
        &format!(
            "43 {now}|program=syslog-ng|pid={pid}|msg=Error processing log message: <38>Nov 21 10:00:07 h app: m|#message.parse_error"
        ),
    );
    check_with(
        only(false),
        b"<38>Nov 21 10:00:07 h app: m\n",
        &format!("13 {now}|msg=<38>Nov 21 10:00:07 h app: m|#message.parse_error"),
    );
    let (_, r) = parsed(only(true), b"<38");
    assert_eq!(msgformat(&r), "syslog-error");
}

#[test]
fn formats() {
    let format = |options, frame: &[u8]| msgformat(&parsed(options, frame).1);
    let protocol = || with(|f| f.syslog_protocol = true);
    assert_eq!(format(options(), b"<38>1 - h a - - - m"), "rfc3164");
    assert_eq!(format(protocol(), b"<38>1 - h a - - - m"), "rfc5424");
    assert_eq!(format(protocol(), b"<38>m"), "rfc3164");
    assert_eq!(format(with(|f| f.no_parse = true), b"m"), "raw");
}

#[test]
fn flag_names() {
    let mut flags = ParseFlags::default();
    for name in ParseFlags::NAMES {
        assert!(flags.apply(name) && flags.apply(&name.replace('-', "_")), "{name}");
    }
    assert!(!flags.apply("empty-lines"));
    assert!(flags.no_parse && flags.kernel && !flags.store_legacy_msghdr && !flags.piggyback_errors);
}

#[test]
fn received_again_next_year() {
    let mut parser = SyslogParser::new(options());
    for (received, year) in [(RECEIVED.secs, 2026), (RECEIVED.secs + 365 * 86_400, 2027)] {
        let received = Stamp { secs: received, ..RECEIVED };
        let mut b = batch(
            received,
            &[b"<38>Nov 21 10:00:07 h app[1]: m, and so on until it is long enough to be read in one look"],
        );
        parser.parse_batch(&mut b, 0);
        assert!(render(&b, &b.records[0]).contains(&format!("{year}-11-21T10:00:07")));
    }
}

fn any_options() -> impl Strategy<Value = SyslogOptions> {
    (any::<u16>(), any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(bits, check_hostname, check_program, keep_timestamp, local)| {
            let bit = |n: u32| bits >> n & 1 == 1;
            let mut options = with(|f| {
                f.no_parse = bit(0) && bit(1);
                f.syslog_protocol = bit(2);
                f.validate_utf8 = bit(3);
                f.sanitize_utf8 = bit(4);
                f.no_multi_line = bit(5);
                f.store_legacy_msghdr = bit(6);
                f.store_raw_message = bit(7);
                f.expect_hostname = bit(8);
                f.guess_timezone = bit(9);
                f.no_header = bit(10) && bit(11);
                f.no_rfc3164_fallback = bit(12);
                f.piggyback_errors = bit(13);
                f.kernel = bit(14);
            });
            (options.check_hostname, options.check_program) = (check_hostname, check_program);
            (options.keep_timestamp, options.local) = (keep_timestamp, local);
            if bit(15) {
                options.sdata_prefix = ".other.".into();
                options.bad_hostname = Some(Arc::new(|name| name.starts_with(b"b")));
            }
            options
        },
    )
}

/// Messages put together from the pieces headers are made of, and from any bytes.
fn any_frame() -> impl Strategy<Value = Vec<u8>> {
    const PIECES: [&[u8]; 40] = [
        b"<38>", b"<0>", b"<191>", b"<9999>", b"<", b"1 ", b"Nov 21 10:00:00 ", b"Nov  1 23:59:60 ", b"Feb 29 00:00:00 ",
        b"Nov 21 2026 10:00:00: ", b"Nov 21 10:00:00 2026 ", b"2026-11-21T10:00:00.123456+01:00 ", b"2026-11-21T10:00:00Z ",
        b"- ", b"-", b" ", b":", b"[", b"]", b"host ", b"fe80::1 ", b"app[12]: ", b"app: ", b"123: ", b"*", b"%ASA-1: ",
        b"Message forwarded from x: ", b"last message repeated 3 times", b"[a b=\"c\"]", b"[a b=\"\\\"\\]\\\\\"][c]",
        b"[a b=\"]\"]", b"\xef\xbb\xbf", b"\n", b"\0", b"\xff\xfe", b"12 <13>", b"\\", b"\"", b"=",
        b"and a text that makes the whole long enough to be read in wide pieces, without any mark of its own ",
    ];
    let piece = prop_oneof![
        9 => (0..PIECES.len()).prop_map(|index| PIECES[index].to_vec()),
        1 => proptest::collection::vec(any::<u8>(), 0..8),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Nothing panics, every span lies in the text, and what is made of a frame does not depend on what
    /// stands around it.
    #[test]
    fn any_bytes(options in any_options(), frames in proptest::collection::vec(any_frame(), 1..5)) {
        let frames: Vec<&[u8]> = frames.iter().map(|frame| &**frame).collect();
        let mut together = batch(RECEIVED, &frames);
        SyslogParser::new(options.clone()).parse_batch(&mut together, 0);
        prop_assert_eq!(together.records.len(), frames.len());
        for (index, frame) in frames.iter().enumerate() {
            let r = together.records[index];
            for span in [r.frame, r.host, r.program, r.pid, r.msgid, r.msghdr, r.message, r.sdata] {
                prop_assert!(span == Span::NOTHING || span.end() <= together.text.len());
            }
            let (alone, record) = parsed(options.clone(), frame);
            prop_assert_eq!(render(&together, &r), render(&alone, &record));
        }
    }
}
