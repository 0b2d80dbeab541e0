//! A source at an address of this machine, network(), syslog() or relp(): where it listens, and how TCP
//! connections are served there.

use super::listener::{Accepted, Listener, Permits, Protocol, Socket};
use super::reading::Reading;
use super::senders::PeerFacts;
use crate::multi_line::Mode;
use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Fault, Reported};
use engine::source::Source;
use engine::{Address, Need, Shared};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use transport::SocketOptions;

pub struct Inet {
    pub address: SocketAddr,
    pub socket: SocketOptions,
    pub backlog: i32,
    pub connections_max: usize,
    pub reading: Reading,
    pub multi_line: Option<(Mode, String)>,
    pub facts: PeerFacts,
    pub location: String,
    /// Read already, so that a reload finds the certificates of running sources; what cannot be read is said
    /// when it starts.
    pub secure: Option<Result<Arc<tls::Acceptor>, Fault>>,
}

impl Inet {
    /// Serves TCP connections.
    pub fn serve(
        &self,
        protocol: Option<Arc<dyn Protocol>>,
        shared: &Arc<Shared>,
        source: &Arc<Source>,
    ) -> Result<(), Fault> {
        let secure = self.secure.clone().transpose().map_err(|error| cannot_serve(&error))?;
        let listener = transport::listen_tcp(self.address, &self.socket, self.backlog)
            .map_err(|error| self.failed(&error))?;
        let reading = &self.reading;
        let accepted = Accepted {
            framing: reading.framing,
            multi_line: self.multi_line.clone(),
            idle_timeout: reading.idle_timeout,
            fetch_limit: reading.fetch_limit,
            encoding: reading.encoding,
            socket: self.socket.clone(),
            permits: Permits::new(self.connections_max),
            facts: self.facts.clone(),
            naming: reading.naming.clone(),
            local_name: Arc::clone(&reading.local_name),
            credentials: reading.credentials,
            location: self.location.clone(),
            secure,
            protocol,
        };
        Listener::start(Socket::Tcp(listener), source, Arc::new(accepted), shared)
    }

    /// What opening it will fail without.
    pub fn needs(&self, udp: bool) -> Vec<Need<'_>> {
        let listens = Need::Address(Address {
            address: self.address,
            udp,
            shared: self.socket.so_reuseport,
            interface: self.socket.interface.clone(),
        });
        let keys = || match &self.secure {
            Some(Err(error)) => Err(cannot_serve(error)),
            _ => Ok(()),
        };
        let never = move || {
            let tried = transport::try_address(self.address, udp, &self.socket);
            tried.map_err(|error| self.failed(&error))
        };
        vec![listens, Need::Trial(Box::new(keys)), Need::Trial(Box::new(never))]
    }

    /// Why the address cannot be listened on.
    pub fn failed(&self, error: &io::Error) -> Fault {
        cannot_listen(self.address, error)
    }
}

/// Why an address cannot be listened on, and what helps.
pub fn cannot_listen(address: SocketAddr, error: &io::Error) -> Fault {
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => "; another program has it (`ss -lntup` shows which)",
        ErrorKind::PermissionDenied => "; ports below 1024 need root or CAP_NET_BIND_SERVICE",
        _ => "",
    };
    Fault::local(format!("cannot listen on {address}: {error}{remedy}"))
}

/// Keys or certificates that are no use. `check` has said it where their files are named, whatever it is that
/// keeps them from being read.
pub fn cannot_serve(error: &Fault) -> Fault {
    Fault::misconfigured(format!("cannot serve TLS: {error}"))
}

/// `ip()`: one address of this machine, or all of them.
pub fn ip(s: &Settings, ipv6: bool, diags: &mut Diagnostics) -> Result<IpAddr, Reported> {
    let any = if ipv6 { IpAddr::V6(Ipv6Addr::UNSPECIFIED) } else { IpAddr::V4(Ipv4Addr::UNSPECIFIED) };
    let Some(text) = s.text("ip") else { return Ok(any) };
    let (text, help) = match text.parse::<IpAddr>() {
        Ok(ip) if ip.is_ipv6() == ipv6 => return Ok(ip),
        Ok(_) if ipv6 => {
            (format!("{text} is not an IPv6 address"), "write an IPv6 address, or ip-protocol(4)")
        }
        Ok(_) => (format!("{text} is not an IPv4 address"), "add ip-protocol(6)"),
        Err(_) => match transport::resolve_target(text, 0, ipv6) {
            Ok(found) => return found.first().map(SocketAddr::ip).ok_or(Reported),
            Err(error) => (
                format!("cannot find the address: {error}"),
                "write an address of this machine, or leave ip() out for all of them",
            ),
        },
    };
    diags.push(Diagnostic::error("D0103", text, s.span("ip").or(s.call_span()).ok_or(Reported)?).help(help));
    Err(Reported)
}
