//! Type hints: `int("$PID")` and the spellings of every type.

use record::ValueType;

/// A type as a configuration writes it before a template in parentheses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeHint {
    Is(ValueType),
    /// `auto`: the template keeps its own type.
    Auto,
}

impl TypeHint {
    /// Every spelling.
    pub const NAMES: &[(&str, TypeHint)] = &[
        ("string", TypeHint::Is(ValueType::String)),
        ("json", TypeHint::Is(ValueType::Json)),
        ("literal", TypeHint::Is(ValueType::Json)),
        ("boolean", TypeHint::Is(ValueType::Boolean)),
        ("int", TypeHint::Is(ValueType::Int)),
        ("int32", TypeHint::Is(ValueType::Int)),
        ("int64", TypeHint::Is(ValueType::Int)),
        ("double", TypeHint::Is(ValueType::Double)),
        ("float", TypeHint::Is(ValueType::Double)),
        ("datetime", TypeHint::Is(ValueType::DateTime)),
        ("list", TypeHint::Is(ValueType::List)),
        ("null", TypeHint::Is(ValueType::Null)),
        ("bytes", TypeHint::Is(ValueType::Bytes)),
        ("protobuf", TypeHint::Is(ValueType::Protobuf)),
        ("auto", TypeHint::Auto),
    ];

    pub fn named(name: &str) -> Option<TypeHint> {
        TypeHint::NAMES.iter().find(|(n, _)| *n == name).map(|(_, hint)| *hint)
    }

    pub fn value_type(self) -> Option<ValueType> {
        match self {
            TypeHint::Is(kind) => Some(kind),
            TypeHint::Auto => None,
        }
    }

    /// Splits `int($PID)` as one string, the way value-pairs write it. Text whose first word is no type is
    /// all template.
    pub fn split(text: &str) -> (Option<TypeHint>, &str) {
        let parts = text.strip_suffix(')').and_then(|t| t.split_once('('));
        match parts.and_then(|(name, inside)| Some((TypeHint::named(name)?, inside))) {
            Some((hint, inside)) => (Some(hint), inside),
            None => (None, text),
        }
    }
}
