//! Every row of what is known about messages in the BSD form.

use crate::syslog::tests::{RECEIVED, batch, check, check_with, options, parsed, render, with};
use crate::syslog::{SyslogOptions, SyslogParser};
use proptest::prelude::*;
use record::{Stamp, Zone};
use std::sync::Arc;

/// The receive time in the source's zone.
const NOW: &str = "2026-11-21T11:00:00.000005+01:00";

#[test]
fn canonical() {
    let long = "x".repeat(100);
    for message in ["m", "", " m", long.as_str()] {
        let frame = format!("<38>Nov 21 10:00:07 host012 app3[1234]: {message}");
        let msg = if message.is_empty() { String::new() } else { format!("|msg={message}") };
        let expected = format!(
            "38 2026-11-21T10:00:07+01:00|host=host012|program=app3|pid=1234|hdr=app3[1234]: {msg}|text"
        );
        check(frame.as_bytes(), &expected);
        check(format!("{frame}\n").as_bytes(), &expected);
        check(format!("{frame}\r\n\0").as_bytes(), &expected);
    }
}

#[test]
fn pri() {
    let rest = format!(" {NOW}|program=m|hdr=m|#missing_timestamp|#rfc3164_missing_header");
    for (pri, value) in [
        ("<0>", 0),
        ("<7>", 7),
        ("<13>", 13),
        ("<191>", 191),
        ("<1023>", 1023),
        ("<0013>", 13),
        ("<>", 0),
        ("<1024>", 1024),
        ("<99999>", 34463),
        ("<00000000000000000013>", 13),
    ] {
        check(format!("{pri}m").as_bytes(), &format!("{value}{rest}"));
    }
    check(b"m", &format!("13{rest}").replace("|#missing_t", "|#missing_pri|#missing_t"));
    for bad in ["<-1>m", "<13m", "< 13>m", "<x>"] {
        // The zone counts for messages that have a header.
        check(bad.as_bytes(), &format!("13 2026-11-21T10:00:00.000005+00:00|msg={bad}|#invalid_pri"));
    }
    check(b"", &format!("13 {NOW}|#missing_pri|#missing_timestamp|#rfc3164_missing_header"));
    for (ends_within, value) in [("<13>", 13), ("<13", 13), ("<", 0)] {
        let expected = format!("{value} {NOW}|#missing_timestamp|#rfc3164_missing_header");
        check(ends_within.as_bytes(), &expected);
    }
}

#[test]
fn framing_leftovers() {
    let rest = "2026-11-21T10:00:07+01:00|host=h|program=a|hdr=a: |msg=m|text";
    check(b"27 <38>Nov 21 10:00:07 h a: m", &format!("38 {rest}|#unexpected_framing"));
    check(
        b"27  <38>m",
        &format!(
            "13 {NOW}|program=27|hdr=27 |msg= <38>m|#missing_pri|#missing_timestamp|#rfc3164_missing_header"
        ),
    );
}

/// The stamp `text` and a blank in front of `h a: m`.
fn stamp(text: &str, expected: &str, canonical: bool) {
    let end = if canonical { "|text" } else { "" };
    for msg in ["m".to_owned(), "y".repeat(90)] {
        let frame = format!("<38>{text} h a: {msg}");
        check(frame.as_bytes(), &format!("38 {expected}|host=h|program=a|hdr=a: |msg={msg}{end}"));
    }
}

