//! A session and its connection, as an outlet sees them.

use crate::dial::Dial;
use crate::session::{Loss, Session};
use delivery::bell::Bell;
use delivery::dialing::Dialed;
use delivery::link::Link;
use delivery::single::SinkContext;
use delivery::target::{Next, Route, ends};
use flight::{Client, Outcome, Part, Receipt};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// An attempt to connect, greeting included, that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);
/// What a server may say that is not understood yet.
const INPUT_BYTES_MAX: usize = 4 << 20;

enum State {
    Idle,
    Connecting(Link),
    Open(Link),
}

pub struct Dialogue<S> {
    place: SinkContext,
    dial: Arc<Dial>,
    route: Route,
    state: State,
    session: S,
    input: Vec<u8>,
    /// Gives the outlet an event when there are outcomes that none brings. `None` without descriptors: then
    /// they wait for the next one.
    bell: Option<Bell>,
    /// What became of batches and was not said yet.
    outcomes: Vec<(u32, Outcome)>,
    /// Batches on the way.
    away: usize,
    /// A connection is wanted although nothing waits: the first one, so that trouble shows at once.
    is_wanted: bool,
    /// It is to be left as soon as nothing is on the way.
    is_leaving: bool,
    /// When the attempt to connect began; then, when something was heard, or said after a time of silence.
    since: Instant,
    /// Why the last address did not answer.
    failed: Option<io::Error>,
    /// Of batches on the way, by their numbers.
    followed: Vec<(u32, Receipt)>,
}

impl<S: Session> Dialogue<S> {
    pub fn new(place: SinkContext, dial: Arc<Dial>, session: S) -> Dialogue<S> {
        Dialogue {
            route: dial.route(),
            bell: Bell::new(&place.home, place.id).ok(),
            place,
            dial,
            state: State::Idle,
            session,
            input: Vec::new(),
            outcomes: Vec::new(),
            away: 0,
            is_wanted: true,
            is_leaving: false,
            since: Instant::now(),
            failed: None,
            followed: Vec::new(),
        }
    }

    /// Does whatever can be done without waiting.
    fn drive(&mut self, now: Instant) {
        self.go_on(now);
        let said = self.outcomes.len();
        self.session.settled(&mut self.outcomes);
        self.away = self.away.saturating_sub(self.outcomes.len() - said);
    }

    fn go_on(&mut self, now: Instant) {
        loop {
            match &mut self.state {
                State::Idle if self.away == 0 && !self.is_wanted => return,
                State::Idle => match self.route.next(&self.place.nudge) {
                    Next::Try(address) => {
                        self.since = now;
                        match self.dial.connect(&address, &self.place) {
                            Ok(link) => self.state = State::Connecting(link),
                            Err(error) => self.next_address(error),
                        }
                    }
                    Next::Asking => return,
                    Next::Pause => {
                        let why = match self.failed.take() {
                            Some(error) => error.to_string(),
                            None => "there is no address that answers".to_owned(),
                        };
                        return self.end(&Loss::Broken(why));
                    }
                },
                State::Connecting(link) => match link.is_established(now) {
                    Ok(true) => self.opened(now),
                    Ok(false) if now.saturating_duration_since(self.since) < CONNECT_MAX => return,
                    outcome => {
                        let error = outcome.err().unwrap_or_else(|| ErrorKind::TimedOut.into());
                        self.next_address(error);
                    }
                },
                State::Open(_) => {
                    if let Err(fault) = self.converse(now) {
                        self.end(&fault);
                    } else if self.is_leaving && self.away == 0 {
                        self.leave();
                    }
                    return;
                }
            }
        }
    }

    fn next_address(&mut self, error: io::Error) {
        self.state = State::Idle;
        self.route.failed();
        self.failed = Some(error);
    }

    fn opened(&mut self, now: Instant) {
        if let State::Connecting(link) = std::mem::replace(&mut self.state, State::Idle) {
            self.state = State::Open(link);
        }
        (self.since, self.is_wanted, self.failed) = (now, false, None);
        self.input.clear();
        self.session.open();
    }

    /// Hears and says what there is. The error ends the connection.
    fn converse(&mut self, now: Instant) -> Result<(), Loss> {
        let broken = |error: io::Error| Loss::Broken(error.to_string());
        let written = self.write();
        let State::Open(link) = &mut self.state else { return Ok(()) };
        let before = self.input.len();
        let received = link.receive(&mut self.input);
        if self.input.len() > before {
            self.since = now;
            self.understand()?;
        }
        // What was said before the end counts first.
        written.map_err(broken)?;
        match received {
            Ok(true) => {}
            Ok(false) => return Err(Loss::Broken("the server has closed the connection".to_owned())),
            Err(error) => return Err(broken(error)),
        }
        self.write().map_err(broken)?;
        let late = if self.session.is_open() { self.dial.answer_max } else { CONNECT_MAX };
        if self.session.awaits() && now.saturating_duration_since(self.since) >= late {
            return Err(Loss::Broken("the server does not answer".to_owned()));
        }
        Ok(())
    }

