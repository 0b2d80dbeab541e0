//! Any text and any record: no panic, and the same output whichever way it is asked for.

use super::*;
use proptest::prelude::*;
use record::Zone;

/// Text with a high share of what means something in a template.
fn template_text() -> impl Strategy<Value = String> {
    let words: Vec<String> = MACROS
        .iter()
        .map(|m| m.name.to_owned())
        .chain(functions().map(|f| format!("$({} ", f.name)))
        .chain(functions().map(|f| f.example.0.to_owned()))
        .chain(
            [
                "$", "${", "}", "$(", ")", "'", "\"", "\\", ":-", "@", "@@", "@1", " ", "$$", "R_", "C_",
                "\n", "0", "-1",
            ]
            .map(str::to_owned),
        )
        .chain(["${.SDATA.a.b}", "<$PRI>", "$(echo ", "é", "yes"].map(str::to_owned))
        .collect();
    prop::collection::vec(prop_oneof![4 => prop::sample::select(words), 1 => any::<String>()], 0..12)
        .prop_map(|parts| parts.concat())
}

fn options() -> impl Strategy<Value = TemplateOptions> {
    (any::<bool>(), any::<u8>(), 0usize..4, any::<bool>(), 0usize..3).prop_map(
        |(escape, frac_digits, format, old, zone)| TemplateOptions {
            on_error: OnError::default(),
            escape,
            escape_arguments: true,
            frac_digits,
            ts_format: [TsFormat::Bsd, TsFormat::Iso, TsFormat::Full, TsFormat::Unix][format],
            version: if old { (3, 3) } else { (4, 11) },
            time_zone: [None, Zone::named("America/New_York"), Some(Zone::Fixed(i32::MAX))][zone].clone(),
            local_time_zone: None,
            may_seal: false,
        },
    )
}

fn any_span() -> impl Strategy<Value = Span> {
    prop_oneof![
        4 => (0u32..100, 0u32..60).prop_map(|(start, len)| Span { start, len }),
        1 => (any::<u32>(), any::<u32>()).prop_map(|(start, len)| Span { start, len }),
    ]
}

/// Spans that need not lie in the text, stamps of any time.
fn any_batch() -> impl Strategy<Value = Batch> {
    let header =
        (prop::collection::vec(any_span(), 8), any::<i64>(), any::<u32>(), any::<i32>(), any::<u32>());
    let text = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..100),
        prop::collection::vec(prop::sample::select(b"[]=\"\\ab .<1>:\n".to_vec()), 0..100),
    ];
    (header, text, any::<u16>(), any::<u16>(), 0u16..2, prop::collection::vec(any::<u8>(), 0..8)).prop_map(
        |((spans, secs, usec, offset, stamp_text), text, pri, flags, context, value)| {
            let mut batch = batch();
            batch.text = text;
            let record = &mut batch.records[0];
            [record.frame, record.host, record.program, record.pid] =
                [spans[0], spans[1], spans[2], spans[3]];
            [record.msgid, record.msghdr, record.message, record.sdata] =
                [spans[4], spans[5], spans[6], spans[7]];
            record.stamp = Stamp { secs, usec, offset };
            record.stamp_text = if stamp_text % 2 == 0 { stamp_text % 100 } else { stamp_text };
            (record.pri, record.flags, record.context) = (pri, Flags(flags), context);
            batch.set(0, intern(".SDATA.a.b").expect("room"), &value, ValueType::String);
            batch.set(0, NameId(3), &value, ValueType::String);
            batch.records[0].flags = Flags(flags);
            batch
        },
    )
}