#[test]
fn bsd_stamps() {
    stamp("Nov 21 10:00:07", "2026-11-21T10:00:07+01:00", true);
    stamp("Nov  1 00:00:00", "2026-11-01T00:00:00+01:00", true);
    stamp("Nov 01 00:00:00", "2026-11-01T00:00:00+01:00", false);
    stamp("Nov 1 00:00:00", "2026-11-01T00:00:00+01:00", false);
    stamp("nov 21 10:00:07", "2026-11-21T10:00:07+01:00", false);
    stamp("NOV 21 10:00:07", "2026-11-21T10:00:07+01:00", false);
    stamp("Nov 21 10:00:07.5", "2026-11-21T10:00:07.500000+01:00", true);
    stamp("Nov 21 10:00:07.123456789", "2026-11-21T10:00:07.123456+01:00", true);
    stamp("Nov 21 10:00:07:", "2026-11-21T10:00:07+01:00", true);
    stamp("Nov 21 10:00:60", "2026-11-21T10:01:00+01:00", false);
    stamp("Nov 31 10:00:07", "2026-12-01T10:00:07+01:00", false);
    stamp(" Nov 21 10:00:07", "2026-11-21T10:00:07+01:00", true);
    stamp("Nov 21 2025 10:00:07", "2025-11-21T10:00:07+01:00", false);
    stamp("Nov 21 2025 10:00:07:", "2025-11-21T10:00:07+01:00", false);
    stamp("Nov  1 2025 10:00:07.25:", "2025-11-01T10:00:07.250000+01:00", false);
    stamp("Nov 21 10:00:07 2024", "2024-11-21T10:00:07+01:00", true);
    stamp("Nov 21 10:00:07,5", "2026-11-21T10:00:07.500000+01:00", true);
    stamp("Nov 21 10:00:07.", "2026-11-21T10:00:07+01:00", true);
    // The year ends before the blank: the colons behind it are the host's.
    check(
        b"<38>Nov 21 10:00:07 2024 ::1 a: m",
        "38 2024-11-21T10:00:07+01:00|host=::1|program=a|hdr=a: |msg=m|text",
    );
    for month in ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Dec"] {
        let index =
            crate::timestamp::month(month.as_bytes().try_into().expect("three letters")).expect("a month");
        stamp(&format!("{month} 11 12:34:56"), &format!("2026-{index:02}-11T12:34:56+01:00"), true);
    }
}

#[test]
fn iso_stamps() {
    stamp("2026-11-21T10:00:07Z", "2026-11-21T10:00:07+00:00", false);
    stamp("2026-11-21T10:00:07+02:00", "2026-11-21T10:00:07+02:00", false);
    stamp("2026-11-21T10:00:07.123456-03:30", "2026-11-21T10:00:07.123456-03:30", false);
    stamp("2026-11-21T10:00:07,5+02:00", "2026-11-21T10:00:07.500000+02:00", false);
    stamp("2026-11-21 10:00:07", "2026-11-21T10:00:07+01:00", false);
    stamp("2026-11-21T10:00:07.000001", "2026-11-21T10:00:07.000001+01:00", false);
    stamp("2026-11-21T10:00:07+0200", "2026-11-21T10:00:07+02:00", false);
    stamp("2026-11-21T10:00:07+02:00:", "2026-11-21T10:00:07+02:00", false);
}

#[test]
fn not_stamps() {
    for text in
        ["Foo 21 10:00:07", "Nov-21 10:00:07", "2026-11-21X10:00:07Z", "Nov 21 1:00:07", "Nov 21 10:00"]
    {
        let (b, r) = parsed(options(), format!("<38>{text} h a: m").as_bytes());
        let received = Stamp { offset: 3600, ..RECEIVED };
        assert_eq!((r.stamp, r.host.is_empty()), (received, true), "{text}");
        assert!(render(&b, &r).contains("#missing_timestamp|#rfc3164_missing_header"), "{text}");
    }
}

/// The time of receipt stands for them, and the header goes on behind them.
#[test]
fn stamps_that_are_no_time() {
    for text in [
        "Nov 32 10:00:07",
        "Dec 31 32:59:59",
        "Nov 0 10:00:07",
        "Nov 00 10:00:07",
        "Nov 21 24:00:07",
        "Nov 21 10:60:07",
        "Nov 21 10:00:61",
        "Nov 21 10:00:61:",
        "Nov 21 2026 25:00:07.5",
        "2026-13-01T10:00:07Z",
        "2026-02-32T10:00:07.5+02:00",
        "0000-11-21T10:00:07Z",
        "0000-00-00 00:00:00",
    ] {
        let expected = format!("38 {NOW}|host=h|program=a|pid=7|hdr=a[7]: |msg=m|#missing_timestamp");
        check(format!("<38>{text} h a[7]: m").as_bytes(), &expected);
    }
    let local = SyslogOptions { local: true, ..options() };
    let expected = format!("2 {NOW}|host=h|program=a|hdr=a: |msg=m|#missing_timestamp");
    check_with(local, b"<2>Nov 15 07:74:57 h a: m", &expected);
}

