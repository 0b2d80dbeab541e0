//! Tags of a record: a set of small integers in one word; the few configurations with more than 64 tags pay
//! for the others only. The table is process-wide, only grows, and only configurations fill it. Tags that are
//! made from messages and that no configuration knows never get into it: they have numbers of their batch
//! ([`crate::Batch::tag`]).

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A tag, numbered in the order in which configurations named them, behind those that every program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagId(pub u32);

/// Marks numbers that mean something in one batch only; above all those of the table, and above the places of
/// a batch's names.
const LOCAL_BIT: u32 = 1 << 21;

impl TagId {
    /// Whether the number means something in its batch only.
    #[inline]
    pub fn is_local(self) -> bool {
        self.0 & LOCAL_BIT != 0
    }

    /// The number of a tag that stands at this place among the names of its batch.
    pub(crate) fn local(index: usize) -> TagId {
        TagId(index as u32 | LOCAL_BIT)
    }

    pub(crate) fn local_index(self) -> Option<usize> {
        self.is_local().then_some((self.0 & !LOCAL_BIT) as usize)
    }
}

/// Tags with an id below 64. Others are kept as entries of the batch (see [`crate::Batch::set_tag`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags(pub u64);

/// Bound of the table, which only configurations fill; a tag beyond it is refused.
const TAGS_MAX: usize = 1 << 16;

#[derive(Default)]
struct Table {
    ids: HashMap<&'static str, TagId>,
    names: Vec<&'static str>,
}

/// Tags made from messages whose order is remembered.
const RANKED_MAX: usize = 1 << 16;

/// Of a tag made from a message, by the hash of its name, which one it was that the process met; those it
/// does not remember have the last place. `$TAGS` lists them in this order, as syslog-ng does.
pub(crate) fn rank(hash: u64) -> u32 {
    static RANKS: RwLock<Option<HashMap<u64, u32>>> = RwLock::new(None);
    if let Some(ranks) = &*RANKS.read() {
        match ranks.get(&hash) {
            Some(rank) => return *rank,
            None if ranks.len() >= RANKED_MAX => return u32::MAX,
            None => {}
        }
    }
    let mut ranks = RANKS.write();
    let ranks = ranks.get_or_insert_default();
    let next = ranks.len() as u32;
    *ranks.entry(hash).or_insert(next)
}

/// Tags that have the first ids in this order, so that TAGS lists them first: what the parsers of syslog
/// messages set.
const FIRST: [&str; 16] = [
    "message.utf8_sanitized",
    "message.parse_error",
    "syslog.invalid_pri",
    "syslog.missing_pri",
    "syslog.missing_timestamp",
    "syslog.invalid_hostname",
    "syslog.unexpected_framing",
    "syslog.rfc3164_missing_header",
    "syslog.rfc3164_invalid_program",
    "syslog.rfc5424_missing_hostname",
    "syslog.rfc5424_missing_app_name",
    "syslog.rfc5424_missing_procid",
    "syslog.rfc5424_missing_msgid",
    "syslog.rfc5424_missing_sdata",
    "syslog.rfc5424_invalid_sdata",
    "syslog.rfc5424_missing_message",
];

fn table() -> &'static RwLock<Table> {
    static TABLE: OnceLock<RwLock<Table>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let ids = FIRST.iter().enumerate().map(|(id, name)| (*name, TagId(id as u32))).collect();
        RwLock::new(Table { ids, names: FIRST.to_vec() })
    })
}

/// The id of a tag, made when it is new. For the compiler of configurations; `None` once the table is full.
pub fn tag_id(name: &str) -> Option<TagId> {
    if let Some(id) = known_tag(name) {
        return Some(id);
    }
    let mut table = table().write();
    if let Some(id) = table.ids.get(name) {
        return Some(*id);
    }
    if table.names.len() >= TAGS_MAX {
        return None;
    }
    let id = TagId(table.names.len() as u32);
    let name: &'static str = name.to_owned().leak();
    table.names.push(name);
    table.ids.insert(name, id);
    Some(id)
}

/// The id of a tag that a configuration knows.
pub(crate) fn known_tag(name: &str) -> Option<TagId> {
    table().read().ids.get(name).copied()
}

/// The name of a tag that a configuration knows; empty for any other. Of tags made from messages, see
/// [`crate::Batch::tag_name`].
pub fn tag_name(id: TagId) -> &'static str {
    table().read().names.get(id.0 as usize).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_parsers_set_comes_first() {
        let own = tag_id("a tag of the configuration").expect("room");
        for name in FIRST {
            assert!(tag_id(name).is_some_and(|id| id < own && tag_name(id) == name), "{name}");
        }
    }
}