proptest! {
    #[test]
    fn compiling_and_rendering_never_panic(text in template_text(), opts in options(), batch in any_batch()) {
        let compiled = Template::compile(&text, &opts, &scope());
        if let Err(error) = &compiled {
            prop_assert!(error.offset <= text.len(), "{error} in {text:?}");
        }
        if let Ok(template) = compiled {
            template.reads(&mut record::Demand::default());
            let msg = Msg { batch: &batch, record: &batch.records[0] };
            let mut cx = context();
            let mut once = Vec::new();
            template.render(msg, &mut cx, &mut once);
            prop_assert!(once.starts_with(template.literal_prefix()));
            if let Some(literal) = template.literal() {
                prop_assert_eq!(&once[..], literal);
            }
            if !text.contains("uuid") {
                let mut again = Vec::new();
                template.render(msg, &mut cx, &mut again);
                let mut typed = Vec::new();
                template.render_typed(msg, &mut cx, &mut typed);
                prop_assert_eq!(&once, &again);
                prop_assert_eq!(&once, &typed);
            }
        }
    }

    #[test]
    fn layouts_never_panic(opts in options(), batch in any_batch()) {
        let message = Arc::new(Template::compile("$MSG", &opts, &NoScope).expect("compiles"));
        for template in [
            layout::file_default(&opts),
            layout::network_default(&opts),
            layout::syslog_protocol(&opts),
            layout::syslog_protocol_with(&opts, message),
        ] {
            let (mut out, mut ends, mut cx) = (Vec::new(), Vec::new(), context());
            cx.seqnum = Some(u64::MAX - 1);
            template.render_selection(&batch, &[0, 0, 7], &mut cx, &mut out, &mut ends);
            prop_assert_eq!(ends.last().copied(), Some(out.len() as u32));
            // Straight code prints what the steps print.
            let (mut lines, mut steps, mut cx) = (Vec::new(), Vec::new(), context());
            template.render_selection(&batch, &[0], &mut cx, &mut lines, &mut ends);
            template.render(Msg { batch: &batch, record: &batch.records[0] }, &mut cx, &mut steps);
            prop_assert_eq!(String::from_utf8_lossy(&lines), String::from_utf8_lossy(&steps));
        }
    }

    #[test]
    fn lists_read_back_as_written(items in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..6), 0..6)) {
        let (mut text, mut first) = (Vec::new(), true);
        items.iter().for_each(|item| crate::list::push(item, &mut first, &mut text));
        let (mut read, mut item) = (Vec::new(), Vec::new());
        let mut list = crate::list::Items::of(&text);
        while list.next_into(&mut item) {
            read.push(item.clone());
        }
        prop_assert_eq!(items, read);
    }
}

/// A line with its fields where they say they are, separated as usual or not.
#[derive(Clone, Debug)]
struct AnyLine {
    ietf: bool,
    pri: u16,
    frame_pri: u16,
    /// HOST, PROGRAM, PID, MSGID, MESSAGE.
    fields: [String; 5],
    /// After the stamp and each field.
    separators: [String; 6],
    sdata: bool,
    stamp_text: bool,
    msghdr: bool,
    flags: u16,
    end: &'static str,
    /// Bytes behind the line.
    after: usize,
}

fn any_line() -> impl Strategy<Value = AnyLine> {
    let field = || prop_oneof![3 => "[a-z]{1,8}", 1 => "[a-z]{30,34}", 1 => Just(String::new())];
    let separator =
        || prop_oneof![19 => Just(" ".to_owned()), 1 => Just("".to_owned()), 1 => Just("x".to_owned())];
    let pri = (prop_oneof![0u16..200, Just(1023u16)], prop_oneof![Just(38u16), 0u16..200], any::<bool>());
    let texts = (
        prop::array::uniform5(field()),
        prop::array::uniform6(separator()),
        prop::sample::select(vec!["\n", "", "7"]),
    );
    let choices = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>(), 0u16..8, 0usize..64);
    (pri, texts, choices).prop_map(
        |((pri, other, same), (fields, separators, end), (ietf, sdata, stamp_text, msghdr, flags, after))| {
            AnyLine {
                ietf,
                pri,
                frame_pri: if same { pri } else { other },
                fields,
                separators,
                sdata,
                stamp_text,
                msghdr,
                flags,
                end,
                after,
            }
        },
    )
}

