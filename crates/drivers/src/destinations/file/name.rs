//! The name of the file a message goes to, and what keeps it inside the literal beginning the configuration wrote.

use engine::program::Scratch;
use record::{Batch, Demand, NameId};
use std::collections::HashMap;
use std::sync::Arc;
use template::{Msg, Template};

pub struct FileName {
    template: Arc<Template>,
    literal: Option<Vec<u8>>,
    /// The one value that decides the name, when there is just one: then the name is made once for each value, not for each message.
    decided_by: Option<NameId>,
    text: String,
}

/// Messages of one batch by the file they go to. Kept between batches for its allocations.
#[derive(Default)]
pub struct Groups {
    names: Vec<u8>,
    ends: Vec<u32>,
    keys: Vec<u8>,
    found: Vec<Found>,
    by_hash: HashMap<u64, usize>,
    spare: Vec<Vec<u32>>,
}

struct Found {
    /// In `names`.
    start: usize,
    end: usize,
    /// In `keys`; the name itself is the key where names are made for each message.
    key: (usize, usize),
    selection: Vec<u32>,
}

impl FileName {
    pub fn new(text: &str, template: Arc<Template>) -> FileName {
        let literal = template.literal().map(<[u8]>::to_vec);
        let decided_by = sole_field(text, &template);
        FileName { template, literal, decided_by, text: text.to_owned() }
    }

    /// The name when no message has a say in it.
    pub fn literal(&self) -> Option<&[u8]> {
        self.literal.as_deref()
    }

    /// As written in the configuration.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn reads(&self, demand: &mut Demand) {
        self.template.reads(demand);
    }

    pub fn group(&self, batch: &Batch, selection: &[u32], scratch: &mut Scratch, groups: &mut Groups) {
        groups.clear();
        match self.decided_by {
            Some(field) => self.group_by_field(field, batch, selection, scratch, groups),
            None => {
                let (names, ends) = (&mut groups.names, &mut groups.ends);
                self.template.render_selection(batch, selection, scratch.render(), names, ends);
                groups.sort(selection);
            }
        }
    }

    fn group_by_field(
        &self,
        field: NameId,
        batch: &Batch,
        selection: &[u32],
        scratch: &mut Scratch,
        groups: &mut Groups,
    ) {
        let mut last: (&[u8], usize) = (b"", usize::MAX);
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let key = batch.value(record, field).map_or(&b""[..], |v| v.bytes);
            if last.1 == usize::MAX || key != last.0 {
                let place = groups.place(key).unwrap_or_else(|| {
                    let start = groups.names.len();
                    self.template.render(Msg { batch, record }, scratch.render(), &mut groups.names);
                    groups.add(key, start)
                });
                last = (key, place);
            }
            if let Some(found) = groups.found.get_mut(last.1) {
                found.selection.push(*index);
            }
        }
    }
}

/// The field a file name depends on, when it is nothing but that field and fixed text.
fn sole_field(text: &str, template: &Template) -> Option<NameId> {
    let mut demand = Demand::default();
    template.reads(&mut demand);
    let names = std::mem::take(&mut demand.names);
    let field = names.first().copied().filter(|_| names.len() == 1 && demand == Demand::default())?;
    // One macro, and no function that could answer differently each time.
    (text.matches('$').count() == 1 && !text.contains("$(")).then_some(field)
}

impl Groups {
    fn clear(&mut self) {
        self.names.clear();
        self.ends.clear();
        self.keys.clear();
        self.by_hash.clear();
        self.spare.extend(self.found.drain(..).map(|mut f| {
            f.selection.clear();
            f.selection
        }));
    }

    /// The group of a key. Two keys with one hash: the next number is tried, as in any open table.
    fn place(&self, key: &[u8]) -> Option<usize> {
        let mut hash = fnv(key);
        loop {
            let at = *self.by_hash.get(&hash)?;
            let found = self.found.get(at)?;
            if self.keys.get(found.key.0..found.key.1) == Some(key) {
                return Some(at);
            }
            hash = hash.wrapping_add(1);
        }
    }

    /// A new group, whose name stands in `names` from `start` to the end.
    fn add(&mut self, key: &[u8], start: usize) -> usize {
        let mut hash = fnv(key);
        while self.by_hash.contains_key(&hash) {
            hash = hash.wrapping_add(1);
        }
        self.by_hash.insert(hash, self.found.len());
        let key_start = self.keys.len();
        self.keys.extend_from_slice(key);
        let selection = self.spare.pop().unwrap_or_default();
        self.found.push(Found { start, end: self.names.len(), key: (key_start, self.keys.len()), selection });
        self.found.len() - 1
    }

    /// Groups by names that were made for each message.
    fn sort(&mut self, selection: &[u32]) {
        let (names, ends) = (std::mem::take(&mut self.names), std::mem::take(&mut self.ends));
        let mut start = 0;
        let mut last: (&[u8], usize) = (b"", usize::MAX);
        for (index, end) in selection.iter().zip(&ends) {
            let name = names.get(start..*end as usize).unwrap_or_default();
            if last.1 == usize::MAX || name != last.0 {
                let place = self.place(name).unwrap_or_else(|| {
                    let at = self.add(name, 0);
                    self.found[at].start = start;
                    self.found[at].end = *end as usize;
                    at
                });
                last = (name, place);
            }
            if let Some(found) = self.found.get_mut(last.1) {
                found.selection.push(*index);
            }
            start = *end as usize;
        }
        (self.names, self.ends) = (names, ends);
    }

    /// Each file once, with its messages in order; `Err` for a name that is not allowed.
    pub fn iter(&self) -> impl Iterator<Item = (Result<&[u8], &[u8]>, &[u32])> {
        self.found.iter().map(|f| {
            let name = self.names.get(f.start..f.end).unwrap_or_default();
            (if is_safe(name) { Ok(name) } else { Err(name) }, f.selection.as_slice())
        })
    }
}

fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3))
}

/// Longest component Linux file systems take, and longest path.
const COMPONENT_MAX: usize = 255;
const PATH_MAX: usize = 4095;

/// A message can choose names below the literal beginning, never climb out of it: no `..`, no NUL, nothing the file system refuses.
fn is_safe(path: &[u8]) -> bool {
    !path.is_empty()
        && path.len() <= PATH_MAX
        && !path.contains(&0)
        && path.split(|b| *b == b'/').all(|part| part != b".." && part.len() <= COMPONENT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_climb() {
        for (name, safe) in [
            ("/var/log/a/b", true),
            ("/var/log/..", false),
            ("/var/log/../etc/passwd", false),
            ("/var/log/a..b", true),
            ("/var/log/./x", true),
            ("", false),
            ("/var/\0", false),
        ] {
            assert_eq!(is_safe(name.as_bytes()), safe, "{name:?}");
        }
        assert!(!is_safe(&[b'x'; 300]));
    }

    #[test]
    fn groups_keep_order_and_find_each_name_once() {
        let mut groups = Groups::default();
        for (index, name) in ["a", "b", "a", "a", "c", "b"].iter().enumerate() {
            groups.names.extend_from_slice(name.as_bytes());
            groups.ends.push(index as u32 + 1);
        }
        groups.sort(&[0, 1, 2, 3, 4, 5]);
        let seen: Vec<_> = groups.iter().map(|(n, s)| (n.expect("safe")[0], s.to_vec())).collect();
        assert_eq!(seen, [(b'a', vec![0, 2, 3]), (b'b', vec![1, 5]), (b'c', vec![4])]);
    }
}
