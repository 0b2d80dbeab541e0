//! A connected datagram socket, UDP or unix: many messages in one call, one datagram each; in the name of
//! their senders if asked for.

use super::single::SinkContext;
use super::target::{Address, Connect, Lookup, Next, Route};
use super::unreachable::Unreachable;
use crate::writer::sender;
use engine::{Chunk, Progress, Sink, Status, Whole, WorkerHandle};
use mio::Interest;
use mio::unix::SourceFd;
use rustix::io::Errno;
use socket2::Socket;
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use transport::Spoofer;

/// The system has no buffers for now: no event will say when it has.
const BUFFER_WAIT: Duration = Duration::from_millis(10);
/// Answers "refused" to take one after the other before others get their turn.
const REFUSED_MAX: usize = 16;

pub struct DatagramOptions {
    pub connect: Connect,
    pub time_reopen: Duration,
    /// Messages stand behind the addresses of their senders ([`crate::writer::Envelope::Sender`]).
    pub spoof_source: bool,
}

enum State {
    Idle,
    Waiting(Instant),
    Open(Link),
}

struct Link {
    socket: Socket,
    /// With spoof-source(): for messages whose senders are known.
    spoofer: Option<Spoofer>,
    address: Address,
}

impl Link {
    fn open(options: &DatagramOptions, address: Address) -> io::Result<Link> {
        let socket = options.connect.datagram(&address)?;
        let spoofer = match &address {
            Address::Inet(to) if options.spoof_source => Some(Spoofer::open(*to, &options.connect.socket)?),
            _ => None,
        };
        Ok(Link { socket, spoofer, address })
    }

    /// Sends messages from the front of a chunk; how many, and their bytes. An error concerns the first.
    fn send(&self, chunk: &Chunk) -> io::Result<(usize, usize)> {
        let Some(spoofer) = &self.spoofer else {
            let sent = transport::mmsg::send_many(self.socket.as_fd(), chunk.iter())?;
            return Ok((sent, chunk.iter().take(sent).map(<[u8]>::len).sum()));
        };
        let messages = || chunk.iter().map(sender::take);
        let is_spoofed = |from: &Option<SocketAddr>| from.is_some_and(|from| spoofer.can(from));
        let sent = match messages().next() {
            Some((from, _)) if is_spoofed(&from) => {
                let named = messages().take_while(|(from, _)| is_spoofed(from));
                spoofer.send_many(named.filter_map(|(from, body)| Some((from?, body))))?
            }
            _ => {
                let own = messages().take_while(|(from, _)| !is_spoofed(from)).map(|(_, body)| body);
                transport::mmsg::send_many(self.socket.as_fd(), own)?
            }
        };
        Ok((sent, messages().take(sent).map(|(_, body)| body.len()).sum()))
    }
}

pub struct DatagramSink {
    place: SinkContext,
    options: Arc<DatagramOptions>,
    route: Route,
    state: State,
    unreachable: Unreachable,
}

/// What to do after a call that sent nothing.
enum Then {
    Again,
    Leave(Status),
    Reopen,
}

impl DatagramSink {
    pub fn new(place: SinkContext, to: Lookup, options: Arc<DatagramOptions>) -> DatagramSink {
        DatagramSink {
            unreachable: Unreachable::new(&place.counters),
            place,
            options,
            route: Route::new(vec![to]),
            state: State::Idle,
        }
    }

    fn advance(&mut self, now: Instant) {
        loop {
            match &self.state {
                State::Open(..) => return,
                State::Waiting(until) if now < *until => return,
                State::Waiting(_) => self.state = State::Idle,
                State::Idle => match self.route.next(&self.place.nudge) {
                    Next::Asking => return,
                    Next::Pause => return self.pause(now),
                    Next::Try(address) => self.open(address),
                },
            }
        }
    }

    fn pause(&mut self, now: Instant) {
        if let Some(why) = self.route.take_unknown() {
            self.place.counters.setbacks.failed(why, None);
        }
        self.unreachable.lost(self.options.time_reopen);
        self.state = State::Waiting(now + self.options.time_reopen);
    }

