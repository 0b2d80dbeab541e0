//! A TCP proxy that gives trouble: cuts connections in the middle of whatever they carry, now or after so
//! many bytes.

use crate::ports::free_port;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// Ends with the test program; its connections end when it is dropped.
pub struct Proxy {
    shared: Arc<Shared>,
    port: u16,
}

struct Shared {
    target: u16,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: Vec<TcpStream>,
    /// Bytes each further connection may carry, both ways together; without an entry as many as it likes.
    budgets: Vec<usize>,
    connections: usize,
    cuts: usize,
    bytes: u64,
    /// Bytes that one way of a connection carries in each 10 milliseconds, at most.
    pace: Option<usize>,
}

/// What a connection may still carry.
type Budget = Arc<Mutex<Option<usize>>>;

impl Proxy {
    /// Listens on a port of its own for what listens on `target`.
    pub fn to(target: u16) -> Proxy {
        // One that the system chose could be that of an earlier proxy, whose sender still tries.
        let port = free_port();
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap_or_else(|e| panic!("port {port}: {e}"));
        let shared = Arc::new(Shared { target, state: Mutex::default() });
        let accepting = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                accepting.serve(stream);
            }
        });
        Proxy { shared, port }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next connections are cut after so many bytes each, the first one first.
    pub fn cut_after(&self, budgets: &[usize]) {
        self.shared.state().budgets = budgets.iter().rev().copied().collect();
    }

    /// From now on each way of a connection carries so many bytes in 10 milliseconds; `None`: what comes.
    pub fn pace(&self, bytes: Option<usize>) {
        self.shared.state().pace = bytes;
    }

    /// Cuts what is open, as a cable does: what was on the way is gone.
    pub fn cut(&self) {
        let mut state = self.shared.state();
        state.cuts += state.open.len().min(1);
        state.open.drain(..).for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
    }

    pub fn connections(&self) -> usize {
        self.shared.state().connections
    }

    pub fn cuts(&self) -> usize {
        self.shared.state().cuts
    }

    /// Bytes carried, both ways.
    pub fn bytes(&self) -> u64 {
        self.shared.state().bytes
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|e| e.into_inner())
    }

    fn serve(self: &Arc<Self>, client: TcpStream) {
        // Nobody there: the client is told by a closed connection.
        let Ok(server) = TcpStream::connect(("127.0.0.1", self.target)) else { return };
        let copies = [&client, &server].map(|stream| stream.try_clone().expect("a second handle"));
        let mut state = self.state();
        state.connections += 1;
        let budget = Arc::new(Mutex::new(state.budgets.pop()));
        state.open.extend(copies);
        drop(state);
        for (from, to) in [(&client, &server), (&server, &client)] {
            let pair = [from, to].map(|stream| stream.try_clone().expect("a second handle"));
            let (shared, budget) = (Arc::clone(self), Arc::clone(&budget));
            thread::spawn(move || shared.carry(pair, &budget));
        }
    }

    fn carry(&self, [mut from, mut to]: [TcpStream; 2], budget: &Budget) {
        let mut buffer = vec![0; 1 << 16];
        loop {
            let pace = self.state().pace;
            if pace.is_some() {
                thread::sleep(Duration::from_millis(10));
            }
            let room = pace.unwrap_or(usize::MAX).min(buffer.len());
            let read = match from.read(&mut buffer[..room]) {
                Ok(n) if n > 0 => n,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                _ => break,
            };
            let allowed = take(budget, read);
            self.state().bytes += allowed as u64;
            if to.write_all(&buffer[..allowed]).is_err() {
                break;
            }
            if allowed < read {
                self.state().cuts += 1;
                break;
            }
        }
        let _ = from.shutdown(Shutdown::Both);
        let _ = to.shutdown(Shutdown::Both);
    }
}

/// Takes up to `wanted` bytes from a budget.
fn take(budget: &Budget, wanted: usize) -> usize {
    let mut left = budget.lock().unwrap_or_else(|e| e.into_inner());
    match left.as_mut() {
        None => wanted,
        Some(left) => {
            let allowed = wanted.min(*left);
            *left -= allowed;
            allowed
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collector, free_port, wait_until};

    #[test]
    fn carries_and_cuts() {
        let port = free_port();
        let collector = Collector::tcp(port);
        let proxy = Proxy::to(port);
        proxy.cut_after(&[5]);
        let mut first = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        first.write_all(b"one\ntwo\n").unwrap();
        wait_until("the cut", || matches!(first.read(&mut [0]), Ok(0) | Err(_)));
        let mut second = TcpStream::connect(("127.0.0.1", proxy.port())).unwrap();
        second.write_all(b"three\n").unwrap();
        assert_eq!(collector.wait_lines(3), ["one", "t", "three"]);
        proxy.cut();
        wait_until("the end", || matches!(second.read(&mut [0]), Ok(0) | Err(_)));
        assert_eq!((proxy.connections(), proxy.cuts(), proxy.bytes()), (2, 2, 11));
    }
}
