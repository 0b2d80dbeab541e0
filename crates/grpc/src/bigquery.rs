//! BigQuery's Storage Write API: rows appended to a stream of one's own, each batch with its place in it, so
//! that a batch whose answer was lost is not there twice. `google.cloud.bigquery.storage.v1.BigQueryWrite` of
//! Google's public protocol.

mod columns;
mod proto_file;
mod said;
mod session;

pub use columns::{Column, Kind, Lenient};
pub use proto_file::read as read_proto_file;
pub use session::serve;

use columns::descriptor;
use flight::Part;
use std::hash::{DefaultHasher, Hasher};
use wire::protobuf::{put_bytes, put_message};

/// What all rows of a destination have in common.
pub struct Table {
    /// `projects/P/datasets/D/tables/T`.
    pub path: String,
    pub columns: Vec<Column>,
    /// What becomes of a value that is not what its column is.
    pub lenient: Lenient,
    schema: Vec<u8>,
}

impl Table {
    pub fn new(path: String, columns: Vec<Column>, lenient: Lenient) -> Table {
        let schema = descriptor(&columns);
        Table { path, columns, lenient, schema }
    }

    /// A `ProtoSchema`: what rows look like.
    pub(crate) fn put_schema(&self, out: &mut Vec<u8>, number: u32) {
        put_message(out, number, |schema| put_bytes(schema, 1, &self.schema));
    }
}

/// A batch on its way: made on the worker.
pub struct Rows {
    pub key: Vec<u8>,
    /// The rows one after the other, each a message of protobuf.
    pub bytes: Vec<u8>,
    pub ends: Vec<usize>,
    /// Of each row, to know it again.
    pub marks: Vec<u64>,
    /// Messages that cannot be a row, by their place, and why.
    pub refused: Vec<(usize, String)>,
}

impl Rows {
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, end)| self.bytes.get(start..*end).unwrap_or_default())
    }

    pub fn messages(&self) -> usize {
        self.ends.len()
    }
}

/// A batch as rows: fields of a message are the values of its columns, the last of them its text.
pub fn load(part: &Part<'_>, table: &Table) -> Rows {
    let count = part.messages.len();
    let mut rows = Rows {
        key: part.key.to_vec(),
        bytes: Vec::with_capacity(part.bytes),
        ends: Vec::with_capacity(count),
        marks: Vec::with_capacity(count),
        refused: Vec::new(),
    };
    for (at, message) in part.messages.iter().enumerate() {
        let start = rows.bytes.len();
        for (number, (column, value)) in (1..).zip(table.columns.iter().zip(flight::fields(message))) {
            if let Err(why) = column.put(number, value, table.lenient, &mut rows.bytes) {
                rows.refused.push((at, why));
                break;
            }
        }
        let mut mark = DefaultHasher::new();
        mark.write(rows.bytes.get(start..).unwrap_or_default());
        rows.marks.push(mark.finish());
        rows.ends.push(rows.bytes.len());
    }
    rows
}

/// Any bytes as what a server answers, and as a file of protobuf's.
#[cfg(any(test, feature = "fuzzing"))]
pub fn fuzz(input: &[u8]) {
    let _ = (said::Appended::read(input), said::stream_name(input));
    let _ = proto_file::parse(&String::from_utf8_lossy(input));
}
