//! Columns of a table: what BigQuery calls their types, how their values are written, and the description of
//! rows that goes with them (`google.protobuf.DescriptorProto`).

use crate::time::{days, microseconds, truth};
use wire::protobuf::{put_bytes, put_fixed32, put_fixed64, put_message, put_number};

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Double,
    Float,
    Int64,
    Int32,
    Uint64,
    Uint32,
    Sint64,
    Sint32,
    Fixed64,
    Fixed32,
    Bool,
    String,
    /// What protobuf has no type for: the server reads it out of a text.
    Read,
    Bytes,
    /// Microseconds since 1970, or a time of ISO 8601 that becomes them.
    Timestamp,
    /// Days since 1970, or a date that becomes them.
    Date,
}

/// Types of BigQuery. What protobuf has no type for is written as a text, which the server reads.
const TYPES: [(&str, Kind); 23] = [
    ("STRING", Kind::String),
    ("BYTES", Kind::Bytes),
    ("INTEGER", Kind::Int64),
    ("INT64", Kind::Int64),
    ("INT", Kind::Int64),
    ("SMALLINT", Kind::Int64),
    ("BIGINT", Kind::Int64),
    ("TINYINT", Kind::Int64),
    ("BYTEINT", Kind::Int64),
    ("FLOAT", Kind::Double),
    ("FLOAT64", Kind::Double),
    ("BOOLEAN", Kind::Bool),
    ("BOOL", Kind::Bool),
    ("TIMESTAMP", Kind::Timestamp),
    ("DATE", Kind::Date),
    ("TIME", Kind::Read),
    ("DATETIME", Kind::Read),
    ("JSON", Kind::Read),
    ("NUMERIC", Kind::Read),
    ("BIGNUMERIC", Kind::Read),
    ("GEOGRAPHY", Kind::Read),
    ("INTERVAL", Kind::Read),
    ("DECIMAL", Kind::Read),
];

/// Types of protobuf.
const SCALARS: [(&str, Kind); 15] = [
    ("double", Kind::Double),
    ("float", Kind::Float),
    ("int64", Kind::Int64),
    ("int32", Kind::Int32),
    ("uint64", Kind::Uint64),
    ("uint32", Kind::Uint32),
    ("sint64", Kind::Sint64),
    ("sint32", Kind::Sint32),
    ("fixed64", Kind::Fixed64),
    ("fixed32", Kind::Fixed32),
    ("sfixed64", Kind::Fixed64),
    ("sfixed32", Kind::Fixed32),
    ("bool", Kind::Bool),
    ("string", Kind::String),
    ("bytes", Kind::Bytes),
];

impl Kind {
    /// By BigQuery's name of the type.
    pub fn of_table(name: &str) -> Option<Kind> {
        TYPES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, kind)| *kind)
    }

    /// By protobuf's.
    pub fn of_protobuf(name: &str) -> Option<Kind> {
        SCALARS.iter().find(|(known, _)| *known == name).map(|(_, kind)| *kind)
    }

    /// `FieldDescriptorProto.Type`.
    fn number(self) -> u64 {
        match self {
            Kind::Double => 1,
            Kind::Float => 2,
            Kind::Int64 | Kind::Timestamp => 3,
            Kind::Uint64 => 4,
            Kind::Int32 | Kind::Date => 5,
            Kind::Fixed64 => 6,
            Kind::Fixed32 => 7,
            Kind::Bool => 8,
            Kind::String | Kind::Read => 9,
            Kind::Bytes => 12,
            Kind::Uint32 => 13,
            Kind::Sint32 => 17,
            Kind::Sint64 => 18,
        }
    }
}

/// Whether a value that is not what its column is costs its message, or is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lenient {
    No,
    LeavesOut,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub name: String,
    pub kind: Kind,
}

impl Column {
    /// A name that both protobuf and BigQuery can have.
    pub fn is_name(name: &str) -> bool {
        let mut bytes = name.bytes();
        let first = bytes.next().is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        first && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') && name.len() <= 300
    }

    /// Appends a value as a field of a row. Nothing is NULL, but in texts. The error says what it is not.
    pub fn put(&self, number: u32, value: &[u8], lenient: Lenient, out: &mut Vec<u8>) -> Result<(), String> {
        match self.kind {
            Kind::String => put_bytes(out, number, String::from_utf8_lossy(value).as_bytes()),
            Kind::Bytes => put_bytes(out, number, value),
            _ => {
                let text = String::from_utf8_lossy(value);
                let text = text.trim();
                if text.is_empty() {
                    return Ok(());
                }
                let is_put = put_scalar(self.kind, number, text, out).is_some();
                if !is_put && lenient == Lenient::No {
                    let shown: String = String::from_utf8_lossy(value).chars().take(60).collect();
                    return Err(format!(
                        "`{shown}` is no {:?}, which the column {} is",
                        self.kind, self.name
                    ));
                }
            }
        }
        Ok(())
    }
}