    fn open(&mut self, address: Address) {
        let token = WorkerHandle::outlet_token(self.place.id);
        let opened = Link::open(&self.options, address.clone()).and_then(|link| {
            let both = Interest::READABLE | Interest::WRITABLE;
            let registry = self.place.home.registry();
            registry.register(&mut SourceFd(&link.socket.as_raw_fd()), token, both)?;
            if let Some(spoofer) = &link.spoofer {
                registry.register(&mut SourceFd(&spoofer.fd()), token, Interest::WRITABLE)?;
            }
            Ok(link)
        });
        match opened {
            Ok(link) => {
                oplog::verbose(
                    "Syslog connection established",
                    &[
                        ("fd", &link.socket.as_raw_fd()),
                        ("server", &address),
                        ("local", &super::target::local_name(&link.socket)),
                    ],
                );
                self.unreachable.reached();
                self.state = State::Open(link);
            }
            Err(error) => {
                oplog::error(
                    "Syslog connection failed",
                    &[
                        ("server", &address),
                        ("error", &error),
                        ("time_reopen", &self.options.time_reopen.as_secs()),
                    ],
                );
                self.place.counters.setbacks.failed(format_args!("{address}: {error}"), None);
                self.route.failed();
            }
        }
    }

    fn shut(&mut self) {
        if let State::Open(link) = std::mem::replace(&mut self.state, State::Idle) {
            let registry = self.place.home.registry();
            let _ = registry.deregister(&mut SourceFd(&link.socket.as_raw_fd()));
            if let Some(spoofer) = &link.spoofer {
                let _ = registry.deregister(&mut SourceFd(&spoofer.fd()));
            }
        }
    }

    /// Judges an error that concerns the first message of the chunk.
    fn failed(
        &self,
        error: &io::Error,
        chunk: &mut Chunk,
        progress: &mut Progress<'_>,
        refused: &mut usize,
    ) -> Then {
        let State::Open(Link { address, spoofer, .. }) = &self.state else { return Then::Reopen };
        let is_unix = matches!(address, Address::Unix(_));
        match Errno::from_io_error(error).unwrap_or(Errno::IO) {
            Errno::AGAIN => Then::Leave(Status::Blocked),
            Errno::INTR => Then::Again,
            Errno::NOBUFS | Errno::NOMEM => Then::Leave(Status::Retry(BUFFER_WAIT)),
            Errno::MSGSIZE => {
                let front = chunk.front().unwrap_or_default();
                let size = if spoofer.is_some() { sender::take(front).1.len() } else { front.len() };
                oplog::limited(
                    "datagram-size",
                    oplog::Level::Error,
                    "Message too long for a datagram, dropping it",
                    &[("server", address), ("size", &size)],
                );
                progress.refused("too long for a datagram", front);
                chunk.skip(1);
                Then::Again
            }
            // The receiver's machine said so about an earlier datagram; this one was not sent.
            Errno::CONNREFUSED if !is_unix => {
                refusal(address, error);
                *refused += 1;
                if *refused < REFUSED_MAX { Then::Again } else { Then::Leave(Status::Retry(BUFFER_WAIT)) }
            }
            _ => {
                oplog::error(
                    "I/O error occurred while writing",
                    &[
                        ("server", address),
                        ("error", error),
                        ("time_reopen", &self.options.time_reopen.as_secs()),
                    ],
                );
                self.place.counters.setbacks.failed(format_args!("{address}: {error}"), None);
                Then::Reopen
            }
        }
    }
}

fn refusal(address: &Address, error: &io::Error) {
    oplog::limited(
        "datagram-refused",
        oplog::Level::Warning,
        "Nobody receives the datagrams, sending on",
        &[("server", address), ("error", error)],
    );
}

impl Sink for DatagramSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        let now = Instant::now();
        let mut refused = 0;
        while let Some(chunk) = chunks.front_mut() {
            if chunk.is_empty() {
                if let Some(chunk) = chunks.pop_front() {
                    progress.finished(chunk);
                }
                continue;
            }
            self.advance(now);
            let link = match &self.state {
                State::Open(link) => link,
                State::Waiting(until) => return Status::Retry(until.saturating_duration_since(now)),
                // The name is being looked up; a nudge follows.
                State::Idle => return Status::Blocked,
            };
            match link.send(chunk) {
                Ok((sent, bytes)) => {
                    chunk.skip(sent);
                    progress.delivered(Whole { messages: sent, bytes });
                }
                Err(error) => match self.failed(&error, chunk, progress, &mut refused) {
                    Then::Again => {}
                    Then::Leave(status) => return status,
                    Then::Reopen => {
                        self.shut();
                        self.route.broke(true);
                    }
                },
            }
        }
        Status::Done
    }

    fn event(&mut self) {
        if self.place.restart.swap(false, std::sync::atomic::Ordering::Relaxed) {
            self.shut();
            self.route.go_back();
        }
        if let State::Open(link) = &self.state
            && let Ok(Some(error)) = link.socket.take_error()
        {
            refusal(&link.address, &error);
        }
        self.advance(Instant::now());
    }

    fn tick(&mut self, now: Instant) {
        self.advance(now);
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {
        self.shut();
        self.unreachable.set(false);
    }
}

#[cfg(test)]
mod tests;
