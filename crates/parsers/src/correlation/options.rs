//! Options that correlating parsers share.

use super::Scope;
use conf_schema::{Kind, OptionSpec as Opt, Preset, Word};

const SCOPES: &[Word] = &[
    Word::new("global", "Nothing: the key alone decides."),
    Word::new("host", "HOST."),
    Word::new("program", "HOST and PROGRAM."),
    Word::new("process", "HOST, PROGRAM and PID."),
];

pub const KEY: Opt =
    Opt::new("key", Kind::Template, Preset::None, "What messages that belong together have in common.");

pub const SORT_KEY: Opt = Opt::new(
    "sort-key",
    Kind::Template,
    Preset::None,
    "The messages are put in the order of this text before a message is made of them; by default they stand as they came.",
);

pub const SCOPE: Opt = Opt::new(
    "scope",
    Kind::Choice(SCOPES),
    Preset::Text("global"),
    "What has to be equal beside the key: `global` nothing, `host` HOST, `program` also PROGRAM, `process` also PID.",
);

pub const TIMEOUT: Opt = Opt::new(
    "timeout",
    Kind::Int { min: 1, max: i32::MAX as i64 },
    Preset::None,
    "Seconds after its last message at which a group is closed, by the stamps of the messages that come, or by the clock when none \
     come.",
);

pub const PERSIST_NAME: Opt = Opt::new(
    "persist-name",
    Kind::Text,
    Preset::Described("made from key() and scope()"),
    "The name by which open groups are found again after a reload.",
);

/// The scope a configuration gives.
pub fn scope(settings: &conf_schema::Settings) -> Scope {
    settings.choice("scope").and_then(Scope::named).unwrap_or_default()
}

/// How the state of a parser is known: its persist-name(), or what it groups by.
pub fn state_key(parser: &str, settings: &conf_schema::Settings, scope: Scope) -> String {
    match settings.text("persist-name") {
        Some(name) => name.to_owned(),
        None => {
            let key = settings.template("key").map_or("", |key| &key.text);
            format!("{parser}({key},scope={})", scope.name())
        }
    }
}
