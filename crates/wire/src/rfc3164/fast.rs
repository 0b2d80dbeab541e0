//! The one form nearly all messages have, `<PRI>Mmm dd hh:mm:ss host program[pid]: message`, read with a few
//! wide comparisons. Whatever is not exactly that is left to the general parser; `rfc3164/tests.rs` holds the
//! two against each other.

use crate::framing::trimmed;
use crate::syslog::Rules;
use crate::timestamp::Clock;
use crate::word::{Lanes, equal, load8};
use record::{Record, Span};

/// Fills the record, or returns `None` and leaves it as it was. May look at bytes behind the frame, but never
/// takes any.
#[inline(always)]
pub(crate) fn parse<L: Lanes>(
    text: &[u8],
    record: &mut Record,
    clock: &mut Clock,
    rules: &Rules,
) -> Option<()> {
    let base = record.frame.start as usize;
    let end = trimmed(text, base, record.frame.end());
    let (pri, size) = pri(load8(text, base)?)?;
    let stamp_at = base + size;
    let stamp = clock.canonical(text.get(stamp_at..)?.first_chunk::<16>()?)?;

    let start = stamp_at + 16;
    let window = text.get(start..)?.first_chunk::<64>()?;
    // Whatever is odd about a word, a mark out of place or a second blank, shows as a mark that is not the
    // expected one.
    let mut marks = L::mask(window, *b" :[]");
    let first = load8(window, 0)?;
    let host_end = marks.trailing_zeros() as usize;
    let year = host_end == 4 && (first & 0xff).wrapping_sub(u64::from(b'0')) <= 9;
    // These two begin forms of their own, and four digits may be a year.
    if first == MESSAGE || first & LAST_MASK == LAST || year {
        return None;
    }
    let mut host = Span::EMPTY;
    let mut program_at = 0;
    if rules.expect_hostname {
        if host_end == 0 || *window.get(host_end)? != b' ' {
            return None;
        }
        host = Span::new(start, host_end);
        program_at = host_end + 1;
        marks &= marks - 1;
    }
    let program_end = marks.trailing_zeros() as usize;
    let mut at = program_end;
    let mut pid = Span::EMPTY;
    if program_end <= program_at {
        return None;
    }
    let mut mark = *window.get(program_end)?;
    if mark == b'[' {
        marks &= marks - 1;
        at = marks.trailing_zeros() as usize;
        mark = *window.get(at)?;
        if mark == b'[' {
            return None;
        }
        pid = Span::new(start + program_end + 1, at - program_end - 1).set();
        if mark == b']' {
            at += 1;
            mark = *text.get(start + at)?;
        }
    } else if mark == b']' {
        return None;
    }
    let mut at = start + at;
    if mark == b':' {
        at += 1;
        mark = *text.get(at)?;
    }
    at += usize::from(mark == b' ');
    if at > end {
        return None;
    }

    record.pri = pri;
    record.stamp = stamp;
    record.stamp_text = stamp_at as u32;
    record.host = host;
    record.program = Span::new(start + program_at, program_end - program_at);
    record.pid = pid;
    if rules.store_legacy_msghdr {
        record.msghdr = Span::between(start + program_at, at);
    }
    record.message = Span::between(at, end).set();
    Some(())
}

const MESSAGE: u64 = u64::from_le_bytes(*b"Message ");
const LAST: u64 = u64::from_le_bytes(*b"last \0\0\0");
const LAST_MASK: u64 = 0xff_ffff_ffff;

/// The value of `<d>`, `<dd>` or `<ddd>` at the start of the word and its length.
#[inline(always)]
pub(crate) fn pri(word: u64) -> Option<(u16, usize)> {
    let close = equal(word, b'>').trailing_zeros() as usize / 8;
    if word & 0xff != u64::from(b'<') || !(2..=4).contains(&close) {
        return None;
    }
    // The digits, last one in the highest of three bytes, missing ones zero.
    let digits = ((word >> 8) << (8 * (8 - (close - 1)))) >> 40;
    let present = (0x30_3030u64 << (8 * (4 - close))) & 0xff_ffff;
    let values = digits ^ present;
    if (values.wrapping_add(0x76_7676) | values) & 0x80_8080 != 0 {
        return None;
    }
    let value = (values & 0xff) * 100 + (values >> 8 & 0xff) * 10 + (values >> 16);
    Some((value as u16, close + 1))
}
