//! Reads the header a proxy puts in front of a connection or datagram: PROXY protocol, version 1 (text) and 2
//! (binary).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The longest version 1 header, its end of line included.
pub const V1_MAX: usize = 107;
/// The longest version 2 header that is accepted; the protocol would allow 64 KiB of attributes.
pub const V2_MAX: usize = 4096;

const V2_SIGNATURE: &[u8; 12] = b"\r\n\r\n\0\r\nQUIT\n";
const V1_SIGNATURE: &[u8; 6] = b"PROXY ";

/// Whom the proxy speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The proxy itself (`LOCAL`, `UNKNOWN`: health checks): the addresses of the connection hold.
    Proxy,
    Client {
        source: SocketAddr,
        destination: SocketAddr,
    },
}

/// A header that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    pub origin: Origin,
    /// Bytes the header takes; what follows belongs to the stream.
    pub len: usize,
}

/// Why there is no header to be had from a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProxyError {
    /// Neither version's signature; the bytes found.
    NoHeader(Vec<u8>),
    /// A version 1 line that does not follow the protocol.
    BadLine(Vec<u8>),
    /// A version 1 line longer than [`V1_MAX`].
    LineTooLong,
    /// A version 2 header with this version and command byte.
    BadVersion(u8),
    /// A version 2 header with this family and protocol byte and this many bytes of addresses.
    BadAddress { family: u8, size: u16 },
    /// A version 2 header longer than [`V2_MAX`].
    TooLong(usize),
}

impl fmt::Display for ProxyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProxyError::NoHeader(found) => {
                write!(f, "expected a PROXY header, found \"{}\"", found.escape_ascii())
            }
            ProxyError::BadLine(line) => write!(f, "invalid PROXY header \"{}\"", line.escape_ascii()),
            ProxyError::LineTooLong => write!(f, "PROXY header line longer than {V1_MAX} bytes"),
            ProxyError::BadVersion(byte) => write!(f, "unknown PROXY version or command 0x{byte:02x}"),
            ProxyError::BadAddress { family, size } => {
                write!(f, "PROXY header with family 0x{family:02x} has only {size} bytes of addresses")
            }
            ProxyError::TooLong(size) => {
                write!(f, "PROXY header of {size} bytes is longer than the {V2_MAX} accepted")
            }
        }
    }
}

impl std::error::Error for ProxyError {}

/// Reads the header at the start of a stream or datagram. `Ok(None)`: more bytes are needed.
pub fn parse(bytes: &[u8]) -> Result<Option<Header>, ProxyError> {
    if bytes.starts_with(V2_SIGNATURE) {
        return version2(bytes);
    }
    if bytes.starts_with(V1_SIGNATURE) {
        return version1(bytes);
    }
    if V2_SIGNATURE.starts_with(bytes) || V1_SIGNATURE.starts_with(bytes) {
        return Ok(None);
    }
    Err(ProxyError::NoHeader(bytes.get(..16).unwrap_or(bytes).to_vec()))
}

fn version1(bytes: &[u8]) -> Result<Option<Header>, ProxyError> {
    let head = bytes.get(..V1_MAX).unwrap_or(bytes);
    let Some(end) = memchr::memchr(b'\n', head) else {
        return if bytes.len() >= V1_MAX { Err(ProxyError::LineTooLong) } else { Ok(None) };
    };
    let line = head.get(..end).unwrap_or_default();
    let bad = || ProxyError::BadLine(line.to_vec());
    // The protocol wants CR and LF; what ends with LF alone is taken as syslog-ng takes it.
    let text = line.strip_suffix(b"\r").unwrap_or(line);
    let text = std::str::from_utf8(text).map_err(|_| bad())?;
    let origin = client_of_line(text).ok_or_else(bad)?;
    Ok(Some(Header { origin, len: end + 1 }))
}

/// `PROXY TCP4 source destination source-port destination-port`, or `PROXY UNKNOWN` and anything.
fn client_of_line(line: &str) -> Option<Origin> {
    let mut words = line.split(' ');
    words.next();
    let family = words.next()?;
    if family == "UNKNOWN" {
        return Some(Origin::Proxy);
    }
    let source: IpAddr = words.next()?.parse().ok()?;
    let destination: IpAddr = words.next()?.parse().ok()?;
    let (source_port, destination_port) = (port(words.next()?)?, port(words.next()?)?);
    let fits = match family {
        "TCP4" => source.is_ipv4() && destination.is_ipv4(),
        "TCP6" => source.is_ipv6() && destination.is_ipv6(),
        _ => false,
    };
    (fits && words.next().is_none()).then_some(Origin::Client {
        source: SocketAddr::new(source, source_port),
        destination: SocketAddr::new(destination, destination_port),
    })
}

/// Digits only: the standard parser would take a plus sign.
fn port(text: &str) -> Option<u16> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

fn version2(bytes: &[u8]) -> Result<Option<Header>, ProxyError> {
    let Some([command, family, high, low]) = bytes.get(12..16) else {
        // The version is wrong as soon as it is there.
        return match bytes.get(12) {
            Some(command) if !matches!(command, 0x20 | 0x21) => Err(ProxyError::BadVersion(*command)),
            _ => Ok(None),
        };
    };
    let size = u16::from_be_bytes([*high, *low]);
    let len = 16 + usize::from(size);
    if !matches!(command, 0x20 | 0x21) {
        return Err(ProxyError::BadVersion(*command));
    }
    if len > V2_MAX {
        return Err(ProxyError::TooLong(len));
    }
    let Some(body) = bytes.get(16..len) else { return Ok(None) };
    let origin = match (command, family) {
        (0x20, _) => Origin::Proxy,
        (_, 0x11 | 0x12) => inet4(body).ok_or(ProxyError::BadAddress { family: *family, size })?,
        (_, 0x21 | 0x22) => inet6(body).ok_or(ProxyError::BadAddress { family: *family, size })?,
        // Unspecified and unix addresses say nothing a log could use.
        _ => Origin::Proxy,
    };
    Ok(Some(Header { origin, len }))
}

fn inet4(body: &[u8]) -> Option<Origin> {
    let [a, b, c, d, e, f, g, h, i, j, k, l] = *body.first_chunk::<12>()?;
    Some(Origin::Client {
        source: SocketAddr::new(Ipv4Addr::new(a, b, c, d).into(), u16::from_be_bytes([i, j])),
        destination: SocketAddr::new(Ipv4Addr::new(e, f, g, h).into(), u16::from_be_bytes([k, l])),
    })
}

fn inet6(body: &[u8]) -> Option<Origin> {
    let (source, rest) = body.split_first_chunk::<16>()?;
    let (destination, rest) = rest.split_first_chunk::<16>()?;
    let [a, b, c, d] = *rest.first_chunk::<4>()?;
    Some(Origin::Client {
        source: SocketAddr::new(Ipv6Addr::from(*source).into(), u16::from_be_bytes([a, b])),
        destination: SocketAddr::new(Ipv6Addr::from(*destination).into(), u16::from_be_bytes([c, d])),
    })
}

#[cfg(test)]
mod tests;