fn put_scalar(kind: Kind, number: u32, text: &str, out: &mut Vec<u8>) -> Option<()> {
    match kind {
        Kind::Double => put_fixed64(out, number, text.parse::<f64>().ok()?.to_bits()),
        Kind::Float => put_fixed32(out, number, text.parse::<f32>().ok()?.to_bits()),
        // Negative numbers of 32 bits are written as those of 64.
        Kind::Int64 => put_number(out, number, text.parse::<i64>().ok()?.cast_unsigned()),
        Kind::Int32 => put_number(out, number, i64::from(text.parse::<i32>().ok()?).cast_unsigned()),
        Kind::Uint64 => put_number(out, number, text.parse::<u64>().ok()?),
        Kind::Uint32 => put_number(out, number, u64::from(text.parse::<u32>().ok()?)),
        Kind::Sint64 | Kind::Sint32 => {
            let value = text.parse::<i64>().ok()?;
            let fits = kind == Kind::Sint64 || i32::try_from(value).is_ok();
            fits.then(|| put_number(out, number, ((value << 1) ^ (value >> 63)).cast_unsigned()))?;
        }
        Kind::Fixed64 => match text.parse::<u64>() {
            Ok(value) => put_fixed64(out, number, value),
            Err(_) => put_fixed64(out, number, text.parse::<i64>().ok()?.cast_unsigned()),
        },
        Kind::Fixed32 => match text.parse::<u32>() {
            Ok(value) => put_fixed32(out, number, value),
            Err(_) => put_fixed32(out, number, text.parse::<i32>().ok()?.cast_unsigned()),
        },
        Kind::Bool => put_number(out, number, u64::from(truth(text)?)),
        Kind::Timestamp => put_number(out, number, microseconds(text)?.cast_unsigned()),
        Kind::Date => put_number(out, number, i64::from(days(text)?).cast_unsigned()),
        Kind::String | Kind::Read | Kind::Bytes => put_bytes(out, number, text.as_bytes()),
    }
    Some(())
}

/// What rows are, for whoever reads them.
pub fn descriptor(columns: &[Column]) -> Vec<u8> {
    let mut out = Vec::new();
    put_bytes(&mut out, 1, b"Row");
    for (number, column) in (1..).zip(columns) {
        put_message(&mut out, 2, |field| {
            put_bytes(field, 1, column.name.as_bytes());
            put_number(field, 3, number);
            // LABEL_OPTIONAL
            put_number(field, 4, 1);
            put_number(field, 5, column.kind.number());
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(kind: Kind, value: &str) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        let column = Column { name: "c".to_owned(), kind };
        column.put(1, value.as_bytes(), Lenient::No, &mut out).ok().map(|()| out)
    }

    #[test]
    fn values_of_columns() {
        assert_eq!(put(Kind::Int64, "150"), Some(vec![8, 150, 1]));
        assert_eq!(put(Kind::Sint32, "-1"), Some(vec![8, 1]));
        assert_eq!(put(Kind::Bool, "Yes"), Some(vec![8, 1]));
        assert_eq!(put(Kind::String, "a"), Some(vec![10, 1, b'a']));
        assert_eq!(put(Kind::Int64, " "), Some(vec![]), "NULL");
        let numeric = Kind::of_table("NUMERIC").expect("a type");
        assert_eq!((put(numeric, " 7 "), put(numeric, "")), (Some(vec![10, 1, b'7']), Some(vec![])));
        assert_eq!(put(Kind::String, ""), Some(vec![10, 0]));
        assert_eq!(put(Kind::Int64, "x"), None);
        assert_eq!(put(Kind::Int32, "3000000000"), None);
        assert_eq!(put(Kind::Sint32, "3000000000"), None);
        assert_eq!(put(Kind::Double, "1.5").map(|bytes| bytes.len()), Some(9));
    }

    #[test]
    fn what_cannot_be_may_be_left_out() {
        let column = Column { name: "c".to_owned(), kind: Kind::Int64 };
        let mut out = Vec::new();
        assert_eq!(column.put(1, b"x", Lenient::LeavesOut, &mut out), Ok(()));
        assert!(out.is_empty());
        assert!(column.put(1, b"\xff", Lenient::No, &mut out).is_err());
        assert!(Column::is_name("_a1") && !Column::is_name("1a") && !Column::is_name("a-b"));
    }
}
