//! Columns of record batches: their types, and arrays made of texts.

use crate::time::microseconds;
use arrow_array::ArrayRef;
use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, MapBuilder, StringBuilder, TimestampMicrosecondBuilder,
};
use arrow_schema::{DataType, Field, Fields, TimeUnit};
use serde_json::Value;
use std::sync::Arc;

const UTC: &str = "UTC";
/// Bytes of a text that there is room for at first.
const TEXT_BYTES: usize = 32;

/// What values of a column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Bool,
    Double,
    Int64,
    String,
    /// Microseconds since 1970, or a time of ISO 8601 that becomes them.
    Timestamp,
    /// An object of JSON: names with texts.
    Map,
}

const KINDS: [(&str, Kind); 8] = [
    ("BOOL", Kind::Bool),
    ("BOOLEAN", Kind::Bool),
    ("DOUBLE", Kind::Double),
    ("FLOAT64", Kind::Double),
    ("INT64", Kind::Int64),
    ("INTEGER", Kind::Int64),
    ("STRING", Kind::String),
    ("TIMESTAMP", Kind::Timestamp),
];

impl Kind {
    pub fn named(name: &str) -> Option<Kind> {
        if name.eq_ignore_ascii_case("MAP") {
            return Some(Kind::Map);
        }
        KINDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
    }

    fn data_type(self) -> DataType {
        match self {
            Kind::Bool => DataType::Boolean,
            Kind::Double => DataType::Float64,
            Kind::Int64 => DataType::Int64,
            Kind::String => DataType::Utf8,
            Kind::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
            Kind::Map => {
                let pair = Fields::from(vec![
                    Field::new("key", DataType::Utf8, false),
                    Field::new("value", DataType::Utf8, true),
                ]);
                DataType::Map(Arc::new(Field::new("entries", DataType::Struct(pair), false)), false)
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
}

impl Column {
    pub fn field(&self) -> Field {
        Field::new(&self.name, self.kind.data_type(), true)
    }

    pub fn values(&self, count: usize) -> Values {
        match self.kind {
            Kind::Bool => Values::Bool(BooleanBuilder::with_capacity(count)),
            Kind::Double => Values::Double(Float64Builder::with_capacity(count)),
            Kind::Int64 => Values::Int64(Int64Builder::with_capacity(count)),
            Kind::String => Values::String(StringBuilder::with_capacity(count, count * TEXT_BYTES)),
            Kind::Timestamp => {
                Values::Timestamp(TimestampMicrosecondBuilder::with_capacity(count).with_timezone(UTC))
            }
            Kind::Map => {
                Values::Map(Box::new(MapBuilder::new(None, StringBuilder::new(), StringBuilder::new())))
            }
        }
    }

    /// Why a value cannot stand in it.
    pub fn wrong(&self, value: &[u8]) -> String {
        let shown: String = String::from_utf8_lossy(value).chars().take(60).collect();
        format!("`{shown}` is no {:?}, which the column {} is", self.kind, self.name)
    }
}

/// The values of a column as they come.
pub enum Values {
    Bool(BooleanBuilder),
    Double(Float64Builder),
    Int64(Int64Builder),
    String(StringBuilder),
    Timestamp(TimestampMicrosecondBuilder),
    Map(Box<MapBuilder<StringBuilder, StringBuilder>>),
}

impl Values {
    /// Adds a value. Nothing is NULL, but in texts; what is not of the type is NULL too, and `None`.
    pub fn put(&mut self, value: &[u8]) -> Option<()> {
        let text = String::from_utf8_lossy(value);
        let plain = text.trim();
        let is_good = match self {
            Values::String(values) => {
                values.append_value(&text);
                true
            }
            Values::Bool(values) => appended(crate::time::truth(plain), |value| values.append_option(value)),
            Values::Double(values) => appended(plain.parse().ok(), |value| values.append_option(value)),
            Values::Int64(values) => appended(plain.parse().ok(), |value| values.append_option(value)),
            Values::Timestamp(values) => appended(microseconds(plain), |value| values.append_option(value)),
            Values::Map(values) => put_map(values, plain),
        };
        (is_good || plain.is_empty()).then_some(())
    }

    pub fn finish(self) -> ArrayRef {
        match self {
            Values::Bool(mut values) => Arc::new(values.finish()),
            Values::Double(mut values) => Arc::new(values.finish()),
            Values::Int64(mut values) => Arc::new(values.finish()),
            Values::String(mut values) => Arc::new(values.finish()),
            Values::Timestamp(mut values) => Arc::new(values.finish()),
            Values::Map(mut values) => Arc::new(values.finish()),
        }
    }
}

fn appended<T>(value: Option<T>, append: impl FnOnce(Option<T>)) -> bool {
    let is_there = value.is_some();
    append(value);
    is_there
}

fn put_map(values: &mut MapBuilder<StringBuilder, StringBuilder>, text: &str) -> bool {
    let object = match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    };
    for (name, value) in object.iter().flatten() {
        values.keys().append_value(name);
        match value {
            Value::Null => values.values().append_null(),
            Value::String(text) => values.values().append_value(text),
            other => values.values().append_value(other.to_string()),
        }
    }
    // Names and values are added in pairs, so that this cannot fail.
    values.append(object.is_some()).is_ok() && object.is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::Array;

    fn array(kind: Kind, texts: &[&str]) -> (ArrayRef, Vec<bool>) {
        let mut values = Column { name: "c".to_owned(), kind }.values(texts.len());
        let good = texts.iter().map(|text| values.put(text.as_bytes()).is_some()).collect();
        (values.finish(), good)
    }

    #[test]
    fn values_of_columns() {
        let (numbers, good) = array(Kind::Int64, &["7", "", "x", "-1"]);
        assert_eq!(good, [true, true, false, true]);
        assert_eq!((numbers.len(), numbers.null_count()), (4, 2));
        let (texts, good) = array(Kind::String, &["a", ""]);
        assert_eq!((texts.null_count(), good), (0, vec![true, true]));
        let (maps, good) = array(Kind::Map, &["{\"a\":1,\"b\":null}", "[]"]);
        assert_eq!((maps.len(), maps.null_count(), good), (2, 1, vec![true, false]));
        for kind in [Kind::Bool, Kind::Double, Kind::Int64, Kind::String, Kind::Timestamp, Kind::Map] {
            let column = Column { name: "c".to_owned(), kind };
            assert_eq!(column.field().data_type(), column.values(0).finish().data_type(), "{kind:?}");
        }
    }
}
