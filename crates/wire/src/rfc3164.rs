//! Reads RFC 3164 messages and everything that passes for them in the field.

pub(crate) mod fast;
mod header;

pub(crate) use header::is_host_byte;

use crate::framing::trimmed;
use crate::syslog::{Kinds, Rest, Rules};
use crate::timestamp::{self, Clock};
use record::{Record, Span};

/// The part of a frame that is not read yet. `base` is where the frame begins in the batch's text.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'a> {
    /// The frame without the newlines and NULs at its end.
    pub text: &'a [u8],
    pub base: usize,
    pub at: usize,
}

impl<'a> Cursor<'a> {
    /// A cursor at the start of a record's frame.
    #[inline]
    pub fn of(text: &'a [u8], record: &Record) -> Cursor<'a> {
        let base = record.frame.start as usize;
        let end = trimmed(text, base, record.frame.end().min(text.len()));
        Cursor { text: text.get(base..end).unwrap_or_default(), base, at: 0 }
    }

    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// Passes over one `byte`, if it stands here.
    #[inline]
    pub fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    #[inline]
    pub fn skip_blanks(&mut self) {
        while self.take(b' ') {}
    }

    /// The span of `from..to` of the frame.
    #[inline]
    pub fn span(&self, from: usize, to: usize) -> Span {
        Span::between(self.base + from, self.base + to)
    }

    /// The span of what is left.
    #[inline]
    pub fn rest_span(&self) -> Span {
        self.span(self.at, self.text.len())
    }
}

/// What stands where the PRI is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pri {
    Value(u16),
    Missing,
    /// It begins like one.
    Malformed,
}

/// Reads `<digits>`, of any length as in syslog-ng: no digits mean 0, and of a large number the lowest 16
/// bits count. The cursor moves only when that is what stands here.
pub(crate) fn pri(cursor: &mut Cursor<'_>) -> Pri {
    if cursor.peek() != Some(b'<') {
        return Pri::Missing;
    }
    let mut value = 0u16;
    let mut at = cursor.at + 1;
    cursor.at = loop {
        match cursor.text.get(at) {
            Some(digit @ b'0'..=b'9') => value = value.wrapping_mul(10).wrapping_add(u16::from(digit - b'0')),
            Some(b'>') => break at + 1,
            // A text that ends within it is taken, as in syslog-ng.
            None => break at,
            Some(_) => return Pri::Malformed,
        }
        at += 1;
    };
    Pri::Value(value)
}

/// Passes over an octet count that arrived where none was expected: digits and a blank before `<`.
pub(crate) fn skip_count(cursor: &mut Cursor<'_>, tags: &mut Kinds) {
    let digits = cursor.rest().iter().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    if (1..=10).contains(&digits) && cursor.rest().get(digits..digits + 2) == Some(b" <") {
        cursor.at += digits + 1;
        tags.add(Kinds::UNEXPECTED_FRAMING);
    }
}

/// Framing leftovers and PRI. `None` when the PRI is malformed: then the whole text is the message.
fn start(cursor: &mut Cursor<'_>, record: &mut Record, rules: &Rules, rest: &mut Rest) -> Option<()> {
    skip_count(cursor, &mut rest.tags);
    record.pri = match pri(cursor) {
        Pri::Value(value) => value,
        Pri::Missing => {
            rest.tags.add(Kinds::MISSING_PRI);
            rules.default_pri
        }
        Pri::Malformed => {
            rest.tags.add(Kinds::INVALID_PRI);
            if !rules.again {
                record.pri = rules.default_pri;
            }
            record.message = cursor.rest_span().set();
            return None;
        }
    };
    Some(())
}

/// `flags(no-header)`: what follows the PRI is the message.
pub(crate) fn parse_pri_only(text: &[u8], record: &mut Record, clock: &Clock, rules: &Rules) -> Rest {
    let mut rest = Rest::default();
    let mut cursor = Cursor::of(text, record);
    if !rules.again {
        record.stamp = clock.received();
    }
    if start(&mut cursor, record, rules, &mut rest).is_some() {
        record.message = cursor.rest_span().set();
    }
    rest
}

/// Reads any RFC 3164 message. Never fails: what is not a header is message.
#[inline(never)]
pub(crate) fn parse(text: &[u8], record: &mut Record, clock: &mut Clock, rules: &Rules) -> Rest {
    let mut rest = Rest::default();
    let mut cursor = Cursor::of(text, record);
    if !rules.again {
        record.stamp = clock.received();
    }
    if start(&mut cursor, record, rules, &mut rest).is_none() {
        return rest;
    }
    header::cisco_sequence(&mut cursor, &mut rest);
    cursor.skip_blanks();
    header::cisco_mark(&mut cursor, &mut rest);
    match timestamp::parse(cursor.rest()) {
        Some(reading) => {
            record.stamp = clock.stamp(&reading);
            if clock.says(&reading, &record.stamp) {
                record.stamp_text = (cursor.base + cursor.at) as u32;
            }
            cursor.at += reading.len;
            cursor.skip_blanks();
            header::after_stamp(&mut cursor, record, rules, &mut rest);
        }
        None => unstamped(&mut cursor, record, clock, rules, &mut rest),
    }
    record.message = cursor.rest_span().set();
    rest
}

/// Goes on where no stamp stands. One that is written as a stamp is, but means no time, is passed over: what
/// follows it is the header (golden case parse/impossible-stamps).
fn unstamped(cursor: &mut Cursor<'_>, record: &mut Record, clock: &Clock, rules: &Rules, rest: &mut Rest) {
    record.stamp = clock.received_in_zone();
    rest.tags.add(Kinds::MISSING_TIMESTAMP);
    if let Some(len) = timestamp::impossible(cursor.rest()) {
        cursor.at += len;
        cursor.skip_blanks();
        return header::after_stamp(cursor, record, rules, rest);
    }
    rest.kernel = rules.kernel && record.pri < 8;
    if !rest.kernel {
        rest.tags.add(Kinds::MISSING_HEADER);
        header::program(cursor, record, rules, rest);
    }
}

#[cfg(test)]
mod tests;
