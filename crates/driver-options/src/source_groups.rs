//! Option groups of sources: every source, and sources that read and parse messages.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Word};

use super::hook_commands::HOOK_COMMANDS;
use super::socket_groups::EBPF;
use super::words::{DNS_WORDS, FORMATS, SOURCE_FLAGS, STDIN_FLAGS};
use super::{INT_MAX, SECONDS_MAX};

/// The largest message: a named bound for what one peer can make the program hold.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 30;

pub static SOURCE: Group = Group { name: "every source", options: SOURCE_OPTIONS };

/// The same for sources that have a past.
pub static FILE_SOURCE: Group = Group { name: "every source", options: &source_with(READ_OLD_RECORDS) };

/// The same for the journal.
pub static JOURNAL_SOURCE: Group = Group { name: "every source", options: &source_with(READ_OLD_ENTRIES) };

/// The same for sources with ports.
pub static NETWORK_SOURCE: Group = Group { name: "every source", options: &source_with(EBPF) };

/// Takes the place of what has no effect elsewhere.
const READ_OLD_RECORDS: Opt = Opt::new(
    "read-old-records",
    Kind::Bool,
    Preset::Bool(true),
    "Read what stood in a file before it was followed for the first time. With `no`, files that are there at the first start are \
     read from their ends; files that come later are read whole.",
);

/// The same for queues of messages.
pub static QUEUE_SOURCE: Group = Group { name: "every source", options: &source_with(READ_OLD_MESSAGES) };

const READ_OLD_MESSAGES: Opt = Opt::new(
    "read-old-records",
    Kind::Bool,
    Preset::Bool(false),
    "Where there is no bookmark, read from the first message there is. With `no`, reading begins with what comes from then on.",
);

/// The same for objects of a bucket.
pub static OBJECT_SOURCE: Group = Group { name: "every source", options: &source_with(READ_OLD_OBJECTS) };

const READ_OLD_OBJECTS: Opt = Opt::new(
    "read-old-records",
    Kind::Bool,
    Preset::Bool(true),
    "Read the objects that are there at the first start. With `no`, only those that are written from then on.",
);

const READ_OLD_ENTRIES: Opt = Opt::new(
    "read-old-records",
    Kind::Bool,
    Preset::Bool(true),
    "Read what the journal held before it was read for the first time. With `no`, reading begins with what comes from then on.",
);

const fn source_with(own: Opt) -> [Opt; SOURCE_OPTIONS.len()] {
    let mut all = [own; SOURCE_OPTIONS.len()];
    let mut i = 0;
    while i < all.len() {
        if !is_same(SOURCE_OPTIONS[i].name, own.name) {
            all[i] = SOURCE_OPTIONS[i];
        }
        i += 1;
    }
    all
}

const fn is_same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut i = 0;
    while i < a.len() && i < b.len() && a[i] == b[i] {
        i += 1;
    }
    a.len() == b.len() && i == a.len()
}

const SOURCE_OPTIONS: &[Opt] = &[
    Opt::new(
        "log-iw-size",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Described("as many as the memory budget allows"),
        "The most messages of this source that may be on their way through the program at once. Its connections have it \
             together: one that is busy gets nearly all of it while the others are quiet, and each of them still has its part at once \
             (docs/limits.md).",
    ),
    Opt::new(
        "keep-hostname",
        Kind::Bool,
        Preset::Global("keep-hostname"),
        "Trust the host name in the message. With `no`, HOST is the sender as the network sees it.",
    ),
    Opt::new(
        "chain-hostnames",
        Kind::Bool,
        Preset::Global("chain-hostnames"),
        "Put the sender's name beside the host name of the message (`message/sender`), at every hop.",
    )
    .old(&["long-hostnames"]),
    Opt::new(
        "keep-timestamp",
        Kind::Bool,
        Preset::Global("keep-timestamp"),
        "Trust the timestamp of the message. With `no`, the time of reception takes its place.",
    ),
    Opt::new(
        "use-dns",
        Kind::BoolOr(DNS_WORDS),
        Preset::Global("use-dns"),
        "Look up the sender's name. No core ever waits for an answer: datagrams have the address for a name until \
             it is there, a connection is read once it is there, or after two seconds under its address.",
    ),
    Opt::new(
        "dns-cache",
        Kind::Bool,
        Preset::Global("dns-cache"),
        "Keep answers of the name service for a while.",
    ),
    Opt::new(
        "use-fqdn",
        Kind::Bool,
        Preset::Global("use-fqdn"),
        "Use full host names with the domain, not the part before the first dot.",
    ),
    Opt::new(
        "normalize-hostnames",
        Kind::Bool,
        Preset::Global("normalize-hostnames"),
        "Write looked-up host names in lower case.",
    ),
    Opt::new("host-override", Kind::Text, Preset::None, "HOST of every message of this source."),
    Opt::new("program-override", Kind::Text, Preset::None, "PROGRAM of every message of this source."),
    Opt::new(
        "use-syslogng-pid",
        Kind::Bool,
        Preset::Bool(false),
        "PID of every message is that of this program.",
    ),
    Opt::new("tags", Kind::TextList, Preset::None, "Tags every message of this source gets. Collects.")
        .collects(),
    Opt::new(
        "persist-name",
        Kind::Text,
        Preset::Described("made from the driver and its address"),
        "The name under which connections and positions are found again after a reload. Needed when two \
             drivers are otherwise alike.",
    ),
    Opt::no_effect("read-old-records", "this source has no records from before the start"),
    Opt::no_effect("internal", "counters of every source are shown alike"),
    Opt::new(
        "log-prefix",
        Kind::Text,
        Preset::None,
        "PROGRAM of every message of this source: the text up to its last colon.",
    )
    .obsolete("write `program-override(\"...\")`"),
    HOOK_COMMANDS,
    Opt::no_effect("ebpf", "this source has no port that several sockets could share"),
];

