//! Writing stamps; reading them is tested with the messages they stand in.

use super::*;
use proptest::prelude::*;
use record::{Stamp, Zone};

fn written(format: TimeFormat, digits: u8, stamp: Stamp, offset: i32) -> String {
    let mut out = b">".to_vec();
    let mut formatter = StampFormatter::new(format, digits);
    formatter.append(&mut out, &stamp, offset);
    let first = String::from_utf8_lossy(&out[1..]).into_owned();
    // From memory it is the same.
    out.clear();
    formatter.append(&mut out, &stamp, offset);
    assert_eq!(String::from_utf8_lossy(&out), first);
    first
}

#[test]
fn all_forms() {
    let stamp = Stamp { secs: 1_795_255_207, usec: 1_203, offset: 0 };
    for (format, digits, offset, expected) in [
        (TimeFormat::Bsd, 0, 0, "Nov 21 10:00:07"),
        (TimeFormat::Bsd, 3, 3600, "Nov 21 11:00:07.001"),
        (TimeFormat::Iso, 0, 0, "2026-11-21T10:00:07+00:00"),
        (TimeFormat::Iso, 6, -12_600, "2026-11-21T06:30:07.001203-03:30"),
        (TimeFormat::Iso, 9, 50_400, "2026-11-22T00:00:07.001203000+14:00"),
        (TimeFormat::Full, 0, 0, "2026 Nov 21 10:00:07"),
        (TimeFormat::Full, 1, 0, "2026 Nov 21 10:00:07.0"),
        (TimeFormat::Unix, 0, 7200, "1795255207"),
        (TimeFormat::Unix, 4, 7200, "1795255207.0012"),
        (TimeFormat::Unix, 200, 0, "1795255207.001203000"),
    ] {
        assert_eq!(written(format, digits, stamp, offset), expected);
    }
    let single = Stamp { secs: 1_793_491_200, usec: 0, offset: 0 };
    assert_eq!(written(TimeFormat::Bsd, 0, single, 0), "Nov  1 00:00:00");
    let zero = Stamp::default();
    assert_eq!(written(TimeFormat::Iso, 0, zero, 0), "1970-01-01T00:00:00+00:00");
    assert_eq!(written(TimeFormat::Unix, 0, zero, 0), "0");
    let before = Stamp { secs: -1, usec: 0, offset: 0 };
    assert_eq!(written(TimeFormat::Unix, 0, before, 0), "-1");
    assert_eq!(written(TimeFormat::Full, 0, before, 0), "1969 Dec 31 23:59:59");
}

#[test]
fn names() {
    assert_eq!(TimeFormat::named("rfc3339"), Some(TimeFormat::Iso));
    assert_eq!(TimeFormat::named("bsd"), Some(TimeFormat::Bsd));
    assert_eq!(TimeFormat::named("ISO"), None);
}

#[test]
fn fractions() {
    let fraction = |digits| {
        let mut out = Vec::new();
        append_fraction(&mut out, 120_034, digits);
        String::from_utf8_lossy(&out).into_owned()
    };
    assert_eq!(
        [0, 1, 2, 5, 6, 9, 10].map(fraction),
        ["", ".1", ".12", ".12003", ".120034", ".120034000", ".120034000"]
    );
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn iso_round_trip(secs in -60_000_000_000i64..250_000_000_000, usec in 0u32..1_000_000, minutes in -1439i32..1440) {
        let stamp = Stamp { secs, usec, offset: minutes * 60 };
        let text = written(TimeFormat::Iso, 6, stamp, stamp.offset);
        let reading = parse_iso(text.as_bytes()).expect("an ISO stamp");
        prop_assert_eq!(reading.len, text.len());
        let mut clock = Clock::new(Zone::UTC, false);
        prop_assert_eq!(clock.stamp(&reading), stamp);
    }

    #[test]
    fn bsd_round_trip(days in 0i64..365, secs in 0i64..86_400) {
        let stamp = Stamp { secs: 1_767_225_600 + days * 86_400 + secs, usec: 0, offset: 0 };
        let mut clock = Clock::new(Zone::UTC, false);
        // Received in June: no December or January is far enough to be another year's.
        clock.receive(Stamp { secs: 1_781_000_000, ..stamp });
        let text = format!("{} ", written(TimeFormat::Bsd, 0, stamp, 0));
        let reading = parse_bsd(text.as_bytes()).expect("a BSD stamp");
        prop_assert!(reading.canonical);
        prop_assert_eq!(clock.stamp(&reading), stamp);
        let bytes = text.as_bytes().first_chunk::<16>().expect("sixteen bytes");
        for _ in 0..2 {
            prop_assert_eq!(clock.canonical(bytes), Some(stamp));
        }
    }

    /// One clock that sees stamp after stamp, near a change of the zone's offset among others, says of each
    /// what a new one says.
    #[test]
    fn remembering_changes_nothing(
        zone in prop::sample::select(&["UTC", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kolkata", "America/St_Johns"][..]),
        start in prop::sample::select(&[1_774_746_000i64, 1_792_890_000, 1_775_314_800, 1_781_000_000][..]),
        steps in prop::collection::vec(-9000i64..9000, 1..40),
    ) {
        let zone = Zone::named(zone).expect("a zone");
        let received = Stamp { secs: start, usec: 0, offset: 0 };
        let mut clock = Clock::new(zone.clone(), false);
        clock.receive(received);
        for step in steps {
            let secs = start + step;
            let stamp = Stamp { secs, usec: 0, offset: zone.offset_at(secs) };
            let text = format!("{} and more text", written(TimeFormat::Bsd, 0, stamp, stamp.offset));
            let reading = parse_bsd(text.as_bytes()).expect("a BSD stamp");
            let mut other = Clock::new(zone.clone(), false);
            other.receive(received);
            let bytes = text.as_bytes().first_chunk::<16>().expect("sixteen bytes");
            if let Some(known) = clock.canonical(bytes) {
                prop_assert_eq!(known, other.stamp(&reading), "{}", text);
            }
            let iso = format!("{} and more text", written(TimeFormat::Iso, 0, stamp, stamp.offset));
            prop_assert_eq!(clock.iso(iso.as_bytes()), Some((stamp, 25)), "{}", iso);
        }
    }
}

/// What is remembered of no stamp at all is no stamp either.
#[test]
fn nothing_is_not_mistaken_for_a_stamp() {
    for byte in [0u8, 0xff, b' '] {
        for digits in ["2059", "\0\u{1}\0\0"] {
            let mut clock = Clock::new(Zone::UTC, false);
            let mut text = [byte; 32];
            text[14..16].copy_from_slice(&digits.as_bytes()[..2]);
            text[17..19].copy_from_slice(&digits.as_bytes()[2..]);
            text[16] = b':';
            text[19..21].copy_from_slice(b"Z ");
            assert_eq!(clock.iso(&text), None, "{byte} {digits:?}");
            assert_eq!(
                clock.canonical(text.first_chunk().expect("sixteen bytes")),
                None,
                "{byte} {digits:?}"
            );
        }
    }
}
