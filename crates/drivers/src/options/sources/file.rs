//! Sources that follow files.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset, Word};

use driver_options::source_groups::{
    FILE_SOURCE, MESSAGE_BYTES_MAX, MULTILINE_FILE, NO_CONNECTIONS, NOT_MADE, READER, READER_FLAGS,
};
use driver_options::{INT_MAX, SECONDS_MAX};

const PAD_SIZE: Opt = Opt::new(
    "pad-size",
    Kind::Size { min: 0, max: MESSAGE_BYTES_MAX },
    Preset::Int(0),
    "Every message takes exactly so many bytes and ends at the first NUL or line end in them; 0: one message a line.",
);

const FOLLOW_FREQ: Opt = Opt::new(
    "follow-freq",
    Kind::Seconds { min: 0, max: SECONDS_MAX },
    Preset::Int(1),
    "Seconds between looks at the files, as `0.1`, where the kernel does not say that they have changed.",
);

const RECURSIVE: Opt = Opt::new(
    "recursive",
    Kind::Bool,
    Preset::Bool(false),
    "Read the files in the folders below as well. Links to folders are not followed.",
);

const FORCE: Opt =
    Opt::no_effect("force-directory-polling", "monitor-method(poll) says how files are looked at");

const METHOD_HELP: &str = "How changes are noticed. With inotify, files that are idle cost nothing however many they are; \
                           with `poll` each costs one system call a look.";

pub static FILE: Component = Component {
    context: Context::Source,
    name: "file",
    aliases: &[],
    positional: &[Positional {
        name: "path",
        kind: Kind::Path,
        required: true,
        help: "the path of the file; with `*` or `?` in its name it stands for up to 100 files, as in `wildcard-file()`",
    }],
    groups: &[&READER_FLAGS, &READER, &FILE_SOURCE, &MULTILINE_FILE, &NOT_MADE, &NO_CONNECTIONS],
    own: &[
        FOLLOW_FREQ,
        PAD_SIZE,
        RECURSIVE,
        Opt::new(
            "follow-method",
            Kind::Choice(&[
                Word::new("auto", "inotify, but `poll` on file systems that are shared with other machines.")
                    .alias(&["legacy", "system"]),
                Word::new("inotify", "The kernel says which files have changed."),
                Word::new("poll", "Look at the file every follow-freq()."),
            ]),
            Preset::Text("auto"),
            METHOD_HELP,
        ),
        Opt::no_effect("follow-always-reads", "a file is read whenever it has changed"),
        FORCE,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads a file line by line and follows it as it grows. Rotation by renaming, by copying and truncating and by making the file \
              anew is followed without losing or repeating lines; after a restart reading goes on behind the last message that was \
              dealt with by the destinations. The file may come later. Each line is read as a syslog message; `flags(no-parse)` \
              takes it whole.",
    example: "file(\"/var/log/app.log\" flags(no-parse) program-override(\"app\"))",
    cost: Some(Cost::bench(
        "A large read finds many lines at once. What follows a file costs one look at it a second, or none where the system says that it \
         changed.",
        "files-1x1",
    )),
};

pub static WILDCARD_FILE: Component = Component {
    context: Context::Source,
    name: "wildcard-file",
    aliases: &[],
    positional: &[],
    groups: &[&READER_FLAGS, &READER, &FILE_SOURCE, &MULTILINE_FILE, &NOT_MADE, &NO_CONNECTIONS],
    own: &[
        Opt::new("base-dir", Kind::Path, Preset::None, "The folder of the files. It may come later."),
        Opt::new(
            "filename-pattern",
            Kind::Text,
            Preset::None,
            "Which names are read: `*` stands for any text, `?` for any character.",
        ),
        Opt::new(
            "exclude-pattern",
            Kind::Text,
            Preset::None,
            "Which of those names are left out, as `*.gz`.",
        ),
        RECURSIVE,
        Opt::new(
            "max-files",
            Kind::Int { min: 1, max: INT_MAX },
            Preset::Int(100),
            "The most files open at once. Further ones wait until another one is gone, with a warning. The system's limit of open \
             files has to allow them.",
        ),
        Opt::new(
            "monitor-method",
            Kind::Choice(&[
                Word::new("auto", "inotify, but `poll` on file systems that are shared with other machines."),
                Word::new("inotify", "The kernel says which files have changed."),
                Word::new("poll", "Look at every file every follow-freq()."),
                Word::not_yet("kqueue", "it is not known to this system; write `auto`"),
            ]),
            Preset::Text("auto"),
            METHOD_HELP,
        ),
        Opt::new(
            "monitor-freq",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Described("that of follow-freq()"),
            "Seconds between looks for new files, where the kernel does not say that there are some.",
        ),
        FOLLOW_FREQ,
        PAD_SIZE,
        FORCE,
    ],
    presets: &[],
    not_yet: &[],
    summary: "Follows all files in a folder whose names match a pattern, and those that come later, as `file()` follows one. The files are \
              read by all cores, each in order.",
    example: "wildcard-file(base-dir(\"/var/log/apps\") filename-pattern(\"*.log\") recursive(yes) max-files(10000))",
    cost: Some(Cost::bench(
        "As `file()` for each file; opening one and remembering its position cost as much as some hundred lines of it.",
        "files-100x100",
    )),
};
