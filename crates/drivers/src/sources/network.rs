//! `network()`, `syslog()`, `tcp()`, `udp()` and their IPv6 forms: messages from the network.

mod address;
mod rltp;
mod tables;

use address::address;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::ports::Way;
use driver_options::secure;
use driver_options::sockets::{generation, socket_options};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::{Need, Shared};
use intake::datagram::{Clients, DatagramOptions, DatagramPort, Origin};
use intake::inet::Inet;
use intake::listener::{Protocol, backlog, inet_name};
use intake::multi_line::{Mode, multi_line};
use intake::proxied::Proxied;
use intake::reading::{Defaults, Reading, location};
use intake::senders::{PeerFacts, Senders};
use record::Transport;
use rltp::Rltp;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use tables::{NETWORK, SYSLOG, TCP, TCP6, UDP, UDP_BALANCER, UDP6};
use transport::SocketOptions;
use wire::{FramerOptions, Framing};

pub const PARTS: &[SourcePart] = &[
    SourcePart::new(&NETWORK, network),
    SourcePart::new(&SYSLOG, syslog),
    SourcePart::new(&TCP, tcp),
    SourcePart::new(&TCP6, tcp6),
    SourcePart::new(&UDP, udp),
    SourcePart::new(&UDP6, udp6),
    SourcePart::new(&UDP_BALANCER, udp_balancer),
];

/// What tells the drivers of this file apart.
struct Kind {
    name: &'static str,
    /// RFC 5424 with RFC 6587 framing: syslog().
    protocol: bool,
    /// `None`: transport() says.
    udp: Option<bool>,
    ipv6: Option<bool>,
}

fn network(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    build(&Kind { name: "network", protocol: false, udp: None, ipv6: None }, s, cx, diags)
}

fn syslog(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    build(&Kind { name: "syslog", protocol: true, udp: None, ipv6: None }, s, cx, diags)
}

fn tcp(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    build(&Kind { name: "tcp", protocol: false, udp: Some(false), ipv6: Some(false) }, s, cx, diags)
}

fn tcp6(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    build(&Kind { name: "tcp6", protocol: false, udp: Some(false), ipv6: Some(true) }, s, cx, diags)
}

fn udp(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    build(&Kind { name: "udp", protocol: false, udp: Some(true), ipv6: Some(false) }, s, cx, diags)
}

fn udp6(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    build(&Kind { name: "udp6", protocol: false, udp: Some(true), ipv6: Some(true) }, s, cx, diags)
}

fn udp_balancer(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    build(&Kind { name: "udp-balancer", protocol: false, udp: Some(true), ipv6: None }, s, cx, diags)
}

struct NetworkStart {
    /// The name of the source, when it speaks rltp.
    rltp: Option<String>,
    /// Connections come through a load balancer.
    proxied: Option<Proxied>,
    /// There is nobody to serve, see [`secure::stays_closed`].
    closed: bool,
    udp: bool,
    /// Each datagram says for whom it comes.
    proxied_udp: bool,
    /// Sockets that share the port.
    sockets: u32,
    at: Inet,
}

