//! What a source needs of its surroundings before it can be opened: said without opening anything, so that `check` can judge it, and so
//! that two sources in one place are found when the configuration is compiled.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// Without one of these, the start of a source fails, and with it the start of the program.
pub enum Need<'a> {
    /// An address to listen at.
    Address(Address),
    /// A place in a folder, for a socket or a named pipe.
    Place { path: PathBuf, what: Made, create_dirs: bool },
    /// Something that can be tried without anybody noticing.
    Trial(Box<dyn Fn() -> Result<(), Trouble> + 'a>),
}

/// Why a source cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// Keys or certificates cannot be used.
    Keys(String),
    Other(String),
}

/// Where a source listens, and what decides whether another one can listen there too.
#[derive(Clone, Debug)]
pub struct Address {
    pub address: SocketAddr,
    pub udp: bool,
    /// so-reuseport(yes): shared with all that say so too.
    pub shared: bool,
    /// Only what comes in by this one.
    pub interface: Option<String>,
}

/// What a source makes in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made {
    Socket,
    Pipe,
}

impl Need<'_> {
    /// Whether the second of two sources could not be opened.
    pub(crate) fn collides(&self, other: &Need<'_>) -> bool {
        match (self, other) {
            (Need::Address(one), Need::Address(other)) => one.collides(other),
            // Two sources may read one pipe.
            (Need::Place { path, what, .. }, Need::Place { path: other, what: made, .. }) => {
                path == other && (*what, *made) != (Made::Pipe, Made::Pipe)
            }
            _ => false,
        }
    }

    /// The place, as a message calls it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Need::Address(Address { address, udp, .. }) => {
                format!("{address} ({})", if *udp { "UDP" } else { "TCP" })
            }
            Need::Place { path, .. } => path.display().to_string(),
            Need::Trial(_) => String::new(),
        }
    }
}

impl Address {
    /// Whether the kernel would refuse the second of two sockets.
    fn collides(&self, other: &Address) -> bool {
        let (a, b) = (self.address, other.address);
        let apart = matches!((&self.interface, &other.interface), (Some(a), Some(b)) if a != b);
        let shared = self.shared && other.shared
            // Any number may join a group.
            || self.udp && a.ip().is_multicast() && b.ip().is_multicast();
        self.udp == other.udp && a.port() == b.port() && a.port() != 0 && !apart && !shared && overlap(a, b)
    }
}

fn overlap(a: SocketAddr, b: SocketAddr) -> bool {
    // `::` takes IPv4 as well.
    let has = |any: IpAddr, ip: IpAddr| any.is_unspecified() && (any.is_ipv6() || ip.is_ipv4());
    a.ip() == b.ip() || has(a.ip(), b.ip()) || has(b.ip(), a.ip())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        let (rest, udp) = text.strip_prefix("udp ").map_or((text, false), |rest| (rest, true));
        let (rest, shared) = rest.strip_suffix(" shared").map_or((rest, false), |rest| (rest, true));
        let (rest, interface) = rest.split_once('%').map_or((rest, None), |(a, b)| (a, Some(b.to_owned())));
        Address { address: rest.parse().expect("an address"), udp, shared, interface }
    }

    #[test]
    fn what_the_kernel_would_refuse() {
        for (one, other, expected) in [
            ("0.0.0.0:514", "0.0.0.0:514", true),
            ("0.0.0.0:514", "0.0.0.0:515", false),
            ("0.0.0.0:514", "udp 0.0.0.0:514", false),
            ("0.0.0.0:514", "127.0.0.1:514", true),
            ("127.0.0.2:514", "127.0.0.1:514", false),
            ("[::]:514", "127.0.0.1:514", true),
            ("[::1]:514", "0.0.0.0:514", false),
            ("[::]:514", "[::1]:514", true),
            ("0.0.0.0:0", "0.0.0.0:0", false),
            ("0.0.0.0:514 shared", "0.0.0.0:514 shared", false),
            ("0.0.0.0:514 shared", "0.0.0.0:514", true),
            ("udp 224.0.0.5:514", "udp 224.0.0.6:514", false),
            ("udp 224.0.0.5:514", "udp 0.0.0.0:514", true),
            ("udp 0.0.0.0:514%eth0", "udp 0.0.0.0:514%eth1", false),
            ("udp 0.0.0.0:514%eth0", "udp 0.0.0.0:514", true),
        ] {
            for (a, b) in [(one, other), (other, one)] {
                assert_eq!(address(a).collides(&address(b)), expected, "{a} and {b}");
            }
        }
    }
}
