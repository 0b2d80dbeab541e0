//! Sources on this machine: unix sockets, pipes, standard input, the program's own messages, a generator.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset};

use driver_options::output_groups::{CREATE_DIRS, PERMISSIONS};
use driver_options::socket_groups::{SOCKET, STREAM};
use driver_options::source_groups::{
    MESSAGE_BYTES_MAX, MULTILINE, MULTILINE_STREAM, NO_CONNECTIONS, READER, READER_FLAGS, SOURCE,
    STDIN_READER_FLAGS,
};
use driver_options::{INT_MAX, SECONDS_MAX};

const SOCKET_PATH: &[Positional] =
    &[Positional { name: "path", kind: Kind::Path, required: true, help: "the path of the socket" }];

const UNIX: &[Opt] = &[
    Opt::new(
        "so-passcred",
        Kind::Bool,
        Preset::Bool(true),
        "Ask the kernel who sends: `${.unix.pid}`, `${.unix.uid}`, `${.unix.gid}`, `${.unix.cmdline}`, `${.unix.exe}`.",
    )
    .alias(&["local-creds"])
    .old(&["pass-unix-credentials"]),
    Opt::new(
        "optional",
        Kind::Bool,
        Preset::Bool(false),
        "Start although the socket cannot be made.",
    ),
    CREATE_DIRS,
];

const UNIX_MODE: (&str, Preset) = ("perm", Preset::Perm(0o666));

const PAD_SIZE: Opt = Opt::new(
    "pad-size",
    Kind::Size { min: 0, max: MESSAGE_BYTES_MAX },
    Preset::Int(0),
    "Every message takes exactly so many bytes and ends at the first NUL or line end in them; 0: one message a line.",
);

pub static UNIX_STREAM: Component = Component {
    context: Context::Source,
    name: "unix-stream",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&READER_FLAGS, &READER, &SOURCE, &STREAM, &SOCKET, &PERMISSIONS, &MULTILINE],
    own: UNIX,
    presets: &[UNIX_MODE, ("max-connections", Preset::Int(256)), ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Receives lines from programs on this machine over a unix stream socket. No host name is expected in \
              the messages.",
    example: "unix-stream(\"/run/penstock/stream\" perm(0600) max-connections(64))",
    cost: Some(Cost::elsewhere(
        "As a connection of `network()`. Who is at the other end is asked once a connection.",
    )),
};

pub static UNIX_DGRAM: Component = Component {
    context: Context::Source,
    name: "unix-dgram",
    aliases: &[],
    positional: SOCKET_PATH,
    groups: &[&READER_FLAGS, &READER, &SOURCE, &SOCKET, &PERMISSIONS, &MULTILINE, &NO_CONNECTIONS],
    own: UNIX,
    presets: &[UNIX_MODE, ("so-keepalive", Preset::Bool(false))],
    not_yet: &[],
    summary: "Receives datagrams from programs on this machine over a unix socket, as `/dev/log`. No host name is \
              expected in the messages.",
    example: "unix-dgram(\"/run/penstock/log\" so-rcvbuf(1MiB))",
    cost: Some(Cost::elsewhere(
        "Many datagrams are taken with one system call. Who sent one is looked up once for each process and kept for some seconds.",
    )),
};

pub static PIPE: Component = Component {
    context: Context::Source,
    name: "pipe",
    aliases: &["fifo"],
    positional: &[Positional {
        name: "path",
        kind: Kind::Path,
        required: true,
        help: "the path of the pipe",
    }],
    groups: &[&READER_FLAGS, &READER, &SOURCE, &PERMISSIONS, &MULTILINE_STREAM, &NO_CONNECTIONS],
    own: &[
        Opt::new("optional", Kind::Bool, Preset::Bool(false), "Start although the pipe cannot be opened."),
        CREATE_DIRS,
        PAD_SIZE,
        Opt::no_effect("follow-freq", "a pipe says itself when there is something to read"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads lines from a named pipe. The pipe is made when it does not exist, and stays open when the last \
              writer goes away.",
    example: "pipe(\"/run/penstock/pipe\" flags(no-parse) program-override(\"app\"))",
    cost: Some(Cost::elsewhere("As a connection of `network()`: a read takes what is there.")),
};

pub static STDIN: Component = Component {
    context: Context::Source,
    name: "stdin",
    aliases: &[],
    positional: &[],
    groups: &[&STDIN_READER_FLAGS, &READER, &SOURCE, &MULTILINE_STREAM, &NO_CONNECTIONS],
    own: &[
        PAD_SIZE,
        Opt::no_effect("follow-freq", "standard input says itself when there is something to read"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Reads lines from standard input, and stops the program in an orderly way when it ends.",
    example: "stdin(flags(no-parse))",
    cost: Some(Cost::elsewhere("As a connection of `network()`: a read takes what is there.")),
};

pub static PROGRAM: Component = Component {
    context: Context::Source,
    name: "program",
    aliases: &[],
    positional: &[Positional {
        name: "command",
        kind: Kind::Text,
        required: true,
        help: "the command, for `/bin/sh -c`",
    }],
    groups: &[&READER_FLAGS, &READER, &SOURCE, &MULTILINE_STREAM, &NO_CONNECTIONS],
    own: &[Opt::new(
        "inherit-environment",
        Kind::Bool,
        Preset::Described("the variables listed in docs/files.md"),
        "Give the command the environment of this program, except for what the service manager tells this process alone; with `no`, an \
         empty one.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "Starts a command and reads what it prints, line by line. It is started again when it ends, at most once a second, keeps \
              running over reloads, and is ended with its process group when the source goes. Its standard input and error lead \
              nowhere.",
    example: "program(\"journalctl -f -o short\" flags(no-hostname))",
    cost: Some(Cost::elsewhere("As a connection of `network()`, besides what the command costs.")),
};

pub static INTERNAL: Component = Component {
    context: Context::Source,
    name: "internal",
    aliases: &[],
    positional: &[],
    groups: &[&SOURCE],
    own: &[Opt::new(
        "log-fifo-size",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Int(10000),
        "The most messages that may wait here; further ones are dropped and counted.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "The program's own messages, and MARK messages with mark-mode(internal). Without this source they go to \
              standard error.",
    example: "internal(tags(\"own\"))",
    cost: Some(Cost::elsewhere("The program says little, and the same thing seldom twice a second.")),
};

pub static EXAMPLE_MSG_GENERATOR: Component = Component {
    context: Context::Source,
    name: "example-msg-generator",
    aliases: &[],
    positional: &[],
    groups: &[&SOURCE],
    own: &[
        Opt::new(
            "freq",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(1),
            "Seconds between messages, as `0.01`; 0 makes them as fast as they are taken.",
        ),
        Opt::new(
            "num",
            Kind::Int { min: 0, max: INT_MAX },
            Preset::Int(0),
            "How many messages to make; 0 never stops.",
        ),
        Opt::new(
            "template",
            Kind::Template,
            Preset::Described("`-- Generated message. --`"),
            "The text of the messages.",
        ),
        Opt::new(
            "values",
            Kind::Pairs,
            Preset::None,
            "Values each message gets, as `values(\"name\" => \"template\")`. Collects.",
        )
        .collects(),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Makes messages, for trying out a configuration.",
    example: "example-msg-generator(num(10) freq(0.1) template(\"hello ${SEQ}\") values(\"SEQ\" => \"1\"))",
    cost: Some(Cost::elsewhere(
        "A message is a rendered template; with freq(0) whole batches of them are made.",
    )),
};
