//! The default layouts as straight code: `[<PRI>]STAMP HOST MSGHDR MESSAGE newline` and the line of RFC 5424. A message that came in as
//! it is to be printed is found out with a few comparisons and costs one copy; others have their header put together in a small
//! buffer. Whatever is unusual (long fields, changed STRUCTURED-DATA, fractions) is left to the steps.

use crate::date::Date;
use crate::op::{Header, Op, Step};
use crate::render::{BSD_STAMP_BYTES, before_blank, pri_end};
use crate::{Msg, RenderContext};
use record::{Flags, Record, Span};

/// A layout that has straight code here.
pub(crate) struct Line {
    /// It begins with `<PRI>`.
    pri: bool,
    stamp: Date,
    /// The stamp may be copied from the message.
    stamp_text: bool,
    /// It is a line of RFC 5424.
    protocol: bool,
}

impl Line {
    pub fn of(steps: &[Step]) -> Option<Line> {
        let (pri, rest) = match steps {
            [Step { op: Op::PriHeader, then: None }, rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let (stamp, stamp_text, protocol) = match rest {
            [
                Step { op: Op::StampText(date), then: Some(b' ') },
                Step { op: Op::Host, then: Some(b' ') },
                Step { op: Op::MsghdrMessage, then: Some(b'\n') },
            ] => (date, true, false),
            [
                Step { op: Op::Date(date), then: Some(b' ') },
                Step { op: Op::Host, then: Some(b' ') },
                Step { op: Op::MsghdrMessage, then: Some(b'\n') },
            ] => (date, false, false),
            [
                Step { op: Op::Version, then: Some(b' ') },
                Step { op: Op::Date(date), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Host), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Program), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Pid), then: Some(b' ') },
                Step { op: Op::Nilable(Header::Msgid), then: Some(b' ') },
                Step { op: Op::NilableSdata, then: None },
                Step { op: Op::ProtocolMessage, then: Some(b'\n') },
            ] if pri => (date, false, true),
            _ => return None,
        };
        Some(Line { pri, stamp: (**stamp).clone(), stamp_text, protocol })
    }

    /// Appends the line; false, with nothing appended, when the steps have to do it.
    #[inline(always)]
    pub fn print(&self, msg: Msg<'_>, cx: &mut RenderContext, head: &mut Head, out: &mut Vec<u8>) -> bool {
        if self.protocol {
            return self.protocol(msg, cx, head, out).is_some();
        }
        self.copy(msg, out) || self.legacy(msg, cx, head, out).is_some()
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
        append_line(text, start, record.message.end(), out).is_some()
    }

    #[inline(always)]
    fn legacy(&self, msg: Msg<'_>, cx: &mut RenderContext, head: &mut Head, out: &mut Vec<u8>) -> Option<()> {
        let Msg { batch, record } = msg;
        let text = batch.text.as_slice();
        head.at = 0;
        if self.pri {
            head.pri(msg)?;
        }
        self.stamp(msg, cx, head)?;
        head.short(text, record.host)?;
        head.byte(b' ')?;
        let start = if record.msghdr.is_empty() {
            if !record.program.is_empty() {
                head.short(text, record.program)?;
                if !record.pid.is_empty() {
                    head.byte(b'[')?;
                    head.short(text, record.pid)?;
                    head.byte(b']')?;
                }
                head.exact(b": ")?;
            }
            record.message.start as usize
        } else if record.message.start as usize == record.msghdr.end() {
            record.msghdr.start as usize
        } else {
            head.short(text, record.msghdr)?;
            record.message.start as usize
        };
        head.spill_line(text, start, record.message.end(), out)
    }

    #[inline(always)]
    fn protocol(
        &self,
        msg: Msg<'_>,
        cx: &mut RenderContext,
        head: &mut Head,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let Msg { batch, record } = msg;
        let text = batch.text.as_slice();
        let flags = record.flags;
        if flags.has(Flags::SDATA_CHANGED) || flags.has(Flags::LOCAL) && cx.seqnum.is_some() {
            return None;
        }
        head.at = 0;
        head.pri(msg)?;
        head.exact(b"1 ")?;
        self.stamp(msg, cx, head)?;
        for field in [record.host, record.program, record.pid, record.msgid] {
            match before_blank(text, field) {
                0 => head.exact(b"- ")?,
                len => {
                    head.short(text, Span { start: field.start, len })?;
                    head.byte(b' ')?;
                }
            }
        }
        let (message, sdata) = (record.message, record.sdata);
        let mut start = message.start as usize;
        if sdata.is_empty() {
            head.byte(b'-')?;
        } else if start == sdata.end() + 1
            && text.get(sdata.end()) == Some(&b' ')
            && !message.is_empty()
            && !flags.has(Flags::UTF8)
        {
            start = sdata.start as usize;
            return head.spill_line(text, start, message.end(), out);
        } else {
            head.long(text, sdata)?;
        }
        if !message.is_empty() {
            head.byte(b' ')?;
            if flags.has(Flags::UTF8) {
                head.exact(b"\xef\xbb\xbf")?;
            }
        }
        head.spill_line(text, start, message.end(), out)
    }

    /// The stamp and a blank.
    #[inline(always)]
    fn stamp(&self, msg: Msg<'_>, cx: &mut RenderContext, head: &mut Head) -> Option<()> {
        let record = msg.record;
        let cache = cx.date(&self.stamp);
        if self.stamp_text
            && record.stamp_text != Record::NO_TEXT
            && cache.offset(&record.stamp) == record.stamp.offset
        {
            head.short(&msg.batch.text, Span { start: record.stamp_text, len: BSD_STAMP_BYTES })?;
        } else {
            let (text, len) = cache.text(&self.stamp, &record.stamp)?;
            head.padded(text, len)?;
        }
        head.byte(b' ')
    }
}

