//! The options of `mongodb()`.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset};
use driver_options::batch_groups::BATCHES;
use driver_options::output_groups::{DESTINATION, TEMPLATE};
use driver_options::pairs::PAIRS;

/// The address when nothing else is given.
pub const URI: &str =
    "mongodb://127.0.0.1:27017/syslog?wtimeoutMS=60000&socketTimeoutMS=60000&connectTimeoutMS=60000";
/// Behind an address that the old options make.
pub const URI_OPTIONS: &str = "?wtimeoutMS=60000&socketTimeoutMS=60000&connectTimeoutMS=60000";

const OWN: &[Opt] = &[
    Opt::new(
        "uri",
        Kind::Text,
        Preset::Text(URI),
        "Servers and database, as MongoDB's programs take them: `mongodb://user:password@host1,host2/database?replicaSet=rs0&tls=true`. Special \
         characters of user and password are percent-encoded. Names of servers are not looked up in SRV records.",
    )
    .sample("\"mongodb://127.0.0.1/logs\""),
    Opt::new(
        "collection",
        Kind::Template,
        Preset::Described("`messages`"),
        "The collection, which may have macros in its name: `collection(\"logs_$YEAR\")`.",
    ),
    Opt::new(
        "bulk",
        Kind::Bool,
        Preset::Bool(true),
        "Documents of a batch go in one insert. With `no` each goes alone.",
    ),
    Opt::new(
        "bulk-unordered",
        Kind::Bool,
        Preset::Bool(false),
        "The server goes on behind a document that it refuses, so that several bad ones cost one insert. Their order is not that of the \
         messages then.",
    ),
    Opt::new(
        "bulk-bypass-validation",
        Kind::Bool,
        Preset::Bool(false),
        "Documents that the rules of the collection refuse are taken all the same.",
    ),
    Opt::new(
        "write-concern",
        Kind::Text,
        Preset::Described("what `uri()` says, or the server's own"),
        "How many servers must have a document: `unacked`, `acked`, `majority`, or a number. With `unacked` it counts as delivered when \
         the server has got it, whatever becomes of it there.",
    )
    .sample("majority"),
];

/// From before there was uri().
static OLD: Group = Group {
    name: "old names of the server",
    options: &[
        Opt::new(
            "servers",
            Kind::TextList,
            Preset::None,
            "Names and ports of the servers of a set: write `uri()`.",
        )
        .sample("\"a:27017\" \"b:27017\""),
        Opt::new("host", Kind::Text, Preset::None, "The name of the server: write `uri()`.").sample("a"),
        Opt::new("port", Kind::Port, Preset::None, "The server's port: write `uri()`.").sample("27017"),
        Opt::new("database", Kind::Text, Preset::None, "The database: write `uri()`.").sample("syslog"),
        Opt::new("username", Kind::Text, Preset::None, "The name of the login: write `uri()`.").sample("me"),
        Opt::new("password", Kind::Text, Preset::None, "Its password: write `uri()`.").sample("secret"),
        Opt::new(
            "safe-mode",
            Kind::Bool,
            Preset::None,
            "Whether the server answers: write `write-concern(acked)`, or `unacked` for `no`.",
        )
        .sample("yes"),
    ],
};

pub static MONGODB: Component = Component {
    context: Context::Destination,
    name: "mongodb",
    aliases: &[],
    positional: &[],
    groups: &[&PAIRS, &OLD, &BATCHES, &TEMPLATE, &DESTINATION],
    own: OWN,
    presets: &[("batch-lines", Preset::Int(1000))],
    not_yet: &[],
    summary: "Puts each message into a collection of MongoDB as a document of its values, which keep their types. A message counts as \
              delivered when the server has said so, as write-concern() asks for; a document that it refuses is a dead letter with its words, \
              and the others go on. What is sent again is there once, as it has its id from the beginning. A wrong password or a missing right \
              lets messages wait. See docs/mongodb.md.",
    example: "mongodb(uri(\"mongodb://db.example.com/logs\") collection(\"messages\") \
              value-pairs(scope(\"selected-macros\" \"nv-pairs\") pair(\"DATE\" datetime(\"$UNIXTIME\"))))",
    cost: Some(Cost::elsewhere(
        "Each value copied with its name and type, once more as a document, and by MongoDB's library.",
    )),
};
