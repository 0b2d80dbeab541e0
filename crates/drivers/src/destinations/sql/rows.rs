//! Messages made into rows of text, on the worker, as they wait and leave.

use delivery::writer::Parts;
use engine::{Chunk, Form};
use parking_lot::Mutex;
use record::{Batch, Demand};
use sql_client::shape::{self, MARK_BYTES};
use sql_client::{place, row, sanitize};
use std::sync::Arc;
use template::{RenderContext, Template};

/// What stands in a column.
pub enum Value {
    /// The same in each row, as a field.
    Fixed(Vec<u8>),
    Template(Arc<Template>),
}

pub struct RowParts {
    /// The name of the sequence that a message comes from, and its number in it.
    place: Option<[Arc<Template>; 2]>,
    values: Vec<Value>,
    /// The text of the message is the name of its table.
    by_message: bool,
    /// What becomes NULL.
    null: Option<Vec<u8>>,
    /// Says in front of each row which columns it was made for.
    mark: [u8; MARK_BYTES],
    /// Buffers, one set for each worker that is here at the same time.
    spare: Mutex<Vec<Vec<Column>>>,
}

/// What waits from before it was for a database has one field.
const ROWS: Form = Form {
    name: "sql rows",
    bare: |row| {
        let (_, row) = shape::split(place::without(row));
        row.strip_suffix(b"\n").unwrap_or(row)
    },
    put: |out, message| {
        row::append(out, message);
        out.push(b'\n');
    },
    // Others of its sequence have been put, and it has not.
    again: place::without,
    shows_bare: true,
};

/// The texts of a column, one for each message.
#[derive(Default)]
struct Column {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    /// All of them stand in rows as they are.
    are_plain: bool,
}

fn text<'a>((bytes, ends): (&'a [u8], &[u32]), at: usize) -> &'a [u8] {
    let begin = at.checked_sub(1).and_then(|before| ends.get(before)).map_or(0, |end| *end as usize);
    let end = ends.get(at).map_or(begin, |end| *end as usize);
    bytes.get(begin..end).unwrap_or_default()
}

impl RowParts {
    pub fn new(
        place: Option<[Arc<Template>; 2]>,
        values: Vec<Value>,
        by_message: bool,
        null: Option<Vec<u8>>,
        mark: [u8; MARK_BYTES],
    ) -> RowParts {
        RowParts { place, values, by_message, null, mark, spare: Mutex::default() }
    }

    /// Those of the place first.
    fn templates(&self) -> impl Iterator<Item = &Arc<Template>> {
        let values = self.values.iter().filter_map(|value| match value {
            Value::Template(template) => Some(template),
            Value::Fixed(_) => None,
        });
        self.place.iter().flatten().chain(values)
    }

    fn append(&self, out: &mut Vec<u8>, column: &Column, at: usize) {
        let text = text((&column.bytes, &column.ends), at);
        match &self.null {
            Some(null) if null == text => row::append_null(out),
            _ if column.are_plain => out.extend_from_slice(text),
            _ => row::append(out, text),
        }
    }
}

/// A value that is the same in each row.
pub fn fixed(text: &[u8], null: Option<&[u8]>) -> Value {
    let mut field = Vec::new();
    match null == Some(text) {
        true => row::append_null(&mut field),
        false => row::append(&mut field, text),
    }
    Value::Fixed(field)
}

impl Parts for RowParts {
    fn form(&self) -> Form {
        ROWS
    }

    fn are_keys(&self) -> bool {
        false
    }

    fn reads(&self, demand: &mut Demand) {
        self.templates().for_each(|template| template.reads(demand));
    }

    fn enclose(
        &self,
        (batch, selection): (&Batch, &[u32]),
        texts: (&[u8], &[u32]),
        render: &mut RenderContext,
        chunk: &mut Chunk,
    ) {
        let mut columns = self.spare.lock().pop().unwrap_or_default();
        columns.resize_with(self.templates().count(), Column::default);
        let number = render.seqnum;
        for (column, template) in columns.iter_mut().zip(self.templates()) {
            column.bytes.clear();
            column.ends.clear();
            render.seqnum = number;
            template.render_selection(batch, selection, render, &mut column.bytes, &mut column.ends);
            column.are_plain = row::are_plain(&column.bytes);
        }
        let length: usize = columns.iter().map(|column| column.bytes.len() + column.ends.len()).sum();
        chunk.bytes.reserve(texts.0.len() + length + texts.1.len() * (self.values.len() + 1 + MARK_BYTES));
        let (place, values) =
            columns.split_at_checked(2 * usize::from(self.place.is_some())).unwrap_or_default();
        for at in 0..texts.1.len() {
            if let [name, number] = place {
                let (name, number) =
                    (text((&name.bytes, &name.ends), at), text((&number.bytes, &number.ends), at));
                place::append(&mut chunk.bytes, name, number);
            }
            chunk.bytes.extend_from_slice(&self.mark);
            if self.by_message {
                let begin = chunk.bytes.len();
                chunk.bytes.extend_from_slice(text(texts, at));
                sanitize(chunk.bytes.get_mut(begin..).unwrap_or_default());
                chunk.bytes.push(b'\t');
            }
            let mut rendered = values.iter();
            for (nth, value) in self.values.iter().enumerate() {
                if nth > 0 {
                    chunk.bytes.push(b'\t');
                }
                match value {
                    Value::Fixed(field) => chunk.bytes.extend_from_slice(field),
                    Value::Template(_) => {
                        rendered
                            .next()
                            .into_iter()
                            .for_each(|column| self.append(&mut chunk.bytes, column, at));
                    }
                }
            }
            chunk.bytes.push(b'\n');
            chunk.ends.push(chunk.bytes.len() as u32);
        }
        self.spare.lock().push(columns);
    }
}
