//! `relp()`: messages to a server that acknowledges each one; what it has not acknowledged is kept and sent
//! again on the next connection.

mod session;
mod sink;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use delivery::balanced::{self, Balance};
use delivery::dialing::{DialOptions, Secured};
use delivery::single::{MakeSink, SingleDestination};
use delivery::target::{Connect, Route, given};
use delivery::writer::Writer;
use delivery::writing::{self, Layout};
use diag::{Diagnostics, Reported};
use driver_options::INT_MAX;
use driver_options::needs;
use driver_options::output_groups::{DESTINATION, TEMPLATE, WRITER};
use driver_options::ports;
use driver_options::secure;
use driver_options::socket_groups::{INET, SERVERS, SOCKET};
use driver_options::sockets::socket_options;
use driver_options::tls_groups::SECURE_DESTINATION;
use driver_options::words::IP_PROTOCOLS;
use engine::Need;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use sink::RelpSink;
use std::sync::Arc;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&RELP, build).needing(needed)];

fn needed(s: &Settings) -> Vec<Need<'static>> {
    needs::of_connecting(s, &[2514])
}

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
    Opt::new("localip", Kind::Text, Preset::Described("chosen by the system"), "The address to send from.")
        .sample("127.0.0.1"),
    Opt::new("localport", Kind::Port, Preset::Described("chosen by the system"), "The port to send from."),
    Opt::new(
        "window-size",
        Kind::Int { min: 1, max: INT_MAX },
        Preset::Int(10_000),
        "The most messages that are sent and not acknowledged, 16 MiB of them at most; so many may arrive twice when the connection \
         breaks. The rate is at most this window in the time from sending a message to its acknowledgement.",
    ),
];

static RELP: Component = Component {
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

/// Messages on the way when window-size() is not given: enough for a fast sender and a peer at the other end
/// of a continent.
const WINDOW: usize = 10_000;

pub fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let ipv6 = s.choice("ip-protocol") == Some("6");
    let secure = secure::read(s, "", secure::Side::Destination, diags)?;
    let host = s.text("host").ok_or(Reported)?.to_owned();
    given::check_family(&host, ipv6, "host", s, diags)?;
    let port = ports::port(s, "port", false, diags)?;
    let connect =
        Connect { from: given::local_address(s, ipv6, false, diags)?, socket: socket_options(s, false) };
    let mut writer = writing::writer(s, cx, Layout::Network, diags)?;
    let (servers, failback) = given::servers(s, &host, ipv6, diags)?;
    let balance = Balance::read(s, ipv6, cx, diags)?;
    let failback = if balance.is_some() { Some(Balance::failback(failback)) } else { failback };
    let address = format!("{host}:{port}");
    let key = writing::key(s, &mut writer, || format!("relp_dd.({address})"));
    let time_reopen = writing::time_reopen(s);
    let secure = secure.map(Secured::new);
    let options = Arc::new(DialOptions { connect, time_reopen, failback, secure });
    let window = s.int("window-size").and_then(|n| usize::try_from(n).ok()).unwrap_or(WINDOW).max(1);
    let keep_alive = s.bool("keep-alive").unwrap_or(true);
    let target = |servers: Vec<String>, writer: Writer| {
        let instance = format!("relp,{}:{port}", servers.first().map_or("", String::as_str));
        let options = Arc::clone(&options);
        let make: MakeSink = Box::new(move |place| {
            Box::new(RelpSink::new(place, Route::hosts(&servers, port, ipv6), Arc::clone(&options), window))
        });
        SingleDestination::new(("relp", instance), writer, writing::limits(s), keep_alive, make)
    };
    let destination = balanced::targets(balance.as_ref(), servers, writer, cx.identity, target);
    Ok(DestinationDriver { key, destination })
}

#[cfg(test)]
mod tests;
