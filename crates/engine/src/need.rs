//! What sources and destinations need of their surroundings: said without opening anything, so that `check`
//! can judge it, `run` knows which capabilities to keep, and two sources in one place are found when the
//! configuration is compiled.

mod options;

pub(crate) use options::of_options;

use diag::{Fault, Span};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

/// The first three are of sources that are about to be opened: without one of them the start fails, and with
/// it the start of the program. The others are what options ask for, of sources and destinations. `option` is
/// the one that names it.
pub enum Need<'a> {
    /// An address to listen at.
    Address(Address),
    /// A place in a folder, for a socket or a named pipe.
    Place { path: PathBuf, what: Made, create_dirs: bool },
    /// Something that can be tried without anybody noticing.
    Trial(Box<dyn Fn() -> Result<(), Fault> + 'a>),
    /// A file that is read, now or once it is there. Its name may have `*` and `?`.
    File { option: &'static str, path: PathBuf },
    /// A folder whose files are read.
    Folder { path: PathBuf, recursive: bool },
    /// A file that is written; its path may have macros. `create_dirs` is empty where that is said nowhere.
    Output { option: &'static str, path: String, create_dirs: Option<bool> },
    /// A socket of somebody else's.
    Peer { path: PathBuf },
    /// A file or folder of keys or certificates.
    Key(Key),
    /// A folder in which messages wait on disk.
    Queue { option: &'static str, folder: PathBuf },
    /// Addresses of others as one's own.
    Spoof { option: &'static str, ipv6: bool },
    /// To give files away to these.
    Owners { users: Vec<u32>, groups: Vec<u32> },
    /// To change the mode of a file.
    Mode { path: PathBuf },
    /// Ports of TCP that a destination connects to, none where it stays on this machine. One that does not
    /// say may connect to any.
    Connects(Vec<u16>),
    /// What not everybody may do.
    Privilege(Privilege),
}

/// What not everybody may do on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// To have packets of one network interface only: `interface()`.
    Interface,
    /// To write to the terminals of others: `usertty()`.
    Terminals,
    /// Receive buffers beyond the system's limit.
    LargeBuffers,
    /// To let commands go on as another user, and to end them.
    Commands,
    /// To see what the processes of others are.
    Processes,
}

/// A file or folder that `tls()` names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Of `tls()`.
    pub option: &'static str,
    /// File or folder.
    pub what: &'static str,
    pub path: PathBuf,
    /// Where the option stands.
    pub at: Option<Span>,
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
            _ => String::new(),
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
