//! One event as a message.

use intake::json_string::string;
use intake::requests::Filling;
use record::{Batch, NameId, Record, Span, Stamp, ValueType};

/// How values are called. Those that every event has are known beforehand.
pub struct Names {
    prefix: String,
    index: Option<NameId>,
    source: Option<NameId>,
    sourcetype: Option<NameId>,
}

impl Names {
    pub fn new(prefix: &str) -> Names {
        let name = |key: &str| record::intern(&format!("{prefix}{key}"));
        Names {
            index: name("index"),
            source: name("source"),
            sourcetype: name("sourcetype"),
            prefix: prefix.to_owned(),
        }
    }

    /// Of a field, which only its event names.
    fn of_field(&self, batch: &mut Batch, key: &str) -> Option<NameId> {
        match record::lookup(&format!("{}{key}", self.prefix)) {
            Some(known) => Some(known),
            None => batch.names.id(self.prefix.as_bytes(), key.as_bytes()),
        }
    }
}

/// What goes with the text of an event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EventFacts {
    pub host: Option<String>,
    pub index: Option<String>,
    pub source: Option<String>,
    pub sourcetype: Option<String>,
    pub time: Option<Stamp>,
}

/// Appends a message.
pub fn append(
    batch: &mut Batch,
    text: &[u8],
    facts: &EventFacts,
    names: &Names,
    filling: &Filling<'_>,
) -> usize {
    let index = batch.records.len();
    let mut record = Record::new(Span::EMPTY);
    record.message = batch.append(text).set();
    let host = facts.host.as_deref().filter(|host| !host.is_empty()).unwrap_or(filling.sender);
    record.host = batch.append(host.as_bytes());
    let time = facts.time.filter(|_| filling.keep_timestamp);
    record.stamp = time.map_or(filling.now, |time| Stamp { offset: filling.now.offset, ..time });
    record.origin = index as u32;
    batch.records.push(record);
    let values =
        [(names.index, &facts.index), (names.source, &facts.source), (names.sourcetype, &facts.sourcetype)];
    for (name, value) in values {
        if let (Some(name), Some(value)) = (name, value) {
            batch.set(index, name, value.as_bytes(), ValueType::String);
        }
    }
    index
}

/// Sets a field of the message. `raw` is its value as it stands in the JSON. `false`: it is an object.
pub fn set_field(batch: &mut Batch, index: usize, names: &Names, key: &str, raw: &str) -> bool {
    let text;
    let (bytes, kind) = match raw.as_bytes().first() {
        Some(b'"') => {
            text = string(raw);
            (text.as_bytes(), ValueType::String)
        }
        Some(b'{') => return false,
        Some(b'[') => (raw.as_bytes(), ValueType::Json),
        Some(b't' | b'f') => (raw.as_bytes(), ValueType::Boolean),
        Some(b'n') | None => return true,
        Some(_) if raw.contains(['.', 'e', 'E']) => (raw.as_bytes(), ValueType::Double),
        Some(_) => (raw.as_bytes(), ValueType::Int),
    };
    if let Some(name) = names.of_field(batch, key) {
        batch.set(index, name, bytes, kind);
    }
    true
}

/// Seconds since 1970 with a fraction, or milliseconds where they cannot be seconds.
pub fn time(text: &str) -> Option<Stamp> {
    const MILLIS_FROM: i64 = 100_000_000_000;
    let text = text.trim();
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_plain = !whole.is_empty() && text.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let (secs, usec) = if is_plain {
        let digits: String = fraction.chars().chain("000000".chars()).take(6).collect();
        (whole.parse::<i64>().ok()?, digits.parse::<u32>().ok()?)
    } else {
        let number: f64 = text.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0 && *n < 1e14)?;
        (number as i64, (number.fract() * 1e6) as u32)
    };
    match secs {
        0.. if secs < MILLIS_FROM => Some(Stamp { secs, usec, offset: 0 }),
        0.. if secs < MILLIS_FROM * 1000 => {
            Some(Stamp { secs: secs / 1000, usec: (secs % 1000) as u32 * 1000, offset: 0 })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        let check = |text: &str, expected: Option<(i64, u32)>| {
            assert_eq!(time(text).map(|stamp| (stamp.secs, stamp.usec)), expected, "{text}");
        };
        check("1426279439", Some((1_426_279_439, 0)));
        check("1426279439.123", Some((1_426_279_439, 123_000)));
        check("1426279439.1234567", Some((1_426_279_439, 123_456)));
        check("1426279439123", Some((1_426_279_439, 123_000)));
        check("1.426279439e9", Some((1_426_279_439, 0)));
        check("", None);
        check("-1", None);
        check("now", None);
        check("99999999999999999999999", None);
        check("1.2.3", None);
        check("NaN", None);
    }
}
