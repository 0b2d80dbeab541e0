//! The parts of an RFC 3164 header beside PRI and stamp: Cisco's marks, host, program and pid.

use super::Cursor;
use crate::syslog::{Kinds, Rest, Rules};
use crate::word;
use record::{Record, Span};

/// Bytes of the longest host name.
const HOST_MAX: usize = 255;
/// Digits of a sequence number.
const SEQUENCE_MAX: usize = 20;
const AIX_FORWARD: &[u8] = b"Message forwarded from ";
const REPEATED: &[u8] = b"last message repeated";

/// Cisco writes `123: ` right behind the PRI. The number may be missing, as Nexus sends it: then the sequence
/// number is an empty one, as in syslog-ng (golden case parse/colons).
pub(super) fn cisco_sequence(cursor: &mut Cursor<'_>, rest: &mut Rest) {
    let text = cursor.rest();
    let digits = text.iter().take(SEQUENCE_MAX).take_while(|byte| byte.is_ascii_digit()).count();
    if text.get(digits..digits + 2) == Some(b": ") {
        rest.sequence = Some(cursor.span(cursor.at, cursor.at + digits));
        cursor.at += digits + 2;
    }
}

/// `*` (clock never set) or `.` (clock not synchronized any more) in front of the stamp.
pub(super) fn cisco_mark(cursor: &mut Cursor<'_>, rest: &mut Rest) {
    rest.synced = match cursor.peek() {
        Some(b'*') => Some(false),
        Some(b'.') => Some(true),
        _ => return,
    };
    cursor.at += 1;
}

/// Host, program and pid after a stamp.
pub(super) fn after_stamp(cursor: &mut Cursor<'_>, record: &mut Record, rules: &Rules, rest: &mut Rest) {
    let forwarded = cursor.rest().starts_with(AIX_FORWARD);
    if forwarded {
        // `Message forwarded from host: `: the host ends at the colon, whatever is expected otherwise.
        let start = cursor.at + AIX_FORWARD.len();
        let end = word::find(cursor.text, start, [b':']);
        record.host = cursor.span(start, end);
        cursor.at = end;
        while cursor.take(b' ') || cursor.take(b':') {}
    }
    if cursor.rest().starts_with(REPEATED) {
        return;
    }
    if rules.expect_hostname && !forwarded {
        host(cursor, record, rules, rest);
    }
    program(cursor, record, rules, rest);
}

/// A word that ends at a blank, unless it is rejected: then it stays for the program.
fn host(cursor: &mut Cursor<'_>, record: &mut Record, rules: &Rules, rest: &mut Rest) {
    let Some(end) = host_end(cursor, rules) else { return rest.tags.add(Kinds::INVALID_HOSTNAME) };
    record.host = cursor.span(cursor.at, end);
    cursor.at = end;
    cursor.skip_blanks();
}

/// Where the host name ends that begins here.
fn host_end(cursor: &Cursor<'_>, rules: &Rules) -> Option<usize> {
    let start = cursor.at;
    let mut end = word::find(cursor.text, start, [b' ', b':', b'[']);
    if cursor.text.get(end) == Some(&b':') {
        let whole = word::find(cursor.text, start, [b' ', b'[']);
        if holds_ipv6(cursor.text.get(start..whole).unwrap_or_default()) {
            end = whole;
        }
    }
    let name = cursor.text.get(start..end).unwrap_or_default();
    if name.is_empty() || name.len() > HOST_MAX || cursor.text.get(end) != Some(&b' ') {
        return None;
    }
    let odd = rules.check_hostname && !name.iter().all(|byte| is_host_byte(*byte));
    let bad = rules.bad_hostname.as_ref().is_some_and(|bad| bad(name));
    (!odd && !bad).then_some(end)
}

/// Whether a word with colons is an address: each part of a chain (`src@host/relay`) that has a colon reads
/// as IPv6.
fn holds_ipv6(word: &[u8]) -> bool {
    word.len() <= HOST_MAX
        && word.split(|byte| matches!(byte, b'/' | b'@')).all(|part| {
            !part.contains(&b':')
                || part.split(|byte| *byte == b'%').next().is_some_and(|address| {
                    std::str::from_utf8(address).is_ok_and(|text| text.parse::<std::net::Ipv6Addr>().is_ok())
                })
        })
}

/// Letters, digits and what addresses and chains of hosts are written with.
pub(crate) fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b':' | b'@' | b'/')
}

/// What names of programs are written with.
fn is_program_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'(' | b')')
}

/// `program[pid]: `. Leaves the cursor at the message. Takes nothing when the program is not legal and that
/// is asked for.
pub(super) fn program(cursor: &mut Cursor<'_>, record: &mut Record, rules: &Rules, rest: &mut Rest) {
    let start = cursor.at;
    let end = word::find(cursor.text, start, [b' ', b'[', b':']);
    let name = cursor.text.get(start..end).unwrap_or_default();
    if rules.check_program
        && !(name.iter().all(|byte| is_program_byte(*byte)) && name.iter().any(u8::is_ascii_alphabetic))
    {
        return rest.tags.add(Kinds::INVALID_PROGRAM);
    }
    // `: text` has a program part in which there is nothing, `prog[]: text` such a PID.
    record.program = cursor.span(start, end).set();
    cursor.at = end;
    if cursor.take(b'[') {
        let pid = cursor.at;
        cursor.at = word::find(cursor.text, pid, [b' ', b']', b':']);
        // A number that nothing ends is none: it is only part of the header's text.
        if cursor.at < cursor.text.len() {
            record.pid = cursor.span(pid, cursor.at).set();
        }
        cursor.take(b']');
    }
    cursor.take(b':');
    cursor.take(b' ');
    record.msghdr = if rules.store_legacy_msghdr { cursor.span(start, cursor.at) } else { Span::EMPTY };
}
