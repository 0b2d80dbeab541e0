//! The default layouts as straight code: `[<PRI>]STAMP HOST MSGHDR MESSAGE` and what RFC 5424 makes of a
//! message, with whatever a template has behind that. A message that came in as it is to be printed is found
//! out with a few comparisons and costs one copy; others have it put together without the detour over steps.
//! Whatever is unusual (long fields, changed STRUCTURED-DATA, fractions) is left to the steps.

use crate::date::Date;
use crate::facts::number;
use crate::op::{Header, Op, Step};
use crate::render::{BSD_STAMP_BYTES, pri_end};
use crate::sink::{push_padded, push_span};
use crate::spans::before_blank;
use crate::{Msg, RenderContext};
use record::{Flags, Record, Span};

/// Bytes of the longest `<PRI>`.
pub(crate) const PRI_BYTES: usize = 5;

/// A layout that has straight code here.
pub(crate) struct Line {
    /// It begins with `<PRI>`.
    pri: bool,
    stamp: Date,
    /// The stamp may be copied from the message.
    stamp_text: bool,
    /// It is a line of RFC 5424.
    protocol: bool,
    /// What stands behind MESSAGE, mostly a newline.
    then: Option<u8>,
    /// Steps that it stands for; those behind them are printed one by one.
    pub(crate) steps: usize,
}

