//! What printing a message costs: nanoseconds per message for several templates, beside the copy of the same
//! bytes alone.
//!
//! `cargo run --release -p template --example render_cost`

use record::{Batch, Context, Flags, NameId, Record, Span, Stamp, ValueType};
use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;
use template::{Identity, NoScope, RenderContext, Template, TemplateOptions, TsFormat, layout};

const MESSAGES: usize = 600;
const MESSAGE_BYTES: usize = 400;
const ROUNDS: usize = 20;
/// Repeated this often; the best is reported, the rest is noise of the machine.
const REPEATS: usize = 400;

/// What a source with keep-hostname(yes) makes of canonical RFC 3164 lines.
fn batch(kept_host: bool, canonical: bool) -> Batch {
    let mut batch = Batch::new(
        Vec::new(),
        Arc::new(Context::local("s_net", "sender", "rfc3164+tcp")),
        Stamp { secs: 1_795_251_602, usec: 0, offset: 3600 },
    );
    let resolved = (!kept_host).then(|| batch.append(b"sender.example"));
    for n in 0..MESSAGES {
        let head = format!("<38>Nov 21 10:00:{:02} host{} ", n / 100, n % 10);
        let header = format!("app[{n}]: ");
        let mut line = format!("{head}{header}message {n} ");
        while line.len() < MESSAGE_BYTES - 1 {
            line.push("PADD".as_bytes()[line.len() % 4] as char);
        }
        line.push('\n');
        let frame = batch.append(line.as_bytes());
        let at = frame.start as usize;
        let mut record = Record::new(Span::new(at, line.len() - 1));
        record.stamp = Stamp { secs: 1_795_251_600 + (n / 100) as i64, usec: 0, offset: 3600 };
        record.stamp_text = if canonical { at as u32 + 4 } else { Record::NO_TEXT };
        record.pri = 38;
        record.host = resolved.unwrap_or(Span::between(at + 20, at + head.len() - 1));
        record.msghdr = Span::new(at + head.len(), header.len());
        record.program = Span::new(at + head.len(), 3);
        record.pid = Span::between(at + head.len() + 4, at + head.len() + header.len() - 3);
        record.message = Span::between(at + head.len() + header.len(), at + line.len() - 1);
        record.origin = n as u32;
        batch.records.push(record);
    }
    batch
}

/// The same messages as RFC 5424 by octet counting.
fn protocol_batch() -> Batch {
    let mut batch = batch(true, false);
    batch.text.clear();
    for (n, record) in batch.records.iter_mut().enumerate() {
        let head = format!("398 <38>1 2026-11-21T10:00:{:02}+01:00 host{} app {n} ID47 ", n / 100, n % 10);
        let mut line = format!("{head}[id@1 key=\"value\"] message {n} ");
        while line.len() < MESSAGE_BYTES + 2 {
            line.push("PADD".as_bytes()[line.len() % 4] as char);
        }
        let at = batch.text.len();
        let part = |from: usize, part: &str| {
            Span::new(at + from + line[from..].find(part).expect("part of the line"), part.len())
        };
        record.frame = Span::new(at + 4, line.len() - 4);
        record.host = part(30, &format!("host{}", n % 10));
        record.program = part(30, "app");
        record.pid = part(record.program.end() - at, &n.to_string());
        record.msgid = part(30, "ID47");
        record.sdata = part(head.len(), "[id@1 key=\"value\"]");
        record.message = Span::between(record.sdata.end() + 1, at + line.len());
        record.msghdr = Span::EMPTY;
        record.flags = Flags::IETF;
        batch.text.extend_from_slice(line.as_bytes());
    }
    batch
}

/// The same messages as a parser leaves those of a JSON log: 19 values of their own, with header and context
/// 25 or more.
fn fields_batch() -> Batch {
    let mut batch = batch(true, true);
    let names: Vec<NameId> =
        (0..19).map(|n| record::intern(&format!(".json.section{}.field{n}", n % 4)).expect("room")).collect();
    for index in 0..MESSAGES {
        for (n, name) in names.iter().enumerate() {
            let (text, kind) = match n % 3 {
                0 => (format!("{}", index * 37 + n), ValueType::Int),
                1 => (format!("value {n} of message {index}"), ValueType::String),
                _ => (format!("item-{index}"), ValueType::String),
            };
            batch.set(index, *name, text.as_bytes(), kind);
        }
    }
    batch
}

