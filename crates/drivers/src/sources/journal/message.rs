//! A journal entry as a message: which field is what, and which are wanted at all.

use engine::source::Source;
use journal::Entry;
use record::{Batch, Flags, NameId, Record, Span, Stamp, ValueType, Zone, ZoneCursor, lookup, pri};
use std::collections::HashMap;
use std::sync::Arc;

/// Different names of fields that are remembered; programs may make up any number.
const NAMES_MAX: usize = 4096;

#[derive(Clone, Debug)]
pub struct MessageOptions {
    pub prefix: String,
    pub facility: u8,
    pub severity: u8,
    pub zone: Zone,
    pub keep_timestamp: bool,
}

/// What a field is beside a value under its own name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    None,
    Message,
    Host,
    Pid,
    Identifier,
    Command,
    Facility,
    Priority,
}

impl Role {
    fn of(name: &[u8]) -> Role {
        match name {
            b"MESSAGE" => Role::Message,
            b"_HOSTNAME" => Role::Host,
            b"_PID" => Role::Pid,
            b"SYSLOG_IDENTIFIER" => Role::Identifier,
            b"_COMM" => Role::Command,
            b"SYSLOG_FACILITY" => Role::Facility,
            b"PRIORITY" => Role::Priority,
            _ => Role::None,
        }
    }
}

/// Makes messages; keeps what the names of fields mean to the log paths of now.
pub struct Messages {
    options: MessageOptions,
    zone: ZoneCursor,
    names: HashMap<Vec<u8>, (Role, Option<NameId>)>,
    /// The program that `names` was made for.
    program: Option<Arc<engine::program::Program>>,
    text: String,
    /// The log paths read whatever there is.
    everything: bool,
}

impl Messages {
    pub fn new(options: MessageOptions) -> Messages {
        let zone = ZoneCursor::new(options.zone.clone());
        Messages {
            options,
            zone,
            names: HashMap::new(),
            program: None,
            text: String::new(),
            everything: false,
        }
    }

    /// Before a batch: a reload may have brought log paths that read other fields.
    pub fn begin_batch(&mut self, source: &Source) {
        let program = &source.settings().program;
        if !self.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, program)) {
            self.program = Some(Arc::clone(program));
            self.everything = program.demand.everything;
            self.names.clear();
        }
    }

    fn meaning(&mut self, name: &[u8]) -> (Role, Option<NameId>) {
        if let Some(known) = self.names.get(name) {
            return *known;
        }
        let role = Role::of(name);
        self.text.clear();
        self.text.push_str(&self.options.prefix);
        self.text.push_str(&String::from_utf8_lossy(name));
        let demand = self.program.as_ref().map(|program| &program.demand);
        let id = match demand {
            Some(demand) => lookup(&self.text).filter(|id| demand.wants(*id)),
            None => None,
        };
        if self.names.len() < NAMES_MAX {
            self.names.insert(name.to_vec(), (role, id));
        }
        (role, id)
    }

    /// Adds a message. The last of several fields of one name counts, as in syslog-ng.
    pub fn append(&mut self, batch: &mut Batch, entry: &Entry<'_>) {
        let index = batch.records.len();
        let mut record = Record::new(Span::EMPTY);
        let (mut identifier, mut command) = (Span::EMPTY, Span::EMPTY);
        let (mut facility, mut severity) = (self.options.facility, self.options.severity);
        record.flags.set(Flags::LOCAL);
        batch.records.push(record);
        for (name, value) in entry.fields() {
            let (role, id) = self.meaning(name);
            // A name that no configuration knows is one of the batch.
            let invented = self.everything && id.is_none();
            let id = if invented { batch.names.id(self.options.prefix.as_bytes(), name) } else { id };
            if role == Role::None && id.is_none() {
                continue;
            }
            match role {
                Role::Facility => facility = number(value),
                Role::Priority => severity = number(value) & 7,
                _ => {}
            }
            if id.is_none() && matches!(role, Role::Facility | Role::Priority) {
                continue;
            }
            let span = batch.append(value);
            match role {
                Role::Message => (record.message, record.frame) = (span, span),
                Role::Host => record.host = span,
                Role::Pid => record.pid = span,
                Role::Identifier => identifier = span,
                Role::Command => command = span,
                _ => {}
            }
            if let Some(id) = id {
                batch.set_span(index, id, span, ValueType::String);
            }
        }
        record.program = if identifier.is_empty() { command } else { identifier };
        record.pri = pri::join(facility, severity);
        let micros = entry.head.realtime;
        let secs = i64::try_from(micros / 1_000_000).unwrap_or(i64::MAX);
        record.stamp = match self.options.keep_timestamp {
            true => Stamp { secs, usec: (micros % 1_000_000) as u32, offset: self.zone.offset_at(secs) },
            false => Stamp::now(self.zone.offset_at(secs)),
        };
        // Field by field: the values that were set hang on the record of the batch.
        if let Some(made) = batch.records.get_mut(index) {
            (made.message, made.frame, made.host, made.pid) =
                (record.message, record.frame, record.host, record.pid);
            (made.program, made.pri, made.stamp) = (record.program, record.pri, record.stamp);
        }
    }
}

/// The digits a value begins with, as C's `atoi` reads them: syslog-ng takes what is no number for 0.
fn number(value: &[u8]) -> u8 {
    let digits = value.iter().take_while(|byte| byte.is_ascii_digit()).take(3);
    digits.fold(0u16, |number, digit| number * 10 + u16::from(digit - b'0')).min(127) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_as_syslog_ng_reads_them() {
        for (text, expected) in [("7", 7), ("07", 7), ("abc", 0), ("", 0), ("16x", 16), ("99999999", 127)] {
            assert_eq!(number(text.as_bytes()), expected, "{text}");
        }
    }
}
