//! A connection to a server of whoever listens to it, and not an outlet: kept, and made anew after a pause.

use crate::dial::Dial;
use delivery::dialing::Dialed;
use delivery::link::{Link, Owner};
use delivery::target::{Next, Route};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An attempt to connect that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// The first pause after a failure; each one is twice as long as the last.
const PAUSE: Duration = Duration::from_millis(100);

enum State {
    Idle,
    /// After a failure.
    Waiting(Instant),
    Connecting(Link),
    Open(Link),
}

/// How a connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    Away,
    /// Since just now.
    Opened,
    Open,
}

pub struct Call {
    seat: Owner,
    dial: Arc<Dial>,
    /// The longest pause.
    pause_max: Duration,
    route: Route,
    state: State,
    since: Instant,
    failures: u32,
    /// Why the last address did not answer.
    failed: Option<io::Error>,
}

impl Call {
    pub fn new(seat: Owner, dial: Arc<Dial>, pause_max: Duration) -> Call {
        let (route, since) = (dial.route(), Instant::now());
        Call { seat, dial, pause_max, route, state: State::Idle, since, failures: 0, failed: None }
    }

    /// Goes on with connecting. The error: it has failed, and is tried again after a pause.
    pub fn connect(&mut self, now: Instant) -> Result<Line, String> {
        loop {
            match &mut self.state {
                State::Open(_) => return Ok(Line::Open),
                State::Waiting(until) if now < *until => return Ok(Line::Away),
                State::Waiting(_) => self.state = State::Idle,
                State::Idle => match self.route.next(&self.seat.nudge) {
                    Next::Try(address) => {
                        self.since = now;
                        match self.dial.call(&address, &self.seat) {
                            Ok(link) => self.state = State::Connecting(link),
                            Err(error) => self.next_address(error),
                        }
                    }
                    Next::Asking => return Ok(Line::Away),
                    Next::Pause => {
                        let why = match self.failed.take() {
                            Some(error) => error.to_string(),
                            None => "there is no address that answers".to_owned(),
                        };
                        self.end(now);
                        return Err(why);
                    }
                },
                State::Connecting(link) => match link.is_established(now) {
                    Ok(true) => {
                        if let State::Connecting(link) = std::mem::replace(&mut self.state, State::Idle) {
                            self.state = State::Open(link);
                        }
                        self.failed = None;
                        return Ok(Line::Opened);
                    }
                    Ok(false) if now.saturating_duration_since(self.since) < CONNECT_MAX => {
                        return Ok(Line::Away);
                    }
                    outcome => {
                        let error = outcome.err().unwrap_or_else(|| ErrorKind::TimedOut.into());
                        self.next_address(error);
                    }
                },
            }
        }
    }

    fn next_address(&mut self, error: io::Error) {
        self.state = State::Idle;
        self.route.failed();
        self.failed = Some(error);
    }

    /// The connection is of use: the next pause is a short one.
    pub fn is_of_use(&mut self) {
        self.failures = 0;
    }

    /// Appends what the server has said, all of it up to about so many bytes. `false`: it has ended the
    /// connection.
    pub fn receive(&mut self, into: &mut Vec<u8>, bytes_max: usize) -> io::Result<bool> {
        let State::Open(link) = &mut self.state else { return Ok(true) };
        loop {
            let before = into.len();
            // There is no event for what one look at the socket leaves there.
            if !link.receive(into)? {
                return Ok(false);
            }
            if into.len() == before || into.len() >= bytes_max {
                return Ok(true);
            }
        }
    }

    /// Sends what can be sent without waiting. What is left goes when the socket has room again.
    pub fn send(&mut self, out: &mut Vec<u8>) -> io::Result<()> {
        let State::Open(link) = &mut self.state else { return Ok(()) };
        while !out.is_empty() {
            match link.send(out, &[]) {
                Ok(n) => drop(out.drain(..n.min(out.len()))),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        link.flush()
    }

    /// Ends the connection; the next attempt comes after a pause.
    pub fn end(&mut self, now: Instant) {
        self.close();
        let pause = PAUSE.saturating_mul(1 << self.failures.min(16)).min(self.pause_max);
        self.failures = self.failures.saturating_add(1);
        self.state = State::Waiting(now + pause);
    }

    pub fn close(&mut self) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Connecting(link) | State::Open(link) => link.close(),
            State::Idle | State::Waiting(_) => {}
        }
    }
}
