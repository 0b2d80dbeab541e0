//! Records of process accounting as messages.

use super::PREFIX;
use engine::ledger::Reason;
use engine::program::Program;
use engine::source::Source;
use intake::files::Records;
use oplog::Level;
use parking_lot::Mutex;
use record::{Batch, Flags, NameId, Record, Span, Stamp, ValueType, Zone, ZoneCursor, pri};
use std::fmt::Write;
use std::sync::Arc;
use wire::pacct::{Accounted, NAMES, Unreadable, read};

/// user.notice.
const FACILITY: u8 = 1;
const SEVERITY: u8 = 5;

pub struct Messages(Mutex<Wanted>);

impl Default for Messages {
    fn default() -> Messages {
        let (program, names, text) = Default::default();
        Messages(Mutex::new(Wanted { program, names, text, zone: ZoneCursor::new(Zone::local()) }))
    }
}

/// The numbers of names, where something reads them.
struct Wanted {
    /// The program that they were looked up for.
    program: Option<Arc<Program>>,
    names: [Option<NameId>; NAMES.len()],
    text: String,
    zone: ZoneCursor,
}

impl Wanted {
    fn look_up(&mut self, source: &Source) {
        let program = &source.settings().program;
        if self.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, program)) {
            return;
        }
        let demand = &program.demand;
        for (place, name) in self.names.iter_mut().zip(NAMES) {
            *place = demand.wanted(&format!("{PREFIX}{name}"));
        }
        self.program = Some(Arc::clone(program));
    }

    /// Fills in a message of the batch.
    fn fill(&mut self, batch: &mut Batch, index: usize, accounted: &Accounted<'_>) {
        self.text.clear();
        let mut spans = [(0, 0); NAMES.len()];
        for (at, name) in NAMES.into_iter().enumerate() {
            let gap = if at == 0 { "" } else { " " };
            // Writing to a text cannot fail.
            let _ = write!(self.text, "{gap}{name}=");
            let begin = self.text.len();
            let _ = match accounted.numbers.get(at) {
                // As syslog-ng prints them.
                Some(number) if name == "ac_flag" => write!(self.text, "{:02x}", *number as u8),
                Some(number) if name == "ac_etime" => write!(self.text, "{number:9.2}"),
                Some(number) if matches!(name, "ac_utime" | "ac_stime") => write!(self.text, "{number:.2}"),
                Some(number) => write!(self.text, "{number}"),
                None => write!(self.text, "{}", String::from_utf8_lossy(accounted.command)),
            };
            if let Some(span) = spans.get_mut(at) {
                *span = (begin, self.text.len());
            }
        }
        let message = batch.append(self.text.as_bytes());
        let base = message.start as usize;
        // Texts, as in syslog-ng.
        for (name, (begin, end)) in self.names.iter().zip(spans) {
            if let Some(name) = name {
                let span = Span::between(base + begin, base + end);
                batch.set_span(index, *name, span, ValueType::String);
            }
        }
        if let Some(record) = batch.records.get_mut(index) {
            (record.message, record.frame) = (message, message);
            record.pri = pri::join(FACILITY, SEVERITY);
            record.flags.set(Flags::LOCAL);
        }
    }
}

impl Records for Messages {
    fn make(&self, batch: &mut Batch, source: &Source) {
        let mut wanted = self.0.lock();
        wanted.look_up(source);
        let utc = Stamp::now(0);
        let now = Stamp { offset: wanted.zone.offset_at(utc.secs), ..utc };
        let mut bad = None;
        let frames: Vec<Span> = batch.records.drain(..).map(|record| record.frame).collect();
        for frame in frames {
            let raw = batch.bytes(frame).to_vec();
            match read(&raw) {
                Ok(accounted) => {
                    let index = batch.records.len();
                    let mut record = Record::new(Span::EMPTY);
                    record.stamp = now;
                    batch.records.push(record);
                    wanted.fill(batch, index, &accounted);
                }
                Err(why) => {
                    source.counters.received.add(1);
                    source.counters.dropped.add(Reason::Framing, 1);
                    source.counters.remains.keep(Reason::Framing, 1, std::iter::once(raw.as_slice()));
                    bad = Some(why);
                }
            }
        }
        if let Some(why) = bad {
            say(why);
        }
    }
}

fn say(why: Unreadable) {
    let why = match why {
        Unreadable::Cut => "it is cut off".to_owned(),
        Unreadable::Version(version) => {
            format!("it is of version {version}, and not 3 (CONFIG_BSD_PROCESS_ACCT_V3)")
        }
    };
    oplog::limited(
        "pacct",
        Level::Error,
        "A record of process accounting cannot be read, it is left out",
        &[("reason", &why)],
    );
}
