//! `network()`, `syslog()`, `tcp()`, `udp()` and their IPv6 forms: sends messages to another machine.

use super::balanced::{Balance, Balanced};
use super::datagram::{DatagramOptions, DatagramSink};
use super::dialing::{DialOptions, Secured};
use super::rltp::{Lanes, Spread, Wishes};
use super::single::{MakeSink, SingleDestination, alike};
use super::stream::StreamSink;
use super::target::{Connect, Lookup, Route, given};
use super::writing::{self, Layout};
use crate::ports::Way;
use crate::secure;
use crate::sources::network::socket_options;
use crate::writer::{Envelope, Writer};
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics};
use engine::driver::{BuildContext, Destination, DestinationDriver};
use std::sync::Arc;

/// What tells the drivers of this file apart.
struct Kind {
    name: &'static str,
    /// RFC 5424 with RFC 6587 framing: syslog().
    protocol: bool,
    /// `None`: transport() says.
    udp: Option<bool>,
    ipv6: Option<bool>,
}

pub fn network(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build(&Kind { name: "network", protocol: false, udp: None, ipv6: None }, s, cx, diags)
}

pub fn syslog(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build(&Kind { name: "syslog", protocol: true, udp: None, ipv6: None }, s, cx, diags)
}

pub fn tcp(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build(&Kind { name: "tcp", protocol: false, udp: Some(false), ipv6: Some(false) }, s, cx, diags)
}

pub fn tcp6(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build(&Kind { name: "tcp6", protocol: false, udp: Some(false), ipv6: Some(true) }, s, cx, diags)
}

pub fn udp(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build(&Kind { name: "udp", protocol: false, udp: Some(true), ipv6: Some(false) }, s, cx, diags)
}

