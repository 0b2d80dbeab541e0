//! `relp()`: messages from peers that keep each one until it is acknowledged, which is when everything made
//! from it was delivered.

mod answers;
mod port;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Preset, Settings};
use diag::{Diagnostics, Fault, Reported};
use driver_options::ports;
use driver_options::secure;
use driver_options::socket_groups::{INET, SOCKET, STREAM};
use driver_options::sockets::{generation, socket_options};
use driver_options::source_groups::{MULTILINE, READER, READER_FLAGS, SOURCE};
use driver_options::tls_groups::SECURE_SOURCE;
use driver_options::words::IP_PROTOCOLS;
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::worker::{Port, PortContext};
use engine::{Need, Shared};
use intake::inet::{self, Inet};
use intake::listener::{Joined, Protocol, backlog, inet_name};
use intake::reading::{Defaults, Reading, location};
use intake::senders::PeerFacts;
use port::RelpPort;
use record::Transport;
use std::net::SocketAddr;
use std::sync::Arc;
use wire::Framing;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&RELP, build)];

const OWN: &[Opt] = &[
    Opt::new("ip", Kind::Text, Preset::Described("all addresses"), "The address to listen on.")
        .alias(&["localip"])
        .sample("127.0.0.1"),
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

static RELP: Component = Component {
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

struct RelpStart(Inet);

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let secure = secure::read(s, "", secure::Side::Source, diags)?;
    let ip = inet::ip(s, s.choice("ip-protocol") == Some("6"), diags)?;
    let address = SocketAddr::new(ip, ports::port(s, "port", false, diags)?);
    // RELP frames its messages itself; of the framing only the size counts.
    let defaults = Defaults {
        framing: Framing::OctetCounting,
        syslog_protocol: false,
        expect_hostname: true,
        local: false,
    };
    let mut reading = Reading::new(s, cx, &defaults, diags);
    reading.idle_timeout = s.seconds("idle-timeout").filter(|t| !t.is_zero());
    let socket = socket_options(s, false);
    let connections_max = s.int("max-connections").unwrap_or(10).max(1) as usize;
    reading.share_window(connections_max, cx.globals);
    let facts = PeerFacts {
        group: Arc::clone(&reading.group),
        transport: Transport(if secure.is_some() { "relp+tls" } else { "relp" }),
        ip_protocol: 6,
    };
    let key = reading.persist_name.clone().unwrap_or_else(|| format!("relp_sd.({address})"));
    let backlog = backlog(s);
    let opened_with = match s.bool("keep-alive").unwrap_or(true) {
        true => format!("{address} {socket:?} {connections_max} {backlog} {} {secure:?}", reading.fixed()),
        // Never equal to another: everything is opened anew with each reload.
        false => format!("{address} {}", generation()),
    };
    let (parsing, finish, share) = (reading.syslog.clone(), reading.finish.clone(), reading.share);
    Ok(SourceDriver {
        key,
        opened_with,
        driver: "relp",
        instance: format!("relp,{address}"),
        carrier: Carrier::Connections {
            address: inet_name(address),
            persist_name: reading.persist_name.clone(),
        },
        settings: Box::new(move |program| {
            SourceSettings::new(parsing.clone(), finish.clone(), program).shared(share)
        }),
        start: Box::new(RelpStart(Inet {
            address,
            socket,
            backlog,
            connections_max,
            reading,
            multi_line: None,
            facts,
            location: location(s, cx),
            secure: secure.map(|options| tls::Acceptor::load(&options)),
        })),
    })
}

impl Start for RelpStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        self.0.serve(Some(Arc::new(Relp)), shared, source)
    }

    fn needs(&self) -> Vec<Need<'_>> {
        self.0.needs(false)
    }
}

struct Relp;

impl Protocol for Relp {
    fn port(&self, connection: Joined, cx: &PortContext, token: mio::Token) -> Box<dyn Port> {
        Box::new(RelpPort::new(connection, cx, token))
    }
}

#[cfg(test)]
mod tests;
