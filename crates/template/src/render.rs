//! Runs a compiled template over messages. The hot code of every formatted destination.

use crate::date::{Clock, Date};
use crate::line::{Line, PRI_BYTES, made_pri};
use crate::op::{Header, Op, Step};
use crate::sink::Sink;
use crate::spans::{before_blank, message};
use crate::{Msg, RenderContext, Template, escape, facts, sdata};
use record::{Batch, Flags, Record, Span, Stamp, Value, ValueType};

/// Bytes of a stamp in the form of RFC 3164.
pub(crate) const BSD_STAMP_BYTES: u32 = 15;

impl Template {
    /// Appends the text for one message; nothing when it is larger than the limit, which
    /// [`RenderContext::gave_up`] tells.
    pub fn render(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) {
        let start = out.len();
        // What is printed now may become a value of the batch.
        cx.budget.begin(start + msg.batch.text.len());
        let mut sink = Sink::new(out, &msg.batch.text);
        self.run(0, msg, cx, &mut sink);
        sink.settle();
        cx.budget.end(out, start, &self.text);
    }

    /// Appends the texts for the selected records of a batch; `ends` gets the length of `out` after each.
    /// Counts [`RenderContext::seqnum`] up. Of messages whose texts are larger than the limit nothing is
    /// appended; their places are in [`RenderContext::oversized`] then.
    pub fn render_selection(
        &self,
        batch: &Batch,
        selection: &[u32],
        cx: &mut RenderContext,
        out: &mut Vec<u8>,
        ends: &mut Vec<u32>,
    ) {
        let average = batch.text.len() / batch.records.len().max(1) + 64;
        out.reserve(selection.len().saturating_mul(average));
        ends.reserve(selection.len());
        cx.oversized.clear();
        if let Some(line) = &self.line {
            self.render_lines(line, batch, selection, cx, out, ends);
            return;
        }
        if self.render_spans((batch, selection), cx, out, ends) {
            return;
        }
        for (place, index) in selection.iter().enumerate() {
            if let Some(record) = batch.records.get(*index as usize) {
                self.render(Msg { batch, record }, cx, out);
                note_refused(place, cx);
                count(record, cx);
            }
            ends.push(out.len() as u32);
        }
    }

    /// The default layouts, and templates that begin with one.
    fn render_lines(
        &self,
        line: &Line,
        batch: &Batch,
        selection: &[u32],
        cx: &mut RenderContext,
        out: &mut Vec<u8>,
        ends: &mut Vec<u32>,
    ) {
        for (place, index) in selection.iter().enumerate() {
            if let Some(record) = batch.records.get(*index as usize) {
                let msg = Msg { batch, record };
                let start = out.len();
                cx.budget.begin(start);
                let done = line.print(msg, cx, out);
                if done && line.steps < self.steps.len() {
                    let mut sink = Sink::new(out, &batch.text);
                    self.run(line.steps, msg, cx, &mut sink);
                    sink.settle();
                }
                cx.budget.end(out, start, &self.text);
                if !done {
                    self.render(msg, cx, out);
                }
                note_refused(place, cx);
                count(record, cx);
            }
            ends.push(out.len() as u32);
        }
    }

    /// The steps from one on.
    #[inline]
    fn run(&self, from: usize, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        for step in self.steps.iter().skip(from) {
            if self.escape {
                self.print_escaped(&step.op, msg, cx, sink);
            } else {
                self.print(&step.op, msg, cx, sink);
            }
            if let Some(byte) = step.then {
                sink.byte(byte);
            }
            if cx.budget.is_refused() {
                return;
            }
        }
    }

    /// template-escape(yes): what macros print is escaped; literals and the results of functions are not.
    fn print_escaped(&self, op: &Op, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        if matches!(op, Op::Literal(_) | Op::Call(_) | Op::Nested(_) | Op::Default(_)) {
            self.print(op, msg, cx, sink);
            return;
        }
        let start = sink.out().len();
        self.print(op, msg, cx, sink);
        escape::escape_tail(sink.out(), start);
    }