    fn understand(&mut self) -> Result<(), Loss> {
        let (was_open, said) = (self.session.is_open(), self.outcomes.len());
        let understood = self.session.hear(&self.input, &mut self.outcomes);
        self.away = self.away.saturating_sub(self.outcomes.len() - said);
        self.input.drain(..understood?.min(self.input.len()));
        if self.input.len() > INPUT_BYTES_MAX {
            return Err(Loss::Broken("the server says too much".to_owned()));
        }
        if self.session.is_open() && !was_open {
            oplog::notice("Server connected", &[("server", &self.dial.name())]);
        }
        Ok(())
    }

    /// Whatever does not go now goes when the socket has room again.
    fn write(&mut self) -> io::Result<()> {
        let State::Open(link) = &mut self.state else { return Ok(()) };
        loop {
            let output = self.session.output();
            if output.is_empty() {
                return link.flush();
            }
            match link.send(output, &[]) {
                Ok(n) => self.session.sent(n),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    /// Ends the connection, and gives back what was on the way.
    fn end(&mut self, fault: &Loss) {
        let name = self.dial.name();
        let named = match fault {
            Loss::Broken(why) => Loss::Broken(format!("{name}: {why}")),
            Loss::Refused(why) => Loss::Refused(format!("{name}: {why}")),
        };
        let is_idle = self.away == 0;
        self.session.lost(&named, &mut self.outcomes);
        self.away = 0;
        let was_open = matches!(self.state, State::Open(_));
        self.close_link();
        // A server may close a connection that nobody uses; what waits says the rest.
        if is_idle && !(was_open && matches!(fault, Loss::Broken(_))) {
            let (Loss::Broken(why) | Loss::Refused(why)) = &named;
            oplog::limited("dialogue", oplog::Level::Error, "Cannot connect to a server", &[("reason", why)]);
        }
        self.is_wanted = false;
    }

    /// Says over which connection messages went that somebody follows, where their batches are answered.
    fn say_where(&mut self) {
        let link = match &self.state {
            State::Open(link) => Some(link.socket()),
            State::Idle | State::Connecting(_) => None,
        };
        let outcomes = &self.outcomes;
        self.followed.retain(|(id, receipt)| {
            let is_answered = outcomes.iter().any(|(answered, _)| answered == id);
            if let (true, Some(socket)) = (is_answered, link) {
                receipt.also(ends(socket));
            }
            !is_answered
        });
    }

    /// What is known without an event is heard with the next one.
    fn ring(&self) {
        if !self.outcomes.is_empty()
            && let Some(bell) = &self.bell
        {
            bell.ring();
        }
    }

    fn leave(&mut self) {
        let words = self.session.leave();
        if let State::Open(link) = &mut self.state {
            // The server gets them, or sees the end of the connection.
            let _ = link.send(&words, &[]);
        }
        self.close_link();
        self.is_leaving = false;
    }

    fn close_link(&mut self) {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Connecting(link) | State::Open(link) => link.close(),
            State::Idle => {}
        }
    }
}

impl<S: Session> Client for Dialogue<S> {
    fn room(&self) -> usize {
        usize::from(self.session.has_room() && !self.is_leaving)
    }

    fn begin(&mut self, id: u32, part: &Part<'_>) {
        let now = Instant::now();
        if !self.session.awaits() && self.away == 0 {
            self.since = now;
        }
        self.away += 1;
        self.session.begin(id, part);
        self.drive(now);
        self.ring();
    }

    fn follow(&mut self, id: u32, receipts: Vec<(usize, Receipt)>) {
        self.followed.extend(receipts.iter().map(|(_, receipt)| (id, receipt.clone())));
        self.session.follow(receipts);
    }

    fn outcomes(&mut self, out: &mut Vec<(u32, Outcome)>) {
        self.drive(Instant::now());
        if !self.followed.is_empty() {
            self.say_where();
        }
        out.append(&mut self.outcomes);
    }

    fn held_bytes(&self) -> usize {
        self.session.held_bytes()
    }

    fn tick(&mut self, now: Instant) {
        if let State::Open(_) = self.state {
            let awaited = self.session.awaits();
            self.session.rest(self.since, now);
            if self.session.awaits() && !awaited {
                // The server owes an answer from now on.
                self.since = now;
            }
        }
        self.drive(now);
        self.ring();
    }

    fn reopen(&mut self) {
        self.is_leaving = matches!(self.state, State::Open(_));
        self.drive(Instant::now());
        self.ring();
    }

    fn close(&mut self) {
        self.leave();
    }
}
