//! ClickHouse over gRPC: each batch one INSERT, by `clickhouse.grpc.ClickHouse/ExecuteQuery` of its public
//! protocol.

use crate::bigquery::{Column, Lenient};
use crate::frame;
use crate::plan::Load;
use flight::{Outcome, Part, Verdict};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wire::protobuf::{Malformed, Value, fields, put_bytes, put_long, put_message, put_varint};

const PATH: &str = "/clickhouse.grpc.ClickHouse/ExecuteQuery";

/// How rows are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rows {
    /// So many fields and the text, divided by tabs: the server reads each as what its column is.
    Fields,
    /// The text is an object of JSON, or a list.
    Json,
    /// The text is a message of protobuf.
    Message,
    /// Fields and the text are the values of these columns, and become a message of protobuf.
    Columns(Vec<Column>, Lenient),
}

/// What all inserts have in common.
pub struct Insert {
    pub query: String,
    pub database: String,
    pub user: String,
    pub password: String,
    pub rows: Rows,
    /// `server-side-schema()`: by which message of which file of the server rows of protobuf are read.
    pub schema: Option<String>,
    /// Of the queue on disk, where its numbers tell inserts apart.
    pub queue: Arc<OnceLock<String>>,
}

/// What the server is asked to be patient with: times in any form, and nothing where a number should be.
const SETTINGS: [(&str, &str); 2] =
    [("date_time_input_format", "best_effort"), ("input_format_tsv_empty_as_default", "1")];

/// A batch as a call.
pub fn load(part: &Part<'_>, insert: &Insert) -> Load {
    let mut out = frame::begin(part.bytes + part.messages.len() + insert.query.len() + 300);
    put_bytes(&mut out, 1, insert.query.as_bytes());
    let token = token(part, insert);
    let own = token.iter().map(|token| ("insert_deduplication_token", token.as_str()));
    let own = own.chain(insert.schema.iter().map(|schema| ("format_schema", schema.as_str())));
    for (name, value) in SETTINGS.into_iter().chain(own) {
        put_message(&mut out, 3, |pair| {
            put_bytes(pair, 1, name.as_bytes());
            put_bytes(pair, 2, value.as_bytes());
        });
    }
    for (number, text) in [(4, &insert.database), (9, &insert.user), (10, &insert.password)] {
        if !text.is_empty() {
            put_bytes(&mut out, number, text.as_bytes());
        }
    }
    let (mut refused, mut row) = (Vec::new(), Vec::new());
    put_long(&mut out, 5, |rows| {
        for (at, message) in part.messages.iter().enumerate() {
            let outcome = match &insert.rows {
                Rows::Fields | Rows::Json => {
                    put_line(rows, message, &insert.rows);
                    continue;
                }
                Rows::Message => put_whole(rows, flight::fields(message).text()),
                Rows::Columns(columns, lenient) => {
                    row.clear();
                    let values = columns.iter().zip(flight::fields(message));
                    (1..)
                        .zip(values)
                        .try_for_each(|(number, (column, value))| {
                            column.put(number, value, *lenient, &mut row)
                        })
                        .map(|()| put_delimited(rows, &row))
                }
            };
            refused.extend(outcome.err().map(|why| (at, why)));
        }
    });
    frame::end(&mut out);
    Load { refused, ..Load::of(PATH, out, part) }
}

/// A message of protobuf, as it is: one that is none would cost all that stand behind it.
fn put_whole(out: &mut Vec<u8>, message: &[u8]) -> Result<(), String> {
    if fields(message).any(|field| field.is_err()) {
        return Err("it is no message of protobuf".to_owned());
    }
    put_delimited(out, message);
    Ok(())
}

fn put_delimited(out: &mut Vec<u8>, message: &[u8]) {
    put_varint(out, message.len() as u64);
    out.extend_from_slice(message);
}

fn put_line(out: &mut Vec<u8>, message: &[u8], rows: &Rows) {
    match rows {
        Rows::Fields => {
            for (at, field) in flight::fields(message).enumerate() {
                if at > 0 {
                    out.push(b'\t');
                }
                escape(field, out);
            }
        }
        _ => {
            // A row ends with its line.
            let text = flight::fields(message).text();
            out.extend(text.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
        }
    }
    out.push(b'\n');
}

/// What tells this insert from any other: where its messages stand in the queue. A server that has it already
/// passes it over, where its table can.
fn token(part: &Part<'_>, insert: &Insert) -> Option<String> {
    let queue = insert.queue.get()?;
    let last = part.numbers.iter().rev().find_map(|number| *number)?;
    Some(format!("{queue}-{}-{last}-{}", part.number?, part.messages.len()))
}

/// TabSeparated.
fn escape(field: &[u8], out: &mut Vec<u8>) {
    // Without a branch in it, so that it is done many bytes at a time. It also finds some that stay as they
    // are.
    let is_plain = !field.iter().fold(false, |found, byte| found | (*byte < 0x10) | (*byte == b'\\'));
    if is_plain {
        out.extend_from_slice(field);
        return;
    }
    let mut rest = field;
    while let Some(at) = rest.iter().position(|byte| escaped(*byte).is_some()) {
        let (plain, found) = rest.split_at(at);
        out.extend_from_slice(plain);
        let (first, next) = found.split_first().unwrap_or((&0, &[]));
        out.extend_from_slice(escaped(*first).unwrap_or_default());
        rest = next;
    }
    out.extend_from_slice(rest);
}

fn escaped(byte: u8) -> Option<&'static [u8]> {
    match byte {
        b'\t' => Some(b"\\t"),
        b'\n' => Some(b"\\n"),
        b'\r' => Some(b"\\r"),
        b'\\' => Some(b"\\\\"),
        0 => Some(b"\\0"),
        _ => None,
    }
}