/// Its offset is the one of the source's zone at that time.
#[test]
fn without_a_stamp_the_source_s_zone_counts() {
    let tokyo = Zone::named("Asia/Tokyo").expect("zone database");
    let options = SyslogOptions { recv_zone: tokyo, ..options() };
    let expected = "38 2026-11-21T19:00:00.000005+09:00|program=a|hdr=a: |msg=m|#missing_timestamp|#rfc3164_missing_header";
    check_with(options, b"<38>a: m", expected);
}

#[test]
fn without_a_stamp_no_host_is_expected() {
    check(
        b"<38>h a: m",
        &format!("38 {NOW}|program=h|hdr=h |msg=a: m|#missing_timestamp|#rfc3164_missing_header"),
    );
    check(
        b"<38>  h a: m",
        &format!("38 {NOW}|program=h|hdr=h |msg=a: m|#missing_timestamp|#rfc3164_missing_header"),
    );
    check(
        b"<38>a[7]: m",
        &format!("38 {NOW}|program=a|pid=7|hdr=a[7]: |msg=m|#missing_timestamp|#rfc3164_missing_header"),
    );
}

#[test]
fn years() {
    let year = |received: &str, stamp: &str| {
        let reading = crate::timestamp::parse_iso(received.as_bytes()).expect("a stamp");
        let received = Stamp { secs: reading.wall.seconds(), ..RECEIVED };
        let frame = format!("<38>{stamp} h a: {}", "z".repeat(90));
        let mut batch = batch(received, &[frame.as_bytes()]);
        let options = SyslogOptions { recv_zone: Zone::UTC, ..options() };
        SyslogParser::new(options).parse_batch(&mut batch, 0);
        render(&batch, &batch.records[0])[3..13].to_owned()
    };
    assert_eq!(year("2026-01-05T10:00:00Z", "Dec 31 23:59:59"), "2025-12-31");
    assert_eq!(year("2026-12-31T23:59:59Z", "Jan  1 00:00:01"), "2027-01-01");
    assert_eq!(year("2026-12-31T23:59:59Z", "Nov 30 00:00:01"), "2026-11-30");
    assert_eq!(year("2026-02-01T10:00:00Z", "Dec 31 23:59:59"), "2026-12-31");
    assert_eq!(year("2028-03-01T10:00:00Z", "Feb 29 23:59:59"), "2028-02-29");
    // No such day in 2026: the day after the 28th.
    assert_eq!(year("2026-03-01T10:00:00Z", "Feb 29 23:59:59"), "2026-03-01");
}

#[test]
fn zones_with_rules() {
    let options =
        SyslogOptions { recv_zone: Zone::named("Europe/Budapest").expect("zone database"), ..options() };
    let tail = format!("|host=h|program=a|hdr=a: |msg={}|text", "z".repeat(90));
    for (stamp, iso) in [
        ("Mar 29 01:59:59", "2026-03-29T01:59:59+01:00"),
        ("Mar 29 03:00:00", "2026-03-29T03:00:00+02:00"),
        ("Mar 29 23:00:00", "2026-03-29T23:00:00+02:00"),
        ("Oct 25 01:59:59", "2026-10-25T01:59:59+02:00"),
        ("Oct 25 03:00:00", "2026-10-25T03:00:00+01:00"),
    ] {
        let frame = format!("<38>{stamp} h a: {}", "z".repeat(90));
        check_with(options.clone(), frame.as_bytes(), &format!("38 {iso}{tail}"));
    }
}

#[test]
fn cisco() {
    let at = "189 2026-11-21T10:00:07.411000+01:00";
    let after = |sdata: &str| {
        format!(
            "{at}|program=%SYS-5-CONFIG_I{sdata}|hdr=%SYS-5-CONFIG_I: |msg=Configured|text|#invalid_hostname"
        )
    };
    for (mark, sdata) in [
        ("29: *", "|sdata=[meta sequenceId=\"29\"][timeQuality isSynced=\"0\"]"),
        (".", "|sdata=[timeQuality isSynced=\"1\"]"),
        ("29: ", "|sdata=[meta sequenceId=\"29\"]"),
        (": ", "|sdata=[meta sequenceId=\"\"]"),
    ] {
        let frame = format!("<189>{mark}Nov 21 10:00:07.411: %SYS-5-CONFIG_I: Configured");
        check(frame.as_bytes(), &after(sdata));
    }
    // Nexus: the year in front makes it no stamp.
    check(
        b"<189>: 2026 Oct 11 22:14:15 UTC: %ETHPORT-5-IF_UP: up",
        &format!(
            "189 {NOW}|program=2026|sdata=[meta sequenceId=\"\"]|hdr=2026 |msg=Oct 11 22:14:15 UTC: %ETHPORT-5-IF_UP: up\
             |#missing_timestamp|#rfc3164_missing_header"
        ),
    );
}

