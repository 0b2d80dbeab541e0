//! Fills records from their frames: chooses between RFC 5424, RFC 3164 and no parsing at all, and does what
//! the flags ask for.

mod finish;
mod flags;
mod tags;

pub use flags::ParseFlags;

use crate::framing::trimmed;
use crate::timestamp::Clock;
use crate::word::{Lanes, Windowed, with_lanes};
use crate::{rfc3164, rfc5424};
use finish::Finish;
use record::{Batch, Flags, NameId, Record, Span, Zone, intern, pri};
use std::fmt;
use std::sync::Arc;
pub(crate) use tags::Kinds;
use tags::TagSet;

/// Decides whether a host name is one of those `bad-hostname()` means.
pub type HostMatcher = Arc<dyn Fn(&[u8]) -> bool + Send + Sync>;

/// How a source's messages are to be read.
#[derive(Clone)]
pub struct SyslogOptions {
    pub flags: ParseFlags,
    /// PRI of messages without one.
    pub default_pri: u16,
    /// The zone meant by stamps that name none: `time-zone()` of the source, else `recv-time-zone()`.
    pub recv_zone: Zone,
    /// `sdata-prefix()`.
    pub sdata_prefix: Box<str>,
    pub bad_hostname: Option<HostMatcher>,
    pub check_hostname: bool,
    pub check_program: bool,
    /// `keep-timestamp(no)`: the stamp is the receive time.
    pub keep_timestamp: bool,
    /// The messages come from this machine: unix sockets, files, pipes.
    pub local: bool,
    /// The records hold what was read before: a part that a text does not have stays as it is. For
    /// syslog-parser().
    pub again: bool,
}

impl Default for SyslogOptions {
    fn default() -> SyslogOptions {
        SyslogOptions {
            flags: ParseFlags::default(),
            default_pri: pri::DEFAULT,
            recv_zone: Zone::local(),
            sdata_prefix: crate::sdata::PREFIX.into(),
            bad_hostname: None,
            check_hostname: false,
            check_program: false,
            keep_timestamp: true,
            local: false,
            again: false,
        }
    }
}

impl fmt::Debug for SyslogOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SyslogOptions")
            .field("flags", &self.flags)
            .field("default_pri", &self.default_pri)
            .field("sdata_prefix", &self.sdata_prefix)
            .field("bad_hostname", &self.bad_hostname.is_some())
            .field("local", &self.local)
            .finish_non_exhaustive()
    }
}

/// What parsing one frame leaves to be done once the record is not borrowed any more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rest {
    pub tags: Kinds,
    /// Cisco's sequence number, digits.
    pub sequence: Option<Span>,
    /// Cisco's mark in front of the stamp.
    pub synced: Option<bool>,
    /// The program is `kernel`.
    pub kernel: bool,
    /// STRUCTURED-DATA is not yet in the form a record keeps it in.
    pub inexact_sdata: bool,
    /// Where the frame stops making sense, as an offset in the frame; 0 where that is nowhere in particular.
    pub error: Option<u32>,
}

/// The rules of RFC 3164 and 5424 parsing, worked out of the options once.
#[derive(Clone)]
pub(crate) struct Rules {
    pub default_pri: u16,
    pub expect_hostname: bool,
    pub store_legacy_msghdr: bool,
    pub check_hostname: bool,
    pub check_program: bool,
    pub bad_hostname: Option<HostMatcher>,
    /// A message of the kernel facility without a time stamp is the kernel's, all of it.
    pub kernel: bool,
    /// See [`SyslogOptions::again`].
    pub again: bool,
    /// Length of the prefix of names.
    pub prefix: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Raw,
    PriOnly,
    Legacy,
    /// RFC 5424, with RFC 3164 for what is not.
    Protocol,
    ProtocolOnly,
}

/// The parser of one source. Kept per worker or connection: it remembers the last time stamps. Does not
/// allocate per message.
#[derive(Clone)]
pub struct SyslogParser {
    mode: Mode,
    rules: Rules,
    clock: Clock,
    finish: Finish,
    /// The canonical form may be tried first: nothing asks for a closer look.
    fast: bool,
    keep_timestamp: bool,
    tags: TagSet,
    flags: Flags,
}

impl SyslogParser {
    pub fn new(options: SyslogOptions) -> SyslogParser {
        let flags = options.flags;
        let mode = match flags {
            ParseFlags { no_parse: true, .. } => Mode::Raw,
            ParseFlags { no_header: true, .. } => Mode::PriOnly,
            ParseFlags { syslog_protocol: false, .. } => Mode::Legacy,
            ParseFlags { no_rfc3164_fallback: false, .. } => Mode::Protocol,
            _ => Mode::ProtocolOnly,
        };
        let fast = !options.check_hostname
            && !flags.check_hostname
            && !options.check_program
            && !flags.check_program
            && options.bad_hostname.is_none();
        let mut base = Flags::default();
        if options.local {
            base.set(Flags::LOCAL);
        }
        if flags.assume_utf8 {
            base.set(Flags::UTF8);
        }
        let default_pri = if flags.kernel { pri::join(0, 5) } else { options.default_pri };
        SyslogParser {
            mode,
            rules: Rules {
                default_pri,
                expect_hostname: flags.expect_hostname,
                store_legacy_msghdr: flags.store_legacy_msghdr,
                check_hostname: options.check_hostname || flags.check_hostname,
                check_program: options.check_program || flags.check_program,
                bad_hostname: options.bad_hostname,
                kernel: options.local || flags.kernel,
                again: options.again,
                prefix: options.sdata_prefix.len(),
            },
            clock: Clock::new(options.recv_zone, flags.guess_timezone),
            finish: Finish::new(flags, options.sdata_prefix),
            fast,
            keep_timestamp: options.keep_timestamp,
            tags: TagSet::resolve(),
            flags: base,
        }
    }

