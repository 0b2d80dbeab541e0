//! `relp()`: messages from peers that keep each one until it is acknowledged, which is when everything made from it was delivered.

mod answers;
mod port;

use super::listener::{Accepted, Joined, Listener, Protocol, Socket, backlog};
use super::network::{generation, socket_options};
use super::reading::{Defaults, Reading, location};
use super::senders::PeerFacts;
use crate::secure;
use conf_schema::{Port as PortName, Settings};
use diag::{Diagnostic, Diagnostics};
use engine::Shared;
use engine::driver::{BuildContext, SourceDriver, Start};
use engine::source::{Settings as SourceSettings, Source};
use engine::worker::{Port, PortContext};
use port::RelpPort;
use record::Transport;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use transport::SocketOptions;
use wire::Framing;

/// The port of the examples in rsyslog's manual; RELP has none of its own.
pub const PORT: u16 = 2514;

struct RelpStart {
    address: SocketAddr,
    socket: SocketOptions,
    backlog: i32,
    connections_max: usize,
    reading: Reading,
    facts: PeerFacts,
    location: String,
    /// Read already, so that a reload finds the certificates of running sources; what cannot be read is said when it starts.
    secure: Option<Result<Arc<tls::Acceptor>, String>>,
}

pub fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<SourceDriver> {
    let secure = secure::read(s, "", secure::Side::Source, diags)?;
    let address = address(s, diags)?;
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
    let (parsing, finish) = (reading.syslog.clone(), reading.finish.clone());
    Some(SourceDriver {
        key,
        opened_with,
        driver: "relp",
        instance: format!("relp,{address}"),
        settings: Box::new(move |program| SourceSettings::new(parsing.clone(), finish.clone(), program)),
        start: Box::new(RelpStart {
            address,
            socket,
            backlog,
            connections_max,
            reading,
            facts,
            location: location(s, cx),
            secure: secure.map(|options| tls::Acceptor::load(&options)),
        }),
    })
}

fn address(s: &Settings, diags: &mut Diagnostics) -> Option<SocketAddr> {
    let ipv6 = s.choice("ip-protocol") == Some("6");
    let port = match s.port("port") {
        Some(PortName::Number(port)) => port,
        None => PORT,
        Some(PortName::Service(name)) => match transport::service_port(name, false) {
            Some(port) => port,
            None => {
                let text = format!("there is no service `{name}`");
                let finding = Diagnostic::error("D0104", text, s.span("port")?);
                diags.push(finding.help("write the port as a number"));
                return None;
            }
        },
    };
    let any = if ipv6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
    let Some(text) = s.text("ip") else { return Some(SocketAddr::new(any, port)) };
    let mut wrong = |text: String, help: &'static str| {
        let at = s.span("ip").or(s.call_span())?;
        diags.push(Diagnostic::error("D0103", text, at).help(help));
        None
    };
    match (text.parse::<IpAddr>(), ipv6) {
        (Ok(ip), ipv6) if ip.is_ipv6() == ipv6 => Some(SocketAddr::new(ip, port)),
        (Ok(_), true) => {
            wrong(format!("{text} is not an IPv6 address"), "write an IPv6 address, or ip-protocol(4)")
        }
        (Ok(_), false) => wrong(format!("{text} is not an IPv4 address"), "add ip-protocol(6)"),
        (Err(_), _) => match transport::resolve_target(text, port, ipv6) {
            Ok(found) => found.first().copied(),
            Err(error) => wrong(
                format!("cannot find the address: {error}"),
                "write an address of this machine, or leave ip() out for all of them",
            ),
        },
    }
}

impl Start for RelpStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), String> {
        let secure = match &self.secure {
            Some(Ok(acceptor)) => Some(Arc::clone(acceptor)),
            Some(Err(error)) => return Err(format!("cannot serve TLS: {error}")),
            None => None,
        };
        let listener = transport::listen_tcp(self.address, &self.socket, self.backlog)
            .map_err(|error| format!("cannot listen on {}: {error}", self.address))?;
        let reading = &self.reading;
        let accepted = Accepted {
            framing: reading.framing,
            multi_line: None,
            idle_timeout: reading.idle_timeout,
            window_messages: reading.window_messages,
            fetch_limit: reading.fetch_limit,
            encoding: reading.encoding,
            socket: self.socket.clone(),
            connections_max: self.connections_max,
            facts: self.facts.clone(),
            naming: reading.naming.clone(),
            local_name: Arc::clone(&reading.local_name),
            credentials: false,
            location: self.location.clone(),
            open: AtomicUsize::new(0),
            secure,
            protocol: Some(Arc::new(Relp)),
        };
        Listener::start(Socket::Tcp(listener), source, Arc::new(accepted), shared)
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
