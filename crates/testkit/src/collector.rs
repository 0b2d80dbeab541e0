//! A fake receiver: keeps what it gets, per connection, can stop reading, hang up, and go away.

use crate::wait::wait_while_some;
use std::io::{ErrorKind, Read};
use std::net::{Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Keeps everything; ends when dropped.
pub struct Collector {
    shared: Arc<Shared>,
    address: Address,
}

enum Address {
    Tcp(u16),
    Udp,
    UnixStream(PathBuf),
    UnixDatagram,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// What each connection brought; of datagram sockets one entry a datagram.
    received: Vec<Vec<u8>>,
    open: Vec<Stream>,
    paused: bool,
    /// Bytes read at a time, with a pause after each.
    slow: Option<usize>,
    ended: bool,
}

enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    fn hang_up(&self) {
        // It may be gone already.
        let _ = match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Collector {
    pub fn tcp(port: u16) -> Collector {
        let shared = Arc::new(Shared::default());
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap_or_else(|e| panic!("port {port}: {e}"));
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let Ok(copy) = stream.try_clone() else { continue };
                if !accepting.add(stream, Stream::Tcp(copy)) {
                    return;
                }
            }
        });
        Collector { shared, address: Address::Tcp(port) }
    }

    pub fn unix_stream(path: &Path) -> Collector {
        let shared = Arc::new(Shared::default());
        let listener = UnixListener::bind(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            while let Ok((stream, _)) = listener.accept() {
                let Ok(copy) = stream.try_clone() else { continue };
                if !accepting.add(stream, Stream::Unix(copy)) {
                    return;
                }
            }
        });
        Collector { shared, address: Address::UnixStream(path.to_owned()) }
    }

    pub fn udp(port: u16) -> Collector {
        let socket = UdpSocket::bind(("127.0.0.1", port)).unwrap_or_else(|e| panic!("port {port}: {e}"));
        socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        Collector::datagrams(Address::Udp, move |buffer| socket.recv(buffer))
    }

    pub fn unix_dgram(path: &Path) -> Collector {
        let socket = UnixDatagram::bind(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        socket.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
        Collector::datagrams(Address::UnixDatagram, move |buffer| socket.recv(buffer))
    }

    fn datagrams(
        address: Address,
        mut receive: impl FnMut(&mut [u8]) -> std::io::Result<usize> + Send + 'static,
    ) -> Collector {
        let shared = Arc::new(Shared::default());
        let reading = Arc::clone(&shared);
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            // The timeout of the socket lets the thread see that nobody needs it any more.
            while reading.may_read() {
                if let Ok(n) = receive(&mut buffer) {
                    reading.state().received.push(buffer[..n].to_vec());
                }
            }
        });
        Collector { shared, address }
    }

    /// Stops reading; what arrives stays in the system's buffers until they are full.
    pub fn pause(&self) {
        self.shared.state().paused = true;
    }

    /// Reads on, so many bytes of a stream every 20 milliseconds.
    pub fn read_slowly(&self, bytes: usize) {
        self.shared.state().slow = Some(bytes);
    }

    /// Reads on as fast as it can.
    pub fn resume(&self) {
        let mut state = self.shared.state();
        (state.paused, state.slow) = (false, None);
        drop(state);
        self.shared.changed.notify_all();
    }

    /// Closes all connections, and goes on listening.
    pub fn hang_up(&self) {
        for stream in self.shared.state().open.drain(..) {
            stream.hang_up();
        }
    }

    /// Connections so far, closed ones included; datagrams on datagram sockets.
    pub fn connections(&self) -> usize {
        self.shared.state().received.len()
    }

    /// What came, one entry per connection in the order of their beginning (or per datagram).
    pub fn received(&self) -> Vec<Vec<u8>> {
        self.shared.state().received.clone()
    }

    /// Everything, connections one after the other.
    pub fn bytes(&self) -> Vec<u8> {
        self.shared.state().received.concat()
    }

    /// The datagrams, or the lines of all connections.
    pub fn lines(&self) -> Vec<String> {
        let datagrams = matches!(self.address, Address::Udp | Address::UnixDatagram);
        let received = self.received();
        let texts = received.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        if datagrams {
            return texts.collect();
        }
        texts.flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>()).collect()
    }

    /// The octet-counted frames of all connections that are complete.
    pub fn frames(&self) -> Vec<String> {
        let mut frames = Vec::new();
        for bytes in self.received() {
            let mut rest = bytes.as_slice();
            while let Some(space) = rest.iter().position(|b| *b == b' ') {
                let count: usize = String::from_utf8_lossy(&rest[..space]).parse().expect("an octet count");
                let Some(frame) = rest.get(space + 1..space + 1 + count) else { break };
                frames.push(String::from_utf8_lossy(frame).into_owned());
                rest = &rest[space + 1 + count..];
            }
        }
        frames
    }

    #[track_caller]
    pub fn wait_lines(&self, count: usize) -> Vec<String> {
        wait_while_some(|| {
            let lines = self.lines();
            (lines.len() < count).then(|| format!("{count} lines at the collector, has {}", lines.len()))
        });
        self.lines()
    }

    #[track_caller]
    pub fn wait_frames(&self, count: usize) -> Vec<String> {
        wait_while_some(|| {
            let frames = self.frames();
            (frames.len() < count).then(|| format!("{count} frames at the collector, has {}", frames.len()))
        });
        self.frames()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        self.shared.state().ended = true;
        self.hang_up();
        self.resume();
        // Wakes the thread that accepts, so that the port is free again.
        match &self.address {
            Address::Tcp(port) => {
                drop(TcpStream::connect(("127.0.0.1", *port)));
                let port = *port;
                wait_while_some(|| {
                    crate::sockets::tcp_listening(port).then(|| format!("port {port} to be free"))
                });
            }
            Address::UnixStream(path) => {
                drop(UnixStream::connect(path));
                let _ = std::fs::remove_file(path);
            }
            Address::Udp | Address::UnixDatagram => {}
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Waits while paused; whether there is still somebody to read for.
    fn may_read(&self) -> bool {
        let mut state = self.state();
        while state.paused && !state.ended {
            state = self.changed.wait(state).unwrap_or_else(|e| e.into_inner());
        }
        !state.ended
    }

    /// Starts to read a connection; false when the collector has ended.
    fn add(self: &Arc<Self>, mut stream: impl Read + Send + 'static, copy: Stream) -> bool {
        let mut state = self.state();
        if state.ended {
            return false;
        }
        let index = state.received.len();
        state.received.push(Vec::new());
        state.open.push(copy);
        drop(state);
        let shared = Arc::clone(self);
        thread::spawn(move || {
            let mut buffer = vec![0; 1 << 16];
            while shared.may_read() {
                let slow = shared.state().slow;
                if slow.is_some() {
                    thread::sleep(Duration::from_millis(20));
                }
                let room = slow.unwrap_or(usize::MAX).min(buffer.len());
                match stream.read(&mut buffer[..room]) {
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => return,
                    Ok(n) => shared.state().received[index].extend_from_slice(&buffer[..n]),
                }
            }
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Sender, free_port};

    #[test]
    fn keeps_lines_and_frames_and_frees_its_port() {
        let port = free_port();
        let collector = Collector::tcp(port);
        let mut sender = Sender::tcp(port);
        sender.line("one");
        sender.line("two");
        assert_eq!(collector.wait_lines(2), ["one", "two"]);
        drop(collector);
        let collector = Collector::tcp(port);
        let mut sender = Sender::tcp(port);
        sender.octets(b"a b");
        sender.octets(b"");
        assert_eq!(collector.wait_frames(2), ["a b", ""]);
    }
}
