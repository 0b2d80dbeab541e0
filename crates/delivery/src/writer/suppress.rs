//! `suppress()`: a message that repeats the one before it within some seconds is counted instead of written.

use super::own;
use parking_lot::{MappedMutexGuard, Mutex, MutexGuard};
use record::{Batch, Flags, NameId, Record};
use std::collections::HashMap;
use template::Identity;

/// Bytes of the message that the note quotes, as in syslog-ng.
const QUOTE_BYTES: usize = 20;

pub struct Suppress {
    /// Seconds.
    pub within: i64,
    /// By outlet: each file and connection has a last message of its own.
    states: Mutex<HashMap<u32, Repeats>>,
}

/// The last message written, and how often it came again.
#[derive(Default)]
pub struct Repeats {
    fields: [Vec<u8>; 4],
    pri: u16,
    /// Seconds since 1970 when it came; 0 is no message.
    came: i64,
    count: u64,
}

/// What tells a repetition.
pub(super) const REPEATED: [NameId; 4] = [NameId::MESSAGE, NameId::HOST, NameId::PROGRAM, NameId::PID];

fn field<'a>(batch: &'a Batch, record: &Record, name: NameId) -> &'a [u8] {
    batch.value(record, name).map_or(&[], |v| v.bytes)
}

/// Whether so many seconds have passed, or the clock was set back by more than them: then nobody knows.
fn is_over(came: i64, now: i64, within: i64) -> bool {
    now.abs_diff(came) > within.unsigned_abs()
}

impl Suppress {
    pub fn new(seconds: i64) -> Suppress {
        Suppress { within: seconds, states: Mutex::default() }
    }

    pub(super) fn of(&self, outlet: u32) -> MappedMutexGuard<'_, Repeats> {
        MutexGuard::map(self.states.lock(), |states| states.entry(outlet).or_default())
    }

    pub(super) fn forget(&self, outlet: u32) {
        self.states.lock().remove(&outlet);
    }
}

impl Repeats {
    /// Whether the message is the last one again; counts it.
    pub fn repeats(&mut self, batch: &Batch, record: &Record, within: i64) -> bool {
        let same = self.came != 0
            && !is_over(self.came, batch.received.secs, within)
            && REPEATED
                .iter()
                .zip(&self.fields)
                .all(|(name, last)| field(batch, record, *name) == last.as_slice());
        self.count += u64::from(same);
        same
    }

    pub fn remember(&mut self, batch: &Batch, record: &Record) {
        for (name, last) in REPEATED.iter().zip(&mut self.fields) {
            last.clear();
            last.extend_from_slice(field(batch, record, *name));
        }
        self.pri = record.pri;
        (self.came, self.count) = (batch.received.secs, 0);
    }

    pub fn is_overdue(&self, now: i64, within: i64) -> bool {
        self.count > 0 && is_over(self.came, now, within)
    }

    /// The line in place of the repetitions; nothing when there were none. The next message is a new one.
    pub fn take_note(&mut self, identity: &Identity) -> Option<Batch> {
        self.came = 0;
        let count = std::mem::take(&mut self.count);
        if count == 0 {
            return None;
        }
        let [text, host, program, _] = &self.fields;
        let quoted = text.get(..QUOTE_BYTES).unwrap_or(text);
        let mut note = b"Last message '".to_vec();
        note.extend_from_slice(quoted);
        let rest = format!("' repeated {count} times, suppressed by syslog-ng on {}", identity.loghost);
        note.extend_from_slice(rest.as_bytes());
        Some(own::message(&note, |batch, record| {
            record.host = batch.append(host);
            record.program = batch.append(program);
            // A message of this program, of now, as in syslog-ng: the rest of the original is not in it.
            record.pid = batch.append(std::process::id().to_string().as_bytes());
            record.pri = self.pri;
            record.flags = Flags(Flags::LOCAL.0 | Flags::INTERNAL.0);
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_back_ends_it() {
        assert!(!is_over(1000, 1002, 2) && is_over(1000, 1003, 2));
        assert!(!is_over(1000, 999, 2), "batches of two workers");
        assert!(is_over(1000, 900, 2));
        let counted = Repeats { came: 1000, count: 3, ..Repeats::default() };
        assert!(counted.is_overdue(900, 2) && !counted.is_overdue(1001, 2));
    }
}
