//! What sources, destinations and parts of log paths cost.

use super::{Cost, Measured};
use crate::Context;
use Measured::{Bench, Elsewhere};

const fn source(component: &'static str, note: &'static str, measured: Measured) -> Cost {
    Cost { context: Context::Source, component, note, measured }
}

const fn destination(component: &'static str, note: &'static str, measured: Measured) -> Cost {
    Cost { context: Context::Destination, component, note, measured }
}

/// By the components' names.
pub const DRIVERS: &[Cost] = &[
    Cost {
        context: Context::LogPath,
        component: "parallelize",
        note: "A batch that another core works on costs a queue's lock and the other core's caches: it pays where what is done to a message \
               costs more than a microsecond, and is not needed with many connections.",
        measured: Bench("costly-prepared"),
    },
    source(
        "example-msg-generator",
        "A message is a rendered template; with freq(0) whole batches of them are made.",
        Elsewhere,
    ),
    source(
        "file",
        "A large read finds many lines at once. What follows a file costs one look at it a second, or none where the system says that it \
         changed.",
        Bench("files-1x1"),
    ),
    source("internal", "The program says little, and the same thing seldom twice a second.", Elsewhere),
    source(
        "network",
        "One read takes what a connection has, and messages stay where they were read. What nobody reads of a message is not parsed.",
        Bench("tcp-10"),
    ),
    source("pipe", "As a connection of `network()`: a read takes what is there.", Elsewhere),
    source("program", "As a connection of `network()`, besides what the command costs.", Elsewhere),
    source("relp", "As `network()`, and one answer for the messages of a batch.", Bench("hop-relp-1")),
    source("stdin", "As a connection of `network()`: a read takes what is there.", Elsewhere),
    source(
        "syslog",
        "As `network()`; with octet counting the end of a message need not be searched, and STRUCTURED-DATA is looked through only where \
         something reads it.",
        Bench("ietf-10"),
    ),
    source(
        "systemd-journal",
        "The files of the journal are read where they lie in memory; of an entry only fields that something reads are taken, compressed \
         ones are unpacked for that.",
        Elsewhere,
    ),
    source("tcp", "As `network()`.", Bench("tcp-10")),
    source("tcp6", "As `network()`.", Bench("tcp-10")),
    source(
        "udp",
        "Many datagrams are taken with one system call; the kernel's part of the work is the larger one.",
        Bench("udp-512"),
    ),
    source(
        "udp-balancer",
        "As `udp()` for each of its sockets; the kernel chooses one for each datagram.",
        Bench("udp-300k-8"),
    ),
    source("udp6", "As `udp()`.", Bench("udp-512")),
    source(
        "unix-dgram",
        "Many datagrams are taken with one system call. Who sent one is looked up once for each process and kept for some seconds.",
        Elsewhere,
    ),
    source(
        "unix-stream",
        "As a connection of `network()`. Who is at the other end is asked once a connection.",
        Elsewhere,
    ),
    source(
        "wildcard-file",
        "As `file()` for each file; opening one and remembering its position cost as much as some hundred lines of it.",
        Bench("files-100x100"),
    ),
    destination(
        "file",
        "Messages of many batches and connections leave in one large write. A name with macros is worked out once a message, and messages \
         for one file are written together; fsync(yes) costs what the disk takes for each write.",
        Bench("tcp-10,hosts-10"),
    ),
    destination(
        "network",
        "The line is a few copies where nothing of the header was changed, and messages leave in large writes.",
        Bench("relay-1"),
    ),
    destination(
        "pipe",
        "As `file()`; a pipe takes 64 KiB at a time, unless its reader made it larger.",
        Elsewhere,
    ),
    destination("program", "As `pipe()`; the command has its own cost.", Elsewhere),
    destination(
        "relp",
        "As `network()`, and each message is kept until it was acknowledged.",
        Bench("hop-relp-1"),
    ),
    destination("stdout", "As `file()`, `pipe()` or a connection, whichever it is.", Elsewhere),
    destination(
        "syslog",
        "As `network()`; STRUCTURED-DATA that nothing changed is copied as received.",
        Bench("relay-1"),
    ),
    destination("tcp", "As `network()`.", Bench("relay-1")),
    destination("tcp6", "As `network()`.", Bench("relay-1")),
    destination("udp", "Many datagrams leave with one system call.", Elsewhere),
    destination("udp6", "As `udp()`.", Elsewhere),
    destination("unix-dgram", "Many datagrams leave with one system call.", Elsewhere),
    destination("unix-stream", "As `network()`.", Elsewhere),
    destination(
        "usertty",
        "Each message is written to each terminal on its own: for few messages, such as emergencies.",
        Elsewhere,
    ),
];
