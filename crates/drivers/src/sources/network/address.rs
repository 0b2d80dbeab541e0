//! `ip()` and `port()`: where a network source listens, and the ports that drivers have of their own.

use super::Kind;
use super::rltp;
use crate::sources::inet;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics};
use std::net::SocketAddr;

/// How peers come.
pub struct Way {
    pub udp: bool,
    pub ipv6: bool,
    pub secure: bool,
    pub rltp: bool,
}

/// The address to listen on.
pub fn address(kind: &Kind, s: &Settings, way: Way, diags: &mut Diagnostics) -> Option<SocketAddr> {
    let Way { udp, ipv6, secure, rltp } = way;
    if secure && !rltp && !kind.protocol && !s.is_set("port") {
        let text = format!("{}() has no port of its own for TLS", kind.name);
        let at = s.span("tls").or(s.call_span())?;
        diags.push(Diagnostic::error("D0120", text, at).help("add port(6514)"));
        return None;
    }
    let ip = inet::ip(s, ipv6, diags)?;
    // syslog() has ports of its own on TCP.
    let own = match kind.protocol && !udp {
        _ if rltp => rltp::PORT,
        true if secure => 6514,
        true => 601,
        false => 514,
    };
    Some(SocketAddr::new(ip, inet::port(s, own, udp, diags)?))
}
