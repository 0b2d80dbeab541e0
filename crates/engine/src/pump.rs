//! Passes on what only this process can read, a TLS session say, to the process that has taken its place:
//! bytes in, bytes out.

use crate::hand_over::Part;
use crate::reader::Input;
use crate::source::Source;
use crate::worker::{After, Port, PortContext};
use mio::unix::SourceFd;
use mio::{Interest, Token};
use rustix::net::{RecvFlags, SendFlags, Shutdown};
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;

/// Bytes read at once, and held while the other side takes none.
const HELD_BYTES: usize = 128 * 1024;
/// Reads in one turn.
const TURN_READS: usize = 4;

pub struct PumpPort {
    input: Box<dyn Input>,
    out: OwnedFd,
    held: Vec<u8>,
    sent: usize,
    source: Arc<Source>,
    on_close: Option<Box<dyn FnOnce() + Send>>,
    queued: bool,
    ended: bool,
    hung_up: bool,
}

impl PumpPort {
    /// `input` is watched under this port's token already; `out` will be.
    pub fn new(
        input: Box<dyn Input>,
        out: OwnedFd,
        source: Arc<Source>,
        on_close: Option<Box<dyn FnOnce() + Send>>,
        registry: &mio::Registry,
        token: Token,
    ) -> std::io::Result<PumpPort> {
        registry.register(&mut SourceFd(&out.as_raw_fd()), token, Interest::WRITABLE)?;
        source.counters.connections.add(1);
        let (held, queued) = (Vec::new(), false);
        Ok(PumpPort { input, out, held, sent: 0, source, on_close, queued, ended: false, hung_up: false })
    }

    /// Sends what is held. `Ok(false)` when the other side has no room.
    fn flush(&mut self) -> std::io::Result<bool> {
        while let Some(rest) = self.held.get(self.sent..).filter(|rest| !rest.is_empty()) {
            match rustix::net::send(&self.out, rest, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Ok(n) => self.sent += n,
                Err(rustix::io::Errno::AGAIN) => return Ok(false),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.held.clear();
        self.sent = 0;
        Ok(true)
    }

    /// The other process has closed the connection; it never sends anything.
    fn is_abandoned(&self) -> bool {
        let mut none = [0u8; 1];
        matches!(rustix::net::recv(&self.out, &mut none[..], RecvFlags::DONTWAIT), Ok((0, _)))
    }

    fn step(&mut self) -> Option<After> {
        if std::mem::take(&mut self.hung_up) && self.is_abandoned() {
            return Some(After::Close);
        }
        match self.flush() {
            Ok(true) => {}
            Ok(false) => return Some(After::Idle),
            // The other process has closed the connection.
            Err(_) => return Some(After::Close),
        }
        if self.ended {
            return Some(After::Close);
        }
        match self.input.read(&mut self.held, HELD_BYTES) {
            Ok(0) => self.ended = true,
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Some(After::Idle),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => self.ended = true,
        }
        None
    }
}

impl Port for PumpPort {
    fn turn(&mut self, _cx: &mut PortContext) -> After {
        for _ in 0..TURN_READS {
            if let Some(after) = self.step() {
                return after;
            }
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn hung_up(&mut self) {
        self.hung_up = true;
    }

    fn farewell(&mut self) {
        self.input.farewell();
    }

    fn closed(&mut self, cx: &mut PortContext) {
        let registry = cx.handle.registry();
        self.input.deregister(registry);
        let _ = registry.deregister(&mut SourceFd(&self.out.as_raw_fd()));
        // The other side reads what is there, then the end.
        let _ = self.flush();
        let _ = rustix::net::shutdown(&self.out, Shutdown::Write);
        self.source.counters.connections.sub(1);
        if let Some(on_close) = self.on_close.take() {
            on_close();
        }
    }

    /// It stays for as long as its peer does.
    fn part(&mut self, _cx: &mut PortContext) -> Part {
        Part::Stays
    }

    fn passes_on(&self) -> bool {
        true
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
    }
}