pub fn udp6(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Option<DestinationDriver> {
    build(&Kind { name: "udp6", protocol: false, udp: Some(true), ipv6: Some(true) }, s, cx, diags)
}

/// What is sent to, as the options say it.
struct Remote {
    host: String,
    port: u16,
    udp: bool,
    ipv6: bool,
}

fn build(
    kind: &Kind,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Option<DestinationDriver> {
    let word = if kind.udp.is_some() { "" } else { s.choice("transport").unwrap_or("tcp") };
    let udp = kind.udp.unwrap_or(word == "udp");
    let ipv6 = kind.ipv6.unwrap_or_else(|| s.choice("ip-protocol") == Some("6"));
    let secure = match kind.udp {
        Some(true) => None,
        // There, tls() is enough to say it.
        _ if word == "rltp" => secure::read(s, "", secure::Side::Destination, diags)?,
        _ => secure::read(s, word, secure::Side::Destination, diags)?,
    };
    let host = s.text("host")?.to_owned();
    given::check_family(&host, ipv6, "host", s, diags)?;
    let rltp = acknowledged(kind, s, word, diags);
    let way = Way {
        driver: kind.name,
        protocol: kind.protocol,
        udp,
        secure: secure.is_some(),
        rltp: rltp.is_some(),
    };
    let port = way.port(s, diags)?;
    let remote = Remote { host, port, udp, ipv6 };
    let connect =
        Connect { from: given::local_address(s, ipv6, udp, diags)?, socket: socket_options(s, udp) };
    let layout = if kind.protocol { Layout::Protocol } else { Layout::Network };
    let mut writer = writing::writer(s, cx, layout, diags)?;
    if word == "framed" || (kind.protocol && !udp && rltp.is_none() && word != "text") {
        writer.envelope = Envelope::OctetCounting;
    }
    let spoof_source = spoof_source(s, &remote, &mut writer, diags)?;
    needs_connections(kind, s, &remote, diags)?;
    let (servers, failback) = match kind.udp {
        Some(true) => (vec![remote.host.clone()], None),
        _ => given::servers(s, &remote.host, ipv6, diags)?,
    };
    let balance = if kind.udp == Some(true) { None } else { Balance::read(s, ipv6, cx, diags)? };
    let (protocol, short) = if udp { ("dgram", "udp") } else { ("stream", "tcp") };
    let address = format!("{}:{}", remote.host, remote.port);
    let key = writing::key(s, &mut writer, || format!("afsocket_dd.({protocol},AF_INET({address}))"));
    let close_on_input = s.bool("close-on-input").unwrap_or(true);
    let time_reopen = writing::time_reopen(s);
    let keep_alive = s.bool("keep-alive").unwrap_or(true);
    let failback = if balance.is_some() { Some(Balance::failback(failback)) } else { failback };
    let options = Arc::new(DialOptions { connect, time_reopen, failback, secure: secure.map(Secured::new) });
    if let Some(wishes) = rltp {
        let (name, port, limits) = (kind.name, remote.port, writing::limits(s));
        let lanes = Lanes { name, key: key.clone(), port, ipv6, keep_alive, limits, options, wishes };
        let destination: Arc<dyn Destination> = match &balance {
            Some(balance) => {
                let targets = lanes.make(&balance.routes(&servers), writer, cx.identity);
                Arc::new(Balanced::new(balance, targets))
            }
            None => Arc::new(Spread::new(lanes.make(&[servers], writer, cx.identity))),
        };
        return Some(DestinationDriver { key, destination });
    }
    let make: MakeSink = if udp {
        let options =
            Arc::new(DatagramOptions { connect: options.connect.clone(), time_reopen, spoof_source });
        Box::new(move |place| {
            Box::new(DatagramSink::new(
                place,
                Lookup::host(&remote.host, remote.port, ipv6),
                Arc::clone(&options),
            ))
        })
    } else {
        let port = remote.port;
        let stream = move |servers: Vec<String>| -> MakeSink {
            let options = Arc::clone(&options);
            Box::new(move |place| {
                let route = Route::hosts(&servers, port, ipv6);
                Box::new(StreamSink::new(place, route, Arc::clone(&options), close_on_input))
            })
        };
        if let Some(balance) = &balance {
            let targets = alike(balance.routes(&servers), writer, cx.identity, |route, writer| {
                let instance = format!("tcp,{}:{port}", route.first().map_or("", String::as_str));
                let make = stream(route);
                SingleDestination::new((kind.name, instance), writer, writing::limits(s), keep_alive, make)
            });
            return Some(DestinationDriver { key, destination: Arc::new(Balanced::new(balance, targets)) });
        }
        stream(servers)
    };
    let described = (kind.name, format!("{short},{address}"));
    let mut destination = SingleDestination::new(described, writer, writing::limits(s), keep_alive, make);
    if spoof_source {
        destination.prepare = Some(Box::new(move |_| may_spoof(ipv6)));
    }
    Some(DestinationDriver { key, destination: Arc::new(destination) })
}

/// `spoof-source()`: whether messages go out in the names of their senders, whose addresses the writer then puts before them.
fn spoof_source(s: &Settings, remote: &Remote, writer: &mut Writer, diags: &mut Diagnostics) -> Option<bool> {
    let on = s.bool("spoof-source").unwrap_or(false);
    let bytes_max = s.int("spoof-source-max-msglen").and_then(|n| usize::try_from(n).ok()).unwrap_or(1024);
    if on && !remote.udp {
        let finding = Diagnostic::error(
            "D0130",
            "spoof-source() needs datagrams: a connection has one sender",
            s.span("spoof-source")?,
        );
        diags.push(finding.help("use transport(udp), or leave spoof-source() out"));
        return None;
    }
    if on {
        writer.envelope = Envelope::Sender { ipv6: remote.ipv6, bytes_max };
    }
    Some(on)
}

fn may_spoof(ipv6: bool) -> Result<(), String> {
    transport::may_spoof(ipv6).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => {
            "spoof-source() sends packets with other machines' addresses, which needs root or CAP_NET_RAW: give the program \
             that capability, or leave spoof-source() out"
                .to_owned()
        }
        _ => format!("spoof-source() needs a raw socket: {error}"),
    })
}

/// What `transport(rltp)` and its block ask for.
fn acknowledged(kind: &Kind, s: &Settings, word: &str, diags: &mut Diagnostics) -> Option<Wishes> {
    if kind.udp.is_some() {
        return None;
    }
    let wishes = Wishes::read(s);
    if word == "rltp" {
        return Some(wishes);
    }
    if s.block("rltp").is_some()
        && let Some(at) = s.span("rltp")
    {
        let text = format!("rltp() is given, and transport({word}) acknowledges nothing");
        diags.push(Diagnostic::error("D0122", text, at).help("write transport(\"rltp\")"));
    }
    None
}

/// Other servers need a transport that can fail over to them.
fn needs_connections(kind: &Kind, s: &Settings, remote: &Remote, diags: &mut Diagnostics) -> Option<()> {
    let wrong = |option: &str| match option {
        _ if kind.udp == Some(true) => false,
        "load-balance" => remote.udp && s.block(option).is_some(),
        _ => remote.udp && s.is_set(option),
    };
    let Some(option) = ["failover", "failover-servers", "load-balance"].into_iter().find(|o| wrong(o)) else {
        return Some(());
    };
    let (text, help) = match option {
        "load-balance" => {
            ("load-balance() needs connections", "use transport(tcp), or leave load-balance() out")
        }
        _ => ("failover() needs a connection that can fail", "use transport(tcp), or leave failover() out"),
    };
    diags.push(Diagnostic::error("D0110", text, s.span(option)?).help(help));
    None
}
