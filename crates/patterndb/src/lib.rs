//! Pattern databases: what a message is, told by comparing it with the patterns of known messages.
//!
//! [`load`] reads the XML, [`Rules`] is what is made of it: one tree of patterns for each program, searched
//! once a message. Values and what else a rule does are for others to apply.

pub mod cluster;
pub mod load;
pub mod model;
pub mod overlap;
pub mod pattern_text;
pub mod rules;
mod sample;
mod scan;
pub mod tree;
pub mod write;
mod xml;

pub use load::{Loaded, load, load_file};
pub use rules::Rules;
pub use tree::{Capture, Search};

/// Stable codes of this crate: (code, title, what it means and what to do).
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "A0201",
        "a pattern database is no XML",
        "The file is not well-formed, or uses entities. The message says where; an XML editor shows more.",
    ),
    ("A0202", "a pattern database cannot be read", "The file could not be opened, or is too large."),
    (
        "A0203",
        "wrong structure of a pattern database",
        "An element stands where it cannot, or one that has to be there is missing.",
    ),
    (
        "A0204",
        "version of a pattern database",
        "The format has versions; those up to 6 are known. Say which one the file has: `<patterndb version='6'>`.",
    ),
    (
        "A0205",
        "wrong attribute in a pattern database",
        "An attribute is missing or has a value it cannot have.",
    ),
    (
        "A0206",
        "wrong pattern in a pattern database",
        "Patterns that are left out or stand for another rule already, and values that cannot be set, are named in the notes; other patterns of the rule still match. `@` begins a parser, `@@` is an at sign.",
    ),
    (
        "A0207",
        "two rules with one pattern",
        "The pattern stands for the first of the two rules; the second is never reached by it.",
    ),
    (
        "A0208",
        "wrong template in a pattern database",
        "The template of a value or context does not compile, or its type is not known.",
    ),
];
