//! `syslog-parser()`: a syslog message that stands in a text.

use crate::build::Build;
use crate::input::Input;
use crate::options::PARSER;
use crate::parse::{Parse, Writes};
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings, Word};
use filter::{FilterContext, new_asker};
use record::{Batch, Demand, FieldTypes, Flags, NameId, Record, Span, Zone, pri};
use std::sync::Arc;
use wire::{ParseFlags, SyslogOptions, SyslogParser};

const FLAGS: &[Word] = &[
    Word::new("syslog-protocol", "Try RFC 5424 first; a text that is not RFC 5424 is read as RFC 3164."),
    Word::new("no-parse", "Take the whole text as MESSAGE; facility and severity come from the defaults."),
    Word::new("no-header", "Read only the priority; the rest is MESSAGE."),
    Word::new("no-rfc3164-fallback", "With `syslog-protocol`: a text that is not RFC 5424 is an error."),
    Word::new("expect-hostname", "The header has a host name (default).").undoes(&["no-hostname"]),
    Word::new("no-hostname", "The header has no host name.").undoes(&["expect-hostname"]),
    Word::new("assume-utf8", "Take the text as UTF-8 without looking."),
    Word::new("validate-utf8", "Mark the message as UTF-8 only when it is."),
    Word::new(
        "sanitize-utf8",
        "Replace bytes that are not UTF-8 by `\\xHH`, and escape the backslashes and control characters beside them.",
    ),
    Word::new("no-multi-line", "Turn line breaks inside a text into blanks."),
    Word::new("store-legacy-msghdr", "Keep the program part of the header byte for byte (default).")
        .undoes(&["dont-store-legacy-msghdr"]),
    Word::new("dont-store-legacy-msghdr", "Build the header anew from PROGRAM and PID.")
        .undoes(&["store-legacy-msghdr"]),
    Word::new("store-raw-message", "Keep the text in `${RAWMSG}`."),
    Word::new(
        "guess-timezone",
        "A stamp that one zone would make the time of receipt, give or take 30 s, is read in that zone; a late one is left alone.",
    ),
    Word::new("check-hostname", "Refuse host names with characters that are not allowed in one."),
    Word::new("check-program", "Refuse program names that are numbers or have unusual characters."),
    Word::new(
        "piggyback-errors",
        "A text that cannot be read becomes an error message with the text in it (default).",
    )
    .undoes(&["no-piggyback-errors"]),
    Word::new("no-piggyback-errors", "A text that cannot be read is taken whole as MESSAGE.")
        .undoes(&["piggyback-errors"]),
    Word::new("kernel", "Without priority a message is kern.notice of program `kernel`."),
];

