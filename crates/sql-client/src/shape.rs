//! For which table and columns a row was made. It says so in front by a mark, so that what waits when the
//! configuration changes is put where it belongs.

use crate::plan::{Column, Plan};
use crate::schema::number_of;
use std::sync::Arc;

const BORDER: u8 = 0;
const ID_BYTES: usize = 8;
/// What it is written with: five bits each.
const LETTERS: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
/// Of a mark: two NULs, which no row has, and the id.
pub const MARK_BYTES: usize = 2 + ID_BYTES;

/// Tells shapes apart.
pub type Id = [u8; ID_BYTES];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// `None`: the row begins with the name of its table.
    pub table: Option<String>,
    pub columns: Vec<Column>,
}

impl Shape {
    pub fn of(plan: &Plan) -> Shape {
        Shape { table: plan.table.clone(), columns: plan.columns.clone() }
    }

    /// As it is kept: texts with a NUL behind each.
    pub fn encode(&self) -> Vec<u8> {
        let columns = self.columns.iter().flat_map(|column| {
            let default = if column.is_default { "default" } else { "" };
            [column.name.as_str(), column.kind.as_str(), default]
        });
        let mut out = Vec::new();
        for text in [self.table.as_deref().unwrap_or_default()].into_iter().chain(columns) {
            out.extend(text.bytes().filter(|byte| *byte != BORDER));
            out.push(BORDER);
        }
        out
    }

    pub fn decode(value: &[u8]) -> Option<Shape> {
        let texts: Option<Vec<String>> =
            value.split(|byte| *byte == BORDER).map(|text| String::from_utf8(text.to_vec()).ok()).collect();
        let texts = texts?;
        // Nothing stands behind the last NUL.
        let (table, texts) = texts.split_last()?.1.split_first()?;
        let columns = texts.chunks_exact(3).map(|texts| match texts {
            [name, kind, default] => {
                Some(Column { name: name.clone(), kind: kind.clone(), is_default: !default.is_empty() })
            }
            _ => None,
        });
        let columns: Vec<Column> = columns.collect::<Option<_>>()?;
        let table = Some(table.clone()).filter(|table| !table.is_empty());
        (!columns.is_empty()).then_some(Shape { table, columns })
    }

    pub fn id(&self) -> Id {
        let number = number_of(&String::from_utf8_lossy(&self.encode()));
        let mut at = 0;
        [(); ID_BYTES].map(|()| {
            let letter = (number >> at) as usize % LETTERS.len();
            at += 5;
            LETTERS.get(letter).copied().unwrap_or_default()
        })
    }

    /// What stands in front of its rows.
    pub fn mark(&self) -> [u8; MARK_BYTES] {
        let mut mark = [BORDER; MARK_BYTES];
        mark.iter_mut().skip(2).zip(self.id()).for_each(|(byte, letter)| *byte = letter);
        mark
    }

    /// A plan for its rows, where another configuration holds now.
    pub fn plan(self, now: &Plan) -> Plan {
        let has = |name: &String| self.columns.iter().any(|column| column.name == *name);
        let indexes = now.indexes.iter().filter(|name| has(name)).cloned().collect();
        let unique = if now.unique.iter().all(has) { now.unique.clone() } else { Vec::new() };
        Plan { table: self.table, columns: self.columns, indexes, unique, ..now.clone() }
    }
}

/// The id in front of a row, and the row behind it.
pub fn split(row: &[u8]) -> (Option<Id>, &[u8]) {
    let marked = row.strip_prefix(&[BORDER, BORDER]).and_then(<[u8]>::split_first_chunk::<ID_BYTES>);
    marked.map_or((None, row), |(id, row)| (Some(*id), row))
}

/// Where shapes are kept that other configurations had.
pub type Shapes = Arc<dyn Fn(&Id) -> Option<Shape> + Send + Sync>;

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(table: Option<&str>, columns: &[(&str, &str, bool)]) -> Shape {
        let column = |(name, kind, is_default): &(&str, &str, bool)| Column {
            name: (*name).to_owned(),
            kind: (*kind).to_owned(),
            is_default: *is_default,
        };
        Shape { table: table.map(str::to_owned), columns: columns.iter().map(column).collect() }
    }

    #[test]
    fn what_is_kept_comes_back() {
        let all = [
            shape(
                Some("logs.messages"),
                &[("id", "bigserial", true), ("msg", "varchar(5) CHECK (1 > 0)", false)],
            ),
            shape(None, &[("msg", "text", false)]),
            shape(Some("messages"), &[("msg", "text", false)]),
            shape(Some("messages"), &[("msg", "text", true)]),
        ];
        for (at, shape) in all.iter().enumerate() {
            assert_eq!(Shape::decode(&shape.encode()).as_ref(), Some(shape));
            assert_eq!(all.iter().position(|other| other.id() == shape.id()), Some(at));
        }
        for wrong in [&b""[..], b"\0", b"messages\0", b"messages\0a\0", b"\xff\0a\0text\0\0"] {
            assert_eq!(Shape::decode(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_mark_stands_in_front_of_its_row() {
        let shape = shape(None, &[("msg", "text", false)]);
        let row = [&shape.mark()[..], b"one\ttwo\n"].concat();
        assert_eq!(split(&row), (Some(shape.id()), &b"one\ttwo\n"[..]));
        assert_eq!(crate::place::split(&row), (None, &row[..]), "it is no place");
        let mut placed = Vec::new();
        crate::place::append(&mut placed, b"logs/0", b"5");
        placed.extend_from_slice(&row);
        assert_eq!(crate::place::split(&placed), (Some(("logs/0", 5)), &row[..]));
        for row in [&b""[..], b"\0", b"\0\0short", b"plain\n"] {
            assert_eq!(split(row), (None, row));
        }
    }
}
