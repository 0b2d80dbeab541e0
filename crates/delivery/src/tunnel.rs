//! The way to a server through an HTTP proxy, RFC 9110 section 9.3.6: what the proxy is asked, and what it
//! says.

use rustix::net::{RecvFlags, SendFlags};
use socket2::Socket;
use std::io::{self, ErrorKind};

/// The most that a proxy may say before it lets bytes through.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// Where its answer ends.
const END: &[u8] = b"\r\n\r\n";

pub struct Tunnel {
    /// `host:port` of the server.
    to: String,
    ask: Vec<u8>,
    sent: usize,
}

impl Tunnel {
    /// `authorization`: what the proxy wants to be shown, as `Basic ...`.
    pub fn new(host: &str, port: u16, authorization: Option<&str>) -> Tunnel {
        let to = if host.contains(':') { format!("[{host}]:{port}") } else { format!("{host}:{port}") };
        let mut ask = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n");
        if let Some(words) = authorization {
            ask.push_str(&format!("Proxy-Authorization: {words}\r\n"));
        }
        ask.push_str("\r\n");
        Tunnel { to, ask: ask.into_bytes(), sent: 0 }
    }

    /// Goes on without waiting. `true`: from now on bytes go to the server and come from it.
    pub fn is_open(&mut self, socket: &Socket) -> io::Result<bool> {
        while let Some(rest) = self.ask.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match rustix::net::send(socket, rest, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => self.sent += n,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        }
        let mut head = [0; HEAD_BYTES_MAX];
        // What stands behind the head is the server's: it stays where it is.
        let heard = loop {
            match rustix::net::recv(socket, &mut head[..], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
                Ok((n, _)) => break n,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::AGAIN) => return Ok(false),
                Err(error) => return Err(error.into()),
            }
        };
        let said = head.get(..heard).unwrap_or_default();
        let Some(end) = said.windows(END.len()).position(|bytes| bytes == END) else {
            return match heard {
                0 => Err(io::Error::other("the proxy hung up")),
                HEAD_BYTES_MAX => Err(io::Error::other("the proxy says too much")),
                _ => Ok(false),
            };
        };
        self.judge(said.get(..end).unwrap_or_default())?;
        let whole = head.get_mut(..end + END.len()).unwrap_or_default();
        match rustix::net::recv(socket, whole, RecvFlags::DONTWAIT)? {
            (n, _) if n == end + END.len() => Ok(true),
            _ => Err(ErrorKind::UnexpectedEof.into()),
        }
    }

    fn judge(&self, head: &[u8]) -> io::Result<()> {
        let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        match line.split(' ').nth(1) {
            Some(status) if line.starts_with("HTTP/1.") && status.len() == 3 && status.starts_with('2') => {
                Ok(())
            }
            _ => {
                let line: String = line.chars().filter(|c| !c.is_control()).take(200).collect();
                Err(io::Error::other(format!("the proxy does not connect to {}: {line}", self.to)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    /// What becomes of it when the proxy says these pieces, one after the other.
    fn outcome(pieces: &[&[u8]]) -> (Result<bool, String>, Vec<u8>) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let socket =
            Socket::from(TcpStream::connect(listener.local_addr().expect("there")).expect("connected"));
        let (mut proxy, _) = listener.accept().expect("a connection");
        let mut tunnel = Tunnel::new("::1", 8883, Some("Basic x"));
        assert!(!tunnel.is_open(&socket).expect("nothing yet"));
        let expected =
            b"CONNECT [::1]:8883 HTTP/1.1\r\nHost: [::1]:8883\r\nProxy-Authorization: Basic x\r\n\r\n";
        let mut asked = vec![0; expected.len()];
        proxy.read_exact(&mut asked).expect("a question");
        assert_eq!(asked, expected);
        let mut last = Ok(false);
        for piece in pieces {
            proxy.write_all(piece).expect("said");
            let mut seen = [0; HEAD_BYTES_MAX];
            // It is there when it can be looked at.
            let _ = rustix::net::recv(&socket, &mut seen[..], RecvFlags::PEEK);
            last = tunnel.is_open(&socket).map_err(|error| error.to_string());
        }
        drop(proxy);
        let mut rest = Vec::new();
        let _ = TcpStream::from(socket).read_to_end(&mut rest);
        (last, rest)
    }

    #[test]
    fn what_follows_the_head_is_the_servers() {
        let whole: &[&[u8]] = &[b"HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\nhello"];
        assert_eq!(outcome(whole), (Ok(true), b"hello".to_vec()));
        assert_eq!(outcome(&[b"HTTP/1.0 200 OK\r\n\r\n"]), (Ok(true), Vec::new()));
    }

    #[test]
    fn proxies_that_refuse_are_quoted() {
        let refused = "the proxy does not connect to [::1]:8883: HTTP/1.1 407 Who are you";
        assert_eq!(outcome(&[b"HTTP/1.1 407 Who are you\r\n\r\n"]).0, Err(refused.to_owned()));
        let foreign = "the proxy does not connect to [::1]:8883: SSH-2.0-x";
        assert_eq!(outcome(&[b"SSH-2.0-x\r\n\r\n"]).0, Err(foreign.to_owned()));
    }
}
