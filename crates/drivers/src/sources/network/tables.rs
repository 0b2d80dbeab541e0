//! Sources that listen on the network.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Preset};

use driver_options::socket_groups::{INET, SOCKET, SOCKETS_MAX, STREAM};
use driver_options::source_groups::{
    MULTILINE, MULTILINE_STREAM, NETWORK_SOURCE, NO_CONNECTIONS, READER, READER_FLAGS,
};
use driver_options::tls_groups::SECURE_SOURCE;
use driver_options::words::{IP_PROTOCOLS, SOURCE_TRANSPORTS};

const ANY_ADDRESS: Preset = Preset::Described("all addresses");

const IP: Opt =
    Opt::new("ip", Kind::Text, ANY_ADDRESS, "The address to listen on; a multicast group is joined.")
        .alias(&["localip"])
        .sample("127.0.0.1");

const IP6: Opt = IP.sample("\"::1\"");

const PORT: Opt = Opt::new(
    "port",
    Kind::Port,
    Preset::Int(514),
    "The port to listen on, as a number or a service name. 0 takes any free one.",
)
.alias(&["localport"]);

const TRANSPORT: Opt = Opt::new(
    "transport",
    Kind::Choice(SOURCE_TRANSPORTS),
    Preset::Text("tcp"),
    "The protocol, and how messages are told apart in it.",
)
.sample("tls");

const IP_PROTOCOL: Opt = Opt::new(
    "ip-protocol",
    Kind::Choice(IP_PROTOCOLS),
    Preset::Text("4"),
    "With 6 and no ip(), IPv4 peers are received too.",
);

const WITH_TRANSPORT: &[Opt] = &[TRANSPORT, IP, PORT, IP_PROTOCOL];
const FIXED: &[Opt] = &[IP, PORT];
const FIXED6: &[Opt] = &[IP6, PORT];

/// Of sources that can take connections.
static CONNECTED: [&Group; 8] =
    [&READER_FLAGS, &READER, &NETWORK_SOURCE, &STREAM, &SECURE_SOURCE, &SOCKET, &INET, &MULTILINE_STREAM];

/// Of those that never do.
static DATAGRAMS: [&Group; 7] =
    [&READER_FLAGS, &READER, &NETWORK_SOURCE, &SOCKET, &INET, &MULTILINE, &NO_CONNECTIONS];

pub static NETWORK: Component = Component {
    context: Context::Source,
    name: "network",
    aliases: &[],
    positional: &[],
    groups: &CONNECTED,
    own: WITH_TRANSPORT,
    presets: &[("port", Preset::Described("514, 35514 for RLTP"))],
    not_yet: &[],
    summary: "Receives messages in the old syslog format (RFC 3164) over TCP or UDP. On TCP each line is a message. \
              With flags(syslog-protocol) it reads RFC 5424 and falls back to RFC 3164. Encrypted with transport(\"tls\"), tls() and \
              port(): records are decrypted in large pieces, and what costs is the handshake of each new connection.",
    example: "network(transport(\"tcp\") port(5514) max-connections(200) keep-hostname(yes))",
    cost: Some(Cost::bench(
        "One read takes what a connection has, and messages stay where they were read. What nobody reads of a message is not parsed.",
        "tcp-10",
    )),
};

pub static SYSLOG: Component = Component {
    context: Context::Source,
    name: "syslog",
    aliases: &[],
    positional: &[],
    groups: &CONNECTED,
    own: WITH_TRANSPORT,
    presets: &[("port", Preset::Described("601 for TCP, 6514 for TLS, 514 for UDP, 35514 for RLTP"))],
    not_yet: &[],
    summary: "Receives messages in the IETF syslog format (RFC 5424), over TCP with octet counting (RFC 6587) or over \
              UDP. Messages that are not RFC 5424 are read as RFC 3164.",
    example: "syslog(transport(\"tcp\") port(6601) log-msg-size(128KiB) tags(\"ietf\"))",
    cost: Some(Cost::bench(
        "As `network()`; with octet counting the end of a message need not be searched, and STRUCTURED-DATA is looked through only where \
         something reads it.",
        "ietf-10",
    )),
};

pub static TCP: Component = Component {
    context: Context::Source,
    name: "tcp",
    aliases: &[],
    positional: &[],
    groups: &CONNECTED,
    own: FIXED,
    presets: &[],
    not_yet: &[],
    summary: "Receives lines over TCP and IPv4: the old name of `network(transport(\"tcp\"))`.",
    example: "tcp(ip(127.0.0.1) port(5514))",
    cost: Some(Cost::bench("As `network()`.", "tcp-10")),
};

pub static TCP6: Component = Component {
    context: Context::Source,
    name: "tcp6",
    aliases: &[],
    positional: &[],
    groups: &CONNECTED,
    own: FIXED6,
    presets: &[],
    not_yet: &[],
    summary: "Receives lines over TCP and IPv6: the old name of `network(transport(\"tcp\") ip-protocol(6))`.",
    example: "tcp6(ip(\"::1\") port(5514))",
    cost: Some(Cost::bench("As `network()`.", "tcp-10")),
};

pub static UDP: Component = Component {
    context: Context::Source,
    name: "udp",
    aliases: &[],
    positional: &[],
    groups: &DATAGRAMS,
    own: FIXED,
    presets: &[],
    not_yet: &[],
    summary: "Receives datagrams over UDP and IPv4, each one a message: the old name of \
              `network(transport(\"udp\"))`.",
    example: "udp(port(5514) so-rcvbuf(16MiB))",
    cost: Some(Cost::bench(
        "Many datagrams are taken with one system call; the kernel's part of the work is the larger one.",
        "udp-512",
    )),
};

pub static UDP6: Component = Component {
    context: Context::Source,
    name: "udp6",
    aliases: &[],
    positional: &[],
    groups: &DATAGRAMS,
    own: FIXED6,
    presets: &[],
    not_yet: &[],
    summary: "Receives datagrams over UDP and IPv6, each one a message: the old name of \
              `network(transport(\"udp\") ip-protocol(6))`.",
    example: "udp6(port(5514))",
    cost: Some(Cost::bench("As `udp()`.", "udp-512")),
};

pub static UDP_BALANCER: Component = Component {
    context: Context::Source,
    name: "udp-balancer",
    aliases: &[],
    positional: &[],
    groups: &DATAGRAMS,
    own: &[
        IP,
        PORT,
        IP_PROTOCOL,
        Opt::new(
            "listeners",
            Kind::Int { min: 1, max: SOCKETS_MAX },
            Preset::Described("the number of cores"),
            "How many sockets share the port.",
        ),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Receives datagrams over UDP with several sockets on one port, which the kernel fills at random; messages of one sender may \
              change places. `udp()` needs one socket to keep all cores busy, and keeps the order: this is for machines on which one \
              socket is the limit.",
    example: "udp-balancer(listeners(4) port(514))",
    cost: Some(Cost::bench(
        "As `udp()` for each of its sockets; the kernel chooses one for each datagram.",
        "udp-300k-8",
    )),
};
