//! `opentelemetry()` and `syslog-ng-otlp()`: logs, metrics and traces over OTLP, from anybody who exports
//! them; a call is answered when everything made from it was delivered.

mod inbox;
mod port;
mod table;

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use driver_options::ports;
use driver_options::secure::{self, Side};
use driver_options::sockets::{generation, socket_options};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::worker::{Port, PortContext};
use engine::{Need, Shared};
use inbox::Places;
use intake::inet::{self, Inet};
use intake::listener::{Joined, Protocol, backlog, inet_name};
use intake::reading::{Reading, finish, location};
use intake::senders::PeerFacts;
use port::OtlpPort;
use record::Transport;
use std::net::SocketAddr;
use std::sync::Arc;
use tls::Acceptor;

pub const PARTS: &[SourcePart] = &[
    SourcePart::new(&table::OPENTELEMETRY, build_records),
    SourcePart::new(&table::SYSLOG_NG_OTLP, build_pairs),
];

fn build_records(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    build("opentelemetry", s, cx, diags)
}

fn build_pairs(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    build("syslog-ng-otlp", s, cx, diags)
}

/// The largest message that is taken without channel-args(): as other servers of gRPC.
const MESSAGE_BYTES_MAX: usize = 4 << 20;

fn build(
    driver: &'static str,
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<SourceDriver, Reported> {
    let secure = auth(s, diags)?;
    let message_bytes_max = message_bytes_max(s, diags)?;
    let ip = inet::ip(s, s.choice("ip-protocol") == Some("6"), diags)?;
    let address = SocketAddr::new(ip, ports::port(s, "port", false, diags)?);
    let socket = socket_options(s, false);
    let connections_max = s.int("max-connections").unwrap_or(1000).max(1) as usize;
    let mut reading = Reading::ready_made(s, cx, finish(s, cx, false, diags));
    reading.share_window(connections_max, cx.globals);
    let facts = PeerFacts { group: Arc::clone(&reading.group), transport: Transport("otlp"), ip_protocol: 6 };
    let requests = s.int("concurrent-requests").unwrap_or(2).max(2) as usize;
    let requests = requests * s.int("workers").unwrap_or(1).max(1) as usize;
    let key = reading.persist_name.clone().unwrap_or_else(|| format!("{driver}_sd.({address})"));
    let backlog = backlog(s);
    let opened_with = match s.bool("keep-alive").unwrap_or(true) {
        true => format!(
            "{address} {socket:?} {connections_max} {backlog} {requests} {message_bytes_max} {} {secure:?}",
            reading.fixed()
        ),
        // Never equal to another: everything is opened anew with each reload.
        false => format!("{address} {}", generation()),
    };
    let (finish, share) = (reading.finish.clone(), reading.share);
    let acceptor = secure.map(|options| Acceptor::load(&options));
    Ok(SourceDriver {
        key,
        opened_with,
        driver,
        instance: format!("{driver},{address}"),
        carrier: Carrier::Connections {
            address: inet_name(address),
            persist_name: reading.persist_name.clone(),
        },
        settings: Box::new(move |program| SourceSettings::ready_made(finish.clone(), program).shared(share)),
        start: Box::new(OtlpStart {
            room: Arc::new(Places::new(requests, message_bytes_max)),
            inet: Inet {
                address,
                socket,
                backlog,
                connections_max,
                reading,
                multi_line: None,
                facts,
                location: location(s, cx),
                // The guest has sessions of its own.
                secure: None,
            },
            acceptor,
        }),
    })
}

/// How connections are encrypted, where they are.
fn auth(s: &Settings, diags: &mut Diagnostics) -> Result<Option<tls::Options>, Reported> {
    let Some(auth) = s.block("auth") else { return Ok(None) };
    let at = s.span("auth").ok_or(Reported)?;
    let _ = (auth.args("alts"), auth.args("insecure"));
    if auth.is_set("alts") {
        let text = "auth(alts()) is not available in this version of penstock";
        diags.push(Diagnostic::error("D0251", text, at).help("write `auth(tls())`"));
        return Err(Reported);
    }
    let secure = secure::read(auth, "", Side::Source, diags)?;
    if auth.is_set("insecure") && secure.is_some() {
        let text = "auth() is both insecure() and tls()";
        diags.push(Diagnostic::error("D0251", text, at).help("leave one of them out"));
        return Err(Reported);
    }
    Ok(secure)
}

fn message_bytes_max(s: &Settings, diags: &mut Diagnostics) -> Result<usize, Reported> {
    let mut bytes_max = MESSAGE_BYTES_MAX;
    for pair in s.pairs("channel-args") {
        match (pair.key.text.as_str(), pair.value.text.trim().parse::<u32>()) {
            ("grpc.max_receive_message_length", Ok(bytes)) => bytes_max = bytes as usize,
            (name, _) => {
                let text = format!("nothing is known of the argument `{name}` with this value");
                let finding = Diagnostic::error("D0251", text, pair.value.span);
                diags.push(finding.help("known is grpc.max_receive_message_length"));
                return Err(Reported);
            }
        }
    }
    Ok(bytes_max)
}

struct OtlpStart {
    inet: Inet,
    acceptor: Option<Result<Arc<Acceptor>, Fault>>,
    room: Arc<Places>,
}

impl Start for OtlpStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let acceptor = self.acceptor.clone().transpose();
        let acceptor = acceptor.map_err(|error| inet::cannot_serve(&error))?;
        let protocol = Otlp { acceptor, room: Arc::clone(&self.room) };
        self.inet.serve(Some(Arc::new(protocol)), shared, source)
    }

    fn needs(&self) -> Vec<Need<'_>> {
        self.inet.needs(false)
    }
}

struct Otlp {
    acceptor: Option<Arc<Acceptor>>,
    room: Arc<Places>,
}

impl Protocol for Otlp {
    fn port(&self, connection: Joined, cx: &PortContext, token: mio::Token) -> Box<dyn Port> {
        Box::new(OtlpPort::new(connection, (self.acceptor.clone(), Arc::clone(&self.room)), cx, token))
    }
}
