//! Values as trees: scalars in place, texts as spans of a text beside them, dictionaries and lists as
//! nodes of [`Trees`], which only grow while their batch lives.
//!
//! A value is plain data, so a copy of it costs nothing and is a snapshot: whoever copies a container marks
//! it as shared ([`Trees::share`]), and whoever changes one owns it first ([`Trees::own`]), which copies the
//! node when it is shared, and never what is below it.

mod datetime;
mod json;
mod number;
mod print;
mod seed;
mod seen;
mod span;
mod trees;
mod word;

pub use datetime::{Moment, Offset, ZoneSource};
pub use json::{JSON_DEPTH_MAX, JsonError, Problem, read_json, read_json_some};
pub use number::{double_of, integer_of, put_double, put_integer};
pub use print::{JSON, Print, REPR, Style, TEXT, put_string};
pub use seed::Seed;
pub use seen::Seen;
pub use span::Span;
pub use trees::{CELLS_MAX, Full, Key, LAID_OUT_MAX, Node, Trees};

/// A value. The texts of spans stand in the text that belongs to its [`Trees`].
///
/// Its kind takes four bytes: of one byte, the rest would be copied in two pieces that overlap, and who reads
/// them at once would wait for both.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(u32)]
pub enum Value {
    #[default]
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    /// Bytes in no particular encoding.
    String(Span),
    Bytes(Span),
    Protobuf(Span),
    Datetime {
        offset: Offset,
        /// Microseconds since 1970.
        micros: i64,
    },
    Dict(Node),
    List(Node),
    Tuple(Node),
    /// Pairs of texts of which several may have one name.
    Labels(Node),
    /// The 4 or 16 bytes of an address.
    Ip(Span),
    /// The same with one more byte, the length of the prefix.
    Subnet(Span),
    /// JSON that nobody has looked into yet.
    Json(Span),
    /// The text of a value of another type at which nobody has looked yet: it need not be one.
    Unread(Scalar, Span),
    /// A message of OpenTelemetry's protocol: its fields or elements.
    Otel(Otel, Node),
    /// A message of Google Pub/Sub: its data, and a dict of its attributes.
    Pubsub(Node),
}

const _: () = assert!(size_of::<Value>() == 16);

/// What a text is the value of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scalar {
    Boolean,
    Integer,
    Double,
    Datetime,
}

/// Which message of OpenTelemetry's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otel {
    LogRecord,
    Resource,
    Scope,
    KvList,
    Array,
}

impl Otel {
    pub fn name(self) -> &'static str {
        match self {
            Otel::LogRecord => "otel_logrecord",
            Otel::Resource => "otel_resource",
            Otel::Scope => "otel_scope",
            Otel::KvList => "otel_kvlist",
            Otel::Array => "otel_array",
        }
    }
}

impl Value {
    /// The type's name in the language.
    pub fn type_name(self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Boolean(_) => "boolean",
            Value::Integer(_) => "integer",
            Value::Double(_) => "double",
            Value::String(_) => "string",
            Value::Bytes(_) => "bytes",
            Value::Protobuf(_) => "protobuf",
            Value::Datetime { .. } => "datetime",
            Value::Dict(_) => "dict",
            Value::List(_) => "list",
            Value::Tuple(_) => "tuple",
            Value::Labels(_) => "metrics_labels",
            Value::Ip(_) => "ip",
            Value::Subnet(_) => "subnet",
            Value::Json(_) => "json",
            Value::Unread(..) => "message_value",
            Value::Otel(kind, _) => kind.name(),
            Value::Pubsub(_) => "pubsub_message",
        }
    }

    /// The node of a container.
    #[inline]
    pub fn node(self) -> Option<Node> {
        match self {
            Value::Dict(node) | Value::List(node) | Value::Tuple(node) | Value::Labels(node) => Some(node),
            Value::Otel(_, node) | Value::Pubsub(node) => Some(node),
            _ => None,
        }
    }

    /// A container of pairs.
    #[inline]
    pub fn is_mapping(self) -> bool {
        match self {
            Value::Dict(_) | Value::Labels(_) => true,
            Value::Otel(kind, _) => kind != Otel::Array,
            _ => false,
        }
    }

    /// A container of items.
    #[inline]
    pub fn is_sequence(self) -> bool {
        matches!(self, Value::List(_) | Value::Tuple(_) | Value::Otel(Otel::Array, _))
    }

    /// The same kind of container with another node.
    #[must_use]
    pub fn with_node(self, node: Node) -> Value {
        match self {
            Value::Dict(_) => Value::Dict(node),
            Value::List(_) => Value::List(node),
            Value::Tuple(_) => Value::Tuple(node),
            Value::Labels(_) => Value::Labels(node),
            Value::Otel(kind, _) => Value::Otel(kind, node),
            Value::Pubsub(_) => Value::Pubsub(node),
            other => other,
        }
    }

    /// The text of a string, bytes or protobuf value.
    pub fn span(self) -> Option<Span> {
        match self {
            Value::String(span) | Value::Bytes(span) | Value::Protobuf(span) => Some(span),
            _ => None,
        }
    }

    pub fn moment(self) -> Option<Moment> {
        match self {
            Value::Datetime { offset, micros } => {
                Some(Moment { micros, offset: offset.seconds(), source: offset.source() })
            }
            _ => None,
        }
    }
}

impl From<Moment> for Value {
    fn from(at: Moment) -> Value {
        Value::Datetime { offset: Offset::new(at.offset, at.source), micros: at.micros }
    }
}
