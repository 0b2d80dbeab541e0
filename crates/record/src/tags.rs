//! Tags of a record: a set of small integers in one word; the few configurations with more than 64 tags pay for the others only.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A tag, numbered in the order in which configurations named them, behind those that every program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TagId(pub u32);

/// Tags with an id below 64. Others are kept as entries of the batch (see [`crate::Batch::set_tag`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tags(pub u64);

/// Bound of the table; a tag beyond it is refused.
const TAGS_MAX: usize = 1 << 16;

#[derive(Default)]
struct Table {
    ids: HashMap<&'static str, TagId>,
    names: Vec<&'static str>,
}

/// Tags that have the first ids in this order, so that TAGS lists them first: what the parsers of syslog messages set.
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

/// The id of a tag, made when it is new; `None` once the table is full.
pub fn tag_id(name: &str) -> Option<TagId> {
    if let Some(id) = table().read().ids.get(name) {
        return Some(*id);
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

/// The name of a tag; empty for an id that was never given out.
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
