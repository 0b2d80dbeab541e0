//! Every macro, and the rules of zones.

use super::*;
use record::{Zone, tag_id};

#[test]
fn every_macro_prints_what_the_manual_says() {
    let mut names: Vec<&str> = MACROS.iter().map(|m| m.name).collect();
    for MacroInfo { name, help, example, .. } in MACROS {
        check(&format!("${{{name}}}"), example);
        check(&format!("<${{{name}}}>"), &format!("<{example}>"));
        assert!(!help.is_empty(), "{name}");
    }
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count, "a name is there twice");
}

#[test]
fn every_date_macro_takes_every_prefix() {
    let dates: Vec<&str> = MACROS
        .iter()
        .map(|m| m.name)
        .skip_while(|n| *n != "STAMP")
        .take_while(|n| *n != "SYSUPTIME")
        .collect();
    assert_eq!(dates.len(), 27);
    for name in dates {
        for (prefix, _) in DATE_PREFIXES {
            let template = format!("${prefix}{name}");
            assert_ne!(render_with(&template, &TemplateOptions::default(), &batch()), "", "{template}");
        }
        check(&format!("$S_{name}"), MACROS.iter().find(|m| m.name == name).expect("listed").example);
    }
    check("$R_ISODATE", "2026-11-21T11:00:02+02:00");
    check("$C_ISODATE $P_ISODATE", "2026-11-21T09:01:01+00:00 2026-11-21T09:01:01+00:00");
    check("$R_UNIXTIME $C_HOUR $R_USEC $C_MSEC", "1795251602 09 000005 500");
    // Only date macros have prefixes.
    check("$R_HOST|$C_PID", "|");
}

fn at(text: &str, secs: i64, offset: i32, expected: &str) {
    let mut batch = batch();
    batch.records[0].stamp = Stamp { secs, usec: 0, offset };
    batch.records[0].stamp_text = Record::NO_TEXT;
    check_in(&batch, text, expected);
}

#[test]
fn the_calendar() {
    let day = |year, month, day| record::Civil { year, month, day, hour: 0, min: 5, sec: 9 }.seconds();
    at("$DATE", day(2026, 1, 2), 0, "Jan  2 00:05:09");
    at("$HOUR12 $AMPM $HOUR", day(2026, 1, 2), 0, "12 AM 00");
    at("$HOUR12 $AMPM $HOUR", day(2026, 1, 2), 12 * 3600, "12 PM 12");
    at("$HOUR12 $AMPM $HOUR", day(2026, 1, 2), 23 * 3600, "11 PM 23");
    // 2027-01-01 is a Friday, of the last ISO week of 2026.
    at("$WEEK $ISOWEEK $YEAR_DAY $WEEK_DAY $MONTH_WEEK", day(2027, 1, 1), 0, "00 53 001 6 0");
    // 2026-12-31 is a Thursday.
    at("$WEEK $ISOWEEK $YEAR_DAY $WEEK_DAY $MONTH_WEEK", day(2026, 12, 31), 0, "52 53 365 5 4");
    // March 2026 begins on a Sunday and has 31 days: its weeks are 0 to 5.
    at("$MONTH_WEEK$WEEKDAY", day(2026, 3, 1), 0, "0Sun");
    at("$MONTH_WEEK$WEEKDAY", day(2026, 3, 2), 0, "1Mon");
    at("$MONTH_WEEK", day(2026, 3, 29), 0, "4");
    at("$MONTH_WEEK", day(2026, 3, 30), 0, "5");
    at("$TZ $ISODATE", day(2026, 1, 2), -12_600, "-03:30 2026-01-01T20:35:09-03:30");
    at("$UNIXTIME $YEAR", -1, 0, "-1 1969");
}

