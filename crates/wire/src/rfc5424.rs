//! Reads RFC 5424 messages.

mod fast;

use crate::rfc3164::{Cursor, Pri, is_host_byte, pri, skip_count};
use crate::sdata;
use crate::syslog::{Kinds, Rest, Rules};
use crate::timestamp::Clock;
use crate::word::{Lanes, find};
use record::{Flags, Record, Span};

pub(crate) enum Outcome {
    Done,
    /// Read, with something left to do.
    Rest(Rest),
    /// Not version 1 of the protocol: nothing was filled.
    OtherVersion,
}

/// Bytes HOSTNAME, APP-NAME, PROCID and MSGID may have; longer ones are cut.
const FIELDS_MAX: [usize; 4] = [255, 48, 128, 32];

/// Reads `<PRI>1 STAMP HOST APP PROCID MSGID SDATA MSG`. With `fast`, the usual form is tried first.
#[inline(always)]
pub(crate) fn parse<L: Lanes>(
    text: &[u8],
    record: &mut Record,
    clock: &mut Clock,
    rules: &Rules,
    fast: bool,
) -> Outcome {
    if fast && fast::parse::<L>(text, record, clock, rules).is_some() {
        return Outcome::Done;
    }
    general(text, record, clock, rules)
}

#[inline(never)]
fn general(text: &[u8], record: &mut Record, clock: &mut Clock, rules: &Rules) -> Outcome {
    let mut cursor = Cursor::of(text, record);
    let mut rest = Rest::default();
    skip_count(&mut cursor, &mut rest.tags);
    match pri(&mut cursor) {
        Pri::Value(value) => record.pri = value,
        Pri::Missing => {
            rest.tags.add(Kinds::MISSING_PRI);
            record.pri = rules.default_pri;
        }
        Pri::Malformed => return Outcome::OtherVersion,
    }
    match cursor.rest() {
        [b'1', b' ', ..] => cursor.at += 2,
        // Nothing but the version.
        b"1" => {
            record.flags.set(Flags::IETF);
            rest.error = Some(cursor.at as u32 + 1);
            return Outcome::Rest(rest);
        }
        _ => return Outcome::OtherVersion,
    }
    record.flags.set(Flags::IETF);
    match header(&mut cursor, record, clock, rules, &mut rest) {
        Ok(()) if rest.tags == Kinds::default() && !rest.inexact_sdata => Outcome::Done,
        Ok(()) => Outcome::Rest(rest),
        Err(at) => {
            rest.error = Some(at as u32);
            Outcome::Rest(rest)
        }
    }
}

/// The fields from the stamp on. An error is the place in the frame.
fn header(
    cursor: &mut Cursor<'_>,
    record: &mut Record,
    clock: &mut Clock,
    rules: &Rules,
    rest: &mut Rest,
) -> Result<(), usize> {
    stamp(cursor, record, clock, rest)?;
    if !cursor.take(b' ') {
        rest.tags.add(Kinds::MISSING_FIELD[0]);
        return Err(cursor.at);
    }
    words(cursor, record, rules, rest)?;
    structured_data(cursor, record, rules, rest)?;
    message(cursor, record, rest)
}

/// HOSTNAME, APP-NAME, PROCID and MSGID.
fn words(cursor: &mut Cursor<'_>, record: &mut Record, rules: &Rules, rest: &mut Rest) -> Result<(), usize> {
    let start = cursor.at;
    record.host = word(cursor, 0, rest)?;
    let end = cursor.at.saturating_sub(1);
    let name = cursor.text.get(start..end).unwrap_or_default();
    if rules.check_hostname && !name.iter().all(|byte| is_host_byte(*byte)) {
        return Err(no_host(start, rest));
    }
    record.program = word(cursor, 1, rest)?;
    record.pid = word(cursor, 2, rest)?;
    record.msgid = word(cursor, 3, rest)?;
    Ok(())
}

/// The next word, cut to what it may have; `-` is no word, and two blanks have none between them. Behind each
/// a blank has to stand, else the next field is missing.
fn word(cursor: &mut Cursor<'_>, index: usize, rest: &mut Rest) -> Result<Span, usize> {
    let start = cursor.at;
    let end = find(cursor.text, start, [b' ']);
    if end >= cursor.text.len() {
        if index == 0 {
            return Err(no_host(start, rest));
        }
        rest.tags.add(Kinds::MISSING_FIELD[index + 1]);
        return Err(cursor.text.len());
    }
    cursor.at = end + 1;
    if cursor.text.get(start..end) == Some(b"-") {
        return Ok(Span::EMPTY);
    }
    Ok(cursor.span(start, end.min(start + FIELDS_MAX[index])))
}

/// The place of the error where no host name stands: behind its first byte, as in syslog-ng.
fn no_host(start: usize, rest: &mut Rest) -> usize {
    rest.tags.add(Kinds::INVALID_HOSTNAME);
    rest.tags.add(Kinds::MISSING_FIELD[1]);
    start + 1
}

/// `-` or an ISO stamp; the source's zone is meant when it names none.
fn stamp(
    cursor: &mut Cursor<'_>,
    record: &mut Record,
    clock: &mut Clock,
    rest: &mut Rest,
) -> Result<(), usize> {
    if let Some(reading) = crate::timestamp::parse_iso(cursor.rest()) {
        record.stamp = clock.stamp(&reading);
        cursor.at += reading.len;
        return Ok(());
    }
    record.stamp = clock.received();
    rest.tags.add(Kinds::MISSING_TIMESTAMP);
    if cursor.take(b'-') { Ok(()) } else { Err(cursor.at) }
}

fn structured_data(
    cursor: &mut Cursor<'_>,
    record: &mut Record,
    rules: &Rules,
    rest: &mut Rest,
) -> Result<(), usize> {
    match cursor.peek() {
        Some(b'-') => cursor.at += 1,
        Some(b'[') => {
            let checked = sdata::check(cursor.text, cursor.at, rules.prefix)
                .inspect_err(|_| rest.tags.add(Kinds::INVALID_SDATA))?;
            record.sdata = cursor.span(cursor.at, checked.end);
            rest.inexact_sdata = !checked.exact;
            cursor.at = checked.end;
        }
        // Nothing, or a blank: some senders leave it out.
        _ => {}
    }
    Ok(())
}

fn message(cursor: &mut Cursor<'_>, record: &mut Record, rest: &mut Rest) -> Result<(), usize> {
    if !cursor.rest().is_empty() && !cursor.take(b' ') {
        rest.tags.add(Kinds::MISSING_MESSAGE);
        return Err(cursor.at);
    }
    if cursor.rest().starts_with(b"\xef\xbb\xbf") {
        cursor.at += 3;
        record.flags.set(Flags::UTF8);
    }
    record.message = cursor.rest_span().set();
    Ok(())
}

/// `flags(no-rfc3164-fallback)`: what is not RFC 5424 is an error, at no place in particular.
#[cold]
pub(crate) fn other_version(text: &[u8], record: &mut Record, clock: &mut Clock, rules: &Rules) -> Rest {
    let mut rest = Rest { error: Some(0), ..Rest::default() };
    let mut cursor = Cursor::of(text, record);
    (record.stamp, record.pri) = (clock.received(), rules.default_pri);
    skip_count(&mut cursor, &mut rest.tags);
    match pri(&mut cursor) {
        Pri::Value(_) => {}
        Pri::Missing => rest.tags.add(Kinds::MISSING_PRI),
        Pri::Malformed => rest.tags.add(Kinds::INVALID_PRI),
    }
    rest
}

#[cfg(test)]
mod tests;
