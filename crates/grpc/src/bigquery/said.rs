//! What the server answers: the name of a stream, and what became of rows.

use wire::protobuf::{Malformed, Value, fields};

/// `google.rpc.Code`, of errors within answers.
pub const INVALID_ARGUMENT: u64 = 3;
pub const NOT_FOUND: u64 = 5;
pub const ALREADY_EXISTS: u64 = 6;
pub const FAILED_PRECONDITION: u64 = 9;
pub const OUT_OF_RANGE: u64 = 11;

/// The name in a `WriteStream`.
pub fn stream_name(answer: &[u8]) -> Option<String> {
    let name = fields(answer).find_map(|field| match field {
        Ok((1, Value::Bytes(name))) => Some(String::from_utf8_lossy(name).into_owned()),
        _ => None,
    });
    name.filter(|name| !name.is_empty())
}

/// An `AppendRowsResponse`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Appended {
    /// A code and words, where the rows were not taken.
    pub error: Option<(u64, String)>,
    /// Rows that are wrong, by their place.
    pub rows: Vec<(usize, String)>,
    /// The rows were taken.
    pub is_done: bool,
}

impl Appended {
    pub fn read(answer: &[u8]) -> Result<Appended, Malformed> {
        let mut appended = Appended::default();
        for field in fields(answer) {
            match field? {
                (1, Value::Bytes(_)) => appended.is_done = true,
                (2, Value::Bytes(status)) => appended.error = Some(coded(status, 1, 2)?),
                (4, Value::Bytes(row)) => {
                    let place = fields(row).find_map(|field| match field {
                        Ok((1, Value::Varint(place))) => Some(place),
                        _ => None,
                    });
                    let place = usize::try_from(place.unwrap_or(0)).unwrap_or(usize::MAX);
                    appended.rows.push((place, coded(row, 2, 3)?.1));
                }
                _ => {}
            }
        }
        Ok(appended)
    }
}

fn coded(message: &[u8], code_at: u32, text_at: u32) -> Result<(u64, String), Malformed> {
    let (mut code, mut text) = (0, String::new());
    for field in fields(message) {
        match field? {
            (number, Value::Varint(value)) if number == code_at => code = value,
            (number, Value::Bytes(bytes)) if number == text_at => {
                let clean = String::from_utf8_lossy(bytes);
                text = clean.chars().take(300).map(|c| if c.is_control() { ' ' } else { c }).collect();
            }
            _ => {}
        }
    }
    Ok((code, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::protobuf::{put_bytes, put_message, put_number};

    #[test]
    fn answers() {
        let mut out = Vec::new();
        put_message(&mut out, 2, |status| {
            put_number(status, 1, INVALID_ARGUMENT);
            put_bytes(status, 2, b"rows");
        });
        put_message(&mut out, 4, |row| {
            put_number(row, 1, 7);
            put_number(row, 2, 1);
            put_bytes(row, 3, b"no\nnumber");
        });
        let appended = Appended::read(&out).expect("an answer");
        assert_eq!(appended.error, Some((INVALID_ARGUMENT, "rows".to_owned())));
        assert_eq!(appended.rows, [(7, "no number".to_owned())]);
        assert!(Appended::read(b"\x0a\x00").is_ok_and(|appended| appended.is_done));
        assert_eq!(stream_name(b"\x0a\x01s").as_deref(), Some("s"));
    }
}
