//! The words options choose from: flags, transports, time formats.

use conf_schema::Word;

/// `flags()` of sources that read messages.
pub const SOURCE_FLAGS: &[Word] = &[
    Word::new("no-parse", "Take the whole record as MESSAGE; facility and severity come from the defaults."),
    Word::new("syslog-protocol", "Try RFC 5424 first; a record that is not RFC 5424 is read as RFC 3164."),
    Word::new("assume-utf8", "Take the text as UTF-8 without looking."),
    Word::new("validate-utf8", "Mark the message as UTF-8 only when it is."),
    Word::new(
        "sanitize-utf8",
        "Replace bytes that are not UTF-8 by `\\xHH`, escape the backslashes and control characters beside them, and add the tag `message.utf8_sanitized`.",
    ),
    Word::new("no-multi-line", "Turn line breaks inside a record into blanks."),
    Word::new(
        "store-legacy-msghdr",
        "Keep the program part of the header byte for byte, for exact forwarding (default).",
    )
    .undoes(&["dont-store-legacy-msghdr"]),
    Word::new("dont-store-legacy-msghdr", "Build the header anew from PROGRAM and PID.")
        .undoes(&["store-legacy-msghdr"]),
    Word::new("store-raw-message", "Keep the record as received in `${RAWMSG}`."),
    Word::new("expect-hostname", "The header has a host name (default, but not on unix sockets).")
        .undoes(&["no-hostname"]),
    Word::new("no-hostname", "The header has no host name.").undoes(&["expect-hostname"]),
    Word::new(
        "guess-timezone",
        "A stamp that one zone would make the time of receipt, give or take 30 s, is read in that zone; a late one is left alone.",
    ),
    Word::new("check-hostname", "As the option `check-hostname(yes)`."),
    Word::new("check-program", "As the option `check-program(yes)`."),
    Word::new("no-header", "Read only the priority; the rest is MESSAGE."),
    Word::new("no-rfc3164-fallback", "With `syslog-protocol`: a record that is not RFC 5424 is an error."),
    Word::new(
        "piggyback-errors",
        "A record that cannot be read becomes an error message with the record in it (default).",
    )
    .undoes(&["no-piggyback-errors"]),
    Word::new("no-piggyback-errors", "A record that cannot be read is taken whole as MESSAGE.")
        .undoes(&["piggyback-errors"]),
    Word::new("kernel", "Without priority a message is kern.notice of program `kernel`."),
    Word::new("empty-lines", "Keep empty records."),
    Word::new("ignore-aux-data", "Do not take the credentials a unix socket gives."),
    Word::no_effect("threaded", "every source runs in the worker threads"),
];

/// `flags()` of `stdin()`.
pub const STDIN_FLAGS: &[Word] = &concat_flag(
    Word::no_effect(
        "exit-on-eof",
        "the program always stops, in an orderly way, when its standard input ends",
    ),
    SOURCE_FLAGS,
);

const fn concat_flag(first: Word, rest: &[Word]) -> [Word; SOURCE_FLAGS.len() + 1] {
    let mut all = [first; SOURCE_FLAGS.len() + 1];
    let mut i = 0;
    while i < SOURCE_FLAGS.len() {
        all[i + 1] = rest[i];
        i += 1;
    }
    all
}

/// `flags()` of destinations.
pub const WRITER_FLAGS: &[Word] = &[
    Word::new("syslog-protocol", "Write RFC 5424."),
    Word::new("no-multi-line", "Turn line breaks inside a message into blanks."),
    Word::new("seqnum", "Count local messages in `${SEQNUM}` (default).").undoes(&["no-seqnum"]),
    Word::new("no-seqnum", "Do not count.").undoes(&["seqnum", "seqnum-all"]),
    Word::new("seqnum-all", "Count every message, not only those of this machine.")
        .undoes(&["no-seqnum", "no-seqnum-all"]),
    Word::new("no-seqnum-all", "Count only local messages (default).").undoes(&["seqnum-all"]),
    Word::no_effect("threaded", "every destination has its own writer"),
    Word::no_effect(
        "ignore-errors",
        "after an error the destination is opened again and the messages are kept",
    ),
];