fn build(
    kind: &Kind,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    let word = if kind.udp.is_some() { "" } else { s.choice("transport").unwrap_or("tcp") };
    let proxied_udp = word == "proxied-udp";
    let udp = kind.udp.unwrap_or(word == "udp" || proxied_udp);
    let rltp = word == "rltp";
    if rltp {
        rltp::check(s, diags)?;
    }
    let ipv6 = kind.ipv6.unwrap_or_else(|| s.choice("ip-protocol") == Some("6"));
    let closed = kind.udp.is_none() && secure::stays_closed(s, word, cx.sources, diags);
    let secure = match kind.udp {
        Some(true) => None,
        _ if closed => None,
        // There, tls() is enough to say it.
        _ if rltp => secure::read(s, "", secure::Side::Source, diags)?,
        _ => secure::read(s, word, secure::Side::Source, diags)?,
    };
    let way = Way { protocol: kind.protocol, udp, secure: closed || secure.is_some(), rltp };
    let address = address(way, ipv6, s, diags)?;
    let defaults = Defaults {
        framing: framing(kind.protocol, udp, word),
        syslog_protocol: kind.protocol,
        expect_hostname: true,
        local: false,
    };
    let mut reading = Reading::new(s, cx, &defaults, diags);
    if !udp {
        reading.idle_timeout = s.seconds("idle-timeout").filter(|t| !t.is_zero());
    }
    let lines = match udp && kind.udp.is_some() {
        true => None,
        false => several_lines(s, reading.framing.framing, rltp, diags)?,
    };
    let (socket, sockets) = shared_port(kind, s, socket_options(s, udp));
    let connections_max = if udp { 1 } else { s.int("max-connections").unwrap_or(10).max(1) as usize };
    if !udp {
        reading.share_window(connections_max, cx.globals);
    }
    let transport = transport_name(kind.protocol, word, udp, secure.is_some());
    let facts = PeerFacts {
        group: Arc::clone(&reading.group),
        transport: Transport(transport),
        ip_protocol: if udp { 17 } else { 6 },
    };
    let protocol = if udp { "dgram" } else { "stream" };
    let instance = format!("{},{address}", if udp { "udp" } else { "tcp" });
    let key = reading
        .persist_name
        .clone()
        .unwrap_or_else(|| format!("afsocket_sd.({protocol},{})", inet_name(address)));
    let name = key.clone();
    let keep_alive = udp || s.bool("keep-alive").unwrap_or(true);
    let backlog = if udp { 0 } else { backlog(s) };
    let opened_with = match keep_alive {
        true => format!(
            "{address} {rltp} {socket:?} {sockets} {connections_max} {backlog} {} {secure:?} {closed} {:?} {proxied_udp} {:?}",
            reading.fixed(),
            Proxied::named(word),
            lines.as_ref().map(|(_, text)| text),
        ),
        // Never equal to another: everything is opened anew with each reload.
        false => format!("{address} {}", generation()),
    };
    let (parsing, finish, share) = (reading.syslog.clone(), reading.finish.clone(), reading.share);
    Ok(SourceDriver {
        key,
        opened_with,
        driver: kind.name,
        instance,
        carrier: match udp {
            true => Carrier::Datagrams,
            false => Carrier::Connections {
                address: inet_name(address),
                persist_name: reading.persist_name.clone(),
            },
        },
        settings: Box::new(move |program| {
            SourceSettings::new(parsing.clone(), finish.clone(), program).shared(share)
        }),
        start: Box::new(NetworkStart {
            rltp: rltp.then_some(name),
            proxied: Proxied::named(word),
            closed,
            udp,
            proxied_udp,
            sockets,
            at: Inet {
                address,
                socket,
                backlog,
                connections_max,
                reading,
                multi_line: lines,
                facts,
                location: location(s, cx),
                secure: secure.map(|options| tls::Acceptor::load(&options)),
            },
        }),
    })
}

/// `multi-line-mode()`: joins lines, so there have to be lines.
fn several_lines(
    s: &Settings,
    framing: Framing,
    rltp: bool,
    diags: &mut Diagnostics,
) -> Result<Option<(Mode, String)>, Reported> {
    let lines = multi_line(s, diags)?;
    if lines.is_some() && (rltp || !matches!(framing, Framing::Lines | Framing::LinesWithNuls)) {
        let at = s.span("multi-line-mode").ok_or(Reported)?;
        let text = "multi-line-mode() joins lines, and this transport has none";
        let finding = Diagnostic::error("D0113", text, at);
        diags.push(
            finding.help("leave it out: such a message may have several lines; or write transport(\"text\")"),
        );
        return Err(Reported);
    }
    Ok(lines)
}

