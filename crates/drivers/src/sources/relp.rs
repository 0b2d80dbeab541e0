//! `relp()`: messages from peers that keep each one until it is acknowledged, which is when everything made from it was delivered.

mod answers;
mod port;

use conf_schema::Settings;
use diag::Diagnostics;
use driver_options::ports;
use driver_options::secure;
use driver_options::sockets::{generation, socket_options};
use engine::driver::{BuildContext, SourceDriver, Start};
use engine::source::{Settings as SourceSettings, Source};
use engine::worker::{Port, PortContext};
use engine::{Need, Shared};
use intake::inet::{self, Inet};
use intake::listener::{Joined, Protocol, backlog};
use intake::reading::{Defaults, Reading, location};
use intake::senders::PeerFacts;
use port::RelpPort;
use record::Transport;
use std::net::SocketAddr;
use std::sync::Arc;
use wire::Framing;

struct RelpStart(Inet);

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<SourceDriver> {
    let secure = secure::read(s, "", secure::Side::Source, diags)?;
    let ip = inet::ip(s, s.choice("ip-protocol") == Some("6"), diags)?;
    let address = SocketAddr::new(ip, ports::port(s, "port", ports::RELP, false, diags)?);
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
    Some(SourceDriver {
        key,
        opened_with,
        driver: "relp",
        instance: format!("relp,{address}"),
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
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), String> {
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