pub static SYSLOG_PARSER: Component = Component {
    context: Context::Parser,
    name: "syslog-parser",
    aliases: &[],
    positional: &[],
    groups: &[&PARSER],
    own: &[
        Opt::new("flags", Kind::Flags(FLAGS), Preset::None, "How the text is read, see below."),
        Opt::new(
            "drop-invalid",
            Kind::Bool,
            Preset::Bool(false),
            "A text that cannot be read does not match.",
        ),
        Opt::new(
            "default-facility",
            Kind::Facility,
            Preset::Text("user"),
            "The facility of a text without priority.",
        ),
        Opt::new(
            "default-severity",
            Kind::Severity,
            Preset::Text("notice"),
            "The severity of a text without priority.",
        )
        .alias(&["default-level", "default-priority"]),
        Opt::new(
            "sdata-prefix",
            Kind::Text,
            Preset::Text(wire::sdata::PREFIX),
            "Put in front of the names of STRUCTURED-DATA parameters.",
        ),
        Opt::new(
            "time-zone",
            Kind::Zone,
            Preset::Global("recv-time-zone"),
            "The zone of timestamps that name none; the machine's own if it is set nowhere.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads a syslog message, RFC 3164 or with `flags(syslog-protocol)` RFC 5424, out of a text: it sets the priority, the \
              time, HOST, PROGRAM, PID and MESSAGE. What the text does not have stays as it was.",
    example: "syslog-parser(flags(syslog-protocol) drop-invalid(yes))",
    cost: Some(Cost::example(
        "What a source pays for the same text, whole batches at a time, besides a copy of the record.",
    )),
};

struct Syslog {
    input: Input,
    options: SyslogOptions,
    drop_invalid: bool,
    asker: u64,
}

pub fn build(settings: &Settings, b: &mut Build<'_>) -> Option<Arc<dyn Parse>> {
    let input = b.input(settings);
    let mut flags = ParseFlags::default();
    for flag in settings.flags("flags") {
        flags.apply(flag);
    }
    let facility = settings.number("default-facility").unwrap_or(1);
    let severity = settings.number("default-severity").unwrap_or(5);
    let options = SyslogOptions {
        flags,
        default_pri: pri::join(facility, severity),
        recv_zone: settings.zone("time-zone").cloned().unwrap_or_else(Zone::local),
        sdata_prefix: settings.text("sdata-prefix").unwrap_or(wire::sdata::PREFIX).into(),
        again: true,
        ..SyslogOptions::default()
    };
    let drop_invalid = settings.bool("drop-invalid").unwrap_or(false);
    Some(Arc::new(Syslog { input: input?, options, drop_invalid, asker: new_asker() }))
}

/// Stands in the fields before parsing: no field that is read, even an empty one, lies there.
const UNREAD: Span = Span { start: u32::MAX - 1, len: 0 };

/// What says how the message came in, not how it is written.
const KEPT: u16 =
    Flags::LOCAL.0 | Flags::INTERNAL.0 | Flags::POSTED.0 | Flags::MARK.0 | Flags::SDATA_CHANGED.0;

/// What the text does not say stays as it was. An empty program or PID was said, an RFC 5424 field of `-` was
/// not.
fn keep_unread(new: &mut Record, old: &Record) {
    if new.stamp_text == Record::NO_TEXT && new.stamp == old.stamp {
        new.stamp_text = old.stamp_text;
    }
    // A program or PID that was read makes the old header text wrong.
    if new.msghdr == UNREAD && (new.program, new.pid) != (UNREAD, UNREAD) {
        new.msghdr = Span::EMPTY;
    }
    for (field, before) in [
        (&mut new.host, old.host),
        (&mut new.program, old.program),
        (&mut new.pid, old.pid),
        (&mut new.msgid, old.msgid),
        (&mut new.sdata, old.sdata),
    ] {
        if *field == UNREAD || *field == Span::EMPTY {
            *field = before;
        }
    }
    if new.msghdr == UNREAD {
        new.msghdr = old.msghdr;
    }
}

/// STRUCTURED-DATA of both: values of the text in the place of the old ones.
fn join_sdata(batch: &mut Batch, index: usize, old: Span, new: Span) {
    let both = [batch.bytes(old), batch.bytes(new)].concat();
    let mut written = Vec::with_capacity(both.len());
    wire::sdata::canonical(&both, &mut written);
    let span = batch.append(&written);
    if let Some(record) = batch.records.get_mut(index) {
        record.sdata = span;
    }
}

impl Parse for Syslog {
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext) {
        let from = batch.records.len();
        for index in selection.iter().map(|i| *i as usize) {
            let frame = self.input.span(batch, index, cx).unwrap_or(Span::EMPTY);
            let Some(old) = batch.records.get(index).copied() else { continue };
            // A copy keeps the values; only what the text is to say anew is emptied.
            let mut fresh = old;
            fresh.frame = frame;
            for field in [
                &mut fresh.host,
                &mut fresh.program,
                &mut fresh.pid,
                &mut fresh.msgid,
                &mut fresh.msghdr,
                &mut fresh.message,
                &mut fresh.sdata,
            ] {
                *field = UNREAD;
            }
            fresh.stamp_text = Record::NO_TEXT;
            fresh.types = FieldTypes::default();
            fresh.flags.0 &= KEPT;
            batch.records.push(fresh);
        }
        let mut parser = cx.work.take_state(self.asker, || SyslogParser::new(self.options.clone()));
        parser.parse_batch(batch, from);
        cx.work.keep_state(self.asker, parser);
        let mut made = from;
        let mut joined = Vec::new();
        selection.retain(|index| {
            let new = batch.records.get(made).copied();
            made += 1;
            let (Some(mut new), Some(old)) = (new, batch.records.get_mut(*index as usize)) else {
                return false;
            };
            let failed = new.flags.has(Flags::PARSE_ERROR);
            if failed && self.drop_invalid {
                return false;
            }
            new.frame = old.frame;
            if !failed {
                keep_unread(&mut new, old);
                if !new.sdata.is_empty() && !old.sdata.is_empty() && new.sdata != old.sdata {
                    joined.push((*index as usize, old.sdata, new.sdata));
                }
            }
            *old = new;
            true
        });
        batch.records.truncate(from);
        joined.into_iter().for_each(|(index, old, new)| join_sdata(batch, index, old, new));
    }

    fn reads(&self, demand: &mut Demand) {
        self.input.reads(demand);
        let kept = [NameId::HOST, NameId::PROGRAM, NameId::PID, NameId::MSGID, NameId::LEGACY_MSGHDR];
        kept.into_iter().for_each(|name| demand.name(name));
    }

    fn writes(&self) -> Writes {
        let names = vec![
            NameId::HOST,
            NameId::MESSAGE,
            NameId::PROGRAM,
            NameId::PID,
            NameId::MSGID,
            NameId::LEGACY_MSGHDR,
        ];
        Writes { names, prefix: Some(self.options.sdata_prefix.clone()), stamp: true, pri: true, tags: true }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::{batch, context, parser};
    use record::Span;

    /// `PRI host program pid msgid message sdata time` after parsing, of a message that had host `oldhost`,
    /// program `old`, pid `1`.
    #[track_caller]
    fn check(options: &str, input: &str, expected: &str) {
        let mut batch = batch(&[b"first", input.as_bytes()]);
        for (value, field) in [("oldhost", 0), ("old", 1), ("1", 2)] {
            let span = batch.append(value.as_bytes());
            let record = &mut batch.records[1];
            *[&mut record.host, &mut record.program, &mut record.pid][field] = span;
        }
        batch.records[1].stamp.secs = 7;
        let mut selection = vec![1];
        let made = parser(&format!("syslog-parser(time-zone(\"UTC\") {options})"));
        made.parse(&mut batch, &mut selection, &mut context());
        assert_eq!(batch.records.len(), 2);
        let r = batch.records[1];
        let text = |span: Span| String::from_utf8_lossy(batch.bytes(span)).into_owned();
        let fields = [r.host, r.program, r.pid, r.msgid, r.message, r.sdata].map(text);
        let shown = match selection.as_slice() {
            [1] => format!("{} {} {}", r.pri, fields.join(" "), r.stamp.secs),
            _ => format!("no match: {}", fields.join(" ")),
        };
        assert_eq!(shown, expected, "{options} on {input}");
    }

    #[test]
    fn what_the_text_does_not_have_stays() {
        check(
            "",
            "<34>2003-10-11T22:14:15Z mymachine su[12]: failed",
            "34 mymachine su 12  failed  1065910455",
        );
        check("", "<34>prog: text", "34 oldhost prog 1  text  0");
        check("", "no header at all", "13 oldhost no 1  header at all  0");
        check("default-facility(local0) default-severity(err)", "x: y", "131 oldhost x 1  y  0");
        check(
            "flags(syslog-protocol)",
            "<34>1 2003-10-11T22:14:15Z h su 77 ID47 [ex@1 a=\"b\"] msg",
            "34 h su 77 ID47 msg [ex@1 a=\"b\"] 1065910455",
        );
        check("flags(no-header)", "<34>prog: text", "34 oldhost old 1  prog: text  7");
        check("flags(no-parse)", "<34>prog: text", "13 oldhost old 1  <34>prog: text  7");
        // An empty program is one.
        check("", "<34>:text", "34 oldhost  1  text  0");
        check("", "<34>Oct 11 22:14:15 h [7]: text", "34 h  7  text  24531255");
        check("flags(syslog-protocol)", "<34>1 - - - - - - msg", "34 oldhost old 1  msg  0");
        check("flags(syslog-protocol)", "<34>1 - -  - - - msg", "34 oldhost  1  msg  0");
    }

    #[test]
    fn the_header_text_goes_with_the_program() {
        for (options, input, header) in [
            ("flags(no-header)", "<34>prog: text", "old[1]: "),
            ("", "<34>prog: text", "prog: "),
            ("flags(dont-store-legacy-msghdr)", "<34>prog: text", ""),
            ("flags(syslog-protocol)", "<34>1 - h prog - - - msg", ""),
        ] {
            let mut batch = batch(&[input.as_bytes()]);
            batch.records[0].msghdr = batch.append(b"old[1]: ");
            parser(&format!("syslog-parser({options})")).parse(&mut batch, &mut vec![0], &mut context());
            assert_eq!(batch.bytes(batch.records[0].msghdr), header.as_bytes(), "{options} on {input}");
        }
    }

    #[test]
    fn structured_data_is_added_to() {
        let mut batch = batch(&[b"<34>1 - h a - - [x a=\"2\"][z c=\"3\"] msg"]);
        batch.records[0].sdata = batch.append(b"[x a=\"1\"][y b=\"1\"]");
        parser("syslog-parser(flags(syslog-protocol))").parse(&mut batch, &mut vec![0], &mut context());
        let expected = b"[x a=\"2\"][y b=\"1\"][z c=\"3\"]";
        assert_eq!(batch.bytes(batch.records[0].sdata), expected);
    }

    #[test]
    fn a_text_that_cannot_be_read() {
        let strict = "flags(syslog-protocol, no-rfc3164-fallback, no-piggyback-errors)";
        check(&format!("{strict} drop-invalid(yes)"), "<34>2 bad", "no match: oldhost old 1  <34>2 bad ");
        check(strict, "<34>2 bad", "13     <34>2 bad  0");
        check("", "<xx>bad", "13 oldhost old 1  <xx>bad  7");
    }
}
