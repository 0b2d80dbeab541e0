//! The options of `s3()`.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Word};
use driver_options::SECONDS_MAX;
use driver_options::source_groups::{MULTILINE_OBJECTS, OBJECT_SOURCE, READER, READER_FLAGS};
use driver_options::tls_groups::{SECURE_HTTP, SECURE_HTTP_DIRECT};
use s3_client::options::ACCOUNT;

const OWN: &[Opt] = &[
    Opt::new("prefix", Kind::Text, Preset::Text(""), "What the names of the objects begin with: `\"logs/web/\"`."),
    Opt::new(
        "object-pattern",
        Kind::Text,
        Preset::Described("any"),
        "What their whole names look like: `*` stands for anything, slashes too, `?` for one character. `\"*.log.gz\"`.",
    )
    .sample("\"*.gz\""),
    Opt::new("start-after", Kind::Text, Preset::Text(""), "Only objects whose names come after this one, byte by byte."),
    Opt::new(
        "object-order",
        Kind::Choice(&[
            Word::new("any", "Names come in any order: all names are looked through each time."),
            Word::new(
                "ascending",
                "Each name is greater than those before, byte by byte: only what comes after the last one is looked for. One that comes later \
                 with a smaller name is never read.",
            ),
        ]),
        Preset::Text("any"),
        "In what order names come.",
    ),
    Opt::new(
        "sqs-url",
        Kind::Text,
        Preset::None,
        "A queue of SQS that gets the bucket's notifications (`s3:ObjectCreated:*`), directly, through a topic of SNS or from EventBridge: the \
         objects that its messages tell of are read, in the place of looks at the bucket. A message is deleted when all its objects are finished.",
    )
    .sample("\"http://127.0.0.1:9/1/logs\""),
    Opt::new(
        "ack-deadline",
        Kind::Seconds { min: 10, max: 43_200 },
        Preset::Int(300),
        "With sqs-url(): how long the queue keeps a message from others when it hears nothing, because the collector was killed, say. While a \
         message waits here the queue is asked to wait longer.",
    ),
    Opt::new(
        "follow-freq",
        Kind::Seconds { min: 1, max: SECONDS_MAX },
        Preset::Int(30),
        "Seconds between two looks at the bucket. Listing a thousand names is one request.",
    ),
    Opt::new(
        "when-read",
        Kind::Choice(&[
            Word::new("keep", "It stays; that it was read stands in the state file."),
            Word::new("delete", "It is deleted."),
            Word::new("move", "It is copied to a name that begins with move-prefix(), and deleted."),
        ]),
        Preset::Text("keep"),
        "What becomes of an object when all its messages are dealt with by the destinations. With `delete` and `move` the bucket says what is \
         still to be read, however names and times come.",
    )
    .sample("move"),
    Opt::new(
        "move-prefix",
        Kind::Text,
        Preset::None,
        "With when-read(move): what the new name begins with, in the place of prefix(). Not to begin with prefix(), or the object would be read \
         again.",
    )
    .sample("\"read/\""),
    Opt::new(
        "compression",
        Kind::Choice(&[
            Word::new("auto", "The first bytes of each object say."),
            Word::new("none", "Not at all: they are text whatever they look like."),
            Word::new("gzip", "With gzip, in one member or several."),
            Word::new("zstd", "With zstd, in one frame or several."),
        ]),
        Preset::Text("auto"),
        "How objects are compressed.",
    ),
    Opt::new(
        "unreadable",
        Kind::Choice(&[
            Word::new("drop", "What came before stays, the rest counts as one dropped message, and the object as read; it is not deleted."),
            Word::new("hold", "It is tried again every time-reopen() seconds, and stands in the way of no other."),
        ]),
        Preset::Text("drop"),
        "What to do with an object that cannot be unpacked to its end.",
    ),
    Opt::new("download-threads", Kind::Int { min: 1, max: 64 }, Preset::Int(4), "Objects that are read at the same time. Each is read in order."),
    Opt::new(
        "store-metadata",
        Kind::Bool,
        Preset::Bool(true),
        "Give each message `.s3.bucket`, `.s3.key`, `.s3.offset` (where it begins in the object, unpacked; not with encoding()), `.s3.size` and \
         `.s3.last_modified` (milliseconds since 1970). What no log path reads costs nothing.",
    ),
    Opt::new(
        "time-reopen",
        Kind::Seconds { min: 0, max: SECONDS_MAX },
        Preset::Global("time-reopen"),
        "The longest pause, in seconds, between two attempts while the server is away or gives nothing.",
    ),
];

pub static S3: Component = Component {
    context: Context::Source,
    name: "s3",
    aliases: &[],
    positional: &[],
    groups: &[
        &ACCOUNT,
        &READER_FLAGS,
        &READER,
        &MULTILINE_OBJECTS,
        &OBJECT_SOURCE,
        &SECURE_HTTP,
        &SECURE_HTTP_DIRECT,
    ],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Reads the objects of a bucket of S3 or of any server that speaks its protocol, line by line, those that are compressed too. Each line \
              is read as a syslog message; `flags(no-parse)` takes it whole. An object is finished when all its messages are dealt with by \
              the destinations; after a kill reading goes on where that ended. See docs/s3.md.",
    example: "s3(url(\"https://s3.example.com\") bucket(\"logs\") access-key(\"key\") secret-key(\"secret\") prefix(\"web/\") object-pattern(\"*.gz\") \
              flags(no-parse))",
    cost: Some(Cost::elsewhere(
        "As `file()`, two copies of each byte, a request for each object and for every 2 MiB of it, and unpacking what is compressed.",
    )),
};