const HELP_FLAGS: &str = "How records are read. Collects.";

const READER_OPTIONS: &[Opt] = &[
    Opt::new(
        "log-msg-size",
        Kind::Size { min: 1, max: MESSAGE_BYTES_MAX },
        Preset::Global("log-msg-size"),
        "The longest message in bytes. What is longer is cut, split or refused, as the framing says.",
    ),
    Opt::new(
        "trim-large-messages",
        Kind::Bool,
        Preset::Global("trim-large-messages"),
        "Cut a message whose length comes before it to log-msg-size() and go on with the next one, instead of closing the connection.",
    ),
    Opt::new(
        "log-fetch-limit",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Described("as many as one read brings"),
        "The most messages taken from one connection before others have their turn.",
    ),
    Opt::new(
        "format",
        Kind::Choice(FORMATS),
        Preset::Text("syslog"),
        "The message format. `flags(no-parse)` takes records as they are.",
    ),
    Opt::new(
        "encoding",
        Kind::Encoding,
        Preset::Described("as received"),
        "The character encoding of the input; it is turned into UTF-8.",
    ),
    Opt::new(
        "time-zone",
        Kind::Zone,
        Preset::Global("recv-time-zone"),
        "The zone of timestamps that do not say one, and of the time of receipt where it stands for one.",
    ),
    Opt::new(
        "default-severity",
        Kind::Severity,
        Preset::Text("notice"),
        "Severity of messages without a priority.",
    )
    .alias(&["default-level", "default-priority"]),
    Opt::new(
        "default-facility",
        Kind::Facility,
        Preset::Text("user"),
        "Facility of messages without a priority.",
    ),
    Opt::new(
        "check-hostname",
        Kind::Bool,
        Preset::Global("check-hostname"),
        "A host name with characters no host name has is not taken for one.",
    ),
    Opt::new(
        "check-program",
        Kind::Bool,
        Preset::Global("check-program"),
        "A program name with characters no program name has is not taken for one.",
    ),
    Opt::new(
        "sdata-prefix",
        Kind::Text,
        Preset::Text(".SDATA."),
        "What stands before the names of structured data values, at most 128 bytes.",
    ),
];

/// Of them, the ones about connections and lines.
const OF_STREAMS: usize = 3;

/// For sources whose messages come whole.
pub static MESSAGE_FORMAT: Group =
    Group { name: "reading messages", options: READER_OPTIONS.split_at(OF_STREAMS).1 };

pub static READER: Group = Group { name: "reading messages", options: READER_OPTIONS };

pub static READER_FLAGS: Group = Group {
    name: "how records are read",
    options: &[Opt::new("flags", Kind::Flags(SOURCE_FLAGS), Preset::None, HELP_FLAGS)],
};

pub static STDIN_READER_FLAGS: Group = Group {
    name: "how records are read",
    options: &[Opt::new("flags", Kind::Flags(STDIN_FLAGS), Preset::None, HELP_FLAGS)],
};

