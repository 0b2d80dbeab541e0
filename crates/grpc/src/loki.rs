//! Loki's push: entries in streams, each stream by its labels. `logproto.Pusher/Push` of Loki's public
//! `push.proto`.

use crate::frame;
use crate::plan::Load;
use flight::{Outcome, Part};
use std::borrow::Cow;
use std::collections::HashMap;
use wire::protobuf::{field_size, put_bytes, put_head, put_number};

const PATH: &str = "/logproto.Pusher/Push";

/// What a driver knows of all messages: the names of their labels, in the order of the fields.
pub struct Labels(pub Vec<String>);

struct Stream<'a> {
    labels: String,
    entries: Vec<Entry<'a>>,
    bytes: usize,
}

struct Entry<'a> {
    /// A `Timestamp`.
    time: Vec<u8>,
    line: Cow<'a, str>,
}

impl Entry<'_> {
    fn size(&self) -> usize {
        field_size(1, self.time.len()) + field_size(2, self.line.len())
    }
}

/// A batch as a call. Fields of a message: the values of its labels, its time in microseconds; the text is
/// its line.
pub fn load(part: &Part<'_>, labels: &Labels) -> Load {
    let mut streams: Vec<Stream<'_>> = Vec::new();
    let mut known: HashMap<Vec<&[u8]>, usize> = HashMap::new();
    let mut last: Option<(Vec<&[u8]>, usize)> = None;
    for message in part.messages {
        let mut all = flight::fields(message);
        let values: Vec<&[u8]> = all.by_ref().take(labels.0.len()).collect();
        let time = all.next().unwrap_or_default();
        let line = all.next().unwrap_or_default();
        let at = match &last {
            // Neighbours are mostly of one stream.
            Some((before, at)) if *before == values => *at,
            _ => *known.entry(values.clone()).or_insert_with(|| {
                streams.push(Stream { labels: text_of(labels, &values), entries: Vec::new(), bytes: 0 });
                streams.len() - 1
            }),
        };
        last = Some((values, at));
        let entry = Entry { time: timestamp(time), line: String::from_utf8_lossy(line) };
        if let Some(stream) = streams.get_mut(at) {
            stream.bytes += field_size(2, entry.size());
            stream.entries.push(entry);
        }
    }
    let mut out = frame::begin(streams.iter().map(|stream| stream.bytes + stream.labels.len() + 20).sum());
    for stream in &streams {
        put_head(&mut out, 1, field_size(1, stream.labels.len()) + stream.bytes);
        put_bytes(&mut out, 1, stream.labels.as_bytes());
        for entry in &stream.entries {
            put_head(&mut out, 2, entry.size());
            put_bytes(&mut out, 1, &entry.time);
            put_bytes(&mut out, 2, entry.line.as_bytes());
        }
    }
    frame::end(&mut out);
    Load::of(PATH, out, part)
}

/// The message of an answer says nothing.
pub fn read(_answer: &[u8], _messages: usize) -> Outcome {
    Outcome::Delivered
}

/// Microseconds as text, as a `Timestamp`.
fn timestamp(text: &[u8]) -> Vec<u8> {
    let micros = std::str::from_utf8(text).ok().and_then(|text| text.parse::<u64>().ok()).unwrap_or_default();
    let mut out = Vec::new();
    put_number(&mut out, 1, micros / 1_000_000);
    put_number(&mut out, 2, micros % 1_000_000 * 1000);
    out
}

/// Labels as Loki reads them: `{name="value", ...}` with the escapes of Go.
fn text_of(labels: &Labels, values: &[&[u8]]) -> String {
    let mut out = String::from("{");
    for (at, (name, value)) in labels.0.iter().zip(values).enumerate() {
        if at > 0 {
            out.push_str(", ");
        }
        out.push_str(name);
        out.push_str("=\"");
        for c in String::from_utf8_lossy(value).chars() {
            match c {
                '"' => out.push_str("\\\""),
                '\\' => out.push_str("\\\\"),
                '\n' => out.push_str("\\n"),
                c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => out.push(c),
            }
        }
        out.push('"');
    }
    out.push('}');
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::protobuf::{Value, fields};

    fn message(host: &str, time: &str, line: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        flight::begin_fields(&mut out, 2);
        flight::put_field(&mut out, host.as_bytes());
        flight::put_field(&mut out, time.as_bytes());
        out.extend_from_slice(line);
        out
    }

    #[test]
    fn entries_stand_in_their_streams() {
        let all = [
            message("a\"\\\n", "1700000000000007", b"one"),
            message("b", "1", b"\xff"),
            message("a\"\\\n", "2", b"two"),
        ];
        let messages: Vec<&[u8]> = all.iter().map(Vec::as_slice).collect();
        let part = Part { messages: &messages, bytes: 0, key: b"", number: None, numbers: &[] };
        let load = load(&part, &Labels(vec!["host".to_owned()]));
        let streams: Vec<&[u8]> = fields(&load.message[frame::HEAD_BYTES..])
            .filter_map(|field| field.expect("good").1.bytes())
            .collect();
        assert_eq!(streams.len(), 2);
        let first: Vec<_> = fields(streams[0]).map(|field| field.expect("good")).collect();
        assert_eq!(first[0], (1, Value::Bytes(b"{host=\"a\\\"\\\\\\n\"}")));
        assert_eq!(first[1], (2, Value::Bytes(b"\x0a\x09\x08\x80\xe2\xcf\xaa\x06\x10\xd8\x36\x12\x03one")));
        assert_eq!(first.len(), 3);
    }
}
