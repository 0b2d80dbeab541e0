//! Datagrams in the name of another sender: `spoof-source()`. IP and UDP headers are written here and go out
//! through a raw socket.

mod header;

use crate::options::SocketOptions;
use crate::socket::prepare_multicast;
use header::Header;
use rustix::net::{MMsgHdr, SendAncillaryBuffer, SendFlags};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;

/// Datagrams sent with one call at most.
const SEND_MAX: usize = 64;
/// What the system has when ip-ttl() is not given.
const TTL: u8 = 64;
/// The same of multicast: the own network.
const TTL_MULTICAST: u8 = 1;

/// A raw socket to one target.
pub struct Spoofer {
    socket: Socket,
    target: SocketAddr,
    ttl: u8,
    tos: u8,
}

impl Spoofer {
    /// Needs CAP_NET_RAW.
    pub fn open(target: SocketAddr, options: &SocketOptions) -> io::Result<Spoofer> {
        // With this protocol the program writes the IP header, in both families.
        let protocol = Protocol::from(libc::IPPROTO_RAW);
        let socket = Socket::new(Domain::for_address(target), Type::RAW, Some(protocol))?;
        socket.set_nonblocking(true)?;
        options.apply(&socket, target.is_ipv6())?;
        prepare_multicast(&socket, target.ip(), options)?;
        let mut to = target;
        // A raw socket has no ports; IPv6 takes anything here for a protocol.
        to.set_port(0);
        socket.connect(&to.into())?;
        let byte = |value: Option<u32>| value.and_then(|v| u8::try_from(v).ok());
        let preset = if target.ip().is_multicast() { TTL_MULTICAST } else { TTL };
        let (ttl, tos) = (byte(options.ip_ttl).unwrap_or(preset), byte(options.ip_tos).unwrap_or(0));
        Ok(Spoofer { socket, target, ttl, tos })
    }

    /// Whether datagrams of this sender can go to the target: both are of one family.
    pub fn can(&self, from: SocketAddr) -> bool {
        from.is_ipv4() == self.target.is_ipv4()
    }

    /// Sends messages as datagrams of their senders, which are of the target's family; says how many went
    /// out. An error concerns the first message: "message too long" when it does not fit into one packet on
    /// the way out.
    pub fn send_many<'a>(&self, messages: impl Iterator<Item = (SocketAddr, &'a [u8])>) -> io::Result<usize> {
        let mut headers = [const { Header::EMPTY }; SEND_MAX];
        let mut bodies: [&[u8]; SEND_MAX] = [&[]; SEND_MAX];
        let mut count = 0;
        for (((from, body), header), place) in messages.zip(&mut headers).zip(&mut bodies) {
            match Header::new(from, self.target, self.ttl, self.tos, body) {
                Some(made) => (*header, *place) = (made, body),
                None if count == 0 => return Err(rustix::io::Errno::MSGSIZE.into()),
                None => break,
            }
            count += 1;
        }
        let parts: Vec<[IoSlice<'_>; 2]> = headers
            .iter()
            .zip(&bodies)
            .take(count)
            .map(|(header, body)| [IoSlice::new(header.bytes()), IoSlice::new(body)])
            .collect();
        let mut controls: Vec<SendAncillaryBuffer<'_, '_, '_>> =
            parts.iter().map(|_| SendAncillaryBuffer::default()).collect();
        let mut packets: Vec<MMsgHdr<'_>> =
            parts.iter().zip(&mut controls).map(|(part, control)| MMsgHdr::new(part, control)).collect();
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        Ok(rustix::net::sendmmsg(&self.socket, &mut packets, flags)?)
    }

    pub fn fd(&self) -> i32 {
        self.socket.as_raw_fd()
    }
}

/// Whether this process may send in other names at all; the error says why not.
pub fn may_spoof(ipv6: bool) -> io::Result<()> {
    let domain = if ipv6 { Domain::IPV6 } else { Domain::IPV4 };
    Socket::new(domain, Type::RAW, Some(Protocol::from(libc::IPPROTO_RAW))).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;
    use std::time::Duration;

    fn round_trip(to: &str, senders: &[&str]) {
        let any: SocketAddr = to.parse().expect("address");
        // Without the right to there is nothing to test; the end-to-end tests say so.
        let (Ok(receiver), Ok(())) = (UdpSocket::bind(any), may_spoof(any.is_ipv6())) else { return };
        receiver.set_read_timeout(Some(Duration::from_secs(30))).expect("option");
        let target = receiver.local_addr().expect("address");
        let spoofer = Spoofer::open(target, &SocketOptions::default()).expect("raw socket");
        let from: Vec<SocketAddr> = senders.iter().map(|s| s.parse().expect("address")).collect();
        let messages: Vec<String> = (0..from.len()).map(|n| "odd".repeat(n)).collect();
        let pairs = || from.iter().copied().zip(messages.iter().map(String::as_bytes));
        assert_eq!(spoofer.send_many(pairs()).expect("send"), from.len());
        let mut buffer = [0; 100];
        for (sender, message) in pairs() {
            let (size, address) = receiver.recv_from(&mut buffer).expect("a datagram with good checksums");
            assert_eq!((&buffer[..size], address), (message, sender));
        }
    }

    #[test]
    fn datagrams_have_the_senders_they_are_given() {
        round_trip("127.0.0.1:0", &["127.0.0.9:5000", "127.7.0.1:1", "127.0.0.1:65535"]);
        round_trip("[::1]:0", &["[::1]:5000", "[::1]:7"]);
    }

    #[test]
    fn what_fits_into_no_packet_is_said() {
        let target: SocketAddr = "127.0.0.1:9".parse().expect("address");
        let Ok(spoofer) = Spoofer::open(target, &SocketOptions::default()) else { return };
        let large = vec![b'x'; 65_508];
        let messages = [(target, &large[..])];
        let error = spoofer.send_many(messages.into_iter()).expect_err("too long");
        assert_eq!(rustix::io::Errno::from_io_error(&error), Some(rustix::io::Errno::MSGSIZE));
    }
}
