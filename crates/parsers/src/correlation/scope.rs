//! Which messages may share a context: `scope(host)`.

use record::{Batch, Record};

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

    /// The scope of a context that has this key.
    pub fn of_key(key: &[u8]) -> Scope {
        let scope = key.first().and_then(|first| Scope::NAMES.iter().find(|(_, s)| *s as u8 == *first));
        scope.map_or(Scope::Global, |(_, scope)| *scope)
    }

    /// Appends what the scope adds to a key. Fields end with a zero byte, so that none runs into the next.
    pub fn write(self, batch: &Batch, record: &Record, out: &mut Vec<u8>) {
        out.push(self as u8);
        let fields = [record.host, record.program, record.pid];
        let count = match self {
            Scope::Global => 0,
            Scope::Host => 1,
            Scope::Program => 2,
            Scope::Process => 3,
        };
        for field in fields.iter().take(count) {
            out.extend_from_slice(batch.bytes(*field));
            out.push(0);
        }
    }

    /// The names it reads.
    pub fn reads(self, demand: &mut record::Demand) {
        use record::NameId;
        let count = self as usize;
        [NameId::HOST, NameId::PROGRAM, NameId::PID].into_iter().take(count).for_each(|n| demand.name(n));
    }
}
