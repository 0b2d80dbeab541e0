//! The types of the fields of a record: texts, but for what rewrites and parsers gave another type,
//! `set(int("7") value("PID"))`.

use crate::names::NameId;
use crate::value::ValueType;

/// Three bits for each field that can have a type; all text is 0. Bytes and protobuf have no place: in a
/// field they are text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldTypes(u16);

const BITS: u16 = 3;

impl FieldTypes {
    fn shift(name: NameId) -> Option<u16> {
        let place = match name {
            NameId::PID => 0,
            NameId::MESSAGE => 1,
            NameId::HOST => 2,
            NameId::PROGRAM => 3,
            NameId::MSGID => 4,
            _ => return None,
        };
        Some(place * BITS)
    }

    #[inline]
    pub fn of(self, name: NameId) -> ValueType {
        if self.0 == 0 { ValueType::String } else { self.found(name) }
    }

    #[cold]
    fn found(self, name: NameId) -> ValueType {
        match FieldTypes::shift(name).map(|shift| self.0 >> shift & 7) {
            Some(1) => ValueType::Json,
            Some(2) => ValueType::Boolean,
            Some(3) => ValueType::Int,
            Some(4) => ValueType::Double,
            Some(5) => ValueType::DateTime,
            Some(6) => ValueType::List,
            Some(7) => ValueType::Null,
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
        let Some(shift) = FieldTypes::shift(name) else { return };
        let bits = match kind {
            ValueType::String | ValueType::Bytes | ValueType::Protobuf => 0,
            ValueType::Json => 1,
            ValueType::Boolean => 2,
            ValueType::Int => 3,
            ValueType::Double => 4,
            ValueType::DateTime => 5,
            ValueType::List => 6,
            ValueType::Null => 7,
        };
        self.0 = self.0 & !(7 << shift) | bits << shift;
    }
}
