//! The destination that sends over RELP.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset};

use driver_options::INT_MAX;
use driver_options::output_groups::{DESTINATION, TEMPLATE, WRITER};
use driver_options::socket_groups::{INET, SERVERS, SOCKET};
use driver_options::tls_groups::SECURE_DESTINATION;
use driver_options::words::IP_PROTOCOLS;

const HOST: &[Positional] = &[Positional {
    name: "host",
    kind: Kind::Text,
    required: true,
    help: "the name or address of the server",
}];

const OWN: &[Opt] = &[
    Opt::new("port", Kind::Port, Preset::Int(2514), "The server's port, as a number or a service name.")
        .alias(&["destport"]),
    Opt::new(
        "ip-protocol",
        Kind::Choice(IP_PROTOCOLS),
        Preset::Text("4"),
        "Which addresses of the server's name are used.",
    ),
    Opt::new("keep-alive", Kind::Bool, Preset::Bool(true), "Keep the connection over a reload."),
    Opt::new("localip", Kind::Text, Preset::Described("chosen by the system"), "The address to send from."),
    Opt::new("localport", Kind::Port, Preset::Described("chosen by the system"), "The port to send from."),
    Opt::new(
        "window-size",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Int(10_000),
        "The most messages that are sent and not acknowledged, 16 MiB of them at most; so many may arrive twice when the connection \
         breaks. The rate is at most this window in the time from sending a message to its acknowledgement.",
    ),
];

pub static RELP: Component = Component {
    context: Context::Destination,
    name: "relp",
    aliases: &[],
    positional: HOST,
    groups: &[&WRITER, &TEMPLATE, &DESTINATION, &SECURE_DESTINATION, &SERVERS, &SOCKET, &INET],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Sends messages over RELP, as to rsyslog's `imrelp` or a `relp()` source. A message counts as delivered when the server has \
              acknowledged it; until then it waits here, and after a cut it is sent again on the next connection, so that nothing is \
              lost and at most what was on the way arrives twice. The layout is that of network(), or RFC 5424 with \
              flags(syslog-protocol); the end of line of a template() is left out. Encrypted as soon as there is a tls(). A server that \
              refuses one message three times in a row has it dropped and counted.",
    example: "relp(\"log.example.com\" port(2514) failover(servers(\"b.example.com\")))",
    cost: Some(Cost::bench(
        "As `network()`, and each message is kept until it was acknowledged.",
        "hop-relp-1",
    )),
};