/// The header of a line while it is put together.
pub(crate) struct Head {
    bytes: [u8; HEAD_BYTES],
    at: usize,
}

const HEAD_BYTES: usize = 320;
/// Fields up to this size are copied with this size.
const SHORT_BYTES: usize = 32;

impl Head {
    pub fn new() -> Head {
        Head { bytes: [0; HEAD_BYTES], at: 0 }
    }

    #[inline(always)]
    fn byte(&mut self, byte: u8) -> Option<()> {
        *self.bytes.get_mut(self.at)? = byte;
        self.at += 1;
        Some(())
    }

    #[inline(always)]
    fn exact<const N: usize>(&mut self, bytes: &[u8; N]) -> Option<()> {
        self.padded(bytes, N)
    }

    #[inline(always)]
    fn padded<const N: usize>(&mut self, buffer: &[u8; N], len: usize) -> Option<()> {
        *self.bytes.get_mut(self.at..)?.first_chunk_mut()? = *buffer;
        self.at += len;
        Some(())
    }

    /// A short field; not near the end of the text, where a copy of fixed size would reach too far.
    #[inline(always)]
    fn short(&mut self, text: &[u8], span: Span) -> Option<()> {
        if span.len as usize > SHORT_BYTES {
            return self.long(text, span);
        }
        match text.get(span.start as usize..)?.first_chunk::<SHORT_BYTES>() {
            Some(chunk) => self.padded(chunk, span.len as usize),
            None => self.long(text, span),
        }
    }

    #[cold]
    fn long(&mut self, text: &[u8], span: Span) -> Option<()> {
        let bytes = text.get(span.start as usize..span.end())?;
        self.bytes.get_mut(self.at..self.at + bytes.len())?.copy_from_slice(bytes);
        self.at += bytes.len();
        Some(())
    }

    #[inline(always)]
    fn pri(&mut self, msg: Msg<'_>) -> Option<()> {
        let start = msg.record.frame.start;
        let text = msg.batch.text.as_slice();
        match pri_end(msg) {
            Some(end) => self.padded(text.get(start as usize..)?.first_chunk::<5>()?, (end - start) as usize),
            None => self.made_pri(msg.record.pri),
        }
    }

    #[cold]
    fn made_pri(&mut self, pri: u16) -> Option<()> {
        self.byte(b'<')?;
        let mut scale = 10_000;
        while scale > 1 && scale > pri {
            scale /= 10;
        }
        while scale > 0 {
            self.byte(b'0' + (pri / scale % 10) as u8)?;
            scale /= 10;
        }
        self.byte(b'>')
    }

    /// Appends the header and the rest of the line, which is `text[start..end]`. Checks before it appends anything.
    #[inline(always)]
    fn spill_line(&self, text: &[u8], start: usize, end: usize, out: &mut Vec<u8>) -> Option<()> {
        let head = self.bytes.get(..self.at)?;
        // A message without text may point anywhere.
        let (start, end) = if start == end { (0, 0) } else { (start, end) };
        text.get(start..end)?;
        out.extend_from_slice(head);
        append_line(text, start, end, out)
    }
}

/// Appends `text[start..end]` and a newline, which usually follows in the text; where not, the message was framed by a count or
/// the end of a datagram.
#[inline(always)]
fn append_line(text: &[u8], start: usize, end: usize, out: &mut Vec<u8>) -> Option<()> {
    let line = text.get(start..end)?;
    if text.get(end) == Some(&b'\n') {
        out.extend_from_slice(text.get(start..end + 1)?);
    } else {
        out.extend_from_slice(line);
        out.push(b'\n');
    }
    Some(())
}
