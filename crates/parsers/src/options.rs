//! Options that every parser has.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

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