#[test]
fn hosts() {
    let at = "38 2026-11-21T10:00:07+01:00";
    let host = |name: &str| {
        let tail = "m".repeat(90);
        let frame = format!("<38>Nov 21 10:00:07 {name} a: {tail}");
        check(frame.as_bytes(), &format!("{at}|host={name}|program=a|hdr=a: |msg={tail}|text"));
    };
    for name in [
        "h",
        "host012",
        "192.168.1.1",
        "fe80::1",
        "2001:db8::8a2e:370:7334",
        "::1",
        "fe80::1%eth0",
        "host/relay",
        "src@host",
        "src@fe80::1/relay",
        "(host)",
        "99999",
        "messages",
        "lastly",
        "Message",
    ] {
        host(name);
    }
    host(&"h".repeat(255));
    host(&"h".repeat(70));
    let no_host = |rest: &str, expected: &str| {
        let expected = format!("{at}{expected}|text|#invalid_hostname");
        check(format!("<38>Nov 21 10:00:07 {rest}").as_bytes(), &expected);
    };
    no_host("a: m", "|program=a|hdr=a: |msg=m");
    no_host("a[1]: m", "|program=a|pid=1|hdr=a[1]: |msg=m");
    no_host("10:00:00 m", "|program=10|hdr=10:|msg=00:00 m");
    no_host("single", "|program=single|hdr=single");
    no_host("", "");
    no_host(&format!("{} m", "h".repeat(256)), &format!("|program={0}|hdr={0} |msg=m", "h".repeat(256)));
    check(b"<38>Nov 21 10:00:07   h  a: m", &format!("{at}|host=h|program=a|hdr=a: |msg=m|text"));
    check_with(
        with(|f| f.expect_hostname = false),
        b"<38>Nov 21 10:00:07 h a: m",
        &format!("{at}|program=h|hdr=h |msg=a: m|text"),
    );
    let tail = "m".repeat(90);
    check_with(
        with(|f| f.expect_hostname = false),
        format!("<38>Nov 21 10:00:07 su[12]: {tail}").as_bytes(),
        &format!("{at}|program=su|pid=12|hdr=su[12]: |msg={tail}|text"),
    );
}

#[test]
fn rejected_hosts() {
    let at = "38 2026-11-21T10:00:07+01:00";
    let bad = SyslogOptions { bad_hostname: Some(Arc::new(|name| name.starts_with(b"bad"))), ..options() };
    check_with(
        bad.clone(),
        b"<38>Nov 21 10:00:07 badhost a: m",
        &format!("{at}|program=badhost|hdr=badhost |msg=a: m|text|#invalid_hostname"),
    );
    check_with(
        bad,
        b"<38>Nov 21 10:00:07 good a: m",
        &format!("{at}|host=good|program=a|hdr=a: |msg=m|text"),
    );
    let checked = with(|f| f.check_hostname = true);
    check_with(
        checked.clone(),
        b"<38>Nov 21 10:00:07 h$st a: m",
        &format!("{at}|program=h$st|hdr=h$st |msg=a: m|text|#invalid_hostname"),
    );
    check_with(
        checked,
        b"<38>Nov 21 10:00:07 h-1.x_y a: m",
        &format!("{at}|host=h-1.x_y|program=a|hdr=a: |msg=m|text"),
    );
}

