//! The name of the file a message goes to, and what keeps it inside the literal beginning the configuration wrote.

use engine::program::Scratch;
use record::{Batch, Demand};
use std::collections::HashMap;
use std::sync::Arc;
use template::Template;

pub struct FileName {
    template: Arc<Template>,
    literal: Option<Vec<u8>>,
    text: String,
}

/// Messages of one batch by the file they go to. Kept between batches for its allocations.
#[derive(Default)]
pub struct Groups {
    names: Vec<u8>,
    ends: Vec<u32>,
    found: Vec<Found>,
    by_hash: HashMap<u64, usize>,
    spare: Vec<Vec<u32>>,
}

struct Found {
    /// In `names`.
    start: usize,
    end: usize,
    selection: Vec<u32>,
}

impl FileName {
    pub fn new(text: &str, template: Arc<Template>) -> FileName {
        let literal = template.literal().map(<[u8]>::to_vec);
        FileName { template, literal, text: text.to_owned() }
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
        self.template.render_selection(batch, selection, scratch.render(), &mut groups.names, &mut groups.ends);
        groups.sort(selection);
    }
}

impl Groups {
    fn clear(&mut self) {
        self.names.clear();
        self.ends.clear();
        self.by_hash.clear();
        self.spare.extend(self.found.drain(..).map(|mut f| {
            f.selection.clear();
            f.selection
        }));
    }

    fn sort(&mut self, selection: &[u32]) {
        let mut start = 0;
        let mut last = usize::MAX;
        for (index, end) in selection.iter().zip(&self.ends) {
            let end = *end as usize;
            let name = self.names.get(start..end).unwrap_or_default();
            let same = |found: &Found| self.names.get(found.start..found.end) == Some(name);
            if !self.found.get(last).is_some_and(same) {
                let mut hash = fnv(name);
                // Two names with one hash: the next number is tried, as in any open table.
                last = loop {
                    match self.by_hash.get(&hash) {
                        Some(at) if self.found.get(*at).is_some_and(same) => break *at,
                        Some(_) => hash = hash.wrapping_add(1),
                        None => {
                            let selection = self.spare.pop().unwrap_or_default();
                            self.by_hash.insert(hash, self.found.len());
                            self.found.push(Found { start, end, selection });
                            break self.found.len() - 1;
                        }
                    }
                };
            }
            if let Some(found) = self.found.get_mut(last) {
                found.selection.push(*index);
            }
            start = end;
        }
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
