//! Values of a database's record: one, or all with their paths.

use crate::found::Found;
use record::{NameId, ValueType};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::io::Write;

/// A value. Where only some are read, none of them is a map, but for a name that means a whole part of the
/// record.
pub enum Leaf<'a> {
    Text(&'a str),
    Signed(i64),
    Unsigned(u128),
    Double(f64),
    Bool(bool),
    Map(Vec<(&'a str, Leaf<'a>)>),
    List(Vec<Leaf<'a>>),
    /// Bytes are no text.
    Nothing,
}

impl Leaf<'_> {
    pub fn keep(&self, name: NameId, found: &mut Found) {
        let mark = found.begin();
        let out = found.out();
        // Writing to memory does not fail.
        let kind = match self {
            Leaf::Nothing | Leaf::Map(_) | Leaf::List(_) => return,
            Leaf::Text(text) => {
                out.extend_from_slice(text.as_bytes());
                ValueType::String
            }
            Leaf::Signed(n) => {
                let _ = write!(out, "{n}");
                ValueType::Int
            }
            Leaf::Unsigned(n) => {
                let _ = write!(out, "{n}");
                if i64::try_from(*n).is_ok() { ValueType::Int } else { ValueType::String }
            }
            Leaf::Double(n) => {
                let _ = write!(out, "{n:.6}");
                ValueType::Double
            }
            Leaf::Bool(b) => {
                let _ = write!(out, "{b}");
                ValueType::Boolean
            }
        };
        found.finish(name, mark, kind);
    }

    /// All values in it, by the path that stands in `path`, which ends with a dot.
    pub fn keep_all(&self, path: &mut Vec<u8>, found: &mut Found) {
        let mut inner = |step: &dyn std::fmt::Display, leaf: &Leaf<'_>| {
            let len = path.len();
            let _ = write!(path, "{step}");
            match leaf {
                Leaf::Map(_) | Leaf::List(_) => {
                    path.push(b'.');
                    leaf.keep_all(path, found);
                }
                leaf => {
                    // The database is the configuration's: its few names may stay.
                    if let Some(name) = std::str::from_utf8(path).ok().and_then(record::intern) {
                        leaf.keep(name, found);
                    }
                }
            }
            path.truncate(len);
        };
        match self {
            Leaf::Map(members) => members.iter().for_each(|(key, leaf)| inner(key, leaf)),
            Leaf::List(items) => items.iter().enumerate().for_each(|(index, leaf)| inner(&index, leaf)),
            _ => {}
        }
    }
}

impl<'de> Deserialize<'de> for Leaf<'de> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Leaf<'de>, D::Error> {
        from.deserialize_any(OneLeaf)
    }
}

struct OneLeaf;

impl<'de> Visitor<'de> for OneLeaf {
    type Value = Leaf<'de>;

    fn visit_borrowed_str<E: Error>(self, v: &'de str) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Text(v))
    }

    fn visit_bool<E: Error>(self, v: bool) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Bool(v))
    }

    fn visit_i64<E: Error>(self, v: i64) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Signed(v))
    }

    fn visit_u64<E: Error>(self, v: u64) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Unsigned(v.into()))
    }

    fn visit_u128<E: Error>(self, v: u128) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Unsigned(v))
    }

    fn visit_f64<E: Error>(self, v: f64) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Double(v))
    }

    fn visit_borrowed_bytes<E: Error>(self, _: &'de [u8]) -> Result<Leaf<'de>, E> {
        Ok(Leaf::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Leaf<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(member) = map.next_entry()? {
            members.push(member);
        }
        Ok(Leaf::Map(members))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Leaf<'de>, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Leaf::List(list))
    }

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }
}
