//! Options of sources and destinations with files and pipes.

use conf_schema::{Kind, OptionSpec as Opt, Preset};

use super::SECONDS_MAX;
use super::source_groups::MESSAGE_BYTES_MAX;

pub const PAD_SIZE: Opt = Opt::new(
    "pad-size",
    Kind::Size { min: 0, max: MESSAGE_BYTES_MAX },
    Preset::Int(0),
    "Every message takes exactly so many bytes and ends at the first NUL or line end in them; 0: one message a line.",
);

pub const FOLLOW_FREQ: Opt = Opt::new(
    "follow-freq",
    Kind::Seconds { min: 0, max: SECONDS_MAX },
    Preset::Int(1),
    "Seconds between looks at the files, as `0.1`, where the kernel does not say that they have changed.",
);

pub const RECURSIVE: Opt = Opt::new(
    "recursive",
    Kind::Bool,
    Preset::Bool(false),
    "Read the files in the folders below as well. Links to folders are not followed.",
);

pub const FORCE: Opt =
    Opt::no_effect("force-directory-polling", "monitor-method(poll) says how files are looked at");

pub const METHOD_HELP: &str = "How changes are noticed. With inotify, files that are idle cost nothing however many they are; \
                           with `poll` each costs one system call a look.";

pub const TIME_REAP: Opt = Opt::new(
    "time-reap",
    Kind::Seconds { min: 0, max: SECONDS_MAX },
    Preset::Described("the global time-reap(), 60, when the name has macros; otherwise never"),
    "Close a file to which nothing was written for so many seconds; 0 never does.",
);

/// Of files and pipes with macros in their names.
pub const FOLLOW_SYMLINKS: Opt = Opt::new(
    "follow-symlinks",
    Kind::Bool,
    Preset::Bool(false),
    "Follow symbolic links behind the fixed first part of a name that has macros. Without it, a name that leads through one is not \
     written, and its messages are refused: whoever can make links there must not choose which file is written. The fixed first part \
     may have links, and so may a name without macros.",
);