    #[inline]
    fn print(&self, op: &Op, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        let record = msg.record;
        match op {
            Op::Literal(lit) => sink.literal(self.literal_text(*lit)),
            Op::Host => sink.span(record.host),
            Op::Program => sink.span(record.program),
            Op::Pid => sink.span(record.pid),
            Op::Msgid => sink.span(record.msgid),
            Op::LegacyMsghdr => sink.span(record.msghdr),
            Op::Message => sink.span(message(record)),
            Op::Value(name) => {
                if let Some(value) = msg.batch.value(record, *name) {
                    print_value(value, sink);
                }
            }
            Op::Msghdr => msghdr(record, sink),
            Op::MsghdrMessage => {
                msghdr(record, sink);
                sink.span(message(record));
            }
            Op::StampText(date) => stamp_text(date, msg, cx, sink),
            Op::Date(date) => print_date(date, msg, cx, sink),
            Op::PriHeader => pri_header(msg, sink),
            Op::Version => sink.byte(b'1'),
            Op::Nilable(header) => nilable(*header, msg, sink),
            Op::NilableSdata => nilable_sdata(msg, cx, sink),
            Op::ProtocolMessage => {
                sink.byte(b' ');
                let message = message(record);
                if !message.is_empty() {
                    protocol_mark(record, sink);
                    sink.span(message);
                }
            }
            _ => self.print_rare(op, msg, cx, sink),
        }
    }

