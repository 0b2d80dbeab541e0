//! Options of destinations that are a dialogue: where the server is, how long it may take to answer.

use crate::dial::Dial;
use crate::proxy::Proxy;
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Settings};
use delivery::dialing::Secured;
use delivery::target::Connect;
use diag::{Diagnostic, Diagnostics, Reported};
use driver_options::words::IP_PROTOCOLS;
use driver_options::{SECONDS_MAX, ports, secure};
use std::time::Duration;

const ANSWER_MAX: Duration = Duration::from_secs(10);

/// Options that every one of them has. The driver's table adds `port()`, and the name of the server.
pub static SERVER: Group = Group {
    name: "the server",
    options: &[
        Opt::new(
            "ip-protocol",
            Kind::Choice(IP_PROTOCOLS),
            Preset::Text("4"),
            "Which addresses of the server's name are used.",
        ),
        Opt::new(
            "timeout",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Int(10),
            "Seconds that the server may take to say anything while it owes an answer; then the connection is ended, and what was not \
             answered is sent again on another. 0 is the preset.",
        ),
    ],
};

/// Of those whose servers are reached through a proxy where there is one.
pub static HTTP_PROXY: Group = Group {
    name: "a proxy",
    options: &[Opt::new(
        "http-proxy",
        Kind::Text,
        Preset::Described("none; the environment is not asked"),
        "An HTTP proxy, `http://user:password@host:port`, that is asked for a way to the server (CONNECT).",
    )
    .sample("\"http://127.0.0.1:9\"")],
};

/// What `http-proxy()` says.
pub fn proxy(s: &Settings, diags: &mut Diagnostics) -> Result<Option<Proxy>, Reported> {
    let Some(text) = s.text("http-proxy") else { return Ok(None) };
    Proxy::parse(text).map(Some).map_err(|why| {
        if let Some(at) = s.span("http-proxy") {
            let finding = Diagnostic::error("D0302", why, at);
            diags.push(finding.help("write `http-proxy(\"http://host:port\")`"));
        }
        Reported
    })
}

/// Where a server is.
pub struct Where {
    pub host: String,
    pub port: u16,
    pub secured: bool,
}

/// How the server is connected to, with the options of [`SERVER`] and `tls()`.
pub fn dial(s: &Settings, to: Where, diags: &mut Diagnostics) -> Result<Dial, Reported> {
    let asked = secure::read_client(s, to.secured, diags)?;
    let timeout = s.seconds("timeout").filter(|timeout| !timeout.is_zero());
    Ok(Dial {
        host: to.host,
        port: to.port,
        ipv6: s.choice("ip-protocol") == Some("6"),
        connect: Connect::default(),
        proxy: None,
        secured: asked.map(Secured::new),
        answer_max: timeout.unwrap_or(ANSWER_MAX),
    })
}

impl Where {
    /// `host()` and `port()`, in the clear unless there is a `tls()`.
    pub fn read(s: &Settings, diags: &mut Diagnostics) -> Result<Where, Reported> {
        let host = s.text("host").unwrap_or("127.0.0.1").to_owned();
        Ok(Where { host, port: ports::port(s, "port", false, diags)?, secured: false })
    }
}
