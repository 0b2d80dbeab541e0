//! The table of functions, by topic. A new one is an entry in one of the groups.

mod address;
mod containers;
mod convert;
mod digest;
mod encode;
mod failures;
mod header;
mod json;
mod json_file;
mod labels;
mod metrics;
mod otel;
mod pairs;
mod protobuf;
mod pubsub;
mod regexp;
mod strings;
mod time;
mod variables;
mod xml;

pub(crate) use address::address;
pub(crate) use failures::record_failure;
pub(crate) use labels::{add_label, remove_labels};
pub(crate) use otel::{is_otel_time, put_otel, set_otel, unset_otel};
pub(crate) use pairs::{Known, Piece, Places};
pub(crate) use pubsub::put_pubsub;
pub use variables::is_block_variable;

use crate::function::Function;

/// Every group of functions, in the order of the manual.
pub const GROUPS: &[(&str, &[Function])] = &[
    ("Conversions", convert::FUNCTIONS),
    ("Addresses", address::FUNCTIONS),
    ("Strings", strings::FUNCTIONS),
    ("Regular expressions", regexp::FUNCTIONS),
    ("Containers", containers::FUNCTIONS),
    ("JSON", json::FUNCTIONS),
    ("Pairs, CSV, CEF and LEEF", pairs::FUNCTIONS),
    ("XML", xml::FUNCTIONS),
    ("Time", time::FUNCTIONS),
    ("The header of the message", header::FUNCTIONS),
    ("Digests", digest::FUNCTIONS),
    ("Encodings and ids", encode::FUNCTIONS),
    ("Metrics", labels::FUNCTIONS),
    ("Counters", metrics::FUNCTIONS),
    ("Failures", failures::FUNCTIONS),
    ("OpenTelemetry", otel::FUNCTIONS),
    ("Protocol buffers", &[protobuf::FUNCTION]),
    ("Google Pub/Sub", &[pubsub::FUNCTION]),
];

/// Functions that AxoSyslog once had, refused by name, and what to do instead.
pub(crate) const REMOVED: &[(&str, &str)] = &[("load_vars", "assign the variables by their names")];

pub fn all() -> impl Iterator<Item = &'static Function> {
    GROUPS.iter().flat_map(|(_, group)| group.iter())
}

pub(crate) fn find(name: &str) -> Option<&'static Function> {
    all().find(|function| function.name == name)
}

/// Severities of OpenTelemetry, four of each.
const SEVERITIES: [&str; 6] = ["TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"];

/// The names that `enum()` knows.
pub(crate) fn constants() -> impl Iterator<Item = &'static str> {
    ["otel.SEVERITY_NUMBER_INFO", "otel.SEVERITY_NUMBER_ERROR"].into_iter()
}

/// The number of a name in any case.
pub(crate) fn constant(name: &str) -> Option<i64> {
    let name = name.to_ascii_uppercase();
    let rest = name.strip_prefix("OTEL.SEVERITY_NUMBER_")?;
    if rest == "UNSPECIFIED" {
        return Some(0);
    }
    let (word, step) = match rest.strip_suffix(['2', '3', '4']) {
        Some(word) => (word, rest.get(word.len()..)?.parse::<i64>().ok()? - 1),
        None => (rest, 0),
    };
    let place = SEVERITIES.iter().position(|known| *known == word)?;
    Some(place as i64 * 4 + 1 + step)
}
