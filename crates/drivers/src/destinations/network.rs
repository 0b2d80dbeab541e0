//! `network()`, `syslog()`, `tcp()`, `udp()` and their IPv6 forms: sends messages to another machine.

mod rltp;
mod tables;

use conf_schema::Settings;
use delivery::balanced::{self, Balance, Balanced};
use delivery::datagram::{DatagramOptions, DatagramSink};
use delivery::dialing::{DialOptions, Secured};
use delivery::single::{MakeSink, SingleDestination};
use delivery::stream::StreamSink;
use delivery::target::{Connect, Lookup, Route, given};
use delivery::writer::{Envelope, Writer};
use delivery::writing::{self, Layout};
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::needs;
use driver_options::ports::{self, Way};
use driver_options::secure;
use driver_options::sockets::socket_options;
use engine::driver::{BuildContext, Destination, DestinationDriver, DestinationPart};
use engine::{Need, QueueLimits};
use rltp::{Lanes, Spread, Wishes};
use std::sync::Arc;
use tables::NO_ANSWER;
use tables::{NETWORK, SYSLOG, TCP, TCP6, UDP, UDP6};
use template::Identity;

pub const PARTS: &[DestinationPart] = &[
    DestinationPart::new(&NETWORK, network).needing(needed),
    DestinationPart::new(&SYSLOG, syslog).needing(needed),
    DestinationPart::new(&TCP, tcp).needing(needed),
    DestinationPart::new(&TCP6, tcp6).needing(needed),
    DestinationPart::new(&UDP, udp).needing(needed),
    DestinationPart::new(&UDP6, udp6).needing(needed),
];

fn needed(s: &Settings) -> Vec<Need<'static>> {
    needs::of_connecting(s, &ports::OWN)
}

/// What tells the drivers of this file apart.
struct Kind {
    name: &'static str,
    /// RFC 5424 with RFC 6587 framing: syslog().
    protocol: bool,
    /// `None`: transport() says.
    udp: Option<bool>,
    ipv6: Option<bool>,
}

fn network(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    build(&Kind { name: "network", protocol: false, udp: None, ipv6: None }, s, cx, diags)
}

fn syslog(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    build(&Kind { name: "syslog", protocol: true, udp: None, ipv6: None }, s, cx, diags)
}

