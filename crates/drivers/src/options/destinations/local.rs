//! Destinations on this machine: files, pipes, programs, unix sockets, terminals, standard output.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Positional, Preset};

use driver_options::SECONDS_MAX;
use driver_options::output_groups::{CREATE_DIRS, DESTINATION, PERMISSIONS, TEMPLATE, WRITER};
use driver_options::socket_groups::{CONNECT, SOCKET};

const NO_MARKS: (&str, Preset) = ("mark-mode", Preset::Text("none"));

const SOCKET_PATH: &[Positional] =
    &[Positional { name: "path", kind: Kind::Path, required: true, help: "the path of the socket" }];

const TIME_REAP: Opt = Opt::new(
    "time-reap",
    Kind::Seconds { min: 0, max: SECONDS_MAX },
    Preset::Described("the global time-reap(), 60, when the name has macros; otherwise never"),
    "Close a file to which nothing was written for so many seconds; 0 never does.",
);

const ROTATIONS_MAX: i64 = 10_000;

static LOGROTATE: Group = Group {
    name: "rotation",
    options: &[
        Opt::new("enable", Kind::Bool, Preset::Bool(false), "Rotate at all."),
        Opt::new(
            "size",
            Kind::Size { min: 1, max: 1 << 50 },
            Preset::Int(1_000_000),
            "From this many bytes on the next write goes to a new file. What is written at once is not divided, so files are a little larger.",
        ),
        Opt::new(
            "rotations",
            Kind::Int { min: 0, max: ROTATIONS_MAX },
            Preset::Int(1),
            "How many old files are kept.",
        ),
    ],
};

/// Of files and pipes with macros in their names.
const FOLLOW_SYMLINKS: Opt = Opt::new(
    "follow-symlinks",
    Kind::Bool,
    Preset::Bool(false),
    "Follow symbolic links behind the fixed first part of a name that has macros. Without it, a name that leads through one is not \
     written, and its messages are refused: whoever can make links there must not choose which file is written. The fixed first part \
     may have links, and so may a name without macros.",
);

pub static FILE: Component = Component {
    context: Context::Destination,
    name: "file",
    aliases: &[],
    positional: &[Positional {
        name: "path",
        kind: Kind::Template,
        required: true,
        help: "the path of the file, as a template",
    }],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &PERMISSIONS],
    own: &[
        CREATE_DIRS,
        FOLLOW_SYMLINKS,
        Opt::new("fsync", Kind::Bool, Preset::Bool(false), "Bring each write to the disk before going on."),
        Opt::new(
            "overwrite-if-older",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(0),
            "Start the file anew when it was last written so many seconds ago; 0 always appends.",
        )
        .old(&["remove-if-older"]),
        Opt::new(
            "symlink-as",
            Kind::Path,
            Preset::None,
            "A symbolic link that always points to the file opened last.",
        ),
        TIME_REAP,
        Opt::new(
            "logrotate",
            Kind::Block(&[&LOGROTATE]),
            Preset::None,
            "Start a new file when this one has grown large: `logrotate(enable(yes) size(10MiB) rotations(5))`. The old one becomes \
             `NAME.1`, the one before it `NAME.2`. logrotate(8) with SIGUSR1 does more: by date, compressed.",
        ),
        Opt::no_effect("optional", "a file that cannot be opened never keeps the program from starting"),
    ],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Appends messages to a file. Macros in the name make a file for each host, day, program ...; what a \
              message carries can never lead outside the fixed first part of the path.",
    example: "file(\"/var/log/hosts/${HOST}/${YEAR}-${MONTH}.log\" create-dirs(yes) perm(0640))",
    cost: Some(Cost::bench(
        "Messages of many batches and connections leave in one large write. A name with macros is worked out once a message, and messages \
         for one file are written together; fsync(yes) costs what the disk takes for each write.",
        "tcp-10,hosts-10",
    )),
};

pub static PIPE: Component = Component {
    context: Context::Destination,
    name: "pipe",
    aliases: &["fifo"],
    positional: &[Positional {
        name: "path",
        kind: Kind::Template,
        required: true,
        help: "the path of the pipe, as a template",
    }],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &PERMISSIONS],
    own: &[
        CREATE_DIRS,
        FOLLOW_SYMLINKS,
        TIME_REAP,
        Opt::no_effect("optional", "a pipe that cannot be opened never keeps the program from starting"),
    ],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Writes messages to a named pipe, which is made when it does not exist. Without a reader, messages wait.",
    example: "pipe(\"/run/penstock/out\" template(\"${MSG}\\n\"))",
    cost: Some(Cost::elsewhere(
        "As `file()`; a pipe takes 64 KiB at a time, unless its reader made it larger.",
    )),
};

pub static STDOUT: Component = Component {
    context: Context::Destination,
    name: "stdout",
    aliases: &[],
    positional: &[],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION],
    own: &[],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Writes messages to standard output.",
    example: "stdout(template(\"${ISODATE} ${HOST} ${MSGHDR}${MSG}\\n\"))",
    cost: Some(Cost::elsewhere("As `file()`, `pipe()` or a connection, whichever it is.")),
};

pub static PROGRAM: Component = Component {
    context: Context::Destination,
    name: "program",
    aliases: &[],
    positional: &[Positional {
        name: "command",
        kind: Kind::Text,
        required: true,
        help: "the command, run by `/bin/sh -c`",
    }],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION],
    own: &[
        Opt::new("keep-alive", Kind::Bool, Preset::Bool(false), "Keep the program running over a reload."),
        Opt::new(
            "inherit-environment",
            Kind::Bool,
            Preset::Described("the variables listed in docs/files.md"),
            "Give the program the environment of this one, except for what the service manager tells this process alone; with `no`, an \
             empty one.",
        ),
    ],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Starts a program and writes messages to its standard input. It is started again when it ends, and \
              stopped with its process group.",
    example: "program(\"cat >> /tmp/out.log\" template(\"${MSG}\\n\") keep-alive(yes))",
    cost: Some(Cost::elsewhere("As `pipe()`; the command has its own cost.")),
};

pub static USERTTY: Component = Component {
    context: Context::Destination,
    name: "usertty",
    aliases: &[],
    positional: &[Positional {
        name: "user",
        kind: Kind::Text,
        required: true,
        help: "the name of a user, or `*` for everyone",
    }],
    groups: &[&DESTINATION],
    own: &[
        Opt::new(
            "time-reopen",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("time-reopen"),
            "Seconds for which a terminal that could not be written to is left out.",
        ),
        Opt::no_effect("escaping", "control characters are always made harmless"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Writes messages to the terminals of logged-in users.",
    example: "usertty(\"*\")",
    cost: Some(Cost::elsewhere(
        "Each message is written to each terminal on its own: for few messages, such as emergencies.",
    )),
};

pub static UNIX_STREAM: Component = Component {
    context: Context::Destination,
    name: "unix-stream",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &CONNECT, &SOCKET],
    own: &[],
    presets: &[NO_MARKS, ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Sends lines to a program on this machine over a unix stream socket.",
    example: "unix-stream(\"/run/app/log\")",
    cost: Some(Cost::elsewhere("As `network()`.")),
};

pub static UNIX_DGRAM: Component = Component {
    context: Context::Destination,
    name: "unix-dgram",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &CONNECT, &SOCKET],
    own: &[],
    presets: &[NO_MARKS, ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Sends datagrams to a program on this machine over a unix socket.",
    example: "unix-dgram(\"/run/systemd/journal/syslog\")",
    cost: Some(Cost::elsewhere("Many datagrams leave with one system call.")),
};
