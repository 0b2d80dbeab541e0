//! Names and values of notifications.

use crate::ber;
use std::net::Ipv4Addr;

/// The name of an object, encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Oid(Vec<u8>);

/// RFC 2578 section 3.5
const PARTS_MAX: usize = 128;

impl Oid {
    /// Numbers with dots between them, with or without one in front.
    pub fn parse(text: &str) -> Option<Oid> {
        let text = text.strip_prefix('.').unwrap_or(text);
        let parts: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        let parts = parts.filter(|parts| (2..=PARTS_MAX).contains(&parts.len()))?;
        let (first, second) = (*parts.first()?, *parts.get(1)?);
        if first > 2 || (first < 2 && second > 39) || second > 0xffff {
            return None;
        }
        let mut bytes = Vec::new();
        put_part(&mut bytes, first * 40 + second);
        parts.iter().skip(2).for_each(|part| put_part(&mut bytes, *part));
        Some(Oid(bytes))
    }

    pub fn put(&self, out: &mut Vec<u8>) {
        ber::put(out, ber::OID, &self.0);
    }
}

/// In groups of seven bits, all but the last marked.
fn put_part(out: &mut Vec<u8>, part: u32) {
    for group in (1..5).rev() {
        let bits = part >> (7 * group);
        if bits > 0 {
            out.push(bits as u8 | 0x80);
        }
    }
    out.push(part as u8 & 0x7f);
}

/// What values are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Timeticks,
    Octets,
    Counter32,
    Gauge32,
    Counter64,
    Address,
    Oid,
}

const KINDS: [(&str, Kind); 9] = [
    ("integer", Kind::Integer),
    ("timeticks", Kind::Timeticks),
    ("octetstring", Kind::Octets),
    ("counter32", Kind::Counter32),
    ("gauge32", Kind::Gauge32),
    ("unsigned32", Kind::Gauge32),
    ("counter64", Kind::Counter64),
    ("ipaddress", Kind::Address),
    ("objectid", Kind::Oid),
];

impl Kind {
    /// As configurations call it, in any case.
    pub fn named(name: &str) -> Option<Kind> {
        KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
    }

    /// Appends a value. The error says why it is none; nothing is appended then.
    pub fn put(self, out: &mut Vec<u8>, value: &[u8]) -> Result<(), String> {
        let text = String::from_utf8_lossy(value.trim_ascii());
        let wrong = || format!("`{}` is no {self:?}", text.chars().take(40).collect::<String>());
        let whole = |max: u64| text.parse::<u64>().ok().filter(|n| *n <= max).ok_or_else(wrong);
        match self {
            Kind::Octets => ber::put(out, ber::OCTETS, value),
            Kind::Integer => {
                let value = text.parse::<i32>().map_err(|_| wrong())?;
                ber::put_integer(out, ber::INTEGER, i64::from(value));
            }
            Kind::Counter32 => ber::put_integer(out, 0x41, whole(u64::from(u32::MAX))? as i64),
            Kind::Gauge32 => ber::put_integer(out, 0x42, whole(u64::from(u32::MAX))? as i64),
            Kind::Timeticks => ber::put_integer(out, 0x43, whole(u64::from(u32::MAX))? as i64),
            Kind::Counter64 => {
                let value = whole(u64::MAX)?;
                let mut bytes = vec![0];
                bytes.extend_from_slice(&value.to_be_bytes());
                let skip =
                    bytes.windows(2).take_while(|pair| matches!(pair, [0, next] if next & 0x80 == 0)).count();
                ber::put(out, 0x46, bytes.get(skip..).unwrap_or_default());
            }
            Kind::Address => {
                let address: Ipv4Addr = text.parse().map_err(|_| wrong())?;
                ber::put(out, 0x40, &address.octets());
            }
            Kind::Oid => Oid::parse(&text).ok_or_else(wrong)?.put(out),
        }
        Ok(())
    }
}

/// One of the objects that each notification has; its value is a field of the message.
#[derive(Clone, Debug)]
pub struct Object {
    pub oid: Oid,
    pub kind: Kind,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert_eq!(
            Oid::parse(".1.3.6.1.4.1.18372.3"),
            Some(Oid(vec![0x2b, 6, 1, 4, 1, 0x81, 0x8f, 0x44, 3]))
        );
        assert_eq!(Oid::parse("2.999.4294967295"), Some(Oid(vec![0x88, 0x37, 0x8f, 0xff, 0xff, 0xff, 0x7f])));
        for wrong in ["", "1", "3.1", "1.40", "1.3.x", "1..3", "1.3.4294967296", "1.3."] {
            assert_eq!(Oid::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn values() {
        let of = |kind: Kind, text: &str| {
            let mut out = Vec::new();
            kind.put(&mut out, text.as_bytes()).map(|()| out)
        };
        assert_eq!(of(Kind::Integer, " -5 "), Ok(vec![2, 1, 0xfb]));
        assert_eq!(of(Kind::Counter32, "4294967295"), Ok(vec![0x41, 5, 0, 255, 255, 255, 255]));
        assert_eq!(
            of(Kind::Counter64, "18446744073709551615"),
            Ok(vec![0x46, 9, 0, 255, 255, 255, 255, 255, 255, 255, 255])
        );
        assert_eq!(of(Kind::Counter64, "1"), Ok(vec![0x46, 1, 1]));
        assert_eq!(of(Kind::Address, "10.0.0.1"), Ok(vec![0x40, 4, 10, 0, 0, 1]));
        assert_eq!(of(Kind::Octets, " x"), Ok(vec![4, 2, b' ', b'x']));
        assert_eq!(of(Kind::Integer, "x"), Err("`x` is no Integer".to_owned()));
        assert!(of(Kind::Timeticks, "4294967296").is_err() && of(Kind::Address, "::1").is_err());
        assert_eq!((Kind::named("OctetString"), Kind::named("x")), (Some(Kind::Octets), None));
    }
}
