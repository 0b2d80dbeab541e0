//! The `disk-buffer()` block of destinations and of the global options.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

use super::INT_MAX;

/// Of a queue: more than any disk has.
const CAPACITY_MAX: u64 = 1 << 60;
const STATS: &str = "what waits on disk is in the statistics at any time";
const PREALLOC: &str = "space on disk is always taken ahead, 64 MiB at a time";

pub const DISK_BUFFER: Opt = Opt::new(
    "disk-buffer",
    Kind::Block(BUFFER_GROUPS),
    Preset::None,
    "Keep what waits on disk, where it survives the end of the program: `disk-buffer(capacity-bytes(1GiB) reliable(yes))`. All \
     destinations of a folder share one log. Messages are stored as they leave, so one that waits keeps the layout it was stored with when \
     the template changes. What each mode survives stands in docs/durability.md. Without reliable(yes), a destination that keeps up costs \
     next to nothing more; with it, each message is also written to disk, and once for all destinations that write it alike.",
)
// Of the two kinds, the one with most options.
.sample(
    "reliable(no) capacity-bytes(10000000) flow-control-window-size(1) front-cache-size(1) dir(\"/tmp/sample\") truncate-size-ratio(0.5)",
);

pub const GLOBAL_DISK_BUFFER: Opt = Opt::new(
    "disk-buffer",
    Kind::Block(GLOBAL_GROUPS),
    Preset::None,
    "Presets of `disk-buffer()` of destinations.",
);

pub const DEAD_LETTERS: Opt = Opt::new(
    "dead-letters",
    Kind::Bool,
    Preset::Bool(false),
    "Keep messages that a destination refuses for good, too long for a datagram say, on disk with the reason, instead of only counting them \
     as dropped. `penstock queue cat dead-letters` shows them, `penstock queue replay dead-letters` tries them again. They are in the log of \
     the state folder, at most 1 GiB. Costs nothing until a message is refused.",
);

pub const KEEP_ON_STOP: Opt = Opt::new(
    "keep-on-stop",
    Kind::Bool,
    Preset::Bool(true),
    "What waits in memory for a destination and cannot be delivered before the program ends is put on disk, in the log of the state folder, \
     and sent after the next start, before anything newer. With `no` it is given up and counted as abandoned; files, RELP and rltp bring it \
     again.",
);

const BUFFER_GROUPS: &[&Group] = &[&BUFFER];
const GLOBAL_GROUPS: &[&Group] = &[&GLOBAL];

const TRUNCATE: Opt = Opt::new(
    "truncate-size-ratio",
    Kind::Ratio,
    Preset::Described("256 MiB are kept"),
    "How much of capacity-bytes() stays on disk for later once it was delivered; what is more is given back to the file system. \
     Of several destinations that share a folder, the first one says it.",
);

static BUFFER: Group = Group {
    name: "queue on disk",
    options: &[
        Opt::new(
            "reliable",
            Kind::Bool,
            Preset::Bool(false),
            "With `yes`, a message is on disk before its source hears that it is safe: senders that wait for an acknowledgement lose \
             nothing, not even by a power failure. With `no`, messages stay in memory while the destination takes them, and go to disk \
             when it does not, or at the end of the program.",
        ),
        Opt::new(
            "capacity-bytes",
            Kind::Size { min: 1, max: CAPACITY_MAX },
            Preset::Described("none: it has to be given"),
            "Bytes of messages that may wait on disk, at least 1 MiB. When they do, sources with flow control wait, and what comes from \
             others is dropped and counted while the destination does not move.",
        )
        .alias(&["disk-buf-size"]),
        Opt::new(
            "flow-control-window-bytes",
            Kind::Size { min: 0, max: CAPACITY_MAX },
            Preset::Int(0),
            "With reliable(yes): when less than this is left of capacity-bytes(), messages are stored and their sources hear of it only \
             once they are delivered, so that these slow down before the disk part is full.",
        )
        .alias(&["mem-buf-size"]),
        Opt::new(
            "flow-control-window-size",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Described("log-fifo-size()"),
            "With reliable(no): messages without flow control that wait in memory when the disk part is full.",
        )
        .alias(&["mem-buf-length"]),
        Opt::new(
            "front-cache-size",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Described("as many as are 32 MiB"),
            "The most messages that wait in memory; further ones are on disk only and read back in time. Small numbers cost speed.",
        )
        .alias(&["qout-size"]),
        Opt::new(
            "dir",
            Kind::Path,
            Preset::Described("the state folder"),
            "The folder for the log, made when it is missing; the one above it has to exist. What waits in another folder when this changes stays there, and the log says so.",
        ),
        TRUNCATE,
        Opt::no_effect("prealloc", PREALLOC),
        Opt::no_effect("compaction", "messages are stored as they leave, there is nothing to leave out"),
    ],
};

static GLOBAL: Group = Group {
    name: "queues on disk",
    options: &[TRUNCATE, Opt::no_effect("stats", STATS), Opt::no_effect("prealloc", PREALLOC)],
};
