//! The default layouts, and copies that are joined.

use super::*;
use record::Zone;

fn file(opts: &TemplateOptions, batch: &Batch) -> String {
    render(&layout::file_default(opts), batch)
}

#[test]
fn file_layout() {
    let opts = TemplateOptions::default();
    assert_eq!(file(&opts, &batch()), "Nov 21 10:00:00 host app[123]: hello world\n");
    assert_eq!(file(&opts, &with("HOST", "new")), "Nov 21 10:00:00 new app[123]: hello world\n");
    assert_eq!(file(&opts, &with("HOST", "")), "Nov 21 10:00:00  app[123]: hello world\n");
    assert_eq!(file(&opts, &with("PROGRAM", "p")), "Nov 21 10:00:00 host p[123]: hello world\n");
    assert_eq!(file(&opts, &with("MESSAGE", "m")), "Nov 21 10:00:00 host app[123]: m\n");
    assert_eq!(file(&opts, &with("MESSAGE", "")), "Nov 21 10:00:00 host app[123]: \n");
    let iso = TemplateOptions { ts_format: TsFormat::Iso, escape: true, ..opts.clone() };
    assert_eq!(file(&iso, &with("MESSAGE", "'")), "2026-11-21T10:00:00+01:00 host app[123]: '\n");
    let zone = TemplateOptions { time_zone: Zone::named("UTC"), ..opts.clone() };
    assert_eq!(file(&zone, &batch()), "Nov 21 09:00:00 host app[123]: hello world\n");
    let mut other = batch();
    other.records[0].stamp_text = Record::NO_TEXT;
    assert_eq!(file(&opts, &other), "Nov 21 10:00:00 host app[123]: hello world\n");
}

#[test]
fn a_message_that_ends_the_text() {
    for cut in 1..=3 {
        let mut batch = batch();
        batch.text.truncate(LINE.len() - cut);
        let len = batch.records[0].message.len;
        batch.records[0].message.len = len - (cut as u32 - 1);
        let expected = format!("{}\n", &LINE[4..LINE.len() - cut]);
        assert_eq!(file(&TemplateOptions::default(), &batch), expected);
    }
}

#[test]
fn network_layout() {
    let iso = TemplateOptions { ts_format: TsFormat::Iso, ..Default::default() };
    let network = |opts: &TemplateOptions, batch: &Batch| render(&layout::network_default(opts), batch);
    assert_eq!(network(&iso, &batch()), LINE);
    let mut other = batch();
    other.records[0].pri = 13;
    assert_eq!(network(&iso, &other), LINE.replace("38", "13"));
    let digits = TemplateOptions { frac_digits: 2, ..iso };
    assert_eq!(network(&digits, &other), "<13>Nov 21 10:00:00.12 host app[123]: hello world\n");
    other.set(0, NameId::HOST, b"h", ValueType::String);
    assert_eq!(network(&TemplateOptions::default(), &other), "<13>Nov 21 10:00:00 h app[123]: hello world\n");
}

#[test]
fn protocol_layout() {
    let opts = TemplateOptions::default();
    let protocol = |batch: &Batch| render(&layout::syslog_protocol(&opts), batch);
    assert_eq!(protocol(&batch()), "<38>1 2026-11-21T10:00:00+01:00 host app 123 - - hello world\n");
    let mut batch = sdata("[a b=\"c\"]");
    batch.records[0].flags.set(Flags::UTF8);
    batch.set(0, NameId::MSGID, b"ID 47", ValueType::String);
    batch.set(0, NameId::PROGRAM, b"", ValueType::String);
    batch.set(0, NameId::HOST, b"a b", ValueType::String);
    let head = "<38>1 2026-11-21T10:00:00+01:00 a - 123 ID [a b=\"c\"]";
    assert_eq!(protocol(&batch), format!("{head} \u{feff}hello world\n"));
    let message = Arc::new(Template::compile("$HOST: $MSG", &opts, &NoScope).expect("compiles"));
    let own = layout::syslog_protocol_with(&opts, message);
    assert_eq!(render(&own, &batch), format!("{head} \u{feff}a b: hello world\n"));
    batch.set(0, NameId::MESSAGE, b"", ValueType::String);
    assert_eq!(protocol(&batch), format!("{head} \n"));
    batch.unset(0, intern(".SDATA.a.b").expect("room"));
    assert_eq!(protocol(&batch), "<38>1 2026-11-21T10:00:00+01:00 a - 123 ID - \n");
}

#[test]
fn local_messages_are_numbered() {
    let template = layout::syslog_protocol(&TemplateOptions::default());
    let check = |mut batch: Batch, expected: &str| {
        batch.records[0].flags.set(Flags::LOCAL);
        let (mut out, mut ends, mut cx) = (Vec::new(), Vec::new(), context());
        cx.seqnum = Some(5);
        template.render_selection(&batch, &[0], &mut cx, &mut out, &mut ends);
        let text = String::from_utf8_lossy(&out).into_owned();
        assert!(text.contains(&format!(" {expected} hello")), "{text}");
    };
    check(batch(), "[meta sequenceId=\"5\"]");
    check(sdata("[a b=\"c\"]"), "[a b=\"c\"][meta sequenceId=\"5\"]");
    check(sdata("[meta x=\"y\"][a b=\"c\"]"), "[meta sequenceId=\"5\" x=\"y\"][a b=\"c\"]");
    check(sdata("[meta sequenceId=\"9\"]"), "[meta sequenceId=\"9\"]");
}

/// What is printed is the same whether spans lie side by side in the text or each elsewhere.
#[test]
fn joined_copies_print_what_single_ones_do() {
    let near = batch();
    let mut far = batch();
    for name in [NameId::PROGRAM, NameId::PID, NameId::HOST, NameId::MESSAGE, NameId::LEGACY_MSGHDR] {
        let value = near.value(&near.records[0], name).expect("set").bytes.to_vec();
        far.set(0, name, b"  ", ValueType::String);
        far.set(0, name, &value, ValueType::String);
    }
    far.records[0].stamp_text = Record::NO_TEXT;
    far.records[0].frame = Span::EMPTY;
    for text in [
        "<$PRI>$DATE $HOST $MSGHDR$MSG\n",
        "$HOST $PROGRAM[$PID]: $MSG",
        "$HOST app[123]: $MSG\n",
        "$HOST ap$PID",
        "$PROGRAM[$PID]$PROGRAM[$PID]: ",
        "$MSG$MSG\n\n",
        "${HOST:-x} $MSGHDR",
    ] {
        let opts = TemplateOptions::default();
        assert_eq!(render_with(text, &opts, &near), render_with(text, &opts, &far), "{text}");
    }
}
