//! PROXY protocol headers (versions 1 and 2) sent ahead of the first message of a connection.

use std::net::{IpAddr, Ipv4Addr};
use stdio::CommandError;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    V1,
    V2,
}

/// What the header claims. Fields left out get a made-up private address and port, different for each
/// connection.
#[derive(Clone, Debug)]
pub struct Proxy {
    pub version: Version,
    pub src_ip: Option<IpAddr>,
    pub dst_ip: Option<IpAddr>,
    pub src_port: Option<u16>,
    pub dst_port: Option<u16>,
}

const V2_SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

impl Proxy {
    pub fn new(version: Version) -> Proxy {
        Proxy { version, src_ip: None, dst_ip: None, src_port: None, dst_port: None }
    }

    /// The header bytes for connection `conn`. Mixed address families are an error.
    pub fn header(&self, conn: u32) -> Result<Vec<u8>, CommandError> {
        let [_, _, high, low] = conn.to_be_bytes();
        let src_ip = self.src_ip.unwrap_or(match self.dst_ip {
            Some(IpAddr::V6(_)) => IpAddr::V6(std::net::Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 1, conn as u16)),
            _ => IpAddr::V4(Ipv4Addr::new(192, 168, high, low.max(1))),
        });
        let dst_ip = self.dst_ip.unwrap_or(match src_ip {
            IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::new(192, 168, 255, 254)),
            IpAddr::V6(_) => IpAddr::V6(std::net::Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 2, 1)),
        });
        let src_port = self.src_port.unwrap_or(20_000 + (conn % 40_000) as u16);
        let dst_port = self.dst_port.unwrap_or(514);
        if src_ip.is_ipv4() != dst_ip.is_ipv4() {
            return Err(format!("PROXY header mixes address families: {src_ip} and {dst_ip}").into());
        }
        Ok(match self.version {
            Version::V1 => {
                let family = if src_ip.is_ipv4() { "TCP4" } else { "TCP6" };
                format!("PROXY {family} {src_ip} {dst_ip} {src_port} {dst_port}\r\n").into_bytes()
            }
            Version::V2 => v2(src_ip, dst_ip, src_port, dst_port),
        })
    }
}

fn v2(src_ip: IpAddr, dst_ip: IpAddr, src_port: u16, dst_port: u16) -> Vec<u8> {
    let mut addresses = Vec::with_capacity(36);
    for ip in [src_ip, dst_ip] {
        match ip {
            IpAddr::V4(ip) => addresses.extend_from_slice(&ip.octets()),
            IpAddr::V6(ip) => addresses.extend_from_slice(&ip.octets()),
        }
    }
    addresses.extend_from_slice(&src_port.to_be_bytes());
    addresses.extend_from_slice(&dst_port.to_be_bytes());
    let mut header = V2_SIGNATURE.to_vec();
    header.push(0x21); // version 2, command PROXY
    header.push(if src_ip.is_ipv4() { 0x11 } else { 0x21 });
    header.extend_from_slice(&(addresses.len() as u16).to_be_bytes());
    header.extend_from_slice(&addresses);
    header
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_1_text() {
        let mut proxy = Proxy::new(Version::V1);
        proxy.src_ip = "10.0.0.1".parse().ok();
        proxy.dst_ip = "10.0.0.2".parse().ok();
        proxy.src_port = Some(1234);
        assert_eq!(proxy.header(0).unwrap(), b"PROXY TCP4 10.0.0.1 10.0.0.2 1234 514\r\n");
    }

    #[test]
    fn version_2_lengths() {
        assert_eq!(Proxy::new(Version::V2).header(3).unwrap().len(), 16 + 12);
        let mut six = Proxy::new(Version::V2);
        six.dst_ip = "::1".parse().ok();
        let header = six.header(3).unwrap();
        assert_eq!(header.len(), 16 + 36);
        assert_eq!(header[13], 0x21);
    }

    #[test]
    fn mixed_families_are_refused() {
        let mut proxy = Proxy::new(Version::V1);
        proxy.src_ip = "10.0.0.1".parse().ok();
        proxy.dst_ip = "::1".parse().ok();
        assert!(proxy.header(0).is_err());
    }
}