    /// Fills `records[from..]`, of which only `frame` is set. Text made on the way is appended to the batch's
    /// text.
    pub fn parse_batch(&mut self, batch: &mut Batch, from: usize) {
        self.clock.receive(batch.received);
        self.finish.start();
        with_lanes(ParseBatch { parser: self, batch, from });
    }

    #[inline(always)]
    fn parse_with(
        &mut self,
        batch: &mut Batch,
        from: usize,
        parse: impl Fn(&mut Self, &[u8], &mut Record) -> Option<Rest>,
    ) {
        let base = self.flags;
        let asks = self.finish.asks();
        for index in from..batch.records.len() {
            let Some(record) = batch.records.get_mut(index) else { return };
            record.flags.set(base);
            let rest = parse(self, &batch.text, record);
            if asks || rest.is_some() || !self.keep_timestamp {
                self.complete(batch, index, rest.unwrap_or_default());
            }
        }
    }

    #[inline(always)]
    fn legacy<L: Lanes>(&mut self, text: &[u8], record: &mut Record) -> Option<Rest> {
        if self.fast && rfc3164::fast::parse::<L>(text, record, &mut self.clock, &self.rules).is_some() {
            return None;
        }
        Some(rfc3164::parse(text, record, &mut self.clock, &self.rules))
    }

    #[inline(always)]
    fn protocol<L: Lanes>(&mut self, text: &[u8], record: &mut Record) -> Option<Rest> {
        match rfc5424::parse::<L>(text, record, &mut self.clock, &self.rules, self.fast) {
            rfc5424::Outcome::Done => None,
            rfc5424::Outcome::Rest(rest) => Some(rest),
            rfc5424::Outcome::OtherVersion => self.legacy::<L>(text, record),
        }
    }

    #[inline(always)]
    fn protocol_only<L: Lanes>(&mut self, text: &[u8], record: &mut Record) -> Option<Rest> {
        match rfc5424::parse::<L>(text, record, &mut self.clock, &self.rules, self.fast) {
            rfc5424::Outcome::Done => None,
            rfc5424::Outcome::Rest(rest) => Some(rest),
            rfc5424::Outcome::OtherVersion => {
                Some(rfc5424::other_version(text, record, &mut self.clock, &self.rules))
            }
        }
    }

    fn pri_only(&mut self, text: &[u8], record: &mut Record) -> Option<Rest> {
        Some(rfc3164::parse_pri_only(text, record, &self.clock, &self.rules))
    }

    fn raw(&mut self, text: &[u8], record: &mut Record) -> Option<Rest> {
        let start = record.frame.start as usize;
        let end = trimmed(text, start, record.frame.end().min(text.len()));
        record.message = Span::between(start, end).set();
        record.pri = self.rules.default_pri;
        if !self.rules.again {
            record.stamp = self.clock.received();
        }
        record.flags.set(Flags::RAW);
        None
    }

    /// What is rare or asked for by a flag, after the fields are known.
    #[inline(never)]
    fn complete(&mut self, batch: &mut Batch, index: usize, rest: Rest) {
        let mut kinds = rest.tags;
        if let Some(at) = rest.error {
            kinds.add(Kinds::PARSE_ERROR);
            self.finish.error(batch, index, at, self.clock.received(), self.rules.default_pri);
        }
        let rest = Rest { synced: rest.synced.filter(|_| self.keep_timestamp), ..rest };
        self.finish.apply(batch, index, &rest, &mut kinds);
        if !self.keep_timestamp
            && let Some(record) = batch.records.get_mut(index)
        {
            record.stamp = self.clock.received_in_zone();
            record.stamp_text = Record::NO_TEXT;
        }
        self.tags.apply(batch, index, kinds);
    }
}

/// The parsing of a batch, compiled for wide registers too.
struct ParseBatch<'a> {
    parser: &'a mut SyslogParser,
    batch: &'a mut Batch,
    from: usize,
}

impl Windowed for ParseBatch<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self) {
        let ParseBatch { parser, batch, from } = self;
        match parser.mode {
            Mode::Legacy => parser.parse_with(batch, from, SyslogParser::legacy::<L>),
            Mode::Protocol => parser.parse_with(batch, from, SyslogParser::protocol::<L>),
            Mode::ProtocolOnly => parser.parse_with(batch, from, SyslogParser::protocol_only::<L>),
            Mode::PriOnly => parser.parse_with(batch, from, SyslogParser::pri_only),
            Mode::Raw => parser.parse_with(batch, from, SyslogParser::raw),
        }
    }
}

/// The MSGFORMAT macro of a record.
pub fn msgformat(record: &Record) -> &'static str {
    if record.flags.has(Flags::PARSE_ERROR) {
        "syslog-error"
    } else if record.flags.has(Flags::RAW) {
        "raw"
    } else if record.flags.has(Flags::IETF) {
        "rfc5424"
    } else {
        "rfc3164"
    }
}

/// The name `store-raw-message` sets.
fn rawmsg() -> Option<NameId> {
    intern("RAWMSG")
}

#[cfg(test)]
pub(crate) mod tests;
