//! The steps after parsing that make new text: error messages, escaped bytes, joined lines, values from
//! STRUCTURED-DATA.

use super::flags::ParseFlags;
use super::tags::Kinds;
use super::{Rest, rawmsg};
use crate::framing::trimmed;
use crate::{escape, sdata};
use record::{Batch, Flags, NameId, Record, Span, Stamp, ValueType, pri};

#[derive(Clone)]
pub(crate) struct Finish {
    piggyback_errors: bool,
    /// This process, the author of error messages.
    pid: Box<str>,
    validate_utf8: bool,
    sanitize_utf8: bool,
    no_multi_line: bool,
    raw: Option<NameId>,
    /// Set when STRUCTURED-DATA becomes values under another prefix.
    prefix: Option<Box<str>>,
    /// `kernel` in the present batch's text.
    kernel: Option<Span>,
    buffer: Vec<u8>,
    name: Vec<u8>,
    value: Vec<u8>,
}

impl Finish {
    pub fn new(flags: ParseFlags, prefix: Box<str>) -> Finish {
        Finish {
            piggyback_errors: flags.piggyback_errors,
            pid: std::process::id().to_string().into(),
            validate_utf8: flags.validate_utf8,
            sanitize_utf8: flags.sanitize_utf8,
            no_multi_line: flags.no_multi_line,
            raw: flags.store_raw_message.then(rawmsg).flatten(),
            prefix: (&*prefix != sdata::PREFIX).then_some(prefix),
            kernel: None,
            buffer: Vec::new(),
            name: Vec::new(),
            value: Vec::new(),
        }
    }

    /// A new batch begins.
    pub fn start(&mut self) {
        self.kernel = None;
    }

    /// Whether every message has to come here.
    pub fn asks(&self) -> bool {
        self.validate_utf8
            || self.sanitize_utf8
            || self.no_multi_line
            || self.raw.is_some()
            || self.prefix.is_some()
    }

    /// Replaces a message that cannot be read by one that says so, or keeps it raw.
    pub fn error(&mut self, batch: &mut Batch, index: usize, at: u32, received: Stamp, default_pri: u16) {
        let Some(record) = batch.records.get(index) else { return };
        let mut failed = Record::new(record.frame);
        (failed.origin, failed.context, failed.flags) = (record.origin, record.context, record.flags);
        (failed.stamp, failed.pri) = (received, default_pri);
        failed.flags.set(Flags::PARSE_ERROR);
        let start = failed.frame.start as usize;
        let end = trimmed(&batch.text, start, failed.frame.end().min(batch.text.len()));
        failed.message = Span::between(start, end);
        if self.piggyback_errors {
            self.buffer.clear();
            self.buffer.extend_from_slice(b"Error processing log message: ");
            let frame = failed.message.of(&batch.text);
            // As syslog-ng puts its mark: in front of the byte before the place.
            let parts = (at as usize).checked_sub(1).and_then(|at| frame.split_at_checked(at));
            let (before, after) = parts.unwrap_or((frame, b""));
            self.buffer.extend_from_slice(before);
            if parts.is_some() {
                self.buffer.extend_from_slice(b">@<");
            }
            self.buffer.extend_from_slice(after);
            failed.program = batch.append(b"syslog-ng");
            failed.pid = batch.append(self.pid.as_bytes());
            failed.flags.set(Flags::LOCAL);
            failed.message = batch.append(&self.buffer);
            failed.pri = pri::join(5, 3);
        }
        if let Some(record) = batch.records.get_mut(index) {
            *record = failed;
        }
    }

    /// Everything else that is left to do for one message.
    pub fn apply(&mut self, batch: &mut Batch, index: usize, rest: &Rest, kinds: &mut Kinds) {
        if rest.sequence.is_some() || rest.synced.is_some() {
            self.cisco(batch, index, rest);
        }
        if rest.inexact_sdata {
            self.canonical_sdata(batch, index);
        }
        if rest.kernel {
            let span = *self.kernel.get_or_insert_with(|| batch.append(b"kernel"));
            if let Some(record) = batch.records.get_mut(index) {
                (record.program, record.msghdr) = (span, Span::EMPTY);
            }
        }
        if !self.asks() {
            return;
        }
        if let Some(name) = self.raw
            && let Some(frame) = batch.records.get(index).map(|record| record.frame)
        {
            let start = frame.start as usize;
            let end = trimmed(&batch.text, start, frame.end().min(batch.text.len()));
            batch.set_span(index, name, Span::between(start, end), ValueType::String);
        }
        if self.prefix.is_some() {
            self.values(batch, index);
        }
        if self.no_multi_line {
            self.join_lines(batch, index);
        }
        if self.validate_utf8 || self.sanitize_utf8 {
            self.utf8(batch, index, kinds);
        }
    }

