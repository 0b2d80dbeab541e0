//! A connected datagram socket, UDP or unix: many messages in one call, one datagram each.

use super::single::Place;
use super::stream::Unreachable;
use super::target::{Address, Connect, Lookup, Next, Route};
use engine::ledger::Reason;
use engine::{Chunk, Progress, Sink, Status, WorkerHandle};
use mio::Interest;
use mio::unix::SourceFd;
use rustix::io::Errno;
use socket2::Socket;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The system has no buffers for now: no event will say when it has.
const BUFFER_WAIT: Duration = Duration::from_millis(10);
/// Answers "refused" to take one after the other before others get their turn.
const REFUSED_MAX: usize = 16;

pub struct DatagramOptions {
    pub connect: Connect,
    pub time_reopen: Duration,
}

enum State {
    Idle,
    Waiting(Instant),
    Open(Socket, Address),
}

pub struct DatagramSink {
    place: Place,
    options: Arc<DatagramOptions>,
    route: Route,
    state: State,
    unreachable: Unreachable,
    opened_before: bool,
}

/// What to do after a call that sent nothing.
enum Then {
    Again,
    Leave(Status),
    Reopen,
}

impl DatagramSink {
    pub fn new(place: Place, to: Lookup, options: Arc<DatagramOptions>) -> DatagramSink {
        DatagramSink {
            unreachable: Unreachable::new(&place.counters),
            place,
            options,
            route: Route::new(vec![to]),
            state: State::Idle,
            opened_before: false,
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
        self.unreachable.set(true);
        self.state = State::Waiting(now + self.options.time_reopen);
    }

    fn open(&mut self, address: Address) {
        let token = WorkerHandle::outlet_token(self.place.id);
        let opened = self.options.connect.datagram(&address).and_then(|socket| {
            let both = Interest::READABLE | Interest::WRITABLE;
            self.place.home.registry().register(&mut SourceFd(&socket.as_raw_fd()), token, both)?;
            Ok(socket)
        });
        match opened {
            Ok(socket) => {
                oplog::verbose(
                    "Syslog connection established",
                    &[
                        ("fd", &socket.as_raw_fd()),
                        ("server", &address),
                        ("local", &super::target::local_name(&socket)),
                    ],
                );
                self.unreachable.set(false);
                if std::mem::replace(&mut self.opened_before, true) {
                    self.place.counters.reconnects.add(1);
                }
                self.state = State::Open(socket, address);
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
                self.route.failed();
            }
        }
    }

    fn shut(&mut self) {
        if let State::Open(socket, _) = std::mem::replace(&mut self.state, State::Idle) {
            let _ = self.place.home.registry().deregister(&mut SourceFd(&socket.as_raw_fd()));
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
        let State::Open(_, address) = &self.state else { return Then::Reopen };
        let is_unix = matches!(address, Address::Unix(_));
        match Errno::from_io_error(error).unwrap_or(Errno::IO) {
            Errno::AGAIN => Then::Leave(Status::Blocked),
            Errno::INTR => Then::Again,
            Errno::NOBUFS | Errno::NOMEM => Then::Leave(Status::Retry(BUFFER_WAIT)),
            Errno::MSGSIZE => {
                let size = chunk.front().map_or(0, <[u8]>::len);
                oplog::limited(
                    "datagram-size",
                    oplog::Level::Error,
                    "Message too long for a datagram, dropping it",
                    &[("server", address), ("size", &size)],
                );
                chunk.skip(1);
                progress.dropped(Reason::Refused, 1);
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
            let socket = match &self.state {
                State::Open(socket, _) => socket,
                State::Waiting(until) => return Status::Retry(until.saturating_duration_since(now)),
                // The name is being looked up; a nudge follows.
                State::Idle => return Status::Blocked,
            };
            match transport::mmsg::send_many(socket.as_fd(), chunk.iter()) {
                Ok(sent) => {
                    let bytes = chunk.iter().take(sent).map(<[u8]>::len).sum();
                    chunk.skip(sent);
                    progress.delivered(sent, bytes);
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
        if let State::Open(socket, address) = &self.state
            && let Ok(Some(error)) = socket.take_error()
        {
            refusal(address, &error);
        }
        self.advance(Instant::now());
    }

    fn tick(&mut self, now: Instant) {
        self.advance(now);
    }

    fn close(&mut self) {
        self.shut();
        self.unreachable.set(false);
    }
}

#[cfg(test)]
mod tests;
