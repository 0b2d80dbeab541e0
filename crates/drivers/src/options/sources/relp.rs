//! The source of messages over RELP.

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset};

use driver_options::socket_groups::{INET, SOCKET, STREAM};
use driver_options::source_groups::{MULTILINE, READER, READER_FLAGS, SOURCE};
use driver_options::tls_groups::SECURE_SOURCE;
use driver_options::words::IP_PROTOCOLS;

const OWN: &[Opt] = &[
    Opt::new("ip", Kind::Text, Preset::Described("all addresses"), "The address to listen on.")
        .alias(&["localip"]),
    Opt::new(
        "port",
        Kind::Port,
        Preset::Int(2514),
        "The port to listen on, as a number or a service name. 0 takes any free one.",
    )
    .alias(&["localport"]),
    Opt::new(
        "ip-protocol",
        Kind::Choice(IP_PROTOCOLS),
        Preset::Text("4"),
        "With 6 and no ip(), IPv4 peers are received too.",
    ),
];

pub static RELP: Component = Component {
    context: Context::Source,
    name: "relp",
    aliases: &[],
    positional: &[],
    groups: &[&READER_FLAGS, &READER, &SOURCE, &STREAM, &SECURE_SOURCE, &SOCKET, &INET, &MULTILINE],
    own: OWN,
    presets: &[],
    not_yet: &[],
    summary: "Receives messages over RELP, as rsyslog's `omrelp` sends them. Each message is acknowledged when everything made from it \
              was delivered, so that the sender keeps what did not arrive; use flags(flow-control) in the log paths, otherwise messages \
              are also dealt with when a full queue drops them. A connection that breaks may bring again what was not acknowledged. \
              Messages longer than log-msg-size() are cut. Encrypted as soon as there is a tls(). Acknowledgements go out a batch at a \
              time and cost next to nothing; senders with small windows are bound by the time a batch takes to its destinations.",
    example: "relp(port(2514) max-connections(100) keep-hostname(yes))",
    cost: Some(Cost::bench("As `network()`, and one answer for the messages of a batch.", "hop-relp-1")),
};