#[test]
fn forwarded_and_repeated() {
    let at = "38 2026-11-21T10:00:07+01:00";
    check(
        b"<38>Nov 21 10:00:07 Message forwarded from aix1: sshd[7]: m",
        &format!("{at}|host=aix1|program=sshd|pid=7|hdr=sshd[7]: |msg=m|text"),
    );
    for (rest, expected) in [
        ("aix1 sshd[7]: m", "|host=aix1 sshd[7]|program=m|hdr=m"),
        ("aix1: : m: x", "|host=aix1|program=m|hdr=m: |msg=x"),
        (": m: x", "|program=m|hdr=m: |msg=x"),
        ("aix1: last message repeated 3 times", "|host=aix1|msg=last message repeated 3 times"),
    ] {
        let frame = format!("<38>Nov 21 10:00:07 Message forwarded from {rest}");
        check(frame.as_bytes(), &format!("{at}{expected}|text"));
    }
    check(
        b"<38>Nov 21 10:00:07 last message repeated 3 times and some more text so that it is long enough for a wide look",
        &format!("{at}|msg=last message repeated 3 times and some more text so that it is long enough for a wide look|text"),
    );
}

#[test]
fn programs() {
    let at = "38 2026-11-21T10:00:07+01:00|host=h";
    let program = |rest: &str, expected: &str| {
        check(format!("<38>Nov 21 10:00:07 h {rest}").as_bytes(), &format!("{at}{expected}|text"));
        let tail = "n".repeat(90);
        let long = expected.replace("|msg=m", &format!("|msg=m {tail}"));
        if expected.contains("|msg=m") {
            check(format!("<38>Nov 21 10:00:07 h {rest} {tail}").as_bytes(), &format!("{at}{long}|text"));
        }
    };
    program("a: m", "|program=a|hdr=a: |msg=m");
    program("a:m", "|program=a|hdr=a:|msg=m");
    program("a m", "|program=a|hdr=a |msg=m");
    program("a[1]: m", "|program=a|pid=1|hdr=a[1]: |msg=m");
    program("a[1] m", "|program=a|pid=1|hdr=a[1] |msg=m");
    program("a[1]:m", "|program=a|pid=1|hdr=a[1]:|msg=m");
    program("a[1]m", "|program=a|pid=1|hdr=a[1]|msg=m");
    program("a[1 m", "|program=a|pid=1|hdr=a[1 |msg=m");
    program("a[1: m", "|program=a|pid=1|hdr=a[1: |msg=m");
    program("a[b[1]: m", "|program=a|pid=b[1|hdr=a[b[1]: |msg=m");
    program("a]b: m", "|program=a]b|hdr=a]b: |msg=m");
    program("a[]: m", "|program=a|hdr=a[]: |msg=m");
    program(": m", "|hdr=: |msg=m");
    program("a:  m", "|program=a|hdr=a: |msg= m");
    program("a[1", "|program=a|hdr=a[1");
    program("/usr/bin/x.y-z_1: m", "|program=/usr/bin/x.y-z_1|hdr=/usr/bin/x.y-z_1: |msg=m");
    program("%ASA-6-302013: m", "|program=%ASA-6-302013|hdr=%ASA-6-302013: |msg=m");
}

