//! How brokers are reached, out of the options and properties that say it.

use crate::Server;
use crate::connection::Dial;
use crate::properties::Properties;
use conf_schema::Settings;
use delivery::dialing::Secured;
use delivery::target::Connect;
use diag::{Diagnostic, Diagnostics};
use driver_options::secure::{self, Side};
use kafka::{Login, Mechanism};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const PORT: u16 = 9092;
/// Where authorities stand that the system trusts.
const SYSTEM_CA: &str = "/etc/ssl/certs/ca-certificates.crt";

/// `bootstrap-servers()`, as it is written and as it is meant; `None` after an error was reported.
pub fn servers(s: &Settings, p: &Properties, diags: &mut Diagnostics) -> Option<(String, Vec<Server>)> {
    let at = s.call_span()?;
    let Some(text) = s.text("bootstrap-servers").map(str::to_owned).or_else(|| p.servers.clone()) else {
        let finding = Diagnostic::error("D0162", "kafka() does not say where the brokers are", at);
        diags.push(finding.help("add `bootstrap-servers(\"host:9092\")`"));
        return None;
    };
    let parts = text.split(',').map(str::trim).filter(|server| !server.is_empty());
    let servers: Option<Vec<Server>> = parts.map(server).collect();
    let Some(servers) = servers.filter(|servers| !servers.is_empty()) else {
        let at = s.span("bootstrap-servers").unwrap_or(at);
        let finding = Diagnostic::error("D0162", format!("`{text}` is no list of brokers"), at);
        diags.push(finding.help("write `bootstrap-servers(\"host:9092,other:9092\")`"));
        return None;
    };
    Some((text, servers))
}

fn server(text: &str) -> Option<Server> {
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.starts_with('[') => (host, port.parse().ok()?),
        _ => (text, PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty() && port != 0).then(|| (host.to_owned(), port))
}

/// `None` after an error was reported.
pub fn dial(s: &Settings, p: &Properties, diags: &mut Diagnostics) -> Option<Dial> {
    // The options of a client: a source is one too.
    let own = secure::read(s, "", Side::Destination, diags).ok()?;
    let given = p.secure || p.tls_given;
    let mut options = match own {
        Some(own) => Some(own),
        None => given.then(|| tls::Options { sni: true, ..p.tls.clone() }),
    };
    if let Some(options) = &mut options
        && options.ca_file.is_none()
        && options.ca_dir.is_none()
        && Path::new(SYSTEM_CA).exists()
    {
        options.ca_file = Some(SYSTEM_CA.into());
    }
    let login = match (p.sasl, &p.user, &p.password) {
        (false, None, None) => None,
        (_, Some(user), Some(password)) => {
            let mechanism = p.mechanism.unwrap_or(Mechanism::Plain);
            Some(Arc::new(Login { mechanism, user: user.clone(), password: password.clone() }))
        }
        _ => {
            let text = "a login needs both `sasl.username` and `sasl.password`";
            diags.push(Diagnostic::error("D0162", text, s.span("config").or(s.call_span())?));
            return None;
        }
    };
    Some(Dial {
        connect: Connect::default(),
        ipv6: p.ipv6,
        secured: options.map(Secured::new),
        login,
        client_id: p.client_id.as_str().into(),
        pause: p.reconnect.max(Duration::from_millis(10)),
        pause_max: p.reconnect_max.max(p.reconnect),
        answer_max: p.socket_timeout.max(p.request_timeout + Duration::from_secs(1)),
        answer_bytes_max: p.reads.answer_bytes_max,
    })
}
