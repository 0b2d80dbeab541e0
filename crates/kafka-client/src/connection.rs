//! The connection to one broker: its name looked up, its addresses tried in turn, pauses that double, the
//! session on it.

use crate::login::{Logins, Wish};
use crate::renewal::Renewal;
use delivery::dialing::{Dialed, Secured};
use delivery::link::{Link, Owner};
use delivery::target::{Address, Connect, Lookup, Next, Route};
use kafka::{Fault, Heard, Login, Session};
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::Connector;

/// An attempt to connect, login included, that takes longer has failed.
const CONNECT_MAX: Duration = Duration::from_secs(30);

/// How brokers are connected to, as the configuration says it.
pub struct Dial {
    pub connect: Connect,
    pub ipv6: bool,
    pub secured: Option<Secured>,
    pub logins: Option<Arc<Logins>>,
    pub client_id: Arc<str>,
    /// Between failures: at first, and at most.
    pub pause: Duration,
    pub pause_max: Duration,
    /// A request that takes longer is not answered any more.
    pub answer_max: Duration,
    /// The longest answer that is taken.
    pub answer_bytes_max: usize,
}

impl Dial {
    /// Differs where connections have to be made anew.
    pub fn described(&self) -> String {
        let login = self.logins.as_ref().map(|logins| logins.described());
        let tls = self.secured.as_ref().map(|secured| &secured.options);
        format!("{} {login:?} {tls:?} {:?} {:?}", self.client_id, self.pause, self.pause_max)
    }

    fn connector(&self) -> io::Result<Option<Arc<Connector>>> {
        let Some(secured) = &self.secured else { return Ok(None) };
        match &secured.connector {
            Some(connector) => Ok(Some(Arc::clone(connector))),
            None => Connector::load(&secured.options).map(Some).map_err(io::Error::other),
        }
    }
}

enum State {
    Idle,
    /// After a failure.
    Waiting(Instant),
    /// For what is to be shown at the login.
    Asking(Wish),
    Connecting(Link),
    Open(Link, Box<Session>),
}

/// What is new.
pub enum News {
    Heard(Vec<Heard>),
    /// It failed, or broke.
    Lost(Fault),
}

pub struct Connection {
    /// The broker's number; none of one that the configuration names.
    pub node: Option<i32>,
    pub server: (String, u16),
    route: Route,
    state: State,
    since: Instant,
    failures: u32,
    /// What is shown at the login, or was shown.
    login: Option<Arc<Login>>,
    renewal: Renewal,
}

impl Connection {
    pub fn new(node: Option<i32>, server: (String, u16), dial: &Dial, now: Instant) -> Connection {
        let route = Route::new(vec![Lookup::host(&server.0, server.1, dial.ipv6)]);
        Connection {
            node,
            server,
            route,
            state: State::Idle,
            since: now,
            failures: 0,
            login: None,
            renewal: Renewal::None,
        }
    }

    pub fn name(&self) -> String {
        format!("{}:{}", self.server.0, self.server.1)
    }

    pub fn is_ready(&self) -> bool {
        matches!(&self.state, State::Open(_, session) if session.is_ready())
    }

    /// Not while it logs in again.
    pub fn may_ask(&self) -> bool {
        matches!(&self.state, State::Open(_, session) if session.may_ask())
    }

    pub fn session(&mut self) -> Option<&mut Session> {
        match &mut self.state {
            State::Open(_, session) if session.may_ask() => Some(session),
            _ => None,
        }
    }

    /// Does what can be done without waiting.
    pub fn turn(&mut self, dial: &Dial, seat: &Owner, now: Instant) -> Option<News> {
        loop {
            match &mut self.state {
                State::Waiting(until) if now < *until => return None,
                State::Waiting(_) => self.state = State::Idle,
                State::Asking(wish) => match wish.take() {
                    Some(Ok(login)) => (self.login, self.state) = (Some(login), State::Idle),
                    Some(Err(fault)) => return Some(self.lost(dial, fault, now)),
                    None if now.saturating_duration_since(self.since) < CONNECT_MAX => return None,
                    None => return Some(self.lost(dial, Fault::Broken("no login comes".to_owned()), now)),
                },
                State::Idle if self.login.is_none() && dial.logins.is_some() => self.ask(dial, seat, now),
                State::Idle => match self.route.next(&seat.nudge) {
                    Next::Try(address) => {
                        self.since = now;
                        match self.connect(&address, dial, seat) {
                            Ok(link) => self.state = State::Connecting(link),
                            Err(error) => return Some(self.failed_at(dial, &error, now)),
                        }
                    }
                    Next::Asking => return None,
                    Next::Pause => {
                        let why = format!("{}: there is no address that answers", self.name());
                        return Some(self.lost(dial, Fault::Broken(why), now));
                    }
                },
                State::Connecting(link) => match link.is_established(now) {
                    Ok(true) => self.open(dial),
                    Ok(false) if now.saturating_duration_since(self.since) < CONNECT_MAX => return None,
                    outcome => {
                        let error = outcome.err().unwrap_or_else(|| ErrorKind::TimedOut.into());
                        return Some(self.failed_at(dial, &error, now));
                    }
                },
                State::Open(_, session) => {
                    let login = self.renewal.turn(session, (dial, &self.server.0, &seat.nudge), now);
                    if let Some(login) = login {
                        (self.login, self.since) = (Some(login), now);
                    }
                    return self.listen(dial, now);
                }
            }
        }
    }

