//! Names of values as small integers. Names known to the configuration are interned when it is compiled, so a
//! lookup on the message path compares integers. The table is process-wide and only grows: ids stay valid
//! over reloads, for batches still under way. Names that come with messages never get into it: they have
//! numbers of their batch ([`crate::BatchNames`]).

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::OnceLock;

/// The name of a name-value pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NameId(pub u32);

/// Bound of the table, which only configurations fill.
pub(crate) const NAMES_MAX: usize = 1 << 20;

/// Marks ids of names that begin with `.SDATA.`; above every index, below the numbers tags take in a batch.
const SDATA_BIT: u32 = 1 << 22;

/// Marks numbers that mean something in one batch only.
const LOCAL_BIT: u32 = 1 << 23;

impl NameId {
    /// `$0`..`$255` are the ids 0..=255.
    pub const MATCH_MAX: u32 = 255;
    pub const HOST: NameId = NameId(256);
    pub const HOST_FROM: NameId = NameId(257);
    pub const MESSAGE: NameId = NameId(258);
    pub const PROGRAM: NameId = NameId(259);
    pub const PID: NameId = NameId(260);
    pub const MSGID: NameId = NameId(261);
    pub const LEGACY_MSGHDR: NameId = NameId(262);
    pub const SOURCE: NameId = NameId(263);
    pub const TRANSPORT: NameId = NameId(264);
    pub const MSGFORMAT: NameId = NameId(265);
    pub const FILE_NAME: NameId = NameId(266);

    /// `$n` of a regular expression, `n <= 255`.
    pub fn of_match(n: u8) -> NameId {
        NameId(u32::from(n))
    }

    /// Whether the name belongs to STRUCTURED-DATA (`.SDATA.id.param`): said by the number itself, so that
    /// asking costs nothing.
    #[inline]
    pub fn is_sdata(self) -> bool {
        self.0 & SDATA_BIT != 0
    }

    /// Whether it may be a field of the record.
    #[inline]
    pub(crate) fn is_field(self) -> bool {
        self.0 >= NameId::HOST.0 && self.0 <= NameId::LEGACY_MSGHDR.0
    }

    /// Whether its values stand among the others: it is no field, nor a name of STRUCTURED-DATA.
    #[inline]
    pub fn is_plain(self) -> bool {
        !self.is_field() && !self.is_sdata()
    }

    /// Whether the number means something in its batch only.
    #[inline]
    pub fn is_local(self) -> bool {
        self.0 & LOCAL_BIT != 0
    }

    /// The number of a name that stands at this place among those of its batch.
    pub(crate) fn local(index: usize, name: &str) -> NameId {
        NameId(index as u32 | LOCAL_BIT | mark(name))
    }

    /// Its place among the names of its batch.
    #[inline]
    pub fn local_index(self) -> Option<usize> {
        self.is_local().then_some((self.0 & !(SDATA_BIT | LOCAL_BIT)) as usize)
    }

    /// Its place among the names that configurations know.
    #[inline]
    pub fn index(self) -> usize {
        (self.0 & !SDATA_BIT) as usize
    }
}

fn mark(name: &str) -> u32 {
    if name.starts_with(".SDATA.") { SDATA_BIT } else { 0 }
}

const BUILTIN: [&str; 11] = [
    "HOST",
    "HOST_FROM",
    "MESSAGE",
    "PROGRAM",
    "PID",
    "MSGID",
    "LEGACY_MSGHDR",
    "SOURCE",
    "TRANSPORT",
    "MSGFORMAT",
    "FILE_NAME",
];

struct Table {
    ids: HashMap<&'static str, NameId>,
    names: Vec<&'static str>,
}

fn table() -> &'static RwLock<Table> {
    static TABLE: OnceLock<RwLock<Table>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Table { ids: HashMap::new(), names: Vec::new() };
        let matches = (0..=NameId::MATCH_MAX).map(|n| &*n.to_string().leak());
        for name in matches.chain(BUILTIN) {
            table.ids.insert(name, NameId(table.names.len() as u32));
            table.names.push(name);
        }
        for (alias, id) in
            [("MSG", NameId::MESSAGE), ("MSGONLY", NameId::MESSAGE), ("FULLHOST", NameId::HOST)]
        {
            table.ids.insert(alias, id);
        }
        RwLock::new(table)
    })
}

/// The id of a name, made when it is new. For the compiler of configurations; `None` once the table is full.
pub fn intern(name: &str) -> Option<NameId> {
    if let Some(id) = lookup(name) {
        return Some(id);
    }
    let mut table = table().write();
    if let Some(id) = table.ids.get(name) {
        return Some(*id);
    }
    if table.names.len() >= NAMES_MAX {
        return None;
    }
    let id = NameId(table.names.len() as u32 | mark(name));
    let name: &'static str = name.to_owned().leak();
    table.names.push(name);
    table.ids.insert(name, id);
    Some(id)
}

/// The id of a name that is already known.
pub fn lookup(name: &str) -> Option<NameId> {
    table().read().ids.get(name).copied()
}

/// The name of an id that configurations know; empty for any other. Of names that messages brought, see
/// [`crate::Batch::name_of`].
pub fn name_of(id: NameId) -> &'static str {
    table().read().names.get(id.index()).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_have_their_ids() {
        assert_eq!(lookup("HOST"), Some(NameId::HOST));
        assert_eq!(lookup("FILE_NAME"), Some(NameId::FILE_NAME));
        assert_eq!(lookup("MSG"), Some(NameId::MESSAGE));
        assert_eq!(lookup("17"), Some(NameId::of_match(17)));
        assert_eq!(name_of(NameId::PROGRAM), "PROGRAM");
    }

    #[test]
    fn interning_is_stable() {
        let id = intern(".SDATA.x@1.k").expect("room");
        assert_eq!(intern(".SDATA.x@1.k"), Some(id));
        assert!(id.is_sdata() && !NameId::HOST.is_sdata());
        assert_eq!(name_of(id), ".SDATA.x@1.k");
        assert!(!intern("SDATA.x").expect("room").is_sdata());
    }
}