fn best(mut run: impl FnMut()) -> f64 {
    (0..REPEATS)
        .map(|_| {
            let start = Instant::now();
            (0..ROUNDS).for_each(|_| run());
            start.elapsed().as_nanos() as f64 / (ROUNDS * MESSAGES) as f64
        })
        .fold(f64::INFINITY, f64::min)
}

/// Copies one span per message, the same number of bytes.
fn copies(batch: &Batch) -> f64 {
    let (mut out, mut ends) = (Vec::new(), Vec::new());
    best(|| {
        out.clear();
        ends.clear();
        for record in &batch.records {
            out.extend_from_slice(
                batch.text.get(record.frame.start as usize + 4..record.frame.end() + 1).unwrap_or(b""),
            );
            ends.push(out.len() as u32);
        }
        black_box((&out, &ends));
    })
}

fn measure(name: &str, template: &Template, batch: &Batch, floor: f64) {
    // An argument picks the cases whose name contains it.
    if !std::env::args().nth(1).is_none_or(|part| name.contains(&part)) {
        return;
    }
    let selection: Vec<u32> = (0..MESSAGES as u32).collect();
    let mut cx = RenderContext::new(Identity::new("loghost"));
    let (mut out, mut ends) = (Vec::new(), Vec::new());
    let cost = best(|| {
        out.clear();
        ends.clear();
        cx.begin_batch(batch.received);
        template.render_selection(batch, &selection, &mut cx, &mut out, &mut ends);
        black_box((&out, &ends));
    });
    println!("{name:50} {cost:6.1} ns per message, {:6.1} over the copy", cost - floor);
}

fn main() {
    let kept = batch(true, true);
    let floor = copies(&kept);
    println!("{:50} {floor:6.1} ns per message", "one copy of 396 bytes");
    let bsd = TemplateOptions::default();
    let iso = TemplateOptions { ts_format: TsFormat::Iso, ..bsd.clone() };
    let compile = |text: &str| Template::compile(text, &bsd, &NoScope).expect("compiles");
    let file = layout::file_default(&bsd);
    measure("file layout, BSD stamp, host kept", &file, &kept, floor);
    measure("file layout, BSD stamp, host replaced", &file, &batch(false, true), floor);
    measure("file layout, BSD stamp formatted", &file, &batch(true, false), floor);
    measure("file layout, ISO stamp", &layout::file_default(&iso), &kept, floor);
    measure("network layout", &layout::network_default(&bsd), &kept, floor);
    measure("RFC 5424 layout", &layout::syslog_protocol(&bsd), &kept, floor);
    let ietf = protocol_batch();
    measure("file layout of RFC 5424 messages", &file, &ietf, floor);
    measure("network layout of RFC 5424 messages", &layout::network_default(&bsd), &ietf, floor);
    measure("RFC 5424 layout of RFC 5424 messages", &layout::syslog_protocol(&bsd), &ietf, floor);
    measure("the file layout written as a template", &compile("$DATE $HOST $MSGHDR$MSG\n"), &kept, floor);
    let custom =
        compile("$ISODATE $FACILITY.$SEVERITY ${HOST:-none} prog=$PROGRAM pid=$PID src=$SOURCEIP msg=$MSG\n");
    measure("ISO, facility, fields, address", &custom, &kept, floor);
    let fields = fields_batch();
    measure("format-json of 27 values", &compile("$(format-json --scope all-nv-pairs)\n"), &fields, floor);
    measure(
        "format-json of 27 values, names changed",
        &compile("$(format-json --scope all-nv-pairs --rekey .json.* --shift 6)\n"),
        &fields,
        floor,
    );
    measure("format-json of the header", &compile("$(format-json --scope rfc3164)\n"), &fields, floor);
    measure(
        "format-json of four named values",
        &compile("$(format-json --key .json.section0.field0 PID host=$HOST n=int($LEVEL_NUM))\n"),
        &fields,
        0.0,
    );
    measure(
        "a file name: /var/log/$HOST/$YEAR-$MONTH-$DAY.log",
        &compile("/var/log/$HOST/$YEAR-$MONTH-$DAY.log"),
        &kept,
        0.0,
    );
}
