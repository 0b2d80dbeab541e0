//! Senders: one connection over which a test sends messages in some framing.

use crate::wait::{PATIENCE, wait_until};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;

pub struct Sender {
    link: Link,
}

enum Link {
    Tcp(TcpStream),
    Udp(UdpSocket),
    UnixStream(UnixStream),
    UnixDatagram(UnixDatagram),
}

impl Sender {
    pub fn tcp(port: u16) -> Sender {
        Sender::tcp_to(SocketAddr::from(([127, 0, 0, 1], port)))
    }

    pub fn tcp_to(address: SocketAddr) -> Sender {
        let stream =
            TcpStream::connect(address).unwrap_or_else(|e| panic!("no connection to {address}: {e}"));
        stream.set_nodelay(true).expect("TCP_NODELAY");
        stream.set_read_timeout(Some(PATIENCE)).expect("a read timeout");
        stream.set_write_timeout(Some(PATIENCE)).expect("a write timeout");
        Sender { link: Link::Tcp(stream) }
    }

    pub fn udp(port: u16) -> Sender {
        Sender::udp_from("127.0.0.1", port)
    }

    /// A UDP sender with a local address of its own (any 127.x.y.z).
    pub fn udp_from(local: &str, port: u16) -> Sender {
        let socket = UdpSocket::bind((local, 0)).expect("a UDP socket");
        socket.connect(("127.0.0.1", port)).expect("an address");
        Sender { link: Link::Udp(socket) }
    }

    pub fn unix_stream(path: &Path) -> Sender {
        let stream =
            UnixStream::connect(path).unwrap_or_else(|e| panic!("no connection to {}: {e}", path.display()));
        stream.set_read_timeout(Some(PATIENCE)).expect("a read timeout");
        Sender { link: Link::UnixStream(stream) }
    }

    pub fn unix_dgram(path: &Path) -> Sender {
        let socket = UnixDatagram::unbound().expect("a unix socket");
        socket.connect(path).unwrap_or_else(|e| panic!("no socket at {}: {e}", path.display()));
        Sender { link: Link::UnixDatagram(socket) }
    }

    /// Bytes as they are; one datagram on datagram sockets.
    #[track_caller]
    pub fn raw(&mut self, bytes: &[u8]) {
        self.try_raw(bytes).unwrap_or_else(|e| panic!("cannot send: {e}"));
    }

    /// As [`Sender::raw`], for peers that may close on us.
    pub fn try_raw(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match &mut self.link {
            Link::Tcp(stream) => stream.write_all(bytes),
            Link::UnixStream(stream) => stream.write_all(bytes),
            Link::Udp(socket) => socket.send(bytes).map(drop),
            Link::UnixDatagram(socket) => socket.send(bytes).map(drop),
        }
    }

    /// One message: with a newline on streams, as a datagram otherwise.
    #[track_caller]
    pub fn line(&mut self, message: &str) {
        match self.link {
            Link::Tcp(_) | Link::UnixStream(_) => self.raw(format!("{message}\n").as_bytes()),
            Link::Udp(_) | Link::UnixDatagram(_) => self.raw(message.as_bytes()),
        }
    }

    /// One message with its octet count before it (RFC 6587 section 3.4.1).
    #[track_caller]
    pub fn octets(&mut self, message: &[u8]) {
        let mut frame = format!("{} ", message.len()).into_bytes();
        frame.extend_from_slice(message);
        self.raw(&frame);
    }

    /// Ends a stream and waits until the receiver has read all of it and closed its side.
    #[track_caller]
    pub fn finish(mut self) {
        match &self.link {
            Link::Tcp(stream) => stream.shutdown(Shutdown::Write).expect("shutdown"),
            Link::UnixStream(stream) => stream.shutdown(Shutdown::Write).expect("shutdown"),
            Link::Udp(socket) => {
                let port = socket.peer_addr().expect("connected").port();
                wait_until("the datagrams to be read", || crate::sockets::udp_unread(port) == 0);
                return;
            }
            Link::UnixDatagram(_) => return,
        }
        self.wait_closed();
    }

    /// Waits until the receiver closes the connection; what it sends before is thrown away.
    #[track_caller]
    pub fn wait_closed(&mut self) {
        let mut buffer = [0; 4096];
        loop {
            let read = match &mut self.link {
                Link::Tcp(stream) => stream.read(&mut buffer),
                Link::UnixStream(stream) => stream.read(&mut buffer),
                Link::Udp(_) | Link::UnixDatagram(_) => return,
            };
            match read {
                Ok(0) => return,
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => panic!("the receiver did not close: {error}"),
            }
        }
    }

    /// Whether the receiver has closed the connection, without waiting.
    pub fn is_closed(&mut self) -> bool {
        let Link::Tcp(stream) = &mut self.link else { return false };
        stream.set_nonblocking(true).expect("nonblocking");
        let closed = !matches!(stream.peek(&mut [0; 1]), Err(e) if e.kind() == ErrorKind::WouldBlock);
        stream.set_nonblocking(false).expect("blocking");
        closed
    }

    pub fn local_port(&self) -> u16 {
        match &self.link {
            Link::Tcp(stream) => stream.local_addr().expect("an address").port(),
            Link::Udp(socket) => socket.local_addr().expect("an address").port(),
            Link::UnixStream(_) | Link::UnixDatagram(_) => 0,
        }
    }
}
