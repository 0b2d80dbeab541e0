//! Delivered segments that are kept to be written over, which spares the file system's journal.

use crate::files::Files;
use crate::snapshot::Snapshot;

/// The name of one that began with this number.
pub fn name(first: u64) -> String {
    format!("{first:020}.free")
}

pub fn is(name: &str) -> bool {
    name.ends_with(".free")
}

/// Removes what is too many, and what was begun anew though its name does not say so: a power loss may take
/// the name alone. What came to an end by that would come back with the next one, as a segment by its header,
/// under the name that the file has by then.
pub fn keep(files: &dyn Files, key: u64, most: usize, found: &mut Vec<String>) {
    let is_old = |name: &str| {
        let file = files.open(name).ok()?;
        let header = Snapshot::read_header(&*file, file.length().ok()?)?;
        Some(header.key == key && self::name(header.first) == name)
    };
    let mut kept = 0;
    found.retain(|name| {
        let keeps = kept < most && is_old(name) == Some(true);
        kept += usize::from(keeps);
        if !keeps {
            let _ = files.remove(name);
        }
        keeps
    });
}