    /// Asks for what is to be shown.
    fn ask(&mut self, dial: &Dial, seat: &Owner, now: Instant) {
        if let Some(logins) = &dial.logins {
            self.since = now;
            self.state = State::Asking(logins.ask(&self.server.0, &seat.nudge));
        }
    }

    fn connect(&mut self, address: &Address, dial: &Dial, seat: &Owner) -> io::Result<Link> {
        let session = match dial.connector()? {
            Some(connector) => Some(connector.session(&self.server.0).map_err(io::Error::other)?),
            None => None,
        };
        Link::seated(dial.connect.stream(address)?, seat, session)
    }

    /// The next address of the server is tried at once; when there is none, after a pause.
    fn failed_at(&mut self, dial: &Dial, error: &io::Error, now: Instant) -> News {
        self.route.failed();
        self.lost(dial, Fault::Broken(format!("{}: {error}", self.name())), now)
    }

    fn open(&mut self, dial: &Dial) {
        let session = Session::new(Arc::clone(&dial.client_id), self.login.clone());
        let session = session.with_answers_of(dial.answer_bytes_max);
        if let State::Connecting(link) = std::mem::replace(&mut self.state, State::Idle) {
            self.state = State::Open(link, Box::new(session));
        }
    }

    fn listen(&mut self, dial: &Dial, now: Instant) -> Option<News> {
        if let Err(error) = self.flush() {
            return Some(self.lost(dial, Fault::Broken(format!("{}: {error}", self.name())), now));
        }
        let State::Open(link, session) = &mut self.state else { return None };
        let mut heard = Vec::new();
        let (outcome, understood) = loop {
            let before = session.input().len();
            let outcome = link.receive(session.input());
            let has_more = session.input().len() > before;
            let understood = session.hear(&mut heard);
            // An answer may be longer than one look at the socket; there is no event for what is left there.
            if !has_more || !heard.is_empty() || understood.is_err() || !matches!(outcome, Ok(true)) {
                break (outcome, understood);
            }
        };
        if heard.contains(&Heard::Ready) {
            self.failures = 0;
        }
        if let Some(lifetime) = session.take_login_end() {
            self.renewal = Renewal::before(lifetime, now);
        }
        let late = !session.may_ask() && now.saturating_duration_since(self.since) >= CONNECT_MAX;
        let fault = match (understood, outcome) {
            (Err(Fault::Broken(why)), _) => Fault::Broken(format!("{}: {why}", self.name())),
            (Err(Fault::Refused(why)), _) => Fault::Refused(format!("{}: {why}", self.name())),
            // What was said before the end counts first.
            _ if !heard.is_empty() => return Some(News::Heard(heard)),
            (_, Err(error)) => Fault::Broken(format!("{}: {error}", self.name())),
            (_, Ok(false)) => Fault::Broken(format!("{}: the broker has closed the connection", self.name())),
            _ if late => Fault::Broken(format!("{}: the broker does not answer as Kafka does", self.name())),
            _ => return self.flush_or_lose(dial, now),
        };
        Some(self.lost(dial, fault, now))
    }

    /// Sends what the session has to say. Whatever does not go now goes when the socket has room again.
    pub fn flush(&mut self) -> io::Result<()> {
        let State::Open(link, session) = &mut self.state else { return Ok(()) };
        loop {
            let (first, second) = session.output();
            if first.is_empty() {
                return link.flush();
            }
            match link.send(first, second) {
                Ok(n) => session.sent(n),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) => return Err(error),
            }
        }
    }

    pub fn flush_or_lose(&mut self, dial: &Dial, now: Instant) -> Option<News> {
        let error = self.flush().err()?;
        Some(self.lost(dial, Fault::Broken(format!("{}: {error}", self.name())), now))
    }

    /// Ends the connection; the next attempt comes after a pause.
    pub fn lost(&mut self, dial: &Dial, fault: Fault, now: Instant) -> News {
        let pause = dial.pause.saturating_mul(1 << self.failures.min(16)).min(dial.pause_max);
        // A broker that refuses this side will not think better of it at once.
        let pause = if matches!(fault, Fault::Refused(_)) { dial.pause_max.max(pause) } else { pause };
        self.failures = self.failures.saturating_add(1);
        if let (Fault::Refused(_), Some(logins), Some(login)) = (&fault, &dial.logins, &self.login) {
            logins.refused(login);
        }
        self.close();
        self.state = State::Waiting(now + pause);
        News::Lost(fault)
    }

    /// When the next attempt comes.
    pub fn due(&self) -> Option<Instant> {
        match self.state {
            State::Waiting(until) => Some(until),
            State::Asking(_) => Some(self.since + CONNECT_MAX),
            State::Open(..) => self.renewal.due(),
            _ => None,
        }
    }

    pub fn is_waiting(&self) -> bool {
        matches!(self.state, State::Waiting(_))
    }

    /// The next attempt goes to another server.
    pub fn move_to(&mut self, server: (String, u16), dial: &Dial) {
        self.route = Route::new(vec![Lookup::host(&server.0, server.1, dial.ipv6)]);
        self.server = server;
    }

    /// An event says that something may have changed.
    pub fn restart(&mut self) {
        if matches!(self.state, State::Waiting(_)) {
            self.state = State::Idle;
        }
    }

    pub fn close(&mut self) {
        (self.login, self.renewal) = (None, Renewal::None);
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Connecting(link) | State::Open(link, _) => link.close(),
            State::Idle | State::Waiting(_) | State::Asking(_) => {}
        }
    }
}