    /// Cisco's sequence number and clock state become STRUCTURED-DATA of their own.
    fn cisco(&mut self, batch: &mut Batch, index: usize, rest: &Rest) {
        self.buffer.clear();
        let mut builder = sdata::Builder::new(&mut self.buffer);
        if let Some(sequence) = rest.sequence {
            builder.param(b"meta", b"sequenceId", sequence.of(&batch.text));
        }
        if let Some(synced) = rest.synced {
            builder.param(b"timeQuality", b"isSynced", if synced { b"1" } else { b"0" });
        }
        builder.finish();
        let span = batch.append(&self.buffer);
        if let Some(record) = batch.records.get_mut(index) {
            record.sdata = span;
        }
    }

    /// Writes STRUCTURED-DATA as a record keeps it: see [`sdata::canonical`].
    fn canonical_sdata(&mut self, batch: &mut Batch, index: usize) {
        let Some(record) = batch.records.get(index) else { return };
        self.buffer.clear();
        sdata::canonical(record.sdata.of(&batch.text), &mut self.buffer);
        let span = batch.append(&self.buffer);
        if let Some(record) = batch.records.get_mut(index) {
            record.sdata = span;
        }
    }

    /// STRUCTURED-DATA under another prefix is not STRUCTURED-DATA any more, but values of those names.
    fn values(&mut self, batch: &mut Batch, index: usize) {
        let (Some(prefix), Some(record)) = (&self.prefix, batch.records.get_mut(index)) else { return };
        let sdata = std::mem::take(&mut record.sdata);
        self.buffer.clear();
        self.buffer.extend_from_slice(sdata.of(&batch.text));
        for param in sdata::params(&self.buffer) {
            self.name.clear();
            self.name.extend_from_slice(prefix.as_bytes());
            self.name.extend_from_slice(param.id);
            if !param.name.is_empty() {
                self.name.push(b'.');
                self.name.extend_from_slice(param.name);
            }
            let Some(name) = batch.names.id(b"", &self.name) else { continue };
            batch.set(index, name, sdata::unescape(param.value, &mut self.value), ValueType::String);
        }
    }

    /// Blanks for newlines, carriage returns and, where the framing lets them through, NULs in the message.
    /// The header stays as it came, as in syslog-ng.
    fn join_lines(&mut self, batch: &mut Batch, index: usize) {
        let Some(record) = batch.records.get(index) else { return };
        let text = record.message.of(&batch.text);
        if memchr::memchr3(b'\n', b'\r', 0, text).is_none() {
            return;
        }
        self.buffer.clear();
        self.buffer
            .extend(text.iter().map(|byte| if matches!(byte, b'\n' | b'\r' | 0) { b' ' } else { *byte }));
        let copy = batch.append(&self.buffer);
        if let Some(record) = batch.records.get_mut(index) {
            record.message = copy;
        }
    }

    /// Marks valid UTF-8; a text that is none is escaped where that is asked for.
    fn utf8(&mut self, batch: &mut Batch, index: usize, kinds: &mut Kinds) {
        let Some(record) = batch.records.get(index) else { return };
        let (msghdr, message) = (record.msghdr, record.message);
        let text = message.of(&batch.text);
        if std::str::from_utf8(text).is_err() {
            if !self.sanitize_utf8 {
                return;
            }
            self.buffer.clear();
            let joined = !msghdr.is_empty() && msghdr.end() == message.start as usize;
            if joined {
                self.buffer.extend_from_slice(msghdr.of(&batch.text));
            }
            let header = self.buffer.len();
            escape::binary(text, None, &mut self.buffer);
            let copy = batch.append(&self.buffer);
            let Some(record) = batch.records.get_mut(index) else { return };
            record.message = Span::between(copy.start as usize + header, copy.end());
            if joined {
                record.msghdr = Span::new(copy.start as usize, header);
            }
            kinds.add(Kinds::UTF8_SANITIZED);
        }
        if let Some(record) = batch.records.get_mut(index) {
            record.flags.set(Flags::UTF8);
        }
    }
}
