//! Options that `mqtt()` has as a source and as a destination: where the server is, and who asks it.

use crate::{Login, Quality, Version};
use conf_schema::{Group, Kind, OptionSpec as Opt, Preset, Settings, Word};
use diag::{Diagnostic, Diagnostics, Reported};
use dialogue::Where;

const ADDRESS: &str = "tcp://localhost:1883";
const KEEP_ALIVE_SECONDS: u16 = 60;

pub static CLIENT: Group = Group {
    name: "the client",
    options: &[
        Opt::new(
            "address",
            Kind::Text,
            Preset::Text(ADDRESS),
            "The server: `tcp://host:port`, or `ssl://host:port` for connections with TLS; without a port 1883 and 8883.",
        )
        .sample("\"ssl://127.0.0.1:8883\""),
        Opt::new(
            "keepalive",
            Kind::Int { min: 0, max: u16::MAX as i64 },
            Preset::Int(KEEP_ALIVE_SECONDS as i64),
            "Seconds after which a silent side counts as gone; 0 is never.",
        ),
        Opt::new("username", Kind::Text, Preset::None, "The name of the login.").sample("me"),
        Opt::new("password", Kind::Text, Preset::None, "Its password.").sample("secret"),
        Opt::new(
            "protocol-version",
            Kind::Choice(&[
                Word::new("3.1.1", "What every server speaks."),
                Word::new("5", "Servers say why they refuse something."),
            ]),
            Preset::Text("3.1.1"),
            "The version of MQTT. Only in penstock.",
        ),
    ],
};

/// What `address()` says.
pub fn server(s: &Settings, diags: &mut Diagnostics) -> Result<Where, Reported> {
    let why = match crate::address(s.text("address").unwrap_or(ADDRESS)) {
        Ok(to) if to.secured || s.block("tls").is_none() => return Ok(to),
        Ok(_) => "tls() belongs to connections with TLS, and address() asks for one without",
        Err(why) => why,
    };
    if let Some(at) = s.span("address").or_else(|| s.call_span()) {
        let help = "write `address(\"tcp://host:1883\")` or `address(\"ssl://host:8883\")`";
        diags.push(Diagnostic::error("D0302", why, at).help(help));
    }
    Err(Reported)
}

pub fn version(s: &Settings) -> Version {
    if s.choice("protocol-version") == Some("5") { Version::Five } else { Version::Three }
}

pub fn login(s: &Settings) -> Login {
    let text = |name: &str| s.text(name).map(str::to_owned);
    Login { user: text("username"), password: text("password") }
}

/// Seconds.
pub fn keep_alive(s: &Settings) -> u16 {
    s.int("keepalive").and_then(|n| u16::try_from(n).ok()).unwrap_or(KEEP_ALIVE_SECONDS)
}

/// What `qos()` of the driver's own table says.
pub fn quality(s: &Settings) -> Quality {
    match s.int("qos") {
        Some(1) => Quality::AtLeastOnce,
        Some(2) => Quality::Once,
        _ => Quality::Sent,
    }
}