fn tcp(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<DestinationDriver, Reported> {
    build(&Kind { name: "tcp", protocol: false, udp: Some(false), ipv6: Some(false) }, s, cx, diags)
}

fn tcp6(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<DestinationDriver, Reported> {
    build(&Kind { name: "tcp6", protocol: false, udp: Some(false), ipv6: Some(true) }, s, cx, diags)
}

fn udp(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<DestinationDriver, Reported> {
    build(&Kind { name: "udp", protocol: false, udp: Some(true), ipv6: Some(false) }, s, cx, diags)
}

fn udp6(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<DestinationDriver, Reported> {
    build(&Kind { name: "udp6", protocol: false, udp: Some(true), ipv6: Some(true) }, s, cx, diags)
}

/// What is sent to and how, as the options say it.
struct Remote {
    host: String,
    port: u16,
    udp: bool,
    ipv6: bool,
    secure: Option<tls::Options>,
    /// Of transport(rltp).
    acknowledged: Option<Wishes>,
    /// Each message begins with its size.
    counted: bool,
}

impl Remote {
    fn read(kind: &Kind, s: &Settings, diags: &mut Diagnostics) -> Result<Remote, Reported> {
        let word = if kind.udp.is_some() { "" } else { s.choice("transport").unwrap_or("tcp") };
        let udp = kind.udp.unwrap_or(word == "udp");
        let ipv6 = kind.ipv6.unwrap_or_else(|| s.choice("ip-protocol") == Some("6"));
        let secure = match kind.udp {
            Some(true) => None,
            // There, tls() is enough to say it.
            _ if word == "rltp" => secure::read(s, "", secure::Side::Destination, diags)?,
            _ => secure::read(s, word, secure::Side::Destination, diags)?,
        };
        let host = s.text("host").ok_or(Reported)?.to_owned();
        given::check_family(&host, ipv6, "host", s, diags)?;
        let acknowledged = acknowledged(kind, s, word, diags);
        let way =
            Way { protocol: kind.protocol, udp, secure: secure.is_some(), rltp: acknowledged.is_some() };
        let port = way.port(s, diags)?;
        let counted = word == "framed" || (kind.protocol && !udp && acknowledged.is_none() && word != "text");
        Ok(Remote { host, port, udp, ipv6, secure, acknowledged, counted })
    }
}

fn build(
    kind: &Kind,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let mut remote = Remote::read(kind, s, diags)?;
    let (udp, ipv6) = (remote.udp, remote.ipv6);
    let connect =
        Connect { from: given::local_address(s, ipv6, udp, diags)?, socket: socket_options(s, udp) };
    let layout = if kind.protocol { Layout::Protocol } else { Layout::Network };
    let mut writer = writing::writer(s, cx, layout, diags)?;
    if remote.counted {
        writer.envelope = Envelope::OctetCounting;
    }
    let spoof_source = spoof_source(s, &remote, &mut writer, diags)?;
    needs_connections(kind, s, &remote, diags)?;
    let (servers, failback) = match udp {
        true => (vec![remote.host.clone()], None),
        false => given::servers(s, &remote.host, ipv6, diags)?,
    };
    let balance = if kind.udp == Some(true) { None } else { Balance::read(s, ipv6, cx, diags)? };
    let protocol = if udp { "dgram" } else { "stream" };
    let address = format!("{}:{}", remote.host, remote.port);
    let key = writing::key(s, &mut writer, || format!("afsocket_dd.({protocol},AF_INET({address}))"));
    let time_reopen = writing::time_reopen(s);
    let close_on_input = s.bool("close-on-input").unwrap_or(true);
    let to = To {
        name: kind.name,
        key: key.clone(),
        limits: writing::limits(s),
        keep_alive: s.bool("keep-alive").unwrap_or(true),
        identity: cx.identity,
        servers,
        balance,
    };
    let destination = if udp {
        let options = DatagramOptions { connect, time_reopen, spoof_source };
        to.datagrams(&remote, writer, options)
    } else {
        let failback = if to.balance.is_some() { Some(Balance::failback(failback)) } else { failback };
        let secure = remote.secure.take().map(Secured::new);
        let options = Arc::new(DialOptions { connect, time_reopen, failback, secure });
        match remote.acknowledged {
            Some(wishes) => to.lanes(&remote, writer, options, wishes),
            None => to.streams(&remote, writer, options, close_on_input),
        }
    };
    Ok(DestinationDriver { key, destination })
}

/// What destinations are made of, whichever way messages go.
struct To<'a> {
    name: &'static str,
    /// In the state file.
    key: String,
    limits: QueueLimits,
    keep_alive: bool,
    identity: &'a Identity,
    /// In the order in which they are tried.
    servers: Vec<String>,
    balance: Option<Balance>,
}

impl To<'_> {
    /// A destination with one outlet; `server` is the one it is known by.
    fn single(&self, server: String, writer: Writer, make: MakeSink) -> SingleDestination {
        SingleDestination::new((self.name, server), writer, self.limits, self.keep_alive, make)
    }

    fn datagrams(self, remote: &Remote, writer: Writer, options: DatagramOptions) -> Arc<dyn Destination> {
        let (host, port, ipv6) = (remote.host.clone(), remote.port, remote.ipv6);
        let (described, spoofs, options) =
            (format!("udp,{host}:{port}"), options.spoof_source, Arc::new(options));
        let make: MakeSink = Box::new(move |place| {
            Box::new(DatagramSink::new(place, Lookup::host(&host, port, ipv6), Arc::clone(&options)))
        });
        let mut made = self.single(described, writer, make);
        if spoofs {
            made.prepare = Some(Box::new(move |_| may_spoof(ipv6)));
        }
        Arc::new(made)
    }

    fn streams(
        self,
        remote: &Remote,
        writer: Writer,
        options: Arc<DialOptions>,
        close_on_input: bool,
    ) -> Arc<dyn Destination> {
        let (port, ipv6) = (remote.port, remote.ipv6);
        balanced::targets(
            self.balance.as_ref(),
            self.servers.clone(),
            writer,
            self.identity,
            |route, writer| {
                let described = format!("tcp,{}:{port}", route.first().map_or("", String::as_str));
                let options = Arc::clone(&options);
                let make: MakeSink = Box::new(move |place| {
                    let route = Route::hosts(&route, port, ipv6);
                    Box::new(StreamSink::new(place, route, Arc::clone(&options), close_on_input))
                });
                self.single(described, writer, make)
            },
        )
    }

    fn lanes(
        self,
        remote: &Remote,
        writer: Writer,
        options: Arc<DialOptions>,
        wishes: Wishes,
    ) -> Arc<dyn Destination> {
        let To { name, key, limits, keep_alive, identity, servers, balance } = self;
        let lanes =
            Lanes { name, key, port: remote.port, ipv6: remote.ipv6, keep_alive, limits, options, wishes };
        match &balance {
            Some(balance) => {
                let targets = lanes.make(&balance.routes(&servers), writer, identity);
                Arc::new(Balanced::new(balance, targets))
            }
            None => Arc::new(Spread::new(lanes.make(&[servers], writer, identity))),
        }
    }
}

/// `spoof-source()`: whether messages go out in the names of their senders, whose addresses the writer then
/// puts before them.
fn spoof_source(
    s: &Settings,
    remote: &Remote,
    writer: &mut Writer,
    diags: &mut Diagnostics,
) -> Result<bool, Reported> {
    let on = s.bool("spoof-source").unwrap_or(false);
    let bytes_max = s.int("spoof-source-max-msglen").and_then(|n| usize::try_from(n).ok()).unwrap_or(1024);
    if on && !remote.udp {
        let finding = Diagnostic::error(
            "D0130",
            "spoof-source() needs datagrams: a connection has one sender",
            s.span("spoof-source").ok_or(Reported)?,
        );
        diags.push(finding.help("use transport(udp), or leave spoof-source() out"));
        return Err(Reported);
    }
    if on {
        writer.envelope = Envelope::Sender { ipv6: remote.ipv6, bytes_max };
    }
    Ok(on)
}

fn may_spoof(ipv6: bool) -> Result<(), Fault> {
    transport::may_spoof(ipv6).map_err(|error| match error.kind() {
        std::io::ErrorKind::PermissionDenied => Fault::misconfigured(
            "spoof-source() sends packets with other machines' addresses, which needs root or CAP_NET_RAW: give the program \
             that capability, or leave spoof-source() out",
        ),
        _ => Fault::local(format!("spoof-source() needs a raw socket: {error}")),
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

/// Other servers need a transport that can fail over to them: sharing messages among them is refused, and
/// failover() is taken as syslog-ng takes it, where a datagram never fails either.
fn needs_connections(
    kind: &Kind,
    s: &Settings,
    remote: &Remote,
    diags: &mut Diagnostics,
) -> Result<(), Reported> {
    if !remote.udp || kind.udp == Some(true) {
        return Ok(());
    }
    if s.block("load-balance").is_some() {
        let finding = Diagnostic::error(
            "D0110",
            "load-balance() needs connections",
            s.span("load-balance").ok_or(Reported)?,
        );
        diags.push(finding.help("use transport(tcp), or leave load-balance() out"));
        return Err(Reported);
    }
    for option in ["failover", "failover-servers"] {
        if s.is_set(option)
            && let Some(at) = s.span(option)
        {
            let text = format!("`{option}()` has no effect on datagrams: {NO_ANSWER}");
            diags.push(Diagnostic::warning("O0113", text, at).help("use transport(tcp)"));
        }
    }
    Ok(())
}
