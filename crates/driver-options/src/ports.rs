//! `port()` of sources and destinations: a number or the name of a service, and the ports that drivers have
//! of their own.

use conf_schema::{Port, Settings};
use diag::{Diagnostic, Diagnostics, Reported};

/// Where receivers of `transport(rltp)` listen unless they are told otherwise.
pub const RLTP: u16 = 35514;

/// What [`Way::port`] may choose by itself.
pub const OWN: [u16; 4] = [514, 601, 6514, RLTP];

/// What the port of network() and its like depends on when port() is not given.
#[derive(Clone, Copy)]
pub struct Way {
    /// RFC 5424: syslog().
    pub protocol: bool,
    pub udp: bool,
    pub secure: bool,
    pub rltp: bool,
}

impl Way {
    /// `port()`, or the driver's own.
    pub fn port(self, s: &Settings, diags: &mut Diagnostics) -> Result<u16, Reported> {
        let Way { protocol, udp, secure, rltp } = self;
        // syslog() has ports of its own on TCP.
        let own = match protocol && !udp {
            _ if rltp => RLTP,
            true if secure => 6514,
            true => 601,
            false => 514,
        };
        match s.is_set("port") {
            true => port(s, "port", udp, diags),
            false => {
                let _ = s.port("port");
                Ok(own)
            }
        }
    }
}

/// The port an option gives, or that of its table; 0, which is any free one, when there is neither.
pub fn port(s: &Settings, option: &str, udp: bool, diags: &mut Diagnostics) -> Result<u16, Reported> {
    let name = match s.port(option) {
        None => return Ok(0),
        Some(Port::Number(port)) => return Ok(port),
        Some(Port::Service(name)) => name,
    };
    let found = transport::service_port(name, udp);
    if found.is_none()
        && let Some(at) = s.span(option)
    {
        let finding = Diagnostic::error("D0104", format!("there is no service `{name}`"), at);
        diags.push(finding.help("write the port as a number"));
    }
    found.ok_or(Reported)
}