impl Line {
    /// The layout that a template begins with.
    pub fn of(steps: &[Step]) -> Option<Line> {
        let (pri, rest) = match steps {
            [Step { op: Op::PriHeader, then: None }, rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (stamp, stamp_text, protocol, then, behind) = match rest {
            [
                Step { op: Op::StampText(date), then: Some(b' ') },
                Step { op: Op::Host, then: Some(b' ') },
                Step { op: Op::MsghdrMessage, then },
                behind @ ..,
            ] => (date, true, false, then, behind),
            [
                Step { op: Op::Date(date), then: Some(b' ') },
                Step { op: Op::Host, then: Some(b' ') },
                Step { op: Op::MsghdrMessage, then },
                behind @ ..,
            ] => (date, false, false, then, behind),
            [
                Step { op: Op::Version, then: Some(b' ') },
                Step { op: Op::Date(date), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Host), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Program), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Pid), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Msgid), then: Some(b' ') },
                Step { op: Op::NilableSdata, then: None },
                Step { op: Op::ProtocolMessage, then },
                behind @ ..,
            ] if pri => (date, false, true, then, behind),
            _ => return None,
        };
        let steps = steps.len() - behind.len();
        Some(Line { pri, stamp: (**stamp).clone(), stamp_text, protocol, then: *then, steps })
    }

    /// Appends the line; false, with nothing appended, when the steps have to do it.
    #[inline(always)]
    pub fn print(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> bool {
        if msg.record.types.has_binary_message() {
            return false;
        }
        let before = out.len();
        let done = if self.protocol {
            self.protocol(msg, cx, out).is_some()
        } else {
            self.copy(msg, out) || self.legacy(msg, cx, out).is_some()
        };
        if !done {
            out.truncate(before);
        }
        done
    }

    /// The message's text holds the line as it is to be printed.
    #[inline(always)]
    fn copy(&self, msg: Msg<'_>, out: &mut Vec<u8>) -> bool {
        let Msg { batch, record } = msg;
        let text = batch.text.as_slice();
        let stamp = record.stamp_text as usize;
        let stamp_end = stamp + BSD_STAMP_BYTES as usize;
        let host_end = record.host.end();
        let in_place = self.stamp_text
            && self.stamp.zone.is_none()
            && record.stamp_text != Record::NO_TEXT
            && record.host.start as usize == stamp_end + 1
            && record.msghdr.start as usize == host_end + 1
            && record.message.start as usize == record.msghdr.end()
            && !record.host.is_empty()
            && !record.msghdr.is_empty()
            && text.get(stamp_end) == Some(&b' ')
            && text.get(host_end) == Some(&b' ');
        if !in_place || (self.pri && pri_end(msg) != Some(record.stamp_text)) {
            return false;
        }
        let start = if self.pri { record.frame.start as usize } else { stamp };
        self.append(text, start, record.message.end(), out).is_some()
    }

    #[inline(always)]
    fn legacy(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> Option<()> {
        let Msg { batch, record } = msg;
        let text = batch.text.as_slice();
        if self.pri {
            header(msg, out)?;
        }
        self.stamp(msg, cx, out)?;
        if words(record, text, out) {
            return self.append(text, record.message.start as usize, record.message.end(), out);
        }
        field(record.host, text, out)?;
        out.push(b' ');
        let start = if record.msghdr.is_empty() {
            if !record.program.is_empty() {
                field(record.program, text, out)?;
                if !record.pid.is_empty() {
                    out.push(b'[');
                    field(record.pid, text, out)?;
                    out.push(b']');
                }
                out.extend_from_slice(b": ");
            }
            record.message.start as usize
        } else if record.message.start as usize == record.msghdr.end() {
            record.msghdr.start as usize
        } else {
            field(record.msghdr, text, out)?;
            record.message.start as usize
        };
        self.append(text, start, record.message.end(), out)
    }

    #[inline(always)]
    fn protocol(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> Option<()> {
        let Msg { batch, record } = msg;
        let text = batch.text.as_slice();
        let flags = record.flags;
        if flags.has(Flags::SDATA_CHANGED)
            || (cx.number_all || flags.has(Flags::LOCAL)) && cx.seqnum.is_some()
        {
            return None;
        }
        header(msg, out)?;
        out.extend_from_slice(b"1 ");
        self.stamp(msg, cx, out)?;
        if let Some(end) = as_received(text, record) {
            return self.append(text, record.host.start as usize, end, out);
        }
        for span in [record.host, record.program, record.pid, record.msgid] {
            match before_blank(text, span) {
                0 => out.extend_from_slice(b"- "),
                len => {
                    field(Span { start: span.start, len }, text, out)?;
                    out.push(b' ');
                }
            }
        }
        let (message, sdata) = (record.message, record.sdata);
        let mut start = message.start as usize;
        if sdata.is_empty() {
            out.push(b'-');
        } else if start == sdata.end() + 1
            && text.get(sdata.end()) == Some(&b' ')
            && !message.is_empty()
            && !flags.has(Flags::UTF8)
        {
            start = sdata.start as usize;
            return self.append(text, start, message.end(), out);
        } else {
            field(sdata, text, out)?;
        }
        out.push(b' ');
        if !message.is_empty() && flags.has(Flags::UTF8) {
            out.extend_from_slice(b"\xef\xbb\xbf");
        }
        self.append(text, start, message.end(), out)
    }

    /// The stamp and a blank.
    #[inline(always)]
    fn stamp(&self, msg: Msg<'_>, cx: &mut RenderContext, out: &mut Vec<u8>) -> Option<()> {
        let record = msg.record;
        let cache = cx.date(&self.stamp);
        if self.stamp_text
            && record.stamp_text != Record::NO_TEXT
            && cache.offset(&record.stamp) == record.stamp.offset
        {
            field(Span { start: record.stamp_text, len: BSD_STAMP_BYTES }, &msg.batch.text, out)?;
        } else if !cache.append(&self.stamp, &record.stamp, out) {
            return None;
        }
        out.push(b' ');
        Some(())
    }

    /// Appends `text[start..end]` and what stands behind it. A newline usually follows in the text; where
    /// not, the message was framed by a count or the end of a datagram.
    #[inline(always)]
    fn append(&self, text: &[u8], start: usize, end: usize, out: &mut Vec<u8>) -> Option<()> {
        // A message without text may point anywhere.
        let line = if start == end { &[][..] } else { text.get(start..end)? };
        match self.then {
            Some(then) if !line.is_empty() && text.get(end) == Some(&then) => {
                out.extend_from_slice(text.get(start..end + 1)?);
            }
            then => {
                out.extend_from_slice(line);
                out.extend(then);
            }
        }
        Some(())
    }
}

/// Where the message ends, when everything from HOST on stands in the text as RFC 5424 wants it. Parsed
/// fields hold no blanks, and changed ones do not lie where their neighbours are.
#[inline(always)]
fn as_received(text: &[u8], record: &Record) -> Option<usize> {
    let flags = record.flags;
    if !flags.has(Flags::IETF)
        || flags.has(Flags::UTF8)
        || record.host.is_empty()
        || record.message.is_empty()
    {
        return None;
    }
    let mut at = record.host.start as usize;
    for span in [record.host, record.program, record.pid, record.msgid, record.sdata] {
        if span.is_empty() {
            (text.get(at) == Some(&b'-')).then_some(())?;
            at += 1;
        } else {
            (span.start as usize == at).then_some(())?;
            at = span.end();
        }
        (text.get(at) == Some(&b' ')).then_some(())?;
        at += 1;
    }
    (record.message.start as usize == at).then_some(record.message.end())
}

/// Bytes `HOST PROGRAM PID` may have to be copied as one.
const WORDS_BYTES: usize = 64;

/// Appends `HOST PROGRAM[PID]: ` for a message that has the three as words of one text, as RFC 5424 puts
/// them; false, with nothing appended, for others.
#[inline(always)]
fn words(record: &Record, text: &[u8], out: &mut Vec<u8>) -> bool {
    let Record { host, program, pid, .. } = *record;
    let len = pid.end().wrapping_sub(host.start as usize);
    let together = record.msghdr.is_empty()
        && !host.is_empty()
        && !program.is_empty()
        && !pid.is_empty()
        && program.start as usize == host.end() + 1
        && pid.start as usize == program.end() + 1
        && len <= WORDS_BYTES;
    let Some(chunk) = text.get(host.start as usize..).and_then(|rest| rest.first_chunk::<WORDS_BYTES>())
    else {
        return false;
    };
    let behind_program = program.end().wrapping_sub(host.start as usize);
    if !together || chunk.get(host.len as usize) != Some(&b' ') || chunk.get(behind_program) != Some(&b' ') {
        return false;
    }
    let before = out.len();
    push_padded(out, chunk, len);
    if let Some(blank) = out.get_mut(before + behind_program) {
        *blank = b'[';
    }
    push_padded(out, b"]: \0", 3);
    true
}

/// A field.
#[inline(always)]
fn field(span: Span, text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    push_span(out, text, span.start as usize, span.end())
}

#[inline(always)]
fn header(msg: Msg<'_>, out: &mut Vec<u8>) -> Option<()> {
    let start = msg.record.frame.start as usize;
    match pri_end(msg) {
        Some(end) => {
            push_padded(out, msg.batch.text.get(start..)?.first_chunk::<PRI_BYTES>()?, end as usize - start);
        }
        None => made_pri(msg.record.pri, out),
    }
    Some(())
}

#[inline]
pub(crate) fn made_pri(pri: u16, out: &mut Vec<u8>) {
    out.push(b'<');
    number(u64::from(pri), out);
    out.push(b'>');
}
