//! The name of the file a message goes to, and what keeps it inside the literal beginning the configuration
//! wrote.

use super::groups::Groups;
use engine::program::Scratch;
use record::{Batch, Demand, NameId};
use std::sync::Arc;
use template::{Msg, Template};

pub struct FileName {
    template: Arc<Template>,
    literal: Option<Vec<u8>>,
    /// The one value that decides the name, when there is just one: then the name is made once for each
    /// value, not for each message.
    decided_by: Option<NameId>,
    text: String,
    /// The most bytes of the last part of a name, which is cut to that.
    last_bytes_max: Option<usize>,
}

impl FileName {
    pub fn new(text: &str, template: Arc<Template>) -> FileName {
        let literal = template.literal().map(<[u8]>::to_vec);
        let decided_by = sole_field(text, &template);
        FileName { template, literal, decided_by, text: text.to_owned(), last_bytes_max: None }
    }

    /// The last part of names has at most so many bytes: what is longer is cut, and not refused.
    pub fn cut_to(mut self, bytes: usize) -> FileName {
        self.last_bytes_max = Some(bytes);
        self
    }

    /// A name as it is used.
    pub fn cut<'a>(&self, name: &'a [u8]) -> &'a [u8] {
        self.last_bytes_max.map_or(name, |max| cut(name, max))
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
        for index in selection {
            let Some(record) = batch.records.get(*index as usize) else { continue };
            let key = batch.value(record, field).map_or(&b""[..], |v| v.bytes);
            groups.put(key, *index, |names| {
                let start = names.len();
                self.template.render(Msg { batch, record }, scratch.render(), names);
                (start, names.len())
            });
        }
    }
}

/// The name with at most so many bytes behind its last slash.
fn cut(name: &[u8], last_bytes_max: usize) -> &[u8] {
    let last = name.iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    name.get(..last.saturating_add(last_bytes_max)).unwrap_or(name)
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

/// Longest component Linux file systems take, and longest path.
const COMPONENT_MAX: usize = 255;
const PATH_MAX: usize = 4095;

/// A message can choose names below the literal beginning, never climb out of it: no `..`, no NUL, nothing
/// the file system refuses.
pub fn is_safe(path: &[u8]) -> bool {
    !path.is_empty()
        && path.len() <= PATH_MAX
        && !path.contains(&0)
        && path.split(|b| *b == b'/').all(|part| part != b".." && part.len() <= COMPONENT_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_cut_where_that_is_asked_for() {
        assert_eq!(cut(b"/folder/abcdef", 4), b"/folder/abcd");
        assert_eq!(cut(b"/folder/abc", 4), b"/folder/abc");
        assert_eq!(cut(b"abcdef", 4), b"abcd");
    }

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
}