#[test]
fn formats_and_fractions() {
    let opts = |ts_format, frac_digits| TemplateOptions { ts_format, frac_digits, ..Default::default() };
    check_opts(&opts(TsFormat::Iso, 0), "$STAMP", "2026-11-21T10:00:00+01:00");
    check_opts(&opts(TsFormat::Full, 0), "$STAMP $DATE", "2026 Nov 21 10:00:00 Nov 21 10:00:00");
    check_opts(&opts(TsFormat::Unix, 0), "$STAMP", "1795251600");
    check_opts(&opts(TsFormat::Bsd, 0), "$STAMP", "Nov 21 10:00:00");
    check_opts(&opts(TsFormat::Bsd, 3), "$STAMP $DATE", "Nov 21 10:00:00.123 Nov 21 10:00:00.123");
    check_opts(&opts(TsFormat::Iso, 6), "$STAMP", "2026-11-21T10:00:00.123456+01:00");
    check_opts(&opts(TsFormat::Bsd, 1), "$UNIXTIME $FULLDATE", "1795251600.1 2026 Nov 21 10:00:00.1");
    check_opts(&opts(TsFormat::Bsd, 3), "$SEC $TZ $USEC", "00 +01:00 123456");
    assert_eq!(TsFormat::named("rfc3339"), Some(TsFormat::Iso));
    assert_eq!(TsFormat::named("nope"), None);
}

#[test]
fn zones() {
    let opts = |zone: &str| TemplateOptions { time_zone: Zone::named(zone), ..Default::default() };
    check_opts(&opts("+05:00"), "$DATE $ISODATE", "Nov 21 14:00:00 2026-11-21T14:00:00+05:00");
    check_opts(&opts("+01:00"), "$DATE", "Nov 21 10:00:00");
    check_opts(&opts("Europe/Budapest"), "$DATE $HOUR", "Nov 21 10:00:00 10");
    check_opts(&opts("America/New_York"), "$DATE $TZ", "Nov 21 04:00:00 -05:00");
    check_opts(&opts("UTC"), "$R_ISODATE $C_HOUR", "2026-11-21T09:00:02+00:00 09");
    // The zone of the destination is that of macros, not of $(format-date).
    check_opts(&opts("Asia/Tokyo"), "$(format-date '%H %z')", "10 +0100");
    let files = TemplateOptions { local_time_zone: Zone::named("+03:00"), ..opts("UTC") };
    check_opts(&files, "$HOUR", "09");
    check_opts(&files.for_file_names(), "$HOUR", "12");
}

#[test]
fn the_text_of_the_stamp_is_copied_only_where_it_says_the_same() {
    let mut batch = batch();
    // A stamp that does not say what the text says shows which of them was printed.
    batch.records[0].stamp.secs += 1;
    check_in(&batch, "$DATE|$S_STAMP", "Nov 21 10:00:00|Nov 21 10:00:00");
    check_in(&batch, "$SEC", "01");
    let zone = |zone: &str| TemplateOptions { time_zone: Zone::named(zone), ..Default::default() };
    assert_eq!(render_with("$DATE", &zone("+01:00"), &batch), "Nov 21 10:00:00");
    assert_eq!(render_with("$DATE", &zone("+00:00"), &batch), "Nov 21 09:00:01");
    let digits = TemplateOptions { frac_digits: 1, ..Default::default() };
    assert_eq!(render_with("$DATE", &digits, &batch), "Nov 21 10:00:01.1");
}

#[test]
fn pri() {
    let mut batch = batch();
    batch.records[0].pri = 24 * 8 + 7;
    check_in(&batch, "$FACILITY $SEVERITY $PRI $TAG $BSDTAG", "18 debug 199 c7 7Y");
    // The frame says <38>, so it must not be copied.
    check_in(&batch, "<$PRI>", "<199>");
    check("x<$PRI>y<$PRI", "x<38>y<38");
    batch.records[0].pri = 0;
    check_in(&batch, "$FACILITY.$SEVERITY <$PRI> $TAG $BSDTAG", "kern.emerg <0> 00 0A");
    batch.records[0].pri = u16::MAX;
    check_in(&batch, "<$PRI>$FACILITY", "<65535>1fff");
}

#[test]
fn tags() {
    let mut batch = batch();
    for name in ["one", "two,three"] {
        batch.set_tag(0, tag_id(name).expect("room"));
    }
    check_in(&batch, "$TAGS", "one,\"two,three\"");
    let many: Vec<_> = (0..80).map(|n| tag_id(&format!("many{n}")).expect("room")).collect();
    batch.set_tag(0, many[79]);
    check_in(&batch, "$TAGS", "one,\"two,three\",many79");
}

