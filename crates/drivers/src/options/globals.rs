//! The global `options { }`.

use super::gone;
use conf_schema::{Component, Context, Group, Kind, OptionSpec as Opt, Preset};

use driver_options::console_groups::CONSOLE;
use driver_options::disk_buffer::{DEAD_LETTERS, GLOBAL_DISK_BUFFER, KEEP_ON_STOP};
use driver_options::health_groups::HEALTH;
use driver_options::sandbox_group::SANDBOX;
use driver_options::words::{DNS_WORDS, LOG_LEVELS, MARK_MODES, TS_FORMATS};
use driver_options::{INT_MAX, SECONDS_MAX};

const SECONDS: Kind = Kind::Seconds { min: 0, max: SECONDS_MAX };
pub(super) const STATS: &str = "every counter is always kept; `syslog-ng-ctl stats` shows them";

pub static OPTIONS: Component = Component {
    context: Context::Options,
    name: "options",
    aliases: &[],
    positional: &[],
    groups: &[&TIME, &HOSTS, &OUTPUT, &LIMITS, &FILES, &PROGRAM, &SANDBOX, &gone::GONE],
    own: &[],
    presets: &[],
    not_yet: &[],
    summary: "Options of the whole program. Drivers take them over unless they say otherwise. Several `options { }` \
              are merged; the last one wins.",
    example: "options { keep-hostname(yes); use-dns(no); create-dirs(yes); perm(0640); };",
    cost: None,
};

static TIME: Group = Group {
    name: "time",
    options: &[
        Opt::new(
            "keep-timestamp",
            Kind::Bool,
            Preset::Bool(true),
            "Trust the timestamp of messages. With `no`, the time of reception takes its place.",
        ),
        Opt::new(
            "ts-format",
            Kind::Choice(TS_FORMATS),
            Preset::Text("rfc3164"),
            "How timestamps look in `${STAMP}` and in the default layout of files.",
        ),
        Opt::new(
            "frac-digits",
            Kind::Int { min: 0, max: 6 },
            Preset::Int(0),
            "Digits after the second in timestamps.",
        ),
        Opt::new(
            "recv-time-zone",
            Kind::Zone,
            Preset::Described("the zone of this machine"),
            "The zone of received timestamps that do not say one.",
        ),
        Opt::new(
            "send-time-zone",
            Kind::Zone,
            Preset::Described("the zone of the message"),
            "The zone timestamps are written in.",
        )
        .alias(&["time-zone"]),
        Opt::new(
            "local-time-zone",
            Kind::Zone,
            Preset::Described("the zone of this machine"),
            "The zone of date macros in file names.",
        ),
    ],
};

static HOSTS: Group = Group {
    name: "host names",
    options: &[
        Opt::new(
            "keep-hostname",
            Kind::Bool,
            Preset::Bool(false),
            "Trust the host name in messages. With `no`, HOST is the sender as the network sees it.",
        ),
        Opt::new(
            "chain-hostnames",
            Kind::Bool,
            Preset::Bool(false),
            "Put the sender's name beside the host name of the message, at every hop.",
        )
        .old(&["long-hostnames"]),
        Opt::new("use-fqdn", Kind::Bool, Preset::Bool(false), "Use full host names with the domain."),
        Opt::new(
            "use-dns",
            Kind::BoolOr(DNS_WORDS),
            Preset::Bool(true),
            "Look up the names of senders. Reading never waits for an answer: until it is there, the address stands \
             for the name.",
        ),
        Opt::new(
            "dns-cache",
            Kind::Bool,
            Preset::Bool(true),
            "Keep answers of the name service for a while.",
        ),
        Opt::new(
            "dns-cache-size",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(1007),
            "How many answers are kept.",
        ),
        Opt::new("dns-cache-expire", SECONDS, Preset::Int(3600), "Seconds a name is kept."),
        Opt::new(
            "dns-cache-expire-failed",
            SECONDS,
            Preset::Int(60),
            "Seconds for which an address without a name is not asked for again.",
        ),
        Opt::new(
            "dns-cache-hosts",
            Kind::Path,
            Preset::None,
            "A file of names in the format of `/etc/hosts` that come before the name service. It is read again when \
             it changes.",
        ),
        Opt::new(
            "normalize-hostnames",
            Kind::Bool,
            Preset::Bool(false),
            "Write looked-up host names in lower case.",
        ),
        Opt::new(
            "custom-domain",
            Kind::Text,
            Preset::Described("what the system says"),
            "The domain of this machine, for use-fqdn().",
        ),
        Opt::new(
            "bad-hostname",
            Kind::Regexp,
            Preset::None,
            "A host name in a message that matches this regular expression is not taken for one.",
        ),
        Opt::new(
            "check-hostname",
            Kind::Bool,
            Preset::Bool(false),
            "A host name with characters no host name has is not taken for one.",
        ),
        Opt::new(
            "check-program",
            Kind::Bool,
            Preset::Bool(false),
            "A program name with characters no program name has is not taken for one.",
        ),
    ],
};

