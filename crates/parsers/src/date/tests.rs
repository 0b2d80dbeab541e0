//! Formats and what is not said, by example; most were compared with syslog-ng 3.38.

use crate::testing::{batch, build, check_codes, context, parser, values};
use record::Stamp;

/// 2026-11-21 21:49:54 UTC.
const NOW: i64 = 1_795_297_794;

/// The time as `seconds.microseconds offset`, or `no match`.
fn read(options: &str, text: &str, now: i64) -> String {
    let mut batch = batch(&[text.as_bytes()]);
    let mut cx = context();
    cx.begin_batch(Stamp { secs: now, usec: 0, offset: 0 });
    let mut selection = vec![0];
    parser(&format!("date-parser({options})")).parse(&mut batch, &mut selection, &mut cx);
    let Stamp { secs, usec, offset } = batch.records[0].stamp;
    if selection.is_empty() {
        assert_eq!((secs, usec, offset), (0, 0, 0), "a record that failed was changed");
        return "no match".to_owned();
    }
    format!("{secs}.{usec} {offset}")
}

#[track_caller]
fn check(format: &str, text: &str, expected: &str) {
    let options = format!("format(\"{format}\") time-zone(\"UTC\")");
    assert_eq!(read(&options, text, NOW), expected, "{format} on {text}");
}

#[test]
fn formats() {
    for (format, text, expected) in [
        ("%FT%T%z", "2024-01-02T03:04:05+0200", "1704157445.0 7200"),
        ("%FT%T.%f%z", "2024-01-02T03:04:05.123456+02:00", "1704157445.123456 7200"),
        ("%FT%T.%f%z", "2024-01-02T03:04:05.123456789Z", "1704164645.123456 0"),
        ("%FT%T,%f%z", "2024-01-02T03:04:05,12Z", "1704164645.120000 0"),
        ("%d/%b/%Y:%H:%M:%S %z", "02/Jan/2024:03:04:05 -0500", "1704182645.0 -18000"),
        ("%b %d %H:%M:%S", "Jan  2 03:04:05", "1767323045.0 0"),
        ("%s %z", "1700000000 +0000", "1700000000.0 0"),
        ("%s.%f %Z", "1700000000.5 UT", "1700000000.500000 0"),
        ("%A, %d-%b-%y %I:%M:%S %p %Z", "Tuesday, 02-Jan-24 03:04:05 PM EST", "1704225845.0 -18000"),
        ("%a %B %e %r %Y", "tue JANUARY  2 12:04:05 am 2024", "1704153845.0 0"),
        ("%c", "Tue Jan  2 03:04:05 2024", "1704164645.0 0"),
        ("%D %R", "01/02/24 03:04", "1704164640.0 0"),
        ("%C%y-%m-%d", "1999-12-31", "946598400.0 0"),
        ("%y", "68", "3092601600.0 0"),
        ("%y", "69", "-31536000.0 0"),
        ("%F", "2024-01-02", "1704153600.0 0"),
        ("%R", "03:04", "1795230240.0 0"),
        ("%Y %j", "2024 366", "1735603200.0 0"),
        ("%F %T", "2024-02-30 01:02:03", "1709254923.0 0"),
        ("%F %T", "2024-01-02   03:04:05", "1704164645.0 0"),
        ("%b %e %Y %H:%M:%S", "Jan 2 2024 3:4:5", "1704164645.0 0"),
        ("%Y%%%m", "2024%05", "1714521600.0 0"),
        ("%F %T %Z", "2024-07-02 03:04:05 Europe/Budapest", "1719885845.0 3600"),
        ("%F %H%M", "2024-01-02 930", "1704187800.0 0"),
        // Either conversion takes either form of a zone; letters are as in RFC 822, east for west.
        ("%F %T %Z", "2024-07-02 03:04:05 +02:00", "1719882245.0 7200"),
        ("%F %T %z", "2024-07-02 03:04:05 EST", "1719907445.0 -18000"),
        ("%F %T %z", "2024-07-02 03:04:05 A", "1719893045.0 -3600"),
        ("%F %T %z", "2024-07-02 03:04:05 Y", "1719846245.0 43200"),
        ("%F %T%z", "2024-01-02 03:04:05 \t+0200", "1704157445.0 7200"),
        ("%F %T%z", "2024-01-02 03:04:05 Z", "1704164645.0 0"),
        // Dates by the week; a week without a day begins on a Sunday, or with %W on a Monday.
        ("%Y %U %w", "2021 09 4", "1614816000.0 0"),
        ("%Y %W %w", "2021 00 5", "1609459200.0 0"),
        ("%Y %W %u", "2021 52 7", "1640476800.0 0"),
        ("%Y %U", "2021 00", "1609027200.0 0"),
        ("%Y %W", "2021 09", "1614556800.0 0"),
        ("%Y %U %a", "2021 09 Thu", "1614816000.0 0"),
        ("%F %U %w", "2021-03-04 20 1", "1614816000.0 0"),
        ("%Y %w", "2021 4", "1609459200.0 0"),
        ("%V %u %G %FT%EH", "01 2 2024 2024-01-02T03", "1704164400.0 0"),
    ] {
        check(format, text, expected);
    }
    for (format, text) in [
        ("%F %T", "2024-01-02 03:04:05 extra"),
        ("%FT%T%f", "2024-01-02T03:04:05"),
        ("%FT%T%f", "2024-01-02T03:04:05.5"),
        ("%F", "x"),
        ("%F %T", "2024-01-02 25:00:00"),
        ("%F", "2024-13-01"),
        ("%F", ""),
        ("%z", "+2"),
        ("%z", "J"),
        ("%F %T%Z", "2024-01-02 03:04:05 +0200"),
        ("%F%z", "2024-01-02 "),
        ("%Y %U %w", "2021 09 7"),
        ("%Y %W %u", "2021 09 0"),
        ("%H:%M", " 9:11"),
        ("%d.", "92."),
        ("%Y-%m-%d", "2024- 1-02"),
        ("%z", "+9900"),
        ("%Z", "Nowhere"),
        ("%p", "xM"),
        ("%b", "Jax"),
        ("%s", "99999999999999999999999"),
    ] {
        check(format, text, "no match");
    }
}

