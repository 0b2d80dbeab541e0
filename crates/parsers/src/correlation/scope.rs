//! Which messages may share a context: `scope(host)`.

use record::{Batch, NameId, Record};

/// What scopes look at, each at one more than the one before it.
const FIELDS: [NameId; 3] = [NameId::HOST, NameId::PROGRAM, NameId::PID];

/// What has to be equal beside the key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    #[default]
    Global,
    Host,
    Program,
    Process,
}

impl Scope {
    pub const NAMES: [(&'static str, Scope); 4] = [
        ("global", Scope::Global),
        ("host", Scope::Host),
        ("program", Scope::Program),
        ("process", Scope::Process),
    ];

    pub fn named(name: &str) -> Option<Scope> {
        Scope::NAMES.iter().find(|(n, _)| *n == name).map(|(_, scope)| *scope)
    }

    pub fn name(self) -> &'static str {
        Scope::NAMES.iter().find(|(_, scope)| *scope == self).map_or("", |(name, _)| name)
    }

    /// What a key says that is equal in all messages of its context.
    pub fn in_key(key: &[u8]) -> impl Iterator<Item = (NameId, &[u8])> {
        let (scope, fields) = key.split_first().unwrap_or((&0, &[]));
        // No scope begins the key of a message without context.
        let count = if usize::from(*scope) > FIELDS.len() { 0 } else { usize::from(*scope) };
        FIELDS.into_iter().zip(fields.split(|byte| *byte == 0)).take(count)
    }

    /// Appends what the scope adds to a key. Fields end with a zero byte, so that none runs into the next.
    pub fn write(self, batch: &Batch, record: &Record, out: &mut Vec<u8>) {
        out.push(self as u8);
        for field in [record.host, record.program, record.pid].iter().take(self as usize) {
            out.extend_from_slice(batch.bytes(*field));
            out.push(0);
        }
    }

    /// The names it reads.
    pub fn reads(self, demand: &mut record::Demand) {
        FIELDS.into_iter().take(self as usize).for_each(|name| demand.name(name));
    }
}