static OUTPUT: Group = Group {
    name: "output",
    options: &[
        Opt::new(
            "file-template",
            Kind::Template,
            Preset::Described("the default layout"),
            "The template of files, pipes, programs and terminals that say none.",
        ),
        Opt::new(
            "proto-template",
            Kind::Template,
            Preset::Described("the default layout"),
            "The template of network and unix socket destinations that say none.",
        ),
        Opt::new(
            "on-error",
            Kind::Choice(parsers::ON_ERROR),
            Preset::Text("drop-message"),
            "What becomes of a value that a parser cannot turn into the type it should have.",
        ),
        Opt::new(
            "suppress",
            SECONDS,
            Preset::Int(0),
            "Replace repetitions of a message within so many seconds by a count; 0 does not.",
        ),
        Opt::new("mark-freq", SECONDS, Preset::Int(1200), "Seconds between marks; 0 writes none.")
            .old(&["mark"]),
        Opt::new(
            "mark-mode",
            Kind::Choice(MARK_MODES),
            Preset::Text("host-idle"),
            "When a MARK line is written. Files, programs and unix sockets write none unless they say so themselves.",
        ),
        Opt::new(
            "flush-lines",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Described("as many as are waiting"),
            "The most messages in one write.",
        )
        .old(&["sync", "sync-freq"]),
        Opt::new(
            "time-reopen",
            SECONDS,
            Preset::Int(60),
            "Seconds to wait after a failure before a destination is opened again.",
        ),
        Opt::new(
            "time-reap",
            SECONDS,
            Preset::Int(60),
            "Close files with macros in their name after so many seconds without a message; 0 never does.",
        ),
    ],
};

static LIMITS: Group = Group {
    name: "limits and flow",
    options: &[
        Opt::new(
            "log-msg-size",
            Kind::Size { min: 1, max: 1 << 30 },
            Preset::Int(65536),
            "The longest message in bytes.",
        ),
        Opt::new(
            "trim-large-messages",
            Kind::Bool,
            Preset::Bool(false),
            "Cut a message whose length comes before it to log-msg-size() and go on with the next one, instead of closing the connection.",
        ),
        Opt::new(
            "log-fifo-size",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Described("as many as the memory budget allows"),
            "The most messages that may wait for a destination.",
        ),
        DEAD_LETTERS,
        KEEP_ON_STOP,
        GLOBAL_DISK_BUFFER,
        Opt::new(
            "log-flow-control",
            Kind::Bool,
            Preset::Bool(false),
            "Flow control on every log path that does not say flags(no-flow-control).",
        ),
        Opt::new(
            "min-iw-size-per-reader",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(100),
            "No fair part of log-iw-size() is less: see docs/limits.md.",
        ),
    ],
};

static FILES: Group = Group {
    name: "files",
    options: &[
        Opt::new(
            "create-dirs",
            Kind::Bool,
            Preset::Bool(false),
            "Make missing folders of files that are written.",
        ),
        Opt::new("owner", Kind::Owner, Preset::None, "Owner of files; `owner()` leaves it."),
        Opt::new("group", Kind::Group, Preset::None, "Group of files; `group()` leaves it."),
        Opt::new("perm", Kind::Perm, Preset::Perm(0o600), "Mode of files; `perm()` leaves it."),
        Opt::new("dir-owner", Kind::Owner, Preset::None, "Owner of folders that are made."),
        Opt::new("dir-group", Kind::Group, Preset::None, "Group of folders that are made."),
        Opt::new("dir-perm", Kind::Perm, Preset::Perm(0o700), "Mode of folders that are made."),
    ],
};