/// Refused as a group: lines that belong together are not joined yet.
pub static MULTILINE: Group = Group {
    name: "several lines a message",
    options: &[
        Opt::not_yet("multi-line-mode", JOIN),
        Opt::not_yet("multi-line-prefix", JOIN),
        Opt::not_yet("multi-line-garbage", JOIN),
        Opt::not_yet("multi-line-suffix", JOIN),
        Opt::not_yet("multi-line-timeout", JOIN),
    ],
};

const MULTI_LINE_MODE: Opt = Opt::new(
    "multi-line-mode",
    Kind::Choice(MULTI_LINE_MODES),
    Preset::Text("none"),
    "How lines that belong together are told. A message is complete when the next one begins, or after \
     multi-line-timeout(). A line costs about as much as one more filter expression.",
);

const MULTI_LINE_PREFIX: Opt =
    Opt::new("multi-line-prefix", Kind::Regexp, Preset::None, "How the first line of a message looks.");

const MULTI_LINE_GARBAGE: Opt = Opt::new(
    "multi-line-garbage",
    Kind::Regexp,
    Preset::None,
    "What ends a message. In the mode `prefix-garbage` it is dropped, with all that follows it up to the next prefix; \
     in the mode `prefix-suffix` it is the end of the message.",
)
.alias(&["multi-line-suffix"]);

/// For sources of files.
pub static MULTILINE_FILE: Group = Group {
    name: "several lines a message",
    options: &[
        MULTI_LINE_MODE,
        MULTI_LINE_PREFIX,
        MULTI_LINE_GARBAGE,
        Opt::new(
            "multi-line-timeout",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(0),
            "Take what is there as a message when nothing was added for so many seconds, looked at once a second; 0 waits for the \
             next message.",
        ),
    ],
};

/// For objects, which are whole.
pub static MULTILINE_OBJECTS: Group = Group {
    name: "several lines a message",
    options: &[
        MULTI_LINE_MODE,
        MULTI_LINE_PREFIX,
        MULTI_LINE_GARBAGE,
        Opt::no_effect("multi-line-timeout", "the end of an object ends its last message"),
    ],
};

/// For pipes and other streams.
pub static MULTILINE_STREAM: Group = Group {
    name: "several lines a message",
    options: &[
        MULTI_LINE_MODE,
        MULTI_LINE_PREFIX,
        MULTI_LINE_GARBAGE,
        Opt::not_yet(
            "multi-line-timeout",
            "remove it: of a stream, a message is complete when the next one begins or the stream ends",
        ),
    ],
};

const MULTI_LINE_MODES: &[Word] = &[
    Word::new("none", "Each line is a message."),
    Word::new("indented", "A line that begins with a blank or a tab, or is empty, belongs to the one before it."),
    Word::new(
        "prefix-garbage",
        "A message begins where multi-line-prefix() matches; what comes after multi-line-garbage() is dropped.",
    )
    .alias(&["regexp"]),
    Word::new("prefix-suffix", "A message begins where multi-line-prefix() matches and ends where multi-line-suffix() does."),
    Word::new("empty-line-separated", "An empty line ends a message."),
    Word::new(
        "smart",
        "A backtrace is one message, every other line is one of its own: those of Java and its kin, .NET, JavaScript, Python, Go, Ruby, \
         PHP, Dart and Rust.",
    ),
];

/// Options of things that a source makes; a file is only read.
pub static NOT_MADE: Group = Group {
    name: "owner and permissions",
    options: &[
        Opt::no_effect("owner", NOT_MADE_HELP),
        Opt::no_effect("group", NOT_MADE_HELP),
        Opt::no_effect("perm", NOT_MADE_HELP),
        Opt::no_effect("dir-owner", NOT_MADE_HELP),
        Opt::no_effect("dir-group", NOT_MADE_HELP),
        Opt::no_effect("dir-perm", NOT_MADE_HELP),
        Opt::no_effect("create-dirs", NOT_MADE_HELP),
    ],
};

const NOT_MADE_HELP: &str = "the file is read, not made";

const JOIN: &str =
    "remove it: each line is a message; senders that use octet counting may have several lines in one";

/// For sources that have no connections.
pub static NO_CONNECTIONS: Group = Group {
    name: "without connections",
    options: &[Opt::no_effect("idle-timeout", "this source has no connection that could be idle")],
};

pub const IDLE_TIMEOUT: Opt = Opt::new(
    "idle-timeout",
    Kind::Seconds { min: 0, max: SECONDS_MAX },
    Preset::Int(0),
    "Close a connection on which nothing came for so many seconds; 0 never does.",
);