/// `transport()` of sources.
pub const SOURCE_TRANSPORTS: &[Word] = &[
    Word::new("tcp", "TCP. Lines in `network()`, octet counting in `syslog()`."),
    Word::new("udp", "UDP, one message a datagram."),
    Word::new(
        "auto",
        "TCP; each connection is read with octet counting when it starts with a number, as lines otherwise.",
    ),
    Word::new("text", "TCP, lines."),
    Word::new("framed", "TCP, octet counting (RFC 6587)."),
    Word::new("text-with-nuls", "TCP, lines that keep their NUL bytes."),
    Word::new("nul-terminated", "TCP, records that end with a NUL byte."),
    Word::new(
        "tls",
        "TLS 1.2 or 1.3 over TCP (RFC 5425), with tls(). Lines in `network()`, octet counting in `syslog()`.",
    ),
    Word::new(
        "proxied-tcp",
        "TCP from a load balancer that says with a PROXY header (version 1 or 2) for whom it connects: that is the sender then. Open \
         the port to the balancer only, whoever connects may claim any address.",
    ),
    Word::new("proxied-tls", "The same inside TLS, with tls(): the balancer has a session of its own with this source."),
    Word::new(
        "proxied-tls-passthrough",
        "The header comes in the clear, then the client's own TLS session, with tls(): the balancer passes it through.",
    ),
    Word::new(
        "proxied-udp",
        "UDP from a load balancer that puts a PROXY header (version 1 or 2) at the beginning of each datagram: whom it names is the sender \
         then. A datagram without one is dropped and counted. Costs a little more than UDP.",
    ),
    Word::not_yet("dgram", "write `udp`"),
    Word::not_yet("http", "serve HTTP with another program"),
    Word::not_yet("http-scraper", "write the source `stats-exporter()`, which takes the same options"),
    Word::new(
        "rltp",
        "From another penstock: batches over TCP, or over TLS with tls(), acknowledged when all their messages are dealt with, and sent \
         again after a cut without being doubled. Costs about what TCP does.",
    )
    .alias(&["altp"]),
];

/// `transport()` of destinations.
pub const DESTINATION_TRANSPORTS: &[Word] = &[
    Word::new("tcp", "TCP. Lines in `network()`, octet counting in `syslog()`."),
    Word::new("udp", "UDP, one message a datagram."),
    Word::new("text", "TCP, lines."),
    Word::new("framed", "TCP, octet counting (RFC 6587)."),
    Word::new(
        "tls",
        "TLS 1.2 or 1.3 over TCP (RFC 5425), with tls(). Lines in `network()`, octet counting in `syslog()`.",
    ),
    Word::not_yet("dgram", "write `udp`"),
    Word::new(
        "rltp",
        "To another penstock: batches over TCP, or over TLS with tls(), acknowledged when all their messages are dealt with, and sent \
         again after a cut without being doubled; rltp() has more. Acknowledgement reaches back to files, and to senders that use it, \
         in log paths with flags(flow-control).",
    )
    .alias(&["altp"]),
];

/// `ts-format()`
pub const TS_FORMATS: &[Word] = &[
    Word::new("rfc3164", "`Mmm dd hh:mm:ss`").alias(&["bsd"]),
    Word::new("rfc3339", "`yyyy-mm-ddThh:mm:ss+zz:zz`").alias(&["iso"]),
    Word::new("full", "`yyyy Mmm dd hh:mm:ss`"),
    Word::new("unix", "Seconds since 1970.").alias(&["utc"]),
];

/// `mark-mode()`
pub const MARK_MODES: &[Word] = &[
    Word::new("internal", "A MARK message through `internal()`."),
    Word::new("dst-idle", "A MARK line in the destination when it wrote nothing for mark-freq()."),
    Word::new("host-idle", "The same, but only messages of this machine count as a sign of life."),
    Word::new("periodical", "A MARK line every mark-freq(), whatever was written."),
    Word::new("none", "No marks."),
    Word::new("global", "What the global option says."),
];

/// `use-dns()`
pub const DNS_WORDS: &[Word] =
    &[Word::new("persist-only", "Only names of the file of dns-cache-hosts(), or of `/etc/hosts`.")];

/// `format()` of sources.
pub const FORMATS: &[Word] = &[
    Word::new("syslog", "RFC 3164, or RFC 5424 with `flags(syslog-protocol)`."),
    Word::not_yet("linux-kmsg", "let the kernel's messages come through the journal or the syslog socket"),
    Word::not_yet("pacct", "write `pacct(file(\"/var/log/account/pacct\"))` in the place of `file()`"),
];

/// `log-level()`
pub const LOG_LEVELS: &[Word] = &[
    Word::new("off", "Nothing.").alias(&["none"]),
    Word::new("error", "Errors."),
    Word::new("warning", "And warnings."),
    Word::new("default", "And what an operator should know."),
    Word::new("verbose", "And each connection and file."),
    Word::new("debug", "And what it decides."),
    Word::new("trace", "And why."),
];

/// `ip-protocol()`
pub const IP_PROTOCOLS: &[Word] = &[Word::new("4", "IPv4."), Word::new("6", "IPv6.")];
