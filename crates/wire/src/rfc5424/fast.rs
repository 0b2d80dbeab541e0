//! The usual form of RFC 5424 messages, `<PRI>1 yyyy-mm-ddThh:mm:ss[.frac]ZONE HOST APP PROCID MSGID SDATA
//! MSG` with a header of up to 64 bytes behind the stamp. Whatever is not exactly that is left to the general
//! parser; `tests/replay.rs` and the property tests hold the two against each other.

use super::FIELDS_MAX;
use crate::framing::trimmed;
use crate::rfc3164::fast::pri;
use crate::sdata;
use crate::syslog::Rules;
use crate::timestamp::Clock;
use crate::word::{Lanes, load8};
use record::{Flags, Record, Span};

/// Fills the record, or returns `None` and leaves it as it was. May look at bytes behind the frame, but never
/// takes any.
#[inline(always)]
pub(super) fn parse<L: Lanes>(
    text: &[u8],
    record: &mut Record,
    clock: &mut Clock,
    rules: &Rules,
) -> Option<()> {
    let base = record.frame.start as usize;
    let end = trimmed(text, base, record.frame.end());
    let (pri, size) = pri(load8(text, base)?)?;
    let rest = text.get(base + size..)?;
    let (version, rest) = rest.split_first_chunk::<2>()?;
    if version != b"1 " {
        return None;
    }
    let (stamp, size) = clock.iso(rest)?;
    // The stamp has a blank behind it.
    let window = rest.get(size + 1..)?.first_chunk::<64>()?;
    let start = text.len() - rest.len() + size + 1;
    let blanks = L::mask(window, *b" ");
    let (host, at, blanks) = word(window, start, 0, blanks, 0)?;
    let (program, at, blanks) = word(window, start, at, blanks, 1)?;
    let (pid, at, blanks) = word(window, start, at, blanks, 2)?;
    let (msgid, at, _) = word(window, start, at, blanks, 3)?;

    let mut at = start + at;
    let mut structured = Span::EMPTY;
    match text.get(at)? {
        b'-' => at += 1,
        b'[' => {
            let checked = sdata::check_with::<L>(text.get(..end)?, at, rules.prefix).ok()?;
            checked.exact.then_some(())?;
            structured = Span::between(at, checked.end);
            at = checked.end;
        }
        _ => return None,
    }
    if at >= end || *text.get(at)? != b' ' {
        return None;
    }
    at += 1;
    let mark = text.get(at..end).is_some_and(|message| message.starts_with(b"\xef\xbb\xbf"));

    record.pri = pri;
    record.stamp = stamp;
    record.host = host;
    record.program = program;
    record.pid = pid;
    record.msgid = msgid;
    record.sdata = structured;
    if mark {
        at += 3;
        record.flags.set(Flags::UTF8);
    }
    record.flags.set(Flags::IETF);
    record.message = Span::between(at, end).set();
    Some(())
}

/// The word at `at` of the window, where the next one begins, and the blanks left.
#[inline(always)]
fn word(window: &[u8; 64], start: usize, at: usize, blanks: u64, index: usize) -> Option<(Span, usize, u64)> {
    let end = blanks.trailing_zeros() as usize;
    let size = end.wrapping_sub(at);
    if end >= 64 || size == 0 || size > FIELDS_MAX[index] {
        return None;
    }
    let nil = size == 1 && *window.get(at)? == b'-';
    let size = if nil { 0 } else { size };
    Some((Span::new(if nil { 0 } else { start + at }, size), end + 1, blanks & (blanks - 1)))
}