#[test]
fn host_chains() {
    struct Chaining;
    impl crate::Scope for Chaining {
        fn chains_hostnames(&self) -> bool {
            true
        }
    }
    for (host, middle) in
        [("s_net@orig/relay", "orig"), ("orig/relay/more", "orig"), ("src@orig", "orig"), ("plain", "plain")]
    {
        let mut batch = with("HOST", host);
        let template = Template::compile("$HOST $FULLHOST", &TemplateOptions::default(), &Chaining);
        let print = |batch: &Batch| {
            let mut out = Vec::new();
            let msg = Msg { batch, record: &batch.records[0] };
            template.as_ref().expect("compiles").render(msg, &mut context(), &mut out);
            String::from_utf8(out).expect("text")
        };
        assert_eq!(print(&batch), format!("{host} {host}"), "not chained here");
        batch.records[0].flags.set(record::Flags::CHAINED);
        assert_eq!(print(&batch), format!("{middle} {host}"));
        check_in(&batch, "$HOST", host);
    }
}

#[test]
fn message_headers() {
    check_in(&with("PROGRAM", "new"), "$MSGHDR|", "new[123]: |");
    check_in(&with("PID", ""), "$MSGHDR|", "app: |");
    check_in(&with("PROGRAM", ""), "$MSGHDR|", "|");
    check_in(&with("LEGACY_MSGHDR", "own "), "$MSGHDR|", "own |");
}

#[test]
fn messages_of_this_machine() {
    let mut batch = batch();
    batch.contexts[0] = Arc::new(Context::local("s_local", "here", "local+file"));
    check_in(&batch, "$SOURCEIP:$SOURCEPORT $DESTIP:$DESTPORT $PEERIP", "127.0.0.1:0 127.0.0.1:0 127.0.0.1");
    check_in(&batch, "$IP_PROTO$PROTO$PROTO_NAME $TRANSPORT $FILE_NAME", "00 local+file ");
    batch.contexts.clear();
    check_in(&batch, "$SOURCEIP $SOURCE $HOST_FROM|", "127.0.0.1  |");
}

#[test]
fn formats_of_messages() {
    let mut batch = batch();
    for (flag, name) in [(Flags::IETF, "rfc5424"), (Flags::RAW, "raw"), (Flags::PARSE_ERROR, "syslog-error")]
    {
        batch.records[0].flags = flag;
        check_in(&batch, "$MSGFORMAT", name);
    }
    check_in(&with("MSGFORMAT", "linux-kmsg"), "$MSGFORMAT", "linux-kmsg");
}

/// Lone pieces of messages, in selections, are what each message alone prints: whatever spans it has.
#[test]
fn pieces_of_messages_in_selections() {
    let mut batch = batch();
    let (mut bare, outside) = (batch.records[0], Span::new(batch.text.len() + 7, 90));
    (bare.msghdr, bare.pid) = (Span::new(0, 0), Span::new(0, 0));
    let mut odd = bare;
    (odd.host, odd.message) = (outside, outside);
    batch.records.extend([bare, odd]);
    for text in ["$HOST", "$PROGRAM", "$PID", "$MSGID", "$LEGACY_MSGHDR", "$MSG", "$MSGHDR", "$DATE", "$PRI"]
    {
        let template = Template::compile(text, &TemplateOptions::default(), &NoScope).expect("compiles");
        let (mut out, mut ends, mut cx) = (Vec::new(), Vec::new(), context());
        template.render_selection(&batch, &[0, 1, 2, 9, 0], &mut cx, &mut out, &mut ends);
        let (mut alone, mut alone_ends) = (Vec::new(), Vec::new());
        for record in [Some(0), Some(1), Some(2), None, Some(0)] {
            if let Some(record) = record.map(|at: usize| &batch.records[at]) {
                template.render(Msg { batch: &batch, record }, &mut cx, &mut alone);
            }
            alone_ends.push(alone.len() as u32);
        }
        assert_eq!((out, ends), (alone, alone_ends), "{text}");
    }
}

/// What was given up before says nothing of a lone piece.
#[test]
fn a_piece_is_not_given_up() {
    let template = Template::compile("$HOST", &TemplateOptions::default(), &NoScope).expect("compiles");
    let (batch, mut cx) = (batch(), context());
    cx.budget.give_up();
    template.render_selection(&batch, &[0], &mut cx, &mut Vec::new(), &mut Vec::new());
    assert!(!cx.gave_up());
}

