//! Runs a compiled template over messages. The hot code of every formatted destination.

use crate::date::{Clock, Date};
use crate::op::{Header, Op};
use crate::sink::Sink;
use crate::{Msg, RenderContext, Template, escape, facts, sdata};
use record::{Batch, Flags, Record, Span, Stamp, Value, ValueType};

/// Bytes of a stamp in the form of RFC 3164.
const BSD_STAMP_BYTES: u32 = 15;

impl Template {
    /// Appends the text for one message.
    pub fn render(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) {
        let mut sink = Sink::new(out, &msg.batch.text);
        self.run(msg, cx, &mut sink);
        sink.flush();
    }

    /// Appends the texts for the selected records of a batch; `ends` gets the length of `out` after each. Counts
    /// [`RenderContext::seqnum`] up.
    pub fn render_selection(
        &self,
        batch: &Batch,
        selection: &[u32],
        cx: &mut RenderContext,
        out: &mut Vec<u8>,
        ends: &mut Vec<u32>,
    ) {
        let average = batch.text.len() / batch.records.len().max(1) + 64;
        out.reserve(selection.len() * average);
        ends.reserve(selection.len());
        for index in selection {
            if let Some(record) = batch.records.get(*index as usize) {
                self.render(Msg { batch, record }, cx, out);
                if record.flags.has(Flags::LOCAL) {
                    cx.seqnum = cx.seqnum.map(|n| n.saturating_add(1));
                }
            }
            ends.push(out.len() as u32);
        }
    }

    #[inline]
    fn run(&self, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        if self.escape {
            for op in &self.ops {
                self.run_escaped(op, msg, cx, sink);
            }
            return;
        }
        for op in &self.ops {
            self.step(op, msg, cx, sink);
        }
    }

    /// template-escape(yes): what macros print is escaped; literals and the results of functions, whose arguments were
    /// escaped, are not.
    fn run_escaped(&self, op: &Op, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        if matches!(op, Op::Byte(_) | Op::Literal(_) | Op::Call(_) | Op::Nested(_) | Op::Default(_)) {
            self.step(op, msg, cx, sink);
            return;
        }
        let start = sink.out().len();
        self.step(op, msg, cx, sink);
        escape::escape_tail(sink.out(), start);
    }

    #[inline]
    fn step(&self, op: &Op, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        let record = msg.record;
        match op {
            Op::Byte(byte) => sink.byte(*byte),
            Op::Literal(lit) => sink.literal(self.literal_text(*lit)),
            Op::Host => sink.span(record.host),
            Op::Program => sink.span(record.program),
            Op::Pid => sink.span(record.pid),
            Op::Msgid => sink.span(record.msgid),
            Op::LegacyMsghdr => sink.span(record.msghdr),
            Op::Message => sink.span(record.message),
            Op::Msghdr if !record.msghdr.is_empty() => sink.span(record.msghdr),
            Op::Msghdr => msghdr(record, sink),
            Op::StampText(date) => stamp_text(date, msg, cx, sink),
            Op::Date(date) => print_date(date, msg, cx, sink.out()),
            Op::PriHeader => pri_header(msg, sink),
            Op::Nilable(header) => nilable(*header, msg, sink),
            _ => self.rare_step(op, msg, cx, sink),
        }
    }

    #[inline(never)]
    fn rare_step(&self, op: &Op, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        match op {
            Op::HostMiddle => sink.span(host_middle(msg)),
            Op::Value(name) => {
                if let Some(value) = msg.batch.value(msg.record, *name) {
                    print_value(value, sink.out());
                }
            }
            Op::SdataParam(param) => {
                param.print(msg, &mut cx.sdata, sink.out());
            }
            Op::Fact(fact) => facts::print(*fact, msg, cx, sink.out()),
            Op::NilableSdata => nilable_sdata(msg, cx, sink),
            Op::ProtocolMessage if !msg.record.message.is_empty() => {
                sink.byte(b' ');
                protocol_mark(msg.record, sink);
                sink.span(msg.record.message);
            }
            Op::ProtocolMark => protocol_mark(msg.record, sink),
            Op::Default(inner) => {
                let (inner, default) = &**inner;
                let start = sink.out().len();
                if self.escape {
                    self.run_escaped(inner, msg, cx, sink);
                } else {
                    self.step(inner, msg, cx, sink);
                }
                if sink.out().len() == start {
                    sink.literal(self.literal_text(*default));
                }
            }
            Op::Call(function) => {
                function.call(msg, cx, sink.out());
            }
            Op::Nested(template) => template.render(msg, cx, sink.out()),
            _ => {}
        }
    }

