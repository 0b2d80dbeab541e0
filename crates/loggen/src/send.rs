//! `Load` says what to send where, how much and how fast; `run` sends it.
//!
//! One thread drives many nonblocking connections out of a ring of prebuilt messages; `threads` shares them
//! out.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::clock::Moment;
use crate::message::{Body, Framing, Style, Syntax};
use crate::progress::Progress;
use crate::proxy::Proxy;
use crate::ring::Ring;
use crate::target::Target;
use crate::wire::{Tls, Wire};
use stdio::CommandError;

mod dgram;
mod replay;
mod stream;

pub use replay::Replay;

/// The stamp has four digits for the connection and nine for the number.
pub const CONNECTIONS_MAX: usize = 10_000;
pub const NUMBER_MAX: u64 = 1_000_000_000;

#[derive(Clone, Debug)]
pub struct Load {
    pub target: Target,
    pub style: Style,
    /// Lines to send instead of generated messages.
    pub replay: Option<Replay>,
    pub connections: usize,
    /// Connections that are opened and say nothing.
    pub idle: usize,
    /// Messages over all connections; the first ones get one more when it does not divide evenly.
    pub total: Option<u64>,
    pub duration: Option<Duration>,
    /// Messages a second and connection; as fast as the receiver takes them when `None`.
    pub rate: Option<f64>,
    pub threads: usize,
    pub proxy: Option<Proxy>,
    pub tls: Option<Tls>,
    /// The PROXY header goes ahead of the handshake, not into the session.
    pub proxy_in_clear: bool,
    pub reconnect: bool,
    /// Own port of the first connection; the next ones count up.
    pub client_port: Option<u16>,
    pub debug: bool,
    stop: Arc<AtomicBool>,
}

/// Between two tries to make a lost connection again.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// Connected sockets with their connection's index.
type Sockets = Vec<(usize, Wire)>;

/// What a run has done. Messages count once they are wholly in the kernel's hands.
#[derive(Clone, Debug)]
pub struct Outcome {
    pub messages: u64,
    pub bytes: u64,
    pub elapsed: Duration,
    pub per_connection: Vec<u64>,
    /// What went wrong, one line each; the run went on with the other connections.
    pub errors: Vec<String>,
}

impl Load {
    /// 400-byte realistic RFC 3164 messages over one connection, without limit of rate.
    pub fn new(target: Target) -> Load {
        Load {
            target,
            style: Style::new(Syntax::Rfc3164, Body::Text, 400),
            replay: None,
            connections: 1,
            idle: 0,
            total: None,
            duration: None,
            rate: None,
            threads: 1,
            proxy: None,
            tls: None,
            proxy_in_clear: false,
            reconnect: false,
            client_port: None,
            debug: false,
            stop: Arc::default(),
        }
    }

    pub fn style(mut self, style: Style) -> Load {
        self.style = style;
        self
    }

    pub fn connections(mut self, connections: usize) -> Load {
        self.connections = connections;
        self
    }

    pub fn total(mut self, messages: u64) -> Load {
        self.total = Some(messages);
        self
    }

    pub fn duration(mut self, duration: Duration) -> Load {
        self.duration = Some(duration);
        self
    }

    /// Messages a second and connection.
    pub fn rate(mut self, per_second: f64) -> Load {
        self.rate = Some(per_second);
        self
    }

    pub fn size(mut self, bytes: usize) -> Load {
        self.style.size = bytes;
        self
    }

    pub fn hosts(mut self, hosts: u32) -> Load {
        self.style.hosts = hosts;
        self
    }

    pub fn octet_counted(mut self) -> Load {
        self.style.framing = Framing::OctetCount;
        self
    }

    /// Setting it ends a run after the messages being written.
    pub fn stop_flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Messages of connection `index`; `None` without limit.
    pub fn share(&self, index: usize) -> Option<u64> {
        let count = self.connections.max(1) as u64;
        self.total.map(|total| total / count + u64::from((index as u64) < total % count))
    }

    /// Sends everything. An error means that nothing could be sent.
    pub fn run(&self) -> Result<Outcome, CommandError> {
        self.run_with(&Progress::new(self.connections))
    }

    /// As `run`, counting in `progress` while under way.
    pub fn run_with(&self, progress: &Progress) -> Result<Outcome, CommandError> {
        self.check()?;
        allow_descriptors((self.connections + self.idle) as u64);
        let (sockets, mut errors) = self.connect_all()?;
        let _idle = self.connect_idle(&mut errors);
        let start = Instant::now();
        let threads =
            if self.replay.is_some() { sockets.len() } else { self.threads.clamp(1, sockets.len()) };
        let mut hands: Vec<Sockets> = (0..threads).map(|_| Vec::new()).collect();
        for (place, socket) in sockets.into_iter().enumerate() {
            hands[place % threads].push(socket);
        }
        let run = Run { load: self, progress, start, deadline: self.duration.map(|limit| start + limit) };
        std::thread::scope(|scope| {
            let workers: Vec<_> =
                hands.into_iter().map(|sockets| scope.spawn(|| run.work(sockets))).collect();
            for worker in workers {
                match worker.join() {
                    Ok(mut found) => errors.append(&mut found),
                    Err(_) => errors.push("a sending thread panicked".into()),
                }
            }
        });
        Ok(Outcome {
            messages: progress.messages(),
            bytes: progress.bytes(),
            elapsed: start.elapsed(),
            per_connection: progress.per_connection(),
            errors,
        })
    }

