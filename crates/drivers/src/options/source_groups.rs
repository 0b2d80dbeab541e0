//! Option groups of sources: every source, and sources that read and parse messages.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

use super::words::{DNS_WORDS, FORMATS, SOURCE_FLAGS, STDIN_FLAGS};
use super::{INT_MAX, SECONDS_MAX};

/// The largest message: a named bound for what one peer can make the program hold.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 30;

pub static SOURCE: Group = Group {
    name: "every source",
    options: &[
        Opt::new(
            "log-iw-size",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Described("as many as the memory budget allows"),
            "The most messages of this source that may be on their way through the program at once. A source with \
             connections shares it between them.",
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
        Opt::not_yet("hook-commands", "start and stop the commands with the service manager"),
        Opt::no_effect("ebpf", "what one socket receives is worked on by all cores"),
    ],
};

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
        "Cut messages longer than log-msg-size() and go on with the next one.",
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
        "The zone of timestamps that do not say one.",
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