    /// Appends the text for one message and tells its type: of the hint, of a lone macro's value, of a lone function's result.
    pub fn render_typed(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        if let Some(hint) = self.hint {
            self.render(msg, cx, out);
            return hint;
        }
        let lone = match &*self.ops {
            [op] if self.keep_type => op,
            _ => {
                self.render(msg, cx, out);
                return ValueType::String;
            }
        };
        match lone {
            Op::Call(function) => function.call(msg, cx, out),
            Op::Nested(template) => template.render_typed(msg, cx, out),
            Op::Value(name) => {
                let kind = msg.batch.value(msg.record, *name).map(|v| v.kind);
                self.render(msg, cx, out);
                kind.unwrap_or_default()
            }
            Op::SdataParam(param) => {
                let kind = msg.batch.value(msg.record, param.name).map(|v| v.kind);
                self.render(msg, cx, out);
                kind.unwrap_or_default()
            }
            _ => {
                self.render(msg, cx, out);
                self.lone_type
            }
        }
    }
}

/// Values of these types have no text.
pub(crate) fn print_value(value: Value<'_>, out: &mut Vec<u8>) {
    if !matches!(value.kind, ValueType::Bytes | ValueType::Protobuf) {
        out.extend_from_slice(value.bytes);
    }
}

#[inline]
pub(crate) fn clock(clock: Clock, msg: Msg<'_>, cx: &RenderContext) -> Stamp {
    match clock {
        Clock::Message => msg.record.stamp,
        Clock::Received => msg.batch.received,
        Clock::Now => cx.now(),
    }
}

#[inline]
fn print_date(date: &Date, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) {
    let stamp = clock(date.clock, msg, cx);
    cx.date(date).write(date, &stamp, out);
}

/// The text in the message means its stamp in the zone stored with it; so it is copied where that is the zone asked for.
#[inline]
fn stamp_text(date: &Date, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
    let Record { stamp, stamp_text, .. } = msg.record;
    if *stamp_text != Record::NO_TEXT && (date.zone.is_none() || cx.date(date).offset(stamp) == stamp.offset)
    {
        sink.span(Span { start: *stamp_text, len: BSD_STAMP_BYTES });
    } else {
        print_date(date, msg, cx, sink.out());
    }
}

fn msghdr(record: &Record, sink: &mut Sink<'_>) {
    if record.program.is_empty() {
        return;
    }
    sink.span(record.program);
    if !record.pid.is_empty() {
        sink.byte(b'[');
        sink.span(record.pid);
        sink.byte(b']');
    }
    sink.literal(b": ");
}

fn host_middle(msg: Msg<'_>) -> Span {
    let host = msg.record.host;
    let text = msg.batch.bytes(host);
    let start = text.iter().position(|b| *b == b'@').map_or(0, |at| at + 1);
    let len = text.get(start..).unwrap_or_default().iter().take_while(|b| **b != b'/').count();
    Span::new(host.start as usize + start, len)
}

/// `<PRI>`: the bytes of the frame when it begins with just that.
#[inline]
fn pri_header(msg: Msg<'_>, sink: &mut Sink<'_>) {
    let Msg { batch, record } = msg;
    let frame = batch.bytes(record.frame);
    let (mut value, mut len) = (0u16, 1usize);
    while let Some(digit) = frame.get(len).map(|b| b.wrapping_sub(b'0')).filter(|d| *d < 10 && len < 5) {
        value = value * 10 + u16::from(digit);
        len += 1;
    }
    let canonical = frame.first() == Some(&b'<')
        && frame.get(len) == Some(&b'>')
        && value == record.pri
        && (2..=4).contains(&len)
        && (len == 2 || frame.get(1) != Some(&b'0'));
    if canonical {
        sink.span(Span { start: record.frame.start, len: len as u32 + 1 });
        return;
    }
    let out = sink.out();
    out.push(b'<');
    facts::number(u64::from(record.pri), out);
    out.push(b'>');
}

#[inline]
fn nilable(header: Header, msg: Msg<'_>, sink: &mut Sink<'_>) {
    let span = match header {
        Header::Host => msg.record.host,
        Header::Program => msg.record.program,
        Header::Pid => msg.record.pid,
        Header::Msgid => msg.record.msgid,
    };
    let len = msg.batch.bytes(span).iter().take_while(|b| **b != b' ').count();
    if len == 0 {
        sink.byte(b'-');
    } else {
        sink.span(Span { start: span.start, len: len as u32 });
    }
}

/// RFC 5424 section 6.4: a text in UTF-8 begins with a byte order mark.
fn protocol_mark(record: &Record, sink: &mut Sink<'_>) {
    if record.flags.has(Flags::UTF8) {
        sink.literal(b"\xef\xbb\xbf");
    }
}

fn nilable_sdata(msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
    let seqnum = facts::local_seqnum(msg, cx);
    if seqnum.is_none() && !msg.record.flags.has(Flags::SDATA_CHANGED) {
        if msg.record.sdata.is_empty() {
            sink.byte(b'-');
        } else {
            sink.span(msg.record.sdata);
        }
        return;
    }
    let out = sink.out();
    let start = out.len();
    sdata::print(msg, seqnum, &mut cx.sdata, out);
    if out.len() == start {
        out.push(b'-');
    }
}