fn line_batch() -> impl Strategy<Value = Batch> {
    any_line().prop_map(|line| {
        let mut text = String::new();
        let mut put = |part: &str| {
            text.push_str(part);
            Span::new(text.len() - part.len(), part.len())
        };
        let mut record = Record::new(Span::EMPTY);
        let [host, program, pid, msgid, message] = &line.fields;
        put(&format!("<{}>", line.frame_pri));
        let stamp = put("Nov 21 10:00:00");
        put(&line.separators[0]);
        if line.ietf {
            let nil = |field: &String| if field.is_empty() { "-".to_owned() } else { field.clone() };
            let mut fields = [Span::EMPTY; 4];
            for (at, field) in [host, program, pid, msgid].into_iter().enumerate() {
                fields[at] = put(&nil(field));
                if field.is_empty() {
                    fields[at] = Span::EMPTY;
                }
                put(&line.separators[at + 1]);
            }
            [record.host, record.program, record.pid, record.msgid] = fields;
            let sdata = put(if line.sdata { "[a b=\"c\"]" } else { "-" });
            record.sdata = if line.sdata { sdata } else { Span::EMPTY };
            put(&line.separators[5]);
            record.message = put(message);
        } else {
            record.host = put(host);
            put(&line.separators[1]);
            record.program = put(program);
            put("[");
            record.pid = put(pid);
            put("]: ");
            if line.msghdr {
                record.msghdr = Span::between(record.program.start as usize, record.pid.end() + 3);
            }
            record.message = put(message);
        }
        put(line.end);
        put(&" ".repeat(line.after));
        record.frame = Span::new(0, record.message.end());
        (record.pri, record.stamp, record.flags) = (line.pri, STAMP, Flags(line.flags));
        record.stamp_text = if line.stamp_text { stamp.start } else { Record::NO_TEXT };
        let mut batch = batch();
        batch.text = text.into_bytes();
        batch.records = vec![record];
        batch
    })
}

proptest! {
    /// A layout as straight code, as steps, and written as a template under options that forbid the straight
    /// code.
    #[test]
    fn lines_are_printed_as_the_steps_print_them(opts in options(), batch in line_batch()) {
        let defaults =
            [layout::file_default(&opts), layout::network_default(&opts), layout::syslog_protocol(&opts)];
        let texts = [
            "<$PRI>$DATE $HOST $MSGHDR$MSG\n",
            "$ISODATE $HOST $MSGHDR$MSG\n",
            // No newline, another byte, more behind it.
            "<$PRI>$DATE $HOST $MSGHDR$MSG",
            "$ISODATE $HOST $MSGHDR$MSG ",
            "$DATE $HOST $MSGHDR$MSG $PROGRAM/$PID\n",
            "<$PRI>$ISODATE $HOST $MSGHDR$MSG, ${MSGID:-none}, $(length $MSG)\n",
        ];
        let written = texts.map(|text| Template::compile(text, &opts, &NoScope).expect("compiles"));
        for template in defaults.into_iter().chain(written) {
            let (mut lines, mut ends, mut steps, mut cx) = (Vec::new(), Vec::new(), Vec::new(), context());
            template.render_selection(&batch, &[0, 0], &mut cx, &mut lines, &mut ends);
            let msg = Msg { batch: &batch, record: &batch.records[0] };
            template.render(msg, &mut cx, &mut steps);
            template.render(msg, &mut cx, &mut steps);
            prop_assert_eq!(String::from_utf8_lossy(&lines), String::from_utf8_lossy(&steps));
            prop_assert_eq!(ends, vec![lines.len() as u32 / 2, lines.len() as u32]);
        }
    }

    /// Escaping templates take neither joins nor straight code: without anything to escape they print the
    /// same.
    #[test]
    fn joins_change_nothing(batch in line_batch()) {
        let text = "<$PRI>1 $YEAR-$MONTH-$DAY $R_HOUR:$R_MIN $DATE $HOST $PROGRAM[$PID]: ${MSGID:--} $MSGHDR$MSG\n";
        let plain = render_with(text, &TemplateOptions::default(), &batch);
        let escape = TemplateOptions { escape: true, ..Default::default() };
        prop_assert_eq!(plain, render_with(text, &escape, &batch));
    }
}