#[test]
fn rejected_programs() {
    let checked = || with(|f| f.check_program = true);
    let at = "38 2026-11-21T10:00:07+01:00|host=h";
    check_with(
        checked(),
        b"<38>Nov 21 10:00:07 h {\"a\":1}",
        &format!("{at}|msg={{\"a\":1}}|text|#rfc3164_invalid_program"),
    );
    check_with(
        checked(),
        b"<38>Nov 21 10:00:07 h 42: m",
        &format!("{at}|msg=42: m|text|#rfc3164_invalid_program"),
    );
    for odd in ["a#b", "a%b", "a+b", "a,b", "a=b", "a@b"] {
        check_with(
            checked(),
            format!("<38>Nov 21 10:00:07 h {odd}: m").as_bytes(),
            &format!("{at}|msg={odd}: m|text|#rfc3164_invalid_program"),
        );
    }
    check_with(
        checked(),
        b"<38>Nov 21 10:00:07 h /a-b_c.d(e): m",
        &format!("{at}|program=/a-b_c.d(e)|hdr=/a-b_c.d(e): |msg=m|text"),
    );
    check_with(checked(), b"<38>Nov 21 10:00:07 h a: m", &format!("{at}|program=a|hdr=a: |msg=m|text"));
    check_with(
        checked(),
        b"<38>{}",
        &format!("38 {NOW}|msg={{}}|#missing_timestamp|#rfc3164_invalid_program|#rfc3164_missing_header"),
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The fast path and the general parser agree on everything that looks nearly canonical.
    #[test]
    fn both_ways_agree(
        pri in 0u16..2000,
        stamp in "(Nov|Feb|Dec|nov|Mai) [ 0-3][0-9] [0-2][0-9]:[0-5][0-9]:[0-6][0-9][ :.]",
        host in "[a-c0-9:.\\[\\] ]{0,9} ?",
        program in "[a-c:\\[\\] /]{0,9}",
        pid in "(\\[[0-9 :\\[]{0,4}\\]?)?",
        end in "[: ]{0,3}",
        size in 0usize..100,
        expect_hostname in any::<bool>(),
        local in any::<bool>(),
    ) {
        let frame = format!("<{pri}>{stamp}{host}{program}{pid}{end}{}", "m".repeat(size));
        let mut fast = with(|f| f.expect_hostname = expect_hostname);
        fast.local = local;
        // A matcher that never matches turns the fast path off.
        let general = SyslogOptions { bad_hostname: Some(Arc::new(|_| false)), ..fast.clone() };
        let filler = [b'~'; 100];
        let run = |options| {
            let mut batch = batch(RECEIVED, &[frame.as_bytes(), &filler]);
            SyslogParser::new(options).parse_batch(&mut batch, 0);
            let record = batch.records[0];
            render(&batch, &record)
        };
        prop_assert_eq!(run(fast), run(general));
    }

    /// Every byte of the input is in a field, or is one of the few signs that say where fields are.
    #[test]
    fn no_text_is_lost(
        pri in "(<[0-9]{0,7}>)?",
        count in "([0-9]{1,3} )?",
        start in "([0-9]{0,3}: |:|[*.]| )?",
        stamp in "((Oct 11|Nov  1) 22:14:15( 2026)?([.,][0-9]{0,3})?[: ]?|2026 Oct 11 |Oct 11 2026 22:14:15[: ]|2026-10-11T22:14:15(Z|[+]02:00)?:?)?",
        forwarded in "(Message forwarded from |last message repeated )?",
        rest in "[a-c:\\[\\]/ <>0-9=\"]{0,24}",
        expect_hostname in any::<bool>(),
    ) {
        let frame = format!("{count}{pri}{start}{stamp} {forwarded}{rest}");
        let (batch, record) = parsed(with(|f| f.expect_hostname = expect_hostname), frame.as_bytes());
        let base = record.frame.start as usize;
        let mut left = frame.clone().into_bytes();
        for span in [record.host, record.msghdr, record.message] {
            if !span.is_empty() {
                left[span.start as usize - base..span.end() - base].fill(b'~');
            }
        }
        let mut left: Vec<u8> = left.into_iter().filter(|byte| *byte != b'~').collect();
        let rendered = render(&batch, &record);
        if rendered.contains("#unexpected_framing") {
            left.drain(..count.len());
        }
        if !rendered.contains("#missing_pri") && !rendered.contains("#invalid_pri") {
            left.drain(..pri.len());
        }
        let mut left = String::from_utf8(left).expect("text");
        if let Some(from) = rendered.find("[meta sequenceId=\"") {
            let number = rendered[from + 18..].split('"').next().unwrap_or_default();
            left = left.strip_prefix(&format!("{number}:")).expect("the sequence number").to_owned();
        }
        left = left.trim_start().to_owned();
        if rendered.contains("[timeQuality isSynced=\"") {
            left.remove(0);
        }
        left = left.replacen("Message forwarded from", "", 1);
        // The stamp was read whole: between its first and last digit or letter nothing else stands.
        if !rendered.contains("#missing_timestamp") {
            let stamp = stamp.trim_matches([' ', ':']);
            let read = (0..=stamp.len()).rev().find(|at| left.starts_with(&stamp[..*at])).unwrap_or(0);
            prop_assert!(read >= 14, "{frame}: {left}");
            left.drain(..read);
        }
        prop_assert!(left.bytes().all(|byte| matches!(byte, b' ' | b':')), "{}: {}: {}", frame, rendered, left);
    }
}
