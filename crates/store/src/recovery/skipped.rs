//! Places where numbers are missing, which need not mean that messages are: each start skips some, and what
//! is delivered is removed.

use crate::snapshot::{Row, Table};
use std::collections::BTreeMap;

/// Messages put in, by queue.
pub type Appended = BTreeMap<u32, u64>;

pub struct Skipped {
    /// Where numbers go on.
    pub end: u64,
    /// What was put in up to the place, and by the time it goes on.
    pub before: Appended,
    pub after: Appended,
}

impl Skipped {
    /// Messages that are missing, by queue. What is done may have been removed in order.
    pub fn lost(&self, table: &Table) -> BTreeMap<u32, u64> {
        let lost = |(id, row): (&u32, &Row)| {
            let known = self.before.get(id).copied().unwrap_or(0).max(row.done.messages);
            let lost = self.after.get(id).copied().unwrap_or(0).saturating_sub(known);
            (lost > 0).then_some((*id, lost))
        };
        table.iter().filter_map(lost).collect()
    }
}

pub fn appended(table: &Table) -> Appended {
    table.iter().map(|(id, row)| (*id, row.appended.messages)).collect()
}