#[test]
fn the_first_format_that_fits_counts() {
    let options = "format(\"%s\", \"%F %T\", \"%F\") time-zone(\"+05:00\")";
    assert_eq!(read(options, "2024-01-02 03:04:05", NOW), "1704146645.0 18000");
    // Seconds since 1970 are shown in the zone of this machine, whatever the format's.
    let local = record::Zone::local().offset_at(1_700_000_000);
    assert_eq!(read(options, "1700000000", NOW), format!("1700000000.0 {local}"));
    assert_eq!(read("", "2024-01-02T03:04:05+0200", NOW), "1704157445.0 7200");
}

#[test]
fn the_nearest_year() {
    let options = "format(\"%b %d\") time-zone(\"UTC\")";
    let december = 1_798_600_000;
    let january = 1_800_000_000;
    assert_eq!(read(options, "Jan 1", december), "1798761600.0 0");
    assert_eq!(read(options, "Dec 31", january), "1798675200.0 0");
}

#[test]
fn a_zone_is_guessed() {
    let options = "format(\"%F %T\") time-zone(\"UTC\") flags(guess-timezone)";
    assert_eq!(read(options, "2026-11-22 03:19:50", NOW), "1795297790.0 19800");
    assert_eq!(read(options, "2026-11-21 16:49:54", NOW), "1795297794.0 -18000");
    assert_eq!(read(options, "2024-01-02 03:04:05", NOW), "1704164645.0 0");
    // 25 minutes late, not in another zone.
    assert_eq!(read(options, "2026-11-21 21:24:50", NOW), "1795296290.0 0");
}

#[test]
fn a_value_instead() {
    let mut batch = batch(&[b"1700000000.25"]);
    let mut selection = vec![0];
    parser("date-parser(format(\"%s.%f\") value(\"when\"))").parse(
        &mut batch,
        &mut selection,
        &mut context(),
    );
    assert_eq!(values(&batch, 0), "when=datetime:1700000000.250000");
    assert_eq!(batch.records[0].stamp, Stamp::default());
}

#[test]
fn what_is_wrong_is_said() {
    check_codes("date-parser(format(\"%q\"))", &["A0102"]);
    check_codes("date-parser(format(\"%\"))", &["A0102"]);
    check_codes("date-parser(value(\"DATE\"))", &["A0106"]);
    let (made, codes, _) = build("date-parser(value(\"d\"))");
    assert!(made.is_some() && codes.is_empty(), "{codes:?}");
    let (made, codes, _) = build("date-parser(time-stamp(recvd) value(\"when\"))");
    assert!(made.is_some() && codes == ["A0102"], "{codes:?}");
}

#[test]
fn hostile_texts() {
    let texts = [
        "9".repeat(1 << 20),
        " ".repeat(1 << 20),
        format!("{}2024-01-02T03:04:05+0200", " ".repeat(1 << 20)),
        format!("1700000000{}", "9".repeat(300)),
        "-9223372036854775808".to_owned(),
        "9223372036854775807".to_owned(),
        "2024-13-32T25:61:62+9999".to_owned(),
        "0000-00-00T00:00:00-9999".to_owned(),
        "9999-12-31T23:59:60+2400".to_owned(),
        format!("1700000000.{}", "0".repeat(1 << 20)),
        "Jan".to_owned(),
        "\u{0}\u{0}".to_owned(),
    ];
    let formats =
        ["", "format(\"%s\")", "format(\"%s.%f\")", "format(\"%Y-%m-%d\")", "format(\"%n%t %b %d %Z\")"];
    for format in formats.iter().map(|f| format!("date-parser({f})")) {
        let made = parser(&format);
        for text in texts.iter().map(String::as_bytes).chain([b"\xff\xfe".as_slice(), b"1700000000\xff"]) {
            let (mut batch, mut selection) = (batch(&[text]), vec![0]);
            made.parse(&mut batch, &mut selection, &mut context());
            assert!(selection.len() <= 1 && batch.text.len() < 3 << 20);
        }
    }
    for len in 0.."2024-01-02T03:04:05+0200".len() - 2 {
        let (mut batch, mut selection) = (batch(&[&b"2024-01-02T03:04:05+0200"[..len]]), vec![0]);
        parser("date-parser()").parse(&mut batch, &mut selection, &mut context());
        assert!(selection.is_empty(), "{len}");
    }
}