/// What the server says of an insert: nothing, or why it has taken none of it.
pub fn read(answer: &[u8], messages: usize) -> Outcome {
    match exception(answer) {
        Ok(None) => Outcome::Delivered,
        Ok(Some((code, text))) => judged(code, &text, messages),
        Err(Malformed) => Outcome::Unknown("the answer is no message of ClickHouse".to_owned()),
    }
}

fn exception(answer: &[u8]) -> Result<Option<(u64, String)>, Malformed> {
    for field in fields(answer) {
        let (7, Value::Bytes(exception)) = field? else { continue };
        let (mut code, mut name, mut text) = (0, &[][..], &[][..]);
        for field in fields(exception) {
            match field? {
                (1, Value::Varint(number)) => code = number,
                (2, Value::Bytes(bytes)) => name = bytes,
                (3, Value::Bytes(bytes)) => text = bytes,
                _ => {}
            }
        }
        let text = if text.is_empty() { name } else { text };
        return Ok(Some((code, String::from_utf8_lossy(text).into_owned())));
    }
    Ok(None)
}

/// By the numbers of `ErrorCodes.cpp`.
fn judged(code: u64, text: &str, messages: usize) -> Outcome {
    let why: String = text.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect();
    match code {
        // A value that is not what its column is: the server names the row.
        6 | 26 | 27 | 32 | 33 | 34 | 38 | 41 | 53 | 69 | 70 | 72 | 117 | 131 | 321 | 349 | 376 | 441
        | 436 | 444 | 469 | 675 | 676 => match row(text).filter(|row| *row < messages) {
            Some(row) if messages > 1 => {
                let mut verdicts = vec![Verdict::Again; messages];
                if let Some(verdict) = verdicts.get_mut(row) {
                    *verdict = Verdict::Refused(why.into());
                }
                Outcome::Judged { verdicts, after: Some(Duration::ZERO) }
            }
            _ => Outcome::Split(why),
        },
        // A user, a right, a table, a statement, a file of messages: somebody has to do something.
        16 | 36 | 46 | 47 | 60 | 62 | 73 | 81 | 115 | 192 | 193 | 194 | 291 | 434 | 435 | 437 | 443 | 452
        | 497 | 516 => Outcome::Hold(why),
        // Whether it was taken is not known.
        319 => Outcome::Unknown(why),
        // Memory, parts, a table that is read only, a keeper that is away, too many queries, time.
        159 | 164 | 202 | 203 | 209 | 210 | 225 | 241 | 242 | 243 | 252 | 285 | 286 | 290 | 999 => {
            Outcome::Again { after: None, counts: false, why }
        }
        _ => Outcome::Again { after: None, counts: true, why },
    }
}

