//! Options that every parser has.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Word};

pub static PARSER: Group = Group {
    name: "parser",
    options: &[
        Opt::new(
            "template",
            Kind::Template,
            Preset::Described("`${MESSAGE}`"),
            "The text to parse: a template or the name of one.",
        ),
        Opt::no_effect("internal", "every named parser is counted"),
    ],
};

pub const PREFIX: Opt =
    Opt::new("prefix", Kind::Text, Preset::Text(""), "Put in front of the name of every value.");

/// What becomes of a value that is not of the type it should have: `on-type-error()` of parsers and the
/// global `on-error()`.
pub const ON_ERROR: &[Word] = &[
    Word::new("drop-message", "The message does not match.").alias(&["silently-drop-message"]),
    Word::new("drop-property", "The value is not set.").alias(&["silently-drop-property"]),
    Word::new("fallback-to-string", "The value is set as a string.").alias(&["silently-fallback-to-string"]),
];

pub const ON_TYPE_ERROR: Opt = Opt::new(
    "on-type-error",
    Kind::Choice(ON_ERROR),
    Preset::Global("on-error"),
    "What becomes of a value that is not of its type.",
);

/// Options of parsers that look at whole messages.
pub static PARSER_COUNTED: Group =
    Group { name: "parser", options: &[Opt::no_effect("internal", "every named parser is counted")] };