    /// Writes the messages of connection 0 to `out` instead of sending them: a prepared input. Needs `total`.
    pub fn write_to(&self, out: &mut impl Write) -> std::io::Result<u64> {
        let mut ring = Ring::new(&self.style);
        let total = self.total.unwrap_or(0);
        let mut seq = 0;
        while seq < total {
            let part = ring.prepare(0, seq, usize::try_from(total - seq).unwrap_or(usize::MAX));
            out.write_all(part)?;
            seq += (part.len() / ring.frame_len()) as u64;
        }
        out.flush()?;
        Ok(total)
    }

    fn check(&self) -> Result<(), CommandError> {
        if self.connections == 0 {
            return Err("at least one active connection is needed".into());
        }
        if self.style.stamp && self.connections > CONNECTIONS_MAX {
            return Err(format!("stamped messages have room for {CONNECTIONS_MAX} connections").into());
        }
        if self.style.stamp && self.share(0).is_some_and(|share| share > NUMBER_MAX) {
            return Err(format!("stamped messages have room for {NUMBER_MAX} messages a connection").into());
        }
        if self.rate.is_some_and(|rate| !(rate > 0.0 && rate.is_finite())) {
            return Err("the rate must be greater than zero".into());
        }
        if self.tls.is_some() && !matches!(self.target, Target::Tcp(_)) {
            return Err("TLS is for TCP connections".into());
        }
        if let Some(replay) = &self.replay {
            replay.check(self.connections)?;
        }
        Ok(())
    }

    fn connect(&self, index: usize) -> Result<Wire, CommandError> {
        let port = self.client_port.map(|port| port.wrapping_add(index as u16));
        let socket = self
            .target
            .connect(port)
            .map_err(|e| format!("error connecting socket: {}: {e}", self.target))?;
        let mut wire = Wire::new(socket);
        if self.proxy_in_clear || self.tls.is_none() {
            self.introduce(&mut wire, index)?;
        }
        if let (Some(tls), Target::Tcp(address)) = (&self.tls, &self.target) {
            wire.encrypt(tls, &address.ip().to_string()).map_err(|e| format!("TLS handshake failed: {e}"))?;
            if !self.proxy_in_clear {
                self.introduce(&mut wire, index)?;
            }
        }
        if self.debug {
            stdio::err!("connection {index}: connected to {}", self.target);
        }
        Ok(wire)
    }

    /// Sends the PROXY header, if there is to be one.
    fn introduce(&self, wire: &mut Wire, index: usize) -> Result<(), CommandError> {
        let Some(proxy) = &self.proxy else { return Ok(()) };
        Ok(wire
            .write_all(&proxy.header(index as u32)?)
            .map_err(|e| format!("error sending PROXY header: {e}"))?)
    }

    /// All connections stand before the first message goes out.
    fn connect_all(&self) -> Result<(Sockets, Vec<String>), CommandError> {
        let (mut sockets, mut errors) = (Vec::new(), Vec::new());
        for index in 0..self.connections {
            match self.connect(index) {
                Ok(socket) => sockets.push((index, socket)),
                Err(error) => errors.push(error.to_string()),
            }
        }
        if sockets.is_empty() {
            return Err(errors.into_iter().next().unwrap_or_default().into());
        }
        Ok((sockets, errors))
    }

    fn connect_idle(&self, errors: &mut Vec<String>) -> Vec<Wire> {
        let connected = (0..self.idle).map(|index| self.connect(self.connections + index));
        connected.filter_map(|socket| socket.map_err(|error| errors.push(error.to_string())).ok()).collect()
    }
}

/// What all sending threads share.
struct Run<'a> {
    load: &'a Load,
    progress: &'a Progress,
    start: Instant,
    deadline: Option<Instant>,
}

impl Run<'_> {
    fn work(&self, sockets: Sockets) -> Vec<String> {
        match (&self.load.replay, self.load.target.is_stream()) {
            (Some(replay), _) => replay::send(self, replay, sockets),
            (None, true) => stream::send(self, sockets),
            (None, false) => dgram::send(self, sockets),
        }
    }

    /// Says at once that a connection broke and is to be made again: whoever looks on is to know why nothing
    /// comes.
    fn say_lost(&self, index: usize, why: &dyn std::fmt::Display) {
        stdio::err!("connection {index} to {} is lost, trying to reconnect: {why}", self.load.target);
    }

    /// Makes a connection again, which may take until the run ends; `None` when it has.
    fn reconnect(&self, index: usize) -> Option<Wire> {
        while !self.stopped(Instant::now()) {
            match self.try_again(index) {
                Some(wire) => return Some(wire),
                None => std::thread::sleep(RECONNECT_PAUSE),
            }
        }
        None
    }

    fn try_again(&self, index: usize) -> Option<Wire> {
        let wire = self.load.connect(index).ok()?;
        stdio::err!("connection {index} to {} is there again", self.load.target);
        Some(wire)
    }

    fn stopped(&self, now: Instant) -> bool {
        self.deadline.is_some_and(|deadline| now >= deadline) || self.load.stop.load(Ordering::Relaxed)
    }
}

/// Keeps the text of the current second.
struct Second {
    moment: Moment,
    until: Instant,
}

impl Second {
    fn new() -> Second {
        Second { moment: Moment::now(), until: Instant::now() }
    }

    /// The current moment, looked up at most ten times a second.
    fn at(&mut self, now: Instant) -> &Moment {
        if now >= self.until {
            self.moment = Moment::now();
            self.until = now + Duration::from_millis(100);
        }
        &self.moment
    }
}

/// Raises the limit of open files when `sockets` would not fit; as far as that is allowed.
pub fn allow_descriptors(sockets: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const OTHERS: u64 = 64;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < sockets + OTHERS) {
        // When it fails, connecting says so.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// Lines to read from a file; `-` is standard input.
pub fn replay_file(path: impl Into<PathBuf>) -> Replay {
    Replay::new(path.into())
}

#[cfg(test)]
mod tests;
