//! Tags of a record: a set of small integers in one word; the few configurations with more than 64 tags pay for the others only.

use parking_lot::RwLock;
use std::collections::HashMap;
use std::sync::OnceLock;

/// A tag, numbered in the order in which configurations named them.
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

fn table() -> &'static RwLock<Table> {
    static TABLE: OnceLock<RwLock<Table>> = OnceLock::new();
    TABLE.get_or_init(RwLock::default)
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