#[test]
fn numbers_of_messages() {
    let template = Template::compile("$SEQNUM ", &TemplateOptions::default(), &NoScope).expect("compiles");
    let mut batch = batch();
    batch.records.push(batch.records[0]);
    batch.records[0].flags.set(Flags::LOCAL);
    let (mut out, mut ends, mut cx) = (Vec::new(), Vec::new(), context());
    cx.seqnum = Some(2_147_483_647);
    template.render_selection(&batch, &[0, 1, 0, 9], &mut cx, &mut out, &mut ends);
    assert_eq!(String::from_utf8_lossy(&out), "2147483647  1 ");
    assert_eq!((cx.seqnum, ends), (Some(2_147_483_649), vec![11, 12, 14, 14]));
    check_in(&sdata("[meta sequenceId=\"17\"]"), "$SEQNUM", "17");
    check_in(&with("RCPTID", "255"), "$RCPTID $UNIQID", "255 00000abc@00000000000000ff");
}

#[test]
fn structured_data() {
    let raw = "[a@1 x=\"1\" y=\"q\\\"\\]\"][b][c@2.3 z=\"\"]";
    check_in(&sdata(raw), "$SDATA", raw);
    check_in(&sdata(raw), "${.SDATA.a@1.x}/${.SDATA.a@1.y}/${.SDATA.c@2.3.z}/${.SDATA.a@1.z}", "1/q\"]//");
    let mut batch = sdata(raw);
    let set = |batch: &mut Batch, name: &str, value: &str| {
        batch.set(0, intern(name).expect("room"), value.as_bytes(), ValueType::String)
    };
    set(&mut batch, ".SDATA.a@1.x", "n\\ew");
    set(&mut batch, ".SDATA.c@2.3.new", "8");
    set(&mut batch, ".SDATA.d.e.f", "9");
    batch.unset(0, intern(".SDATA.a@1.y").expect("room"));
    check_in(&batch, "${.SDATA.a@1.x}/${.SDATA.a@1.y}/${.SDATA.d.e.f}", "n\\ew//9");
    check_in(&batch, "$SDATA", "[d.e f=\"9\"][a@1 x=\"n\\\\ew\"][b][c@2.3 z=\"\" new=\"8\"]");
    let mut only = sdata("[a x=\"1\"]");
    only.unset(0, intern(".SDATA.a.x").expect("room"));
    check_in(&only, "<$SDATA>", "<>");
    // A value as received that is not exact is written with its escapes.
    let mut loose = sdata("[a x=\"1]2\"]");
    loose.records[0].flags.set(Flags::SDATA_CHANGED);
    check_in(&loose, "$SDATA", "[a x=\"1\\]2\"]");
    let mut new = super::batch();
    set(&mut new, ".SDATA.q.r", "s");
    check_in(&new, "$SDATA", "[q r=\"s\"]");
}

#[test]
fn values_without_text_print_nothing() {
    let mut batch = batch();
    let name = intern("blob").expect("room");
    batch.set(0, name, b"abc", ValueType::Bytes);
    check_in(&batch, "<$blob>", "<>");
    batch.set(0, name, b"abc", ValueType::Json);
    check_in(&batch, "<$blob>", "<abc>");
}

#[test]
fn misspelt_macros_are_recognised() {
    for (name, meant) in [
        ("YAER", Some("YEAR")),
        ("R_YAER", Some("R_YEAR")),
        ("C_ISODAT", Some("C_ISODATE")),
        ("HOST_FORM", Some("HOST_FROM")),
        ("MESAGE", Some("MESSAGE")),
        ("SOURCE_IP", Some("SOURCEIP")),
        ("YEAR", None),
        ("R_YEAR", None),
        ("yaer", None),
        ("Mesage", None),
        (".YAER", None),
        ("MG", None),
        ("SECS", Some("SEC")),
        ("CUSTOMER", None),
        ("1", None),
        ("", None),
    ] {
        assert_eq!(nearest_macro(name).as_deref(), meant, "{name}");
    }
}
