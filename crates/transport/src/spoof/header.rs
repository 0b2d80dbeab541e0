//! IPv4 (RFC 791) or IPv6 (RFC 8200) and UDP (RFC 768) headers of one datagram.

use std::net::{IpAddr, SocketAddr};

const V4_BYTES: usize = 20;
const V6_BYTES: usize = 40;
const UDP_BYTES: usize = 8;
const UDP: u8 = 17;

pub struct Header {
    bytes: [u8; V6_BYTES + UDP_BYTES],
    length: usize,
}

impl Header {
    pub const EMPTY: Header = Header { bytes: [0; V6_BYTES + UDP_BYTES], length: 0 };

    /// `None` when the addresses are of different families, or the packet would be longer than its length can
    /// say.
    pub fn new(from: SocketAddr, to: SocketAddr, ttl: u8, tos: u8, body: &[u8]) -> Option<Header> {
        let mut header = Header::EMPTY;
        let udp = UDP_BYTES + body.len();
        match (from.ip(), to.ip()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let total = u16::try_from(V4_BYTES + udp).ok()?;
                header.put(&[0x45, tos]);
                header.put(&total.to_be_bytes());
                // Number, flags and the header's checksum: the kernel fills them in.
                header.put(&[0, 0, 0, 0, ttl, UDP, 0, 0]);
                header.put(&from.octets());
                header.put(&to.octets());
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                let length = u16::try_from(udp).ok()?;
                header.put(&[0x60 | tos >> 4, tos << 4, 0, 0]);
                header.put(&length.to_be_bytes());
                header.put(&[UDP, ttl]);
                header.put(&from.octets());
                header.put(&to.octets());
            }
            _ => return None,
        }
        let length = (udp as u16).to_be_bytes();
        let addresses = if from.is_ipv4() { &header.bytes[12..20] } else { &header.bytes[8..40] };
        let ports = [from.port().to_be_bytes(), to.port().to_be_bytes()];
        // The pseudo header of the checksum is addresses, protocol and length.
        let parts: [&[u8]; 5] = [addresses, &[0, UDP], &length, ports.as_flattened(), &length];
        let sum = parts.into_iter().chain([body]).map(sum).sum::<u64>();
        header.put(ports.as_flattened());
        header.put(&length);
        header.put(&checksum(sum).to_be_bytes());
        Some(header)
    }

    fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            if let Some(place) = self.bytes.get_mut(self.length) {
                *place = *byte;
                self.length += 1;
            }
        }
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// Sum of the 16-bit words; an odd last byte counts as if a zero followed.
fn sum(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<2>();
    let last = rest.first().map_or(0, |byte| u64::from(*byte) << 8);
    words.iter().map(|word| u64::from(u16::from_be_bytes(*word))).sum::<u64>() + last
}

/// Zero means "no checksum" and is sent as its other form.
fn checksum(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    match !(sum as u16) {
        0 => 0xffff,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("address")
    }

    #[test]
    fn an_ipv4_packet() {
        let header = Header::new(address("10.0.0.1:1000"), address("10.0.0.2:514"), 64, 0x10, b"abc");
        let expected: [u8; 28] = [
            0x45, 0x10, 0, 31, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, // IP
            0x03, 0xe8, 0x02, 0x02, 0, 11, 0x21, 0x89, // UDP
        ];
        assert_eq!(header.expect("a header").bytes(), expected);
    }

    #[test]
    fn an_ipv6_packet() {
        let header = Header::new(address("[2001:db8::1]:1"), address("[2001:db8::2]:2"), 9, 0xff, b"x");
        let header = header.expect("a header");
        assert_eq!(header.bytes()[..8], [0x6f, 0xf0, 0, 0, 0, 9, 17, 9]);
        assert_eq!(header.bytes()[23], 1);
        assert_eq!(header.bytes()[39], 2);
        // All words of the pseudo header, the header and the body sum up to -0.
        let mut words = header.bytes()[8..40].to_vec();
        words.extend([0, 17, 0, 9]);
        words.extend(&header.bytes()[40..]);
        words.extend(b"x\0");
        assert_eq!(checksum(sum(&words)), 0xffff, "{words:x?}");
    }

    #[test]
    fn a_sum_of_zero_is_not_taken_for_none() {
        assert_eq!((checksum(0xffff), checksum(0x1_fffe), checksum(0)), (0xffff, 0xffff, 0xffff));
        assert_eq!(checksum(0x1234), !0x1234);
    }

    #[test]
    fn what_cannot_be_a_packet() {
        let (four, six) = (address("10.0.0.1:1"), address("[::1]:1"));
        assert!(Header::new(four, six, 1, 0, b"").is_none());
        assert!(Header::new(four, four, 1, 0, &vec![0; 65_507]).is_some());
        assert!(Header::new(four, four, 1, 0, &vec![0; 65_508]).is_none());
        assert!(Header::new(six, six, 1, 0, &vec![0; 65_528]).is_none());
    }
}
