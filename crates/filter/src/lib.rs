//! Filter expressions, compiled: `facility(mail) and not program("^postfix") or "${PID}" > 100`.
//!
//! A [`Filter`] narrows a selection of a batch's records, one condition over all of them at a time, so that
//! the loop over a facility is a table look-up and a regular expression runs where the bytes lie.
//! [`FilterSet`] evaluates many sibling filters in one pass. Nothing here allocates per message once a
//! worker's [`FilterContext`] is warm.

mod blank;
mod called;
mod compare;
mod compile;
mod context;
mod env;
mod filter;
mod list;
mod matcher;
mod matches;
mod netmask;
mod node;
mod number;
mod one_of;
mod operators;
mod options;
mod pending;
mod pri;
mod rate;
mod set;
mod sieve;
mod subject;
mod texts;
mod written;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use called::{Called, Tally};
pub use compile::{Example, FUNCTIONS, FunctionInfo, compile_condition};
pub use context::{Fatal, FilterContext, MadeOf, Wanted, Workspace, new_asker};
pub use env::{FILE_BYTES_MAX, FilterEnv, NamedFilters};
pub use filter::Filter;
pub use matches::group_names;
pub use matches::{clear_matches, store_matches};
pub use operators::{OPERATORS, OperatorInfo};
pub use options::{MatcherOptions, template_of, unknown_option, value_of, wrong_pattern};
pub use pending::Pending;
pub use pri::PriTable;
pub use set::FilterSet;
pub use sieve::Sieve;
pub use subject::{Subject, span_in};
pub use written::{Judged, Witness};

/// Stable codes of this crate: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "F0101",
        "unknown filter function",
        "No filter function has this name. The message names the nearest one.",
    ),
    ("F0102", "unknown option of a filter function", "The function does not take this option."),
    (
        "F0103",
        "wrong argument of a filter function",
        "The argument is missing, doubled or not of the kind the function takes.",
    ),
    ("F0104", "no such filter", "filter() refers to a name that no filter statement has."),
    (
        "F0105",
        "filters refer to each other in a circle",
        "A filter cannot contain itself, directly or through others.",
    ),
    (
        "F0106",
        "unknown facility or severity",
        "Names are those of RFC 5424 and their usual aliases; ranges are written a..b.",
    ),
    (
        "F0107",
        "not a network",
        "netmask() takes a.b.c.d, a.b.c.d/bits or a.b.c.d/mask; netmask6() an IPv6 address or address/bits.",
    ),
    (
        "F0108",
        "a list cannot be read",
        "The file of in-list() could not be read when the configuration was compiled.",
    ),
    ("F0109", "wrong rate", "rate() takes a whole number of messages a second, 1 or more."),
    ("F0110", "wrong pattern", "The pattern of a matcher is not valid, see the X01xx codes."),
    ("F0111", "wrong template", "A template in a filter does not compile."),
    (
        "F0112",
        "match() without value() or template()",
        "It looks at `PROGRAM[PID]: MESSAGE` as very old versions did. Say value(\"MESSAGE\") or what is meant.",
    ),
    (
        "F0113",
        "a flag or prefix that does nothing",
        "It is accepted because syslog-ng accepts it, but has no effect here.",
    ),
    (
        "F0114",
        "a comparison with a number in quotes",
        "The quoted number is compared as a number. Write it without quotes, or use eq, ne, lt ... to compare text.",
    ),
    (
        "F0115",
        "unknown type",
        "A type hint is one of string, json, boolean, int, double, datetime, list, null, bytes, protobuf.",
    ),
    ("F0116", "too many names", "The table of names or tags is full."),
    ("F0117", "an old name", "The function still works under its old name, but has a new one."),
    (
        "F0118",
        "a word compared as it stands",
        "In a comparison, a word without quotes is a text like one in quotes: `message == \"x\"` compares the word `message` with `x`, and is \
         never true. Write `\"$MESSAGE\" == \"x\"`, or the filter function `message(\"x\")`, which takes a regular expression. A word that is \
         meant itself stands in quotes.",
    ),
];
