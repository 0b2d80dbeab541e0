//! How queues, messages, sizes and times are printed.

use engine::dead_letters::{Letter, NAME};
use record::Civil;
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};
use store::Message;

/// A queue's name for people: bytes that are no text are replaced.
pub fn name(name: &[u8]) -> String {
    String::from_utf8_lossy(name).chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}

/// A number of bytes for people.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0);
    format!("{value:.digits$} {}", UNITS.get(unit).copied().unwrap_or_default())
}

/// Seconds since 1970 as a time in UTC.
pub fn time(seconds: u64) -> String {
    let t = Civil::from_seconds(seconds as i64);
    format!("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", t.year, t.month, t.day, t.hour, t.min, t.sec)
}

/// Where messages are printed to.
pub struct Printer<W: Write> {
    out: BufWriter<W>,
    json: bool,
    letters: bool,
    /// Of `sql()`, with a mark in front of each.
    rows: bool,
}

/// In the names of queues whose messages are rows of `sql()`.
const ROWS: &[u8] = b"(sql rows)";
/// Two NULs, and what a row was made for.
const MARK_BYTES: usize = 10;

impl Printer<io::Stdout> {
    pub fn stdout(queue: &[u8], json: bool) -> Printer<io::Stdout> {
        Printer::new(io::stdout(), queue, json)
    }
}

impl<W: Write> Printer<W> {
    pub fn new(out: W, queue: &[u8], json: bool) -> Printer<W> {
        let rows = queue.windows(ROWS.len()).any(|part| part == ROWS);
        Printer { out: BufWriter::with_capacity(1 << 16, out), json, letters: queue == NAME.as_bytes(), rows }
    }

    /// Prints a message as it is, on lines of its own; with `--json` as an object. Dead letters are shown
    /// with their reason.
    pub fn message(&mut self, message: &Message<'_>) -> io::Result<()> {
        let letter = if self.letters { Letter::decode(message.bytes) } else { None };
        let bare = match message.bytes.starts_with(&[0, 0]) && self.rows {
            true => message.bytes.get(MARK_BYTES..).unwrap_or_default(),
            false => message.bytes,
        };
        let message = &Message { bytes: bare, ..*message };
        if self.json {
            return self.object(&object(message, letter.as_ref()));
        }
        if let Some(letter) = &letter {
            let words = |bytes| name(bytes);
            write!(self.out, "{} {} ", time(letter.time / 1_000_000), words(letter.destination))?;
            write!(self.out, "({}): ", words(letter.reason))?;
        }
        self.line(letter.map_or(message.bytes, |letter| letter.shown()))
    }

    pub fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.out.write_all(line)?;
        if line.ends_with(b"\n") { Ok(()) } else { self.out.write_all(b"\n") }
    }

    pub fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)
    }

    pub fn object(&mut self, object: &Map<String, Value>) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, object)?;
        self.out.write_all(b"\n")
    }

    /// Everything is out; gives back what it writes to.
    pub fn finish(self) -> io::Result<W> {
        self.out.into_inner().map_err(io::IntoInnerError::into_error)
    }
}

fn object(message: &Message<'_>, letter: Option<&Letter<'_>>) -> Map<String, Value> {
    let mut object = Map::new();
    object.insert("seq".into(), json!(message.seq));
    let seconds = letter.map(|letter| letter.time / 1_000_000).or(message.time);
    object.extend(seconds.map(|seconds| ("time".to_owned(), json!(time(seconds)))));
    if let Some(letter) = letter {
        object.insert("destination".into(), json!(name(letter.destination)));
        object.insert("reason".into(), json!(name(letter.reason)));
    }
    let (key, value) = text("message", letter.map_or(message.bytes, |letter| letter.shown()));
    object.insert(key, value);
    object
}

/// Bytes as a string; as `KEY_hex` in hexadecimal when they are no UTF-8.
pub fn text(key: &str, bytes: &[u8]) -> (String, Value) {
    match std::str::from_utf8(bytes) {
        Ok(text) => (key.to_owned(), json!(text)),
        Err(_) => (format!("{key}_hex"), json!(control::queues::hex(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_times() {
        assert_eq!([size(0), size(1023), size(1536), size(3 << 30)], ["0 B", "1023 B", "1.5 KiB", "3.0 GiB"]);
        assert_eq!(time(1_700_000_000), "2023-11-14T22:13:20Z");
    }

    #[test]
    fn messages_are_lines_or_objects() {
        let check = |queue: &[u8], json, bytes: &[u8], expected: &str| {
            let mut printer = Printer::new(Vec::new(), queue, json);
            printer.message(&Message { seq: 3, bytes, time: Some(0) }).expect("memory");
            assert_eq!(String::from_utf8_lossy(&printer.finish().expect("memory")), expected);
        };
        check(b"q", false, b"one\n", "one\n");
        check(b"q", false, b"one", "one\n");
        check(b"q", true, b"a\n", "{\"message\":\"a\\n\",\"seq\":3,\"time\":\"1970-01-01T00:00:00Z\"}\n");
        check(b"sql(a) (sql rows)", false, b"\0\0abcdefghone\ttwo\n", "one\ttwo\n");
        check(b"q", true, b"\xff", "{\"message_hex\":\"ff\",\"seq\":3,\"time\":\"1970-01-01T00:00:00Z\"}\n");
        let letter = Letter {
            time: 1_000_000,
            destination: b"d#0",
            reason: b"too long",
            message: b"x",
            form: b"",
            text: b"x",
            shows_text: false,
        }
        .encode();
        check(b"dead-letters", false, &letter, "1970-01-01T00:00:01Z d#0 (too long): x\n");
    }
}
