//! Destinations that send over the network.

use conf_schema::{Component, Context, Cost, Group, Kind, OptionSpec as Opt, Positional, Preset};

use driver_options::output_groups::{DESTINATION, TEMPLATE, WRITER};
use driver_options::rltp_groups::RLTP_DESTINATION;
use driver_options::socket_groups::{CONNECT, INET, REMOTE, REMOTE6, SERVERS, SOCKET, SPOOF};
use driver_options::tls_groups::SECURE_DESTINATION;
use driver_options::words::{DESTINATION_TRANSPORTS, IP_PROTOCOLS};

const HOST: &[Positional] = &[Positional {
    name: "host",
    kind: Kind::Text,
    required: true,
    help: "the name or address of the server",
}];

const PORT: Opt =
    Opt::new("port", Kind::Port, Preset::Int(514), "The server's port, as a number or a service name.")
        .alias(&["destport"]);

const TRANSPORT: Opt = Opt::new(
    "transport",
    Kind::Choice(DESTINATION_TRANSPORTS),
    Preset::Text("tcp"),
    "The protocol, and how messages are told apart in it.",
)
.sample("tls");

const IP_PROTOCOL: Opt = Opt::new(
    "ip-protocol",
    Kind::Choice(IP_PROTOCOLS),
    Preset::Text("4"),
    "Which addresses of the server's name are used.",
);

/// What destinations have that may hold a connection.
const CONNECTED: &[&Group] = &[
    &WRITER,
    &TEMPLATE,
    &DESTINATION,
    &CONNECT,
    &REMOTE,
    &SPOOF,
    &SECURE_DESTINATION,
    &SERVERS,
    &SOCKET,
    &INET,
];

/// The same over IPv6.
const CONNECTED6: &[&Group] = &[
    &WRITER,
    &TEMPLATE,
    &DESTINATION,
    &CONNECT,
    &REMOTE6,
    &SPOOF,
    &SECURE_DESTINATION,
    &SERVERS,
    &SOCKET,
    &INET,
];

const WITH_TRANSPORT: &[Opt] = &[TRANSPORT, PORT, IP_PROTOCOL, RLTP_DESTINATION];

pub static NETWORK: Component = Component {
    context: Context::Destination,
    name: "network",
    aliases: &[],
    positional: HOST,
    groups: CONNECTED,
    own: WITH_TRANSPORT,
    presets: &[("port", Preset::Described("514, 35514 for RLTP"))],
    not_yet: &[],
    summary: "Sends messages in the old syslog format (RFC 3164), over TCP as lines or over UDP as datagrams. A broken \
              connection is made again after time-reopen(); messages wait meanwhile.",
    example: "network(\"log.example.com\" port(5514) transport(\"tcp\") failover(servers(\"b.example.com\")))",
    cost: Some(Cost::bench(
        "The line is a few copies where nothing of the header was changed, and messages leave in large writes.",
        "relay-1",
    )),
};

pub static SYSLOG: Component = Component {
    context: Context::Destination,
    name: "syslog",
    aliases: &[],
    positional: HOST,
    groups: CONNECTED,
    own: WITH_TRANSPORT,
    presets: &[("port", Preset::Described("601 for TCP, 6514 for TLS, 514 for UDP, 35514 for RLTP"))],
    not_yet: &[],
    summary: "Sends messages in the IETF syslog format (RFC 5424), over TCP with octet counting (RFC 6587) or over \
              UDP. A template() replaces only the message part.",
    example: "syslog(\"log.example.com\" transport(\"tcp\") frac-digits(3))",
    cost: Some(Cost::bench(
        "As `network()`; STRUCTURED-DATA that nothing changed is copied as received.",
        "relay-1",
    )),
};

pub static TCP: Component = Component {
    context: Context::Destination,
    name: "tcp",
    aliases: &[],
    positional: HOST,
    groups: CONNECTED,
    own: &[PORT],
    presets: &[],
    not_yet: &[],
    summary: "Sends lines over TCP and IPv4: the old name of `network(transport(\"tcp\"))`.",
    example: "tcp(\"10.0.0.1\" port(5514))",
    cost: Some(Cost::bench("As `network()`.", "relay-1")),
};

pub static TCP6: Component = Component {
    context: Context::Destination,
    name: "tcp6",
    aliases: &[],
    positional: HOST,
    groups: CONNECTED6,
    own: &[PORT],
    presets: &[],
    not_yet: &[],
    summary: "Sends lines over TCP and IPv6: the old name of `network(transport(\"tcp\") ip-protocol(6))`.",
    example: "tcp6(\"::1\" port(5514))",
    cost: Some(Cost::bench("As `network()`.", "relay-1")),
};

/// Why a datagram never turns to another server.
pub const NO_ANSWER: &str = "nothing says whether one arrived";

const UDP_OWN: &[Opt] =
    &[PORT, Opt::no_effect("failover", NO_ANSWER), Opt::no_effect("failover-servers", NO_ANSWER)];

const NO_TLS: &[(&str, &str)] = &[("tls", "it needs connections: use `network()` with transport(\"tls\")")];

pub static UDP: Component = Component {
    context: Context::Destination,
    name: "udp",
    aliases: &[],
    positional: HOST,
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &CONNECT, &REMOTE, &SPOOF, &SOCKET, &INET],
    own: UDP_OWN,
    presets: &[],
    not_yet: NO_TLS,
    summary: "Sends datagrams over UDP and IPv4: the old name of `network(transport(\"udp\"))`.",
    example: "udp(\"10.0.0.1\" port(5514))",
    cost: Some(Cost::elsewhere("Many datagrams leave with one system call.")),
};

pub static UDP6: Component = Component {
    context: Context::Destination,
    name: "udp6",
    aliases: &[],
    positional: HOST,
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &CONNECT, &REMOTE6, &SPOOF, &SOCKET, &INET],
    own: UDP_OWN,
    presets: &[],
    not_yet: NO_TLS,
    summary: "Sends datagrams over UDP and IPv6: the old name of `network(transport(\"udp\") ip-protocol(6))`.",
    example: "udp6(\"::1\" port(5514))",
    cost: Some(Cost::elsewhere("As `udp()`.")),
};
