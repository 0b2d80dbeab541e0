//! Name-value pairs of a record: a list that is only prepended to, so an older copy of the record still sees
//! its own list.

use crate::Span;
use crate::names::NameId;

/// The types of syslog-ng 4 values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValueType {
    #[default]
    String,
    Json,
    Boolean,
    Int,
    Double,
    DateTime,
    List,
    Null,
    Bytes,
    Protobuf,
}

/// A value as read: its bytes and its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value<'a> {
    pub bytes: &'a [u8],
    pub kind: ValueType,
}

impl<'a> Value<'a> {
    pub fn string(bytes: &'a [u8]) -> Value<'a> {
        Value { bytes, kind: ValueType::String }
    }
}

/// Index of an entry in its batch; `NONE` ends a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Link(pub u32);

impl Link {
    pub const NONE: Link = Link(u32::MAX);
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry {
    pub name: NameId,
    pub span: Span,
    /// `None` marks a name that was unset.
    pub kind: Option<ValueType>,
    pub next: Link,
}
