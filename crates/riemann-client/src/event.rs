//! One event: what a message says, in the protocol buffers of Riemann.

use flight::pairs;
use wire::protobuf::{put_bytes, put_fixed32, put_fixed64, put_message, put_number};

/// What `event-time()` counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    Seconds,
    Microseconds,
}

/// Which fields messages have, in this order: host, service, time, state, time to live, metric, tags (one for
/// each word, or one with all of them), attributes. Their text is the description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub clock: Clock,
    /// Fields that are tags; each may be several, with commas between them.
    pub tags: usize,
    pub has_attributes: bool,
}

impl Shape {
    /// Appends the event, a field of `Msg`. The error says which value it cannot have: nothing is appended
    /// then.
    pub fn put(&self, out: &mut Vec<u8>, message: &[u8]) -> Result<(), String> {
        let mut all: Vec<&[u8]> = flight::fields(message).collect();
        let description = all.pop().unwrap_or_default();
        let mut all = all.into_iter();
        let mut next = || all.next().unwrap_or_default();
        let (host, service, time, state, ttl, metric) = (next(), next(), next(), next(), next(), next());
        let time = number::<f64>("event-time", time)?;
        let ttl = number::<f32>("ttl", ttl)?;
        let metric = metric_of(metric)?;
        let tags: Vec<&[u8]> = (0..self.tags).map(|_| next()).collect();
        let attributes = if self.has_attributes { next() } else { &[] };
        put_message(out, EVENTS, |out| {
            match (time, self.clock) {
                (Some(time), Clock::Seconds) => put_number(out, TIME, time as i64 as u64),
                (Some(time), Clock::Microseconds) => {
                    put_number(out, TIME, (time / 1e6) as i64 as u64);
                    put_number(out, TIME_MICROS, time as i64 as u64);
                }
                (None, _) => {}
            }
            for (field, text) in
                [(STATE, state), (SERVICE, service), (HOST, host), (DESCRIPTION, description)]
            {
                put_text(out, field, text);
            }
            for tag in tags.iter().flat_map(|tags| tags.split(|byte| *byte == b',')) {
                put_text(out, TAGS, tag.trim_ascii());
            }
            if let Some(ttl) = ttl {
                put_fixed32(out, TTL, ttl.to_bits());
            }
            for pair in pairs(attributes) {
                put_message(out, ATTRIBUTES, |out| {
                    put_bytes(out, 1, &clean(pair.name));
                    put_bytes(out, 2, &clean(pair.value));
                });
            }
            match metric {
                // A zigzag: small numbers are short, whatever their sign.
                Some(Metric::Whole(n)) => put_number(out, METRIC_SINT64, ((n << 1) ^ (n >> 63)) as u64),
                Some(Metric::Decimal(n)) => put_fixed64(out, METRIC_D, n.to_bits()),
                None => {}
            }
        });
        Ok(())
    }
}

// The numbers of fields in riemann.proto.
const EVENTS: u32 = 6;
const TIME: u32 = 1;
const STATE: u32 = 2;
const SERVICE: u32 = 3;
const HOST: u32 = 4;
const DESCRIPTION: u32 = 5;
const TAGS: u32 = 7;
const TTL: u32 = 8;
const ATTRIBUTES: u32 = 9;
const TIME_MICROS: u32 = 10;
const METRIC_SINT64: u32 = 13;
const METRIC_D: u32 = 14;

enum Metric {
    Whole(i64),
    Decimal(f64),
}

fn metric_of(text: &[u8]) -> Result<Option<Metric>, String> {
    match number::<i64>("metric", text) {
        Ok(whole) => Ok(whole.map(Metric::Whole)),
        Err(_) => Ok(number::<f64>("metric", text)?.map(Metric::Decimal)),
    }
}

/// `None` for nothing at all.
fn number<N: std::str::FromStr>(option: &str, text: &[u8]) -> Result<Option<N>, String> {
    let text = text.trim_ascii();
    if text.is_empty() {
        return Ok(None);
    }
    let read = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
    let shown = || String::from_utf8_lossy(text.get(..text.len().min(40)).unwrap_or_default());
    read.map(Some).ok_or_else(|| format!("{option}() is no number: `{}`", shown()))
}

fn put_text(out: &mut Vec<u8>, field: u32, text: &[u8]) {
    if !text.is_empty() {
        put_bytes(out, field, &clean(text));
    }
}

/// Texts of protocol buffers are UTF-8.
fn clean(text: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    match String::from_utf8_lossy(text) {
        std::borrow::Cow::Borrowed(_) => text.into(),
        std::borrow::Cow::Owned(text) => text.into_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flight::{begin_fields, put_field};
    use wire::protobuf::{Value, fields};

    fn message(parts: &[&[u8]], text: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        begin_fields(&mut message, parts.len());
        parts.iter().for_each(|part| put_field(&mut message, part));
        message.extend_from_slice(text);
        message
    }

    #[test]
    fn an_event() {
        let shape = Shape { clock: Clock::Microseconds, tags: 2, has_attributes: false };
        let parts: [&[u8]; 8] = [b"h", b"s", b"1700000000500000", b"ok", b"1.5", b"-3", b"a,b", b"c"];
        let mut out = Vec::new();
        shape.put(&mut out, &message(&parts, b"text\xff")).expect("an event");
        let (number, event) = fields(&out).next().expect("a field").expect("well formed");
        let all: Vec<(u32, Value<'_>)> =
            fields(event.bytes().expect("a message")).map(|field| field.expect("well formed")).collect();
        assert_eq!(number, 6);
        let expected = [
            (1, Value::Varint(1_700_000_000)),
            (10, Value::Varint(1_700_000_000_500_000)),
            (2, Value::Bytes(b"ok")),
            (3, Value::Bytes(b"s")),
            (4, Value::Bytes(b"h")),
            (5, Value::Bytes("text\u{fffd}".as_bytes())),
            (7, Value::Bytes(b"a")),
            (7, Value::Bytes(b"b")),
            (7, Value::Bytes(b"c")),
            (8, Value::Fixed32(1.5f32.to_bits())),
            (13, Value::Varint(5)),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn what_is_no_number_is_said() {
        let shape = Shape { clock: Clock::Seconds, tags: 0, has_attributes: false };
        let mut out = Vec::new();
        let mut put = |metric: &[u8]| shape.put(&mut out, &message(&[b"", b"", b"", b"", b"", metric], b""));
        assert_eq!(put(b"x1"), Err("metric() is no number: `x1`".to_owned()));
        assert_eq!((put(b""), put(b" 2.5 ")), (Ok(()), Ok(())));
        assert!(shape.put(&mut Vec::new(), b"\xff\xff").is_ok());
    }
}
