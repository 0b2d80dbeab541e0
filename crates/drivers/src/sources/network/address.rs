//! `ip()` and `port()`: where a network source listens, and the ports that drivers have of their own.

use super::Kind;
use super::rltp;
use conf_schema::{Port, Settings};
use diag::{Diagnostic, Diagnostics};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

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
    let any = if ipv6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
    let ip = match s.text("ip") {
        None => any,
        Some(text) => match text.parse::<IpAddr>() {
            Ok(ip) if ip.is_ipv6() == ipv6 => ip,
            Ok(_) => {
                let help =
                    if ipv6 { "write an IPv6 address, or ip-protocol(4)" } else { "add ip-protocol(6)" };
                let text = format!("{text} is not an IPv{} address", if ipv6 { 6 } else { 4 });
                diags.push(Diagnostic::error("D0103", text, s.span("ip")?).help(help));
                return None;
            }
            Err(_) => match transport::resolve_target(text, 0, ipv6) {
                Ok(found) => found.first()?.ip(),
                Err(error) => {
                    let finding = Diagnostic::error(
                        "D0103",
                        format!("cannot find the address: {error}"),
                        s.span("ip")?,
                    );
                    diags.push(
                        finding.help("write an address of this machine, or leave ip() out for all of them"),
                    );
                    return None;
                }
            },
        },
    };
    // syslog() has a port of its own on TCP.
    let port = match s.port("port") {
        _ if rltp && !s.is_set("port") => rltp::PORT,
        Some(Port::Number(_)) | None if !s.is_set("port") && kind.protocol && !udp => {
            if secure {
                6514
            } else {
                601
            }
        }
        Some(Port::Number(port)) => port,
        None => 514,
        Some(Port::Service(name)) => match transport::service_port(name, udp) {
            Some(port) => port,
            None => {
                let text = format!("there is no service `{name}`");
                diags.push(
                    Diagnostic::error("D0104", text, s.span("port")?).help("write the port as a number"),
                );
                return None;
            }
        },
    };
    Some(SocketAddr::new(ip, port))
}