/// What ebpf() and udp-balancer() make of the socket options, and how many sockets this source has on its
/// port.
fn shared_port(kind: &Kind, s: &Settings, mut socket: SocketOptions) -> (SocketOptions, u32) {
    let cores = std::thread::available_parallelism().map_or(1, |n| n.get());
    let count = |n: Option<i64>| n.and_then(|n| u32::try_from(n).ok()).unwrap_or(cores as u32).max(1);
    let block = s.block("ebpf").and_then(|ebpf| ebpf.block("reuseport"));
    socket.spread_over = block.map(|reuseport| count(reuseport.int("sockets")));
    if kind.name != "udp-balancer" {
        return (socket, 1);
    }
    let sockets = count(s.int("listeners"));
    socket.so_reuseport = true;
    socket.spread_over = socket.spread_over.or(Some(sockets));
    (socket, sockets)
}

fn framing(protocol: bool, udp: bool, word: &str) -> Framing {
    match word {
        _ if udp => Framing::Datagram,
        "text" => Framing::Lines,
        "framed" => Framing::OctetCounting,
        "text-with-nuls" => Framing::LinesWithNuls,
        "nul-terminated" => Framing::NulTerminated,
        "auto" => Framing::Auto,
        _ if protocol => Framing::OctetCounting,
        _ => Framing::Lines,
    }
}

fn transport_name(protocol: bool, word: &str, udp: bool, secure: bool) -> &'static str {
    match (protocol, udp) {
        _ if word == "rltp" && secure => "rltp+tls",
        _ if word == "rltp" => "rltp",
        (false, _) if word == "proxied-udp" => "rfc3164+proxied-udp",
        (false, _) if word == "proxied-tcp" => "rfc3164+proxied-tcp",
        (false, _) if word == "proxied-tls" => "rfc3164+proxied-tls",
        (false, _) if word == "proxied-tls-passthrough" => "rfc3164+proxied-tls-passthrough",
        (true, false) if secure => "rfc5425",
        (false, false) if secure => "rfc3164+tls",
        (true, true) => "rfc5426",
        (true, false) => "rfc6587",
        (false, true) => "rfc3164+udp",
        (false, false) => "rfc3164+tcp",
    }
}

impl Start for NetworkStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        if self.closed {
            return Ok(());
        }
        if self.udp {
            return self.start_udp(shared, source).map_err(|error| self.at.failed(&error))?;
        }
        let protocol: Option<Arc<dyn Protocol>> = match (&self.rltp, self.proxied) {
            (Some(key), _) => {
                let size = self.at.reading.framing.log_msg_size;
                Some(Arc::new(Rltp::new(shared.state(), key, size)))
            }
            (None, Some(proxied)) => Some(Arc::new(proxied)),
            (None, None) => None,
        };
        self.at.serve(protocol, shared, source)
    }

    fn needs(&self) -> Vec<Need<'_>> {
        if self.closed { Vec::new() } else { self.at.needs(self.udp) }
    }
}

impl NetworkStart {
    fn start_udp(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> std::io::Result<Result<(), Fault>> {
        // All are opened before one is served, so that a failure leaves nothing behind.
        let Inet { socket: options, reading, facts, .. } = &self.at;
        let mut address = self.at.address;
        let mut sockets = Vec::new();
        for _ in 0..self.sockets {
            let socket = transport::bind_udp(address, options)?;
            transport::mmsg::count_drops(&socket)?;
            if options.so_rcvbuf.is_none() {
                transport::receive::raise(&socket);
            }
            // Port 0 is any free port, the same for all.
            address.set_port(socket.local_addr()?.port());
            sockets.push(socket);
        }
        for socket in sockets {
            let local = socket.local_addr()?;
            let senders = Senders::new(facts.clone(), reading.naming.clone());
            let options = DatagramOptions {
                framing: FramerOptions { framing: Framing::Datagram, ..reading.framing },
                encoding: reading.encoding,
                window_messages: reading.window_messages,
            };
            let origin = match self.proxied_udp {
                true => Origin::Proxied(Clients::new(senders, local)),
                false => Origin::Udp { senders, local },
            };
            if let Err(error) = DatagramPort::start(OwnedFd::from(socket), origin, options, source, shared) {
                return Ok(Err(error));
            }
        }
        Ok(Ok(()))
    }
}

#[cfg(test)]
mod tests;
