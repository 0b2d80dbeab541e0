//! Option groups of destinations: templates, writing, queues, files.

use conf_schema::{Group, Kind, OptionSpec as Opt, Preset};

use super::disk_buffer::DISK_BUFFER;
use super::hook_commands::HOOK_COMMANDS;
use super::words::{MARK_MODES, TS_FORMATS, WRITER_FLAGS};
use super::{INT_MAX, SECONDS_MAX};

const LINE_BYTES_MAX: u64 = 1 << 30;
/// Digits after the second: microseconds.
const FRACTION_DIGITS_MAX: i64 = 6;

pub static TEMPLATE: Group = Group {
    name: "formatting",
    options: &[
        Opt::new(
            "ts-format",
            Kind::Choice(TS_FORMATS),
            Preset::Global("ts-format"),
            "How timestamps look in `${STAMP}` and in the default layout of files.",
        ),
        Opt::new(
            "frac-digits",
            Kind::Int { min: 0, max: FRACTION_DIGITS_MAX },
            Preset::Global("frac-digits"),
            "Digits after the second in timestamps.",
        ),
        Opt::new(
            "time-zone",
            Kind::Zone,
            Preset::Global("send-time-zone"),
            "The zone timestamps are written in. Without it, the zone of the message.",
        )
        .alias(&["send-time-zone"]),
        Opt::new(
            "local-time-zone",
            Kind::Zone,
            Preset::Global("local-time-zone"),
            "The zone of date macros in file names.",
        ),
        Opt::new(
            "template-escape",
            Kind::Bool,
            Preset::Bool(false),
            "Put a backslash before quotes and backslashes in macro values, and write control characters in octal. What template functions print stays as it is.",
        ),
        Opt::new(
            "on-error",
            Kind::Choice(parsers::ON_ERROR),
            Preset::Global("on-error"),
            "What becomes of a value that is not of the type that the template gives it, as in `$(format-json n=int($x))`: the \
             output of the function is empty, the value is left out, or it is written as a text. A value of the message that is not \
             of its own type is left out as well, and else written as a text.",
        ),
    ],
};

pub static WRITER: Group = Group {
    name: "writing",
    options: &[
        Opt::new(
            "template",
            Kind::Template,
            Preset::Described("the default layout of the destination"),
            "The output, as a template or the name of one. No line end is added.",
        ),
        Opt::new("flags", Kind::Flags(WRITER_FLAGS), Preset::None, "How messages are written. Collects."),
        Opt::new(
            "flush-lines",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Global("flush-lines"),
            "The most messages in one write.",
        )
        .old(&["sync", "sync-freq"]),
        Opt::new(
            "suppress",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("suppress"),
            "Replace repetitions of a message within so many seconds by `Last message '...' repeated N times`; 0 \
             does not.",
        ),
        Opt::new(
            "mark-freq",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("mark-freq"),
            "Seconds between marks; 0 writes none.",
        )
        .old(&["mark"]),
        Opt::new(
            "mark-mode",
            Kind::Choice(MARK_MODES),
            Preset::Global("mark-mode"),
            "When a MARK line is written, as a sign of life.",
        )
        .sample("periodical"),
        Opt::new(
            "pad-size",
            Kind::Size { min: 0, max: LINE_BYTES_MAX },
            Preset::Int(0),
            "Fill each message with NUL bytes to this size; 0 does not.",
        ),
        Opt::new(
            "truncate-size",
            Kind::Size { min: 1, max: LINE_BYTES_MAX },
            Preset::None,
            "Cut each message to this many bytes.",
        ),
        Opt::new(
            "time-reopen",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("time-reopen"),
            "Seconds to wait after a failure before the destination is opened again.",
        ),
        Opt::no_effect("flush-timeout", "what is waiting is written as soon as the destination can take it"),
    ],
};

pub static DESTINATION: Group = Group {
    name: "every destination",
    options: &[
        Opt::new(
            "log-fifo-size",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Global("log-fifo-size"),
            "The most messages that may wait here. On log paths without flow control, further ones are dropped and \
             counted; with it, the sources wait.",
        ),
        Opt::new(
            "throttle",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Int(0),
            "The most messages a second; 0 sets no limit.",
        ),
        Opt::new(
            "persist-name",
            Kind::Text,
            Preset::Described("made from the driver and its address"),
            "The name under which the queue and connection are found again after a reload. Needed when two drivers \
             are otherwise alike.",
        ),
        Opt::no_effect("internal", "counters of every destination are shown alike"),
        DISK_BUFFER,
        HOOK_COMMANDS,
    ],
};

/// Attributes of files and folders that are made.
pub static PERMISSIONS: Group = Group {
    name: "owner and mode",
    options: &[
        Opt::new("owner", Kind::Owner, Preset::Global("owner"), "Owner of files; `owner()` leaves it."),
        Opt::new("group", Kind::Group, Preset::Global("group"), "Group of files; `group()` leaves it."),
        Opt::new("perm", Kind::Perm, Preset::Global("perm"), "Mode of files; `perm()` leaves it."),
        Opt::new("dir-owner", Kind::Owner, Preset::Global("dir-owner"), "Owner of folders that are made."),
        Opt::new("dir-group", Kind::Group, Preset::Global("dir-group"), "Group of folders that are made."),
        Opt::new("dir-perm", Kind::Perm, Preset::Global("dir-perm"), "Mode of folders that are made."),
    ],
};

pub const CREATE_DIRS: Opt =
    Opt::new("create-dirs", Kind::Bool, Preset::Global("create-dirs"), "Make missing folders of the path.");

/// The presets of destinations whose peer expects nothing but messages.
pub const NO_MARKS: (&str, Preset) = ("mark-mode", Preset::Text("none"));
