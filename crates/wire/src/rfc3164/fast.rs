//! The one form nearly all messages have, `<PRI>Mmm dd hh:mm:ss host program[pid]: message`, read with a few wide comparisons. Whatever
//! is not exactly that is left to the general parser; `rfc3164/tests.rs` holds the two against each other.

use crate::syslog::Rules;
use crate::timestamp::Clock;
use crate::word::{equal, find, load8};
use record::{Record, Span};

/// Bytes of the longest host name.
const HOST_MAX: usize = 255;

/// Fills the record, or returns `None` and leaves it as it was.
#[inline(always)]
pub(crate) fn parse(text: &[u8], record: &mut Record, clock: &mut Clock, rules: &Rules) -> Option<()> {
    let base = record.frame.start as usize;
    let frame = text.get(base..record.frame.end())?;
    if matches!(frame.last()?, b'\n' | b'\r' | 0) {
        return None;
    }
    let (pri, stamp_at) = pri(load8(frame, 0)?)?;
    let stamp = clock.canonical(frame.get(stamp_at..)?.first_chunk::<16>()?)?;
    let mut at = stamp_at + 16;

    let first = load8(frame, at)?;
    let mut host = Span::EMPTY;
    // Forms of their own begin with "Message forwarded", "last message" and a year; a second blank is left to the other parser too.
    if first == u64::from_le_bytes(*b"Message ")
        || first & 0xff_ffff_ffff == u64::from_le_bytes(*b"last \0\0\0")
        || first & 0xff == u64::from(b' ')
    {
        return None;
    }
    if rules.expect_hostname {
        let end = find(frame, at, [b' ', b':', b'[']);
        let size = end - at;
        if *frame.get(end)? != b' '
            || size > HOST_MAX
            || (size == 4 && frame.get(at)?.is_ascii_digit())
            || *frame.get(end + 1)? == b' '
        {
            return None;
        }
        host = Span::new(base + at, size);
        at = end + 1;
    } else if equal(first, b' ') & 0x80_0000_0000 != 0 && (first & 0xff).wrapping_sub(u64::from(b'0')) <= 9 {
        return None;
    }

    let program_at = at;
    at = find(frame, at, [b' ', b'[', b':']);
    let program = Span::new(base + program_at, at - program_at);
    if rules.kernel && program.is_empty() {
        return None;
    }
    let mut pid = Span::EMPTY;
    if *frame.get(at)? == b'[' {
        let pid_at = at + 1;
        at = find(frame, pid_at, [b' ', b']', b':']);
        pid = Span::new(base + pid_at, at - pid_at);
        at += usize::from(*frame.get(at)? == b']');
    }
    at += usize::from(frame.get(at) == Some(&b':'));
    at += usize::from(frame.get(at) == Some(&b' '));

    record.pri = pri;
    record.stamp = stamp;
    record.stamp_text = (base + stamp_at) as u32;
    record.host = host;
    record.program = program;
    record.pid = pid;
    if rules.store_legacy_msghdr {
        record.msghdr = Span::new(base + program_at, at - program_at);
    }
    record.message = Span::new(base + at, frame.len() - at);
    Some(())
}

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
