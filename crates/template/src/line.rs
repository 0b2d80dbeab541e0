//! The layouts of syslog lines, `[<PRI>]STAMP HOST MSGHDR MESSAGE newline`: a message that came in as such a line is found out with a
//! few comparisons and printed in one copy.

use crate::Msg;
use crate::op::{Op, Step};
use crate::render::{BSD_STAMP_BYTES, pri_end};
use record::Record;

/// The layout's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// It begins with `<PRI>`.
    pri: bool,
}

impl Line {
    pub fn of(steps: &[Step]) -> Option<Line> {
        let (pri, rest) = match steps {
            [Step { op: Op::PriHeader, then: None }, rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        match rest {
            [
                Step { op: Op::StampText(date), then: Some(b' ') },
                Step { op: Op::Host, then: Some(b' ') },
                Step { op: Op::MsghdrMessage, then: Some(b'\n') },
            ] if date.zone.is_none() => Some(Line { pri }),
            _ => None,
        }
    }

    /// Appends the line, if the message's text holds it as it is to be printed.
    #[inline]
    pub fn copy(self, msg: Msg<'_>, out: &mut Vec<u8>) -> bool {
        let Msg { batch, record } = msg;
        let text = batch.text.as_slice();
        let stamp = record.stamp_text as usize;
        let stamp_end = stamp + BSD_STAMP_BYTES as usize;
        let (host_end, end) = (record.host.end(), record.message.end());
        let in_place = record.stamp_text != Record::NO_TEXT
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
        if text.get(end) == Some(&b'\n') {
            out.extend_from_slice(text.get(start..end + 1).unwrap_or_default());
            return true;
        }
        // Framed by a count or the end of a datagram.
        let Some(line) = text.get(start..end) else { return false };
        out.extend_from_slice(line);
        out.push(b'\n');
        true
    }
}