static PROGRAM: Group = Group {
    name: "the program",
    options: &[
        Opt::new(
            "log-level",
            Kind::Choice(LOG_LEVELS),
            Preset::Text("default"),
            "How much the program says of itself.",
        ),
        #[cfg(feature = "python")]
        Opt::new(
            "python-workers",
            Kind::Int { min: 1, max: 256 },
            Preset::Described("as many as cores"),
            "Processes that run the Python of the configuration. With 1 all messages come to the same objects, one after the other.",
        ),
        #[cfg(feature = "python")]
        Opt::new(
            "python-timeout",
            Kind::Seconds { min: 1, max: SECONDS_MAX },
            Preset::Int(60),
            "Seconds that Python may take for a batch of up to 512 messages, and for each import or init(). A process that takes longer is \
             replaced, and its messages are run again one by one.",
        ),
        #[cfg(feature = "python")]
        Opt::new(
            "python-memory",
            Kind::Size { min: 0, max: 1 << 40 },
            Preset::Described("1 GiB"),
            "Bytes of memory that a Python process may have, 0 for no bound. One that has grown beyond it is replaced after its batch; one that takes twice as \
             much for one batch gets a MemoryError, and its messages are run again one by one.",
        ),
        Opt::new(
            "console",
            Kind::Block(CONSOLE),
            Preset::None,
            "Metrics, health, the ledger and a page for people over HTTP: see docs/console.md. Without it, and without `--console`, nothing \
             is opened.",
        )
        .sample("port(9514)"),
        Opt::new(
            "health",
            Kind::Block(HEALTH),
            Preset::None,
            "From when on the program says that it is not well: `penstock ctl healthcheck`, `/healthz` and `/readyz`, see docs/ledger.md.",
        )
        .sample("waits(60)"),
        Opt::new(
            "keep-input",
            Kind::Size { min: 1 << 20, max: 1 << 50 },
            Preset::None,
            "How much of what came last is kept as it came, in the state folder, so that `penstock replay` can send it again: see docs/replay.md.",
        )
        .sample("1GiB"),
        Opt::new("stats", Kind::Block(&[&COUNTERS]), Preset::None, "What is counted.")
            .number_means("stats-freq"),
        Opt::new("stats-freq", SECONDS, Preset::Int(600), "As `stats(freq())`."),
        Opt::new("stats-level", Kind::Int { min: 0, max: 255 }, Preset::None, "As `stats(level())`.")
            .obsolete("write `stats(level())`"),
        Opt::new(
            "stats-max-dynamics",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::None,
            "As `stats(max-dynamics())`.",
        )
        .obsolete("write `stats(max-dynamics())`"),
        Opt::new(
            "use-uniqid",
            Kind::Bool,
            Preset::Bool(false),
            "Number received messages: `${RCPTID}` and `${UNIQID}`.",
        )
        .old(&["use-rcptid"]),
    ],
};

static COUNTERS: Group = Group {
    name: "statistics",
    options: &[
        Opt::new(
            "level",
            Kind::Int { min: 0, max: 255 },
            Preset::Int(0),
            "The highest `level()` of a `metrics-probe()` that counts. Every other counter is always kept.",
        ),
        Opt::new(
            "max-dynamics",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Described("100000"),
            "How many counters `metrics-probe()` may make. Messages for further ones are not counted; that is said once.",
        ),
        Opt::new(
            "freq",
            SECONDS,
            Preset::Described("that of stats-freq()"),
            "Seconds between the lines `Log statistics; ...` of the program's own log, which internal() hands on; 0 writes none.",
        ),
        Opt::no_effect("lifetime", STATS),
        Opt::no_effect("syslog-stats", STATS),
        Opt::no_effect("healthcheck-freq", STATS),
    ],
};
