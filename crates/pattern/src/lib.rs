//! Matchers of the configuration language: PCRE patterns, plain strings and globs, each on the cheapest
//! engine that gives PCRE's answer.
//!
//! A pattern is read once by PCRE2 (so that its errors are PCRE's) and once by our own reader. What the
//! reader understands completely runs on comparison, memmem, aho-corasick or a linear-time engine; everything
//! else (look-around, back references, possessive quantifiers ...) runs on PCRE2 with a match limit. Nothing
//! here allocates per match once the worker's [`Cache`] is warm, and nothing is shared between workers but
//! immutable tables.

mod cache;
mod charset;
mod class;
mod emit;
mod error;
mod escape;
mod first;
mod front;
mod glob;
mod linear;
mod literal;
mod memo;
mod multi;
mod needle;
mod node;
mod options;
mod parse;
mod pattern;
mod pcre;
mod required;
mod sequence;
mod simplify;
mod slots;
mod tail;

#[cfg(test)]
mod differential;

pub use cache::Cache;
pub use error::PatternError;
pub use memo::{Remembered, TextMemo};
pub use multi::{MultiPattern, PATTERNS_MAX};
pub use needle::Needle;
pub use options::{FLAG_NAMES, KIND_NAMES, Kind, PatternOptions};
pub use pattern::{Cursor, Engine, Pattern, given_up};
pub use slots::Slots;

/// Stable codes of this crate: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "X0101",
        "a regular expression is not valid",
        "The text is not a pattern PCRE2 understands. The message is PCRE2's own, with the byte where it stopped.",
    ),
    (
        "X0102",
        "a pattern is too long",
        "Patterns are limited to 64 KiB of text. Use in-list() or several filters for long lists.",
    ),
    (
        "X0103",
        "a flag does not go with this type of pattern",
        "`prefix` and `substring` belong to type(string), `newline`, `disable-jit` and `dupnames` to type(pcre).",
    ),
    (
        "X0104",
        "unknown type of pattern",
        "type() takes pcre, string or glob; posix was removed long ago, pcre reads the same patterns.",
    ),
    ("X0105", "unknown flag of a pattern", "flags() takes the names listed in the message."),
];