    #[inline(never)]
    fn print_rare(&self, op: &Op, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
        match op {
            Op::HostMiddle => sink.span(host_middle(msg)),
            Op::SdataParam(param) => {
                param.print(msg, &mut cx.sdata, sink.out());
            }
            Op::Fact(fact) => facts::print(*fact, msg, cx, sink),
            Op::ProtocolMark => protocol_mark(msg.record, sink),
            Op::Default(inner) => {
                let (inner, default) = &**inner;
                let start = sink.len();
                if self.escape {
                    self.print_escaped(inner, msg, cx, sink);
                } else {
                    self.print(inner, msg, cx, sink);
                }
                if sink.len() == start {
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

    /// Appends the text for one message and tells its type: of the hint, of a lone macro's value, of a lone
    /// function's result.
    pub fn render_typed(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> ValueType {
        if let Some(hint) = self.hint {
            self.render(msg, cx, out);
            return hint;
        }
        let lone = match &*self.steps {
            [Step { op, then: None }] if self.keep_type => op,
            _ => {
                self.render(msg, cx, out);
                return ValueType::String;
            }
        };
        match lone {
            Op::Call(function) => {
                let start = out.len();
                cx.budget.begin(start);
                let kind = function.call(msg, cx, out);
                cx.budget.end(out, start, &self.text);
                kind
            }
            Op::Nested(template) => template.render_typed(msg, cx, out),
            Op::Value(name) => {
                let kind = msg.batch.value(msg.record, *name).map(|v| v.kind);
                self.render(msg, cx, out);
                kind.unwrap_or_default()
            }
            Op::SdataParam(param) => {
                let kind = msg.batch.value(msg.record, param.name).map(|v| v.kind);
                self.render(msg, cx, out);
                let unset = kind.is_none() && !param.is_received(msg);
                kind.unwrap_or(if unset { ValueType::Null } else { ValueType::String })
            }
            Op::Default(inner) => {
                let kind = inner.0.name().and_then(|name| msg.batch.value(msg.record, name));
                self.render(msg, cx, out);
                match (kind, &inner.0) {
                    // What has no text prints the default, which is one.
                    (Some(value), _) if !value.bytes.is_empty() && !is_binary(value) => value.kind,
                    (_, Op::Fact(fact)) => fact.value_type(),
                    _ => ValueType::String,
                }
            }
            op => {
                self.render(msg, cx, out);
                op.name().map_or(self.lone_type, |name| msg.record.types.of(name))
            }
        }
    }
}

#[inline]
fn note_refused(place: usize, cx: &mut RenderContext) {
    if cx.budget.is_refused() {
        cx.oversized.push(place as u32);
    }
}

/// Local messages are numbered, or all.
#[inline]
pub(crate) fn count(record: &Record, cx: &mut RenderContext) {
    if cx.number_all || record.flags.has(Flags::LOCAL) {
        cx.seqnum = cx.seqnum.map(|n| n.saturating_add(1));
    }
}

/// Values of these types have no text.
#[inline]
fn is_binary(value: Value<'_>) -> bool {
    matches!(value.kind, ValueType::Bytes | ValueType::Protobuf)
}

#[inline]
fn print_value(value: Value<'_>, sink: &mut Sink<'_>) {
    if !is_binary(value) {
        sink.value(value.bytes);
    }
}

#[inline]
pub(crate) fn clock(clock: Clock, msg: Msg<'_>, cx: &RenderContext) -> Stamp {
    match clock {
        Clock::Message => msg.record.stamp,
        Clock::Received => msg.batch.received_at(msg.record),
        Clock::Now => cx.now(),
    }
}

#[inline]
fn print_date(date: &Date, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
    let stamp = clock(date.clock, msg, cx);
    cx.date(date).write(date, &stamp, sink);
}

/// The text in the message means its stamp in the zone stored with it; so it is copied where that is the zone
/// asked for.
#[inline]
fn stamp_text(date: &Date, msg: Msg<'_>, cx: &mut RenderContext, sink: &mut Sink<'_>) {
    let Record { stamp, stamp_text, .. } = msg.record;
    if *stamp_text != Record::NO_TEXT && (date.zone.is_none() || cx.date(date).offset(stamp) == stamp.offset)
    {
        sink.span(Span { start: *stamp_text, len: BSD_STAMP_BYTES });
    } else {
        print_date(date, msg, cx, sink);
    }
}

#[inline]
fn msghdr(record: &Record, sink: &mut Sink<'_>) {
    if !record.msghdr.is_empty() {
        sink.span(record.msghdr);
    } else if !record.program.is_empty() {
        sink.span(record.program);
        if !record.pid.is_empty() {
            sink.byte(b'[');
            sink.span(record.pid);
            sink.byte(b']');
        }
        sink.literal(b": ");
    }
}

/// The part of the host field that names the sender, where it is a chain.
pub(crate) fn host_middle(msg: Msg<'_>) -> Span {
    let host = msg.record.host;
    if !msg.record.flags.has(Flags::CHAINED) {
        return host;
    }
    let text = msg.batch.bytes(host);
    let start = text.iter().position(|b| *b == b'@').map_or(0, |at| at + 1);
    let len = text.get(start..).unwrap_or_default().iter().take_while(|b| **b != b'/').count();
    Span::new(host.start as usize + start, len)
}

/// Where `<PRI>` ends in the text, when the frame begins with just that.
#[inline]
pub(crate) fn pri_end(msg: Msg<'_>) -> Option<u32> {
    let Msg { batch, record } = msg;
    let start = record.frame.start;
    let head = batch.text.get(start as usize..)?.first_chunk::<PRI_BYTES>()?;
    let digit = |at: usize| u16::from(head[at].wrapping_sub(b'0'));
    let (value, len) = match head {
        [b'<', b'1'..=b'9', _, _, b'>'] => (digit(1) * 100 + digit(2) * 10 + digit(3), 5),
        [b'<', b'1'..=b'9', _, b'>', _] => (digit(1) * 10 + digit(2), 4),
        [b'<', _, b'>', _, _] => (digit(1), 3),
        _ => return None,
    };
    // What is no digit counts as more than 9: then the sum may be right by chance, so all are looked at.
    let digits = head[1..len - 1].iter().all(u8::is_ascii_digit);
    (digits && value == record.pri && len <= record.frame.len as usize).then_some(start + len as u32)
}

#[inline]
fn pri_header(msg: Msg<'_>, sink: &mut Sink<'_>) {
    let start = msg.record.frame.start;
    if let Some(end) = pri_end(msg) {
        sink.span(Span { start, len: end - start });
        return;
    }
    made_pri(msg.record.pri, sink.out());
}

#[inline]
fn nilable(header: Header, msg: Msg<'_>, sink: &mut Sink<'_>) {
    let span = match header {
        Header::Host => msg.record.host,
        Header::Program => msg.record.program,
        Header::Pid => msg.record.pid,
        Header::Msgid => msg.record.msgid,
    };
    let len = before_blank(&msg.batch.text, span);
    if len == 0 {
        sink.byte(b'-');
    } else {
        sink.span(Span { start: span.start, len });
    }
}

/// RFC 5424 section 6.4: a text in UTF-8 begins with a byte order mark.
fn protocol_mark(record: &Record, sink: &mut Sink<'_>) {
    if record.flags.has(Flags::UTF8) {
        sink.literal(b"\xef\xbb\xbf");
    }
}

#[inline]
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
    changed_sdata(msg, seqnum, cx, sink.out());
}

#[inline(never)]
fn changed_sdata(msg: Msg<'_>, seqnum: Option<u64>, cx: &mut RenderContext, out: &mut Vec<u8>) {
    let start = out.len();
    sdata::print(msg, seqnum, &mut cx.sdata, out);
    if out.len() == start {
        out.push(b'-');
    }
}
