//! Sets of types: what is known of a value before there is a message.

use value::{Otel, Value};

/// A set of types, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Types(u32);

impl Types {
    pub const NULL: Types = Types(1);
    pub const BOOLEAN: Types = Types(1 << 1);
    pub const INTEGER: Types = Types(1 << 2);
    pub const DOUBLE: Types = Types(1 << 3);
    pub const STRING: Types = Types(1 << 4);
    pub const BYTES: Types = Types(1 << 5);
    pub const PROTOBUF: Types = Types(1 << 6);
    pub const DATETIME: Types = Types(1 << 7);
    pub const DICT: Types = Types(1 << 8);
    pub const LIST: Types = Types(1 << 9);
    pub const TUPLE: Types = Types(1 << 10);
    pub const LABELS: Types = Types(1 << 11);
    pub const IP: Types = Types(1 << 12);
    pub const SUBNET: Types = Types(1 << 13);
    pub const OTEL_LOGRECORD: Types = Types(1 << 14);
    pub const OTEL_RESOURCE: Types = Types(1 << 15);
    pub const OTEL_SCOPE: Types = Types(1 << 16);
    pub const OTEL_KVLIST: Types = Types(1 << 17);
    pub const OTEL_ARRAY: Types = Types(1 << 18);
    pub const PUBSUB_MESSAGE: Types = Types(1 << 19);
    pub const ANY: Types = Types((1 << 20) - 1);
    /// The value is never there: control goes elsewhere.
    pub const NONE: Types = Types(0);

    pub const NUMBER: Types = Types::INTEGER.or(Types::DOUBLE);
    pub const BINARY: Types = Types::STRING.or(Types::BYTES).or(Types::PROTOBUF);
    pub const SEQUENCE: Types = Types::LIST.or(Types::TUPLE).or(Types::OTEL_ARRAY);
    pub const MAPPING: Types = Types::DICT.or(Types::LABELS).or(Types::OTEL);
    /// Messages of OpenTelemetry that have fields.
    pub const OTEL: Types =
        Types::OTEL_LOGRECORD.or(Types::OTEL_RESOURCE).or(Types::OTEL_SCOPE).or(Types::OTEL_KVLIST);
    const SINGLE_COUNT: usize = 20;

    const NAMES: [(&'static str, Types); 23] = [
        ("null", Types::NULL),
        ("boolean", Types::BOOLEAN),
        ("integer", Types::INTEGER),
        ("double", Types::DOUBLE),
        ("string", Types::STRING),
        ("bytes", Types::BYTES),
        ("protobuf", Types::PROTOBUF),
        ("datetime", Types::DATETIME),
        ("dict", Types::DICT),
        ("list", Types::LIST),
        ("tuple", Types::TUPLE),
        ("metrics_labels", Types::LABELS),
        ("ip", Types::IP),
        ("subnet", Types::SUBNET),
        ("otel_logrecord", Types::OTEL_LOGRECORD),
        ("otel_resource", Types::OTEL_RESOURCE),
        ("otel_scope", Types::OTEL_SCOPE),
        ("otel_kvlist", Types::OTEL_KVLIST),
        ("otel_array", Types::OTEL_ARRAY),
        ("pubsub_message", Types::PUBSUB_MESSAGE),
        ("object", Types::ANY),
        ("mapping", Types::MAPPING),
        ("sequence", Types::SEQUENCE),
    ];

    pub const fn or(self, other: Types) -> Types {
        Types(self.0 | other.0)
    }

    /// These types and no others.
    pub const fn is(self, other: Types) -> bool {
        self.0 == other.0
    }

    pub fn meets(self, other: Types) -> bool {
        self.0 & other.0 != 0
    }

    /// The types that `istype()` calls by this name.
    pub fn named(name: &str) -> Option<Types> {
        Types::NAMES.iter().find(|(known, _)| *known == name).map(|(_, types)| *types)
    }

    pub fn names() -> impl Iterator<Item = &'static str> {
        Types::NAMES.iter().map(|(name, _)| *name)
    }

    pub fn of(value: Value) -> Types {
        match value {
            Value::Null => Types::NULL,
            Value::Boolean(_) => Types::BOOLEAN,
            Value::Integer(_) => Types::INTEGER,
            Value::Double(_) => Types::DOUBLE,
            Value::String(_) => Types::STRING,
            Value::Bytes(_) => Types::BYTES,
            Value::Protobuf(_) => Types::PROTOBUF,
            Value::Datetime { .. } => Types::DATETIME,
            Value::Dict(_) => Types::DICT,
            Value::List(_) => Types::LIST,
            Value::Tuple(_) => Types::TUPLE,
            Value::Labels(_) => Types::LABELS,
            Value::Ip(_) => Types::IP,
            Value::Subnet(_) => Types::SUBNET,
            Value::Json(_) | Value::Unread(..) => Types::ANY,
            Value::Otel(kind, _) => match kind {
                Otel::LogRecord => Types::OTEL_LOGRECORD,
                Otel::Resource => Types::OTEL_RESOURCE,
                Otel::Scope => Types::OTEL_SCOPE,
                Otel::KvList => Types::OTEL_KVLIST,
                Otel::Array => Types::OTEL_ARRAY,
            },
            Value::Pubsub(_) => Types::PUBSUB_MESSAGE,
        }
    }

    /// In words: `integer or double`.
    pub fn describe(self) -> String {
        if self == Types::ANY {
            return "any value".to_owned();
        }
        let single = Types::NAMES.iter().take(Types::SINGLE_COUNT).filter(|(_, types)| self.meets(*types));
        single.map(|(name, _)| *name).collect::<Vec<_>>().join(" or ")
    }
}