/// The row that is named, from 0 on.
fn row(text: &str) -> Option<usize> {
    let (_, rest) = text.split_once("(at row ")?;
    rest.split(')').next()?.trim().parse::<usize>().ok()?.checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::protobuf::put_number;

    fn answer(code: u64, text: &str) -> Vec<u8> {
        let mut out = Vec::new();
        put_message(&mut out, 7, |exception| {
            put_number(exception, 1, code);
            put_bytes(exception, 3, text.as_bytes());
        });
        out
    }

    #[test]
    fn what_exceptions_mean() {
        assert_eq!(read(b"", 3), Outcome::Delivered);
        let named = read(&answer(27, "Cannot parse input: expected '\\t' before: 'x': (at row 2)"), 3);
        let Outcome::Judged { verdicts, .. } = named else { panic!("{named:?}") };
        assert!(
            matches!(verdicts[..], [Verdict::Again, Verdict::Refused(_), Verdict::Again]),
            "{verdicts:?}"
        );
        assert!(matches!(read(&answer(27, "Cannot parse"), 3), Outcome::Split(_)));
        assert!(matches!(read(&answer(27, "(at row 9)"), 3), Outcome::Split(_)));
        assert!(matches!(read(&answer(516, "Authentication failed"), 3), Outcome::Hold(_)));
        assert!(matches!(read(&answer(252, "Too many parts"), 3), Outcome::Again { counts: false, .. }));
        assert!(matches!(read(&answer(1002, "?"), 3), Outcome::Again { counts: true, .. }));
        assert!(matches!(read(b"\x3a\xff", 3), Outcome::Unknown(_)));
    }

    #[test]
    fn fields_are_escaped() {
        let check = |field: &[u8], expected: &[u8]| {
            let mut out = Vec::new();
            escape(field, &mut out);
            assert_eq!(out, expected, "{field:?}");
        };
        check(b"", b"");
        check(b"plain", b"plain");
        check(b"a\tb\\c\nd\0", b"a\\tb\\\\c\\nd\\0");
        check(b"\r\n", b"\\r\\n");
        check(b"bell \x07 stays", b"bell \x07 stays");
        check("größer".as_bytes(), "größer".as_bytes());
        // Every byte, and what a server makes of it again.
        let all: Vec<u8> = (0..=255).collect();
        let mut out = Vec::new();
        escape(&all, &mut out);
        let mut bytes = out.iter();
        let unescaped = std::iter::from_fn(|| match bytes.next()? {
            b'\\' => Some(match bytes.next()? {
                b't' => b'\t',
                b'n' => b'\n',
                b'r' => b'\r',
                b'0' => 0,
                other => *other,
            }),
            byte => Some(*byte),
        });
        assert_eq!(unescaped.collect::<Vec<_>>(), all);
    }

    fn insert(rows: Rows) -> Insert {
        let text = |text: &str| text.to_owned();
        let (database, user, password) = (text("logs"), text("user"), text("secret"));
        Insert { query: text("INSERT"), database, user, password, rows, schema: None, queue: Arc::default() }
    }

    fn sent(messages: &[&[u8]], rows: Rows) -> (Vec<u8>, usize) {
        let bytes = messages.iter().map(|message| message.len()).sum();
        let part = Part { messages, bytes, key: b"", number: None, numbers: &[] };
        let load = load(&part, &insert(rows));
        let message = load.message.get(frame::HEAD_BYTES..).expect("a frame");
        let all: Vec<_> = fields(message).map(|field| field.expect("well-formed")).collect();
        let numbers: Vec<u32> = all.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [1, 3, 3, 4, 9, 10, 5]);
        let rows = all.last().and_then(|(_, value)| value.bytes()).expect("rows").to_vec();
        (rows, load.message.capacity() - load.message.len())
    }

    #[test]
    fn a_batch_is_a_call_with_its_rows() {
        let mut message = Vec::new();
        flight::begin_fields(&mut message, 2);
        flight::put_field(&mut message, b"one");
        flight::put_field(&mut message, b"t\two");
        message.extend_from_slice(b"text");
        let (rows, _) = sent(&[&message, &message], Rows::Fields);
        assert_eq!(rows, b"one\tt\\two\ttext\none\tt\\two\ttext\n");
        let (rows, _) = sent(&[b"\0\0\0\0{\"a\":\n1}"], Rows::Json);
        assert_eq!(rows, b"{\"a\": 1}\n");
        let (rows, _) = sent(&[], Rows::Fields);
        assert_eq!(rows, b"");
    }

    /// Rows are written where they are sent from: no copy of them is made, and nothing grows.
    #[test]
    fn rows_have_their_room_from_the_beginning() {
        let mut message = Vec::new();
        flight::begin_fields(&mut message, 1);
        flight::put_field(&mut message, &[b'x'; 300]);
        message.extend_from_slice(&[b'y'; 100]);
        let messages = vec![&message[..]; 1000];
        let (rows, spare) = sent(&messages, Rows::Fields);
        assert_eq!(rows.len(), 402 * 1000);
        assert!(spare < 10_000, "{spare}");
    }

    #[test]
    fn messages_of_protobuf_stand_behind_their_lengths() {
        let mut message = Vec::new();
        flight::begin_fields(&mut message, 1);
        flight::put_field(&mut message, b"7");
        message.extend_from_slice(b"text");
        let column = |kind| Column { name: "c".to_owned(), kind };
        let columns = vec![column(crate::bigquery::Kind::Int64), column(crate::bigquery::Kind::String)];
        let (rows, _) = sent(&[&message, &message], Rows::Columns(columns.clone(), Lenient::No));
        assert_eq!(rows, b"\x08\x08\x07\x12\x04text\x08\x08\x07\x12\x04text");
        let (rows, _) = sent(&[b"\0\0\0\0\x08\x07", b"\0\0\0\0"], Rows::Message);
        assert_eq!(rows, b"\x02\x08\x07\0");

        // What is no row is told apart before anything is sent.
        let mut wrong = Vec::new();
        flight::begin_fields(&mut wrong, 1);
        flight::put_field(&mut wrong, b"seven");
        let refused = |messages: &[&[u8]], rows: Rows| -> Vec<usize> {
            let part = Part { messages, bytes: 100, key: b"", number: None, numbers: &[] };
            load(&part, &insert(rows)).refused.iter().map(|(at, _)| *at).collect()
        };
        assert_eq!(refused(&[&message, &wrong], Rows::Columns(columns.clone(), Lenient::No)), [1]);
        assert_eq!(refused(&[&message, &wrong], Rows::Columns(columns, Lenient::LeavesOut)), [0usize; 0]);
        assert_eq!(refused(&[b"\0\0\0\0\x08", b"\0\0\0\0"], Rows::Message), [0]);
    }
}
