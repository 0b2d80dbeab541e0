//! The frames of the language server protocol: headers, an empty line, and so many bytes of JSON as a header
//! says. Who writes them may be no editor, so nothing is believed before it is there.

use lsp_server::{ErrorCode, Message};
use serde_json::{Value, json};
use std::io::{self, BufRead, Read, Write};

/// A longer message ends the conversation: where the next one begins cannot be waited for.
const MESSAGE_BYTES_MAX: u64 = 64 << 20;
/// The headers of one message.
const HEADERS_BYTES_MAX: u64 = 16 << 10;

/// What came.
pub enum Arrival {
    Message(Message),
    /// A whole frame, in which no message is: what is answered. The next frame may be right.
    NoMessage(Refusal),
}

pub struct Refusal {
    /// Null where the message has none that can be read.
    pub id: Value,
    pub code: ErrorCode,
    pub text: String,
}

/// The next frame; none where the input ends in front of one.
pub fn next(input: &mut impl BufRead) -> Result<Option<Arrival>, String> {
    let Some(bytes) = length(input)? else { return Ok(None) };
    // Memory is taken as the bytes come, whatever was announced.
    let mut body = Vec::new();
    input.take(bytes).read_to_end(&mut body).map_err(|error| error.to_string())?;
    if (body.len() as u64) < bytes {
        return Err(format!("the input ends after {} of {bytes} bytes of a message", body.len()));
    }
    Ok(Some(arrival(&body)))
}

fn arrival(body: &[u8]) -> Arrival {
    let value: Value = match serde_json::from_slice(body) {
        Ok(value) => value,
        Err(error) => {
            let text = format!("this is no JSON: {error}");
            return Arrival::NoMessage(Refusal { id: Value::Null, code: ErrorCode::ParseError, text });
        }
    };
    let id = value.get("id").filter(|id| id.is_i64() || id.is_string()).cloned().unwrap_or_default();
    match serde_json::from_value(value) {
        Ok(message) => Arrival::Message(message),
        Err(_) => {
            let text = "this is no request, notification or response".to_owned();
            Arrival::NoMessage(Refusal { id, code: ErrorCode::InvalidRequest, text })
        }
    }
}

/// What the headers in front of a message say of its length.
fn length(input: &mut impl BufRead) -> Result<Option<u64>, String> {
    let mut headers = input.take(HEADERS_BYTES_MAX);
    let mut length = None;
    let mut is_first = true;
    loop {
        let mut line = Vec::new();
        headers.read_until(b'\n', &mut line).map_err(|error| error.to_string())?;
        if line.last() != Some(&b'\n') {
            return match (headers.limit(), is_first && line.is_empty()) {
                (0, _) => Err(format!("more than {HEADERS_BYTES_MAX} bytes of headers: this is no editor")),
                (_, true) => Ok(None),
                (_, false) => Err("the input ends in the headers of a message".to_owned()),
            };
        }
        is_first = false;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim();
        if line.is_empty() {
            return length.map(Some).ok_or_else(|| "a message without Content-Length".to_owned());
        }
        let Some((name, value)) = line.split_once(':') else {
            return Err(format!("no header: {}", line.chars().take(80).collect::<String>().escape_debug()));
        };
        if name.trim().eq_ignore_ascii_case("Content-Length") {
            let value = value.trim();
            let bytes: u64 = value.parse().map_err(|_| format!("no length: Content-Length: {value:.40}"))?;
            if bytes > MESSAGE_BYTES_MAX {
                return Err(format!("a message of {bytes} bytes: at most {MESSAGE_BYTES_MAX} are read"));
            }
            length = Some(bytes);
        }
    }
}

/// The answer to what was no message.
pub fn refuse(output: &mut impl Write, refusal: &Refusal) -> io::Result<()> {
    let error = json!({ "code": refusal.code as i32, "message": refusal.text });
    let text = json!({ "jsonrpc": "2.0", "id": refusal.id, "error": error }).to_string();
    write!(output, "Content-Length: {}\r\n\r\n{text}", text.len())?;
    output.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &[u8]) -> Result<Option<Arrival>, String> {
        next(&mut io::Cursor::new(text))
    }

    fn refused(body: &[u8]) -> (i32, Value) {
        let frame = [format!("Content-Length: {}\r\n\r\n", body.len()).as_bytes(), body].concat();
        let Ok(Some(Arrival::NoMessage(refusal))) = of(&frame) else { panic!("taken for a message") };
        (refusal.code as i32, refusal.id)
    }

    #[test]
    fn nothing_is_believed_before_it_is_there() {
        let wrong = |text: &str| of(text.as_bytes()).err().unwrap_or_else(|| panic!("taken: {text}"));
        for length in ["99999999999999", "67108865", "4294967295"] {
            let text = wrong(&format!("Content-Length: {length}\r\n\r\n"));
            assert!(text.ends_with("at most 67108864 are read"), "{text}");
        }
        for length in ["-1", "99999999999999999999999999", "x", ""] {
            assert!(wrong(&format!("Content-Length: {length}\r\n\r\n{{}}")).starts_with("no length"));
        }
        assert_eq!(
            wrong("Content-Length: 60000000\r\n\r\n{}"),
            "the input ends after 2 of 60000000 bytes of a message"
        );
        assert_eq!(wrong("A: b\r\n\r\n{}"), "a message without Content-Length");
        assert!(wrong(&"X: y\r\n".repeat(5_000)).starts_with("more than 16384 bytes of headers"));
        assert!(wrong(&"x".repeat(20_000)).starts_with("more than 16384 bytes of headers"));
        assert_eq!(wrong("Content-Length: 2\r\n"), "the input ends in the headers of a message");
        assert!(matches!(of(b""), Ok(None)));
    }

    #[test]
    fn what_is_no_message_is_answered_with_its_id() {
        assert_eq!(refused(b"hello"), (-32700, Value::Null));
        assert_eq!(refused(b"{\"id\":1,\"method\":\"\xff\"}"), (-32700, Value::Null));
        assert_eq!(refused("[".repeat(200_000).as_bytes()), (-32700, Value::Null));
        assert_eq!(refused(b"[]"), (-32600, Value::Null));
        assert_eq!(refused(b"{\"method\":1}"), (-32600, Value::Null));
        let frame =
            b"content-length:46\ncontent-type: x\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\"}";
        assert!(matches!(of(frame), Ok(Some(Arrival::Message(Message::Request(_))))));
    }
}
