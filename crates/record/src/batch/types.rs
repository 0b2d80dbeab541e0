//! The types of the fields of a record: texts, but for what rewrites and parsers gave another type,
//! `set(int("7") value("PID"))`.

use crate::names::NameId;
use crate::value::ValueType;

/// Bits for each field that can have a type; all text is 0. MESSAGE has four; the others have three, in which
/// bytes and protobuf have no place: there they are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldTypes(u16);

/// The bit of MESSAGE that bytes and protobuf alone have.
const BINARY: u16 = 1 << 15;

impl FieldTypes {
    /// Where the bits of a field begin, and which they are there.
    fn place(name: NameId) -> Option<(u16, u16)> {
        Some(match name {
            NameId::PID => (0, 7),
            NameId::HOST => (3, 7),
            NameId::PROGRAM => (6, 7),
            NameId::MSGID => (9, 7),
            NameId::MESSAGE => (12, 15),
            _ => return None,
        })
    }

    /// Whether MESSAGE is of a type that has no text.
    #[inline]
    pub fn has_binary_message(self) -> bool {
        self.0 & BINARY != 0
    }

    #[inline]
    pub fn of(self, name: NameId) -> ValueType {
        if self.0 == 0 { ValueType::String } else { self.found(name) }
    }

    #[cold]
    fn found(self, name: NameId) -> ValueType {
        match FieldTypes::place(name).map(|(shift, mask)| self.0 >> shift & mask) {
            Some(1) => ValueType::Json,
            Some(2) => ValueType::Boolean,
            Some(3) => ValueType::Int,
            Some(4) => ValueType::Double,
            Some(5) => ValueType::DateTime,
            Some(6) => ValueType::List,
            Some(7) => ValueType::Null,
            Some(8) => ValueType::Bytes,
            Some(9) => ValueType::Protobuf,
            _ => ValueType::String,
        }
    }

    #[inline]
    pub(super) fn set(&mut self, name: NameId, kind: ValueType) {
        if self.0 != 0 || kind != ValueType::String {
            self.change(name, kind);
        }
    }

    #[cold]
    fn change(&mut self, name: NameId, kind: ValueType) {
        let Some((shift, mask)) = FieldTypes::place(name) else { return };
        let bits = match kind {
            ValueType::String => 0,
            ValueType::Json => 1,
            ValueType::Boolean => 2,
            ValueType::Int => 3,
            ValueType::Double => 4,
            ValueType::DateTime => 5,
            ValueType::List => 6,
            ValueType::Null => 7,
            ValueType::Bytes => 8,
            ValueType::Protobuf => 9,
        };
        let bits = if bits > mask { 0 } else { bits };
        self.0 = self.0 & !(mask << shift) | bits << shift;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIELDS: [NameId; 5] = [NameId::PID, NameId::HOST, NameId::PROGRAM, NameId::MSGID, NameId::MESSAGE];

    #[test]
    fn each_field_has_its_own_type() {
        for number in 0..10 {
            let kind = ValueType::of_number(number);
            let is_binary = matches!(kind, ValueType::Bytes | ValueType::Protobuf);
            for field in FIELDS {
                let mut types = FieldTypes::default();
                FIELDS.iter().for_each(|other| types.set(*other, ValueType::Null));
                types.set(field, kind);
                let kept = if is_binary && field != NameId::MESSAGE { ValueType::String } else { kind };
                assert_eq!(types.of(field), kept, "{field:?}");
                assert!(
                    FIELDS.iter().filter(|other| **other != field).all(|f| types.of(*f) == ValueType::Null)
                );
                assert_eq!(types.has_binary_message(), is_binary && field == NameId::MESSAGE);
            }
        }
    }
}
