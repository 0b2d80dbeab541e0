//! ClickHouse over gRPC: each batch one INSERT, by `clickhouse.grpc.ClickHouse/ExecuteQuery` of its public
//! protocol.

use crate::frame;
use crate::plan::Load;
use flight::{Outcome, Part, Verdict};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use wire::protobuf::{Malformed, Value, fields, put_bytes, put_head, put_message};

const PATH: &str = "/clickhouse.grpc.ClickHouse/ExecuteQuery";

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// So many fields and the text, divided by tabs: the server reads each as what its column is.
    Fields,
    /// The text is an object of JSON.
    Json,
}

/// What all inserts have in common.
pub struct Insert {
    pub query: String,
    pub database: String,
    pub user: String,
    pub password: String,
    pub rows: Rows,
    /// Of the queue on disk, where its numbers tell inserts apart.
    pub queue: Arc<OnceLock<String>>,
}

/// What the server is asked to be patient with: times in any form, and nothing where a number should be.
const SETTINGS: [(&str, &str); 2] =
    [("date_time_input_format", "best_effort"), ("input_format_tsv_empty_as_default", "1")];

/// A batch as a call.
pub fn load(part: &Part<'_>, insert: &Insert) -> Load {
    let mut rows = Vec::with_capacity(part.bytes + part.messages.len());
    for message in part.messages {
        match insert.rows {
            Rows::Fields => {
                for (at, field) in flight::fields(message).enumerate() {
                    if at > 0 {
                        rows.push(b'\t');
                    }
                    escape(field, &mut rows);
                }
            }
            Rows::Json => {
                // A row ends with its line.
                let text = flight::fields(message).text();
                rows.extend(text.iter().map(|byte| if *byte == b'\n' { b' ' } else { *byte }));
            }
        }
        rows.push(b'\n');
    }
    let mut out = frame::begin(rows.len() + insert.query.len() + 300);
    put_bytes(&mut out, 1, insert.query.as_bytes());
    let token = token(part, insert);
    let own = token.iter().map(|token| ("insert_deduplication_token", token.as_str()));
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
    put_head(&mut out, 5, rows.len());
    out.extend_from_slice(&rows);
    frame::end(&mut out);
    Load { path: PATH, message: out, key: part.key.to_vec(), messages: part.messages.len() }
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
    for byte in field {
        match byte {
            b'\t' => out.extend_from_slice(b"\\t"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\\' => out.extend_from_slice(b"\\\\"),
            0 => out.extend_from_slice(b"\\0"),
            _ => out.push(*byte),
        }
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
        | 469 | 675 | 676 => match row(text).filter(|row| *row < messages) {
            Some(row) if messages > 1 => {
                let mut verdicts = vec![Verdict::Again; messages];
                if let Some(verdict) = verdicts.get_mut(row) {
                    *verdict = Verdict::Refused(why.into());
                }
                Outcome::Judged { verdicts, after: Some(Duration::ZERO) }
            }
            _ => Outcome::Split(why),
        },
        // A user, a right, a table, a statement: somebody has to do something.
        16 | 36 | 46 | 47 | 60 | 62 | 73 | 81 | 115 | 192 | 193 | 194 | 291 | 452 | 497 | 516 => {
            Outcome::Hold(why)
        }
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
        let mut out = Vec::new();
        escape(b"a\tb\\c\nd\0", &mut out);
        assert_eq!(out, b"a\\tb\\\\c\\nd\\0");
    }
}
