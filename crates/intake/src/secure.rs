//! Encrypted connections of sources: the handshake in small turns, then the same reader as plain ones, over
//! decrypted bytes.

mod input;
mod slots;

use super::listener::{HandOff, MADE_ROOM};
use diag::Fault;
use engine::hand_over::Part;
use engine::profile::Doing;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use input::{SecureInput, flush};
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use record::{Context, intern};
use rustix::net::Shutdown;
use slots::{HANDSHAKES_MAX, Slot, admit};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::Session;

/// A handshake that takes longer is over; so is one that takes longer than idle-timeout().
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Reads of one handshake in a turn.
const HANDSHAKE_READS: usize = 8;

/// A connection, first in its handshake, then with a reader.
pub struct SecurePort {
    phase: Phase,
    source: Arc<Source>,
    queued: bool,
    hung_up: bool,
}

enum Phase {
    Handshake(Box<Handshake>),
    Open(Box<dyn Port>),
    /// Between the two.
    Over,
}

struct Handshake {
    fd: OwnedFd,
    /// `None` when there can be none: `failure` says why.
    session: Option<Session>,
    hand_off: HandOff,
    context: Arc<Context>,
    until: Instant,
    failure: Option<Fault>,
    _slot: Option<Slot>,
}

impl SecurePort {
    /// Watches the descriptor; the first turn comes by itself.
    pub fn new(
        fd: OwnedFd,
        hand_off: HandOff,
        context: Arc<Context>,
        registry: &Registry,
        token: Token,
    ) -> io::Result<SecurePort> {
        // Output is rare and small, but it must not be forgotten when the peer takes none.
        registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(SecurePort::begun(fd, &[], hand_off, context))
    }

    /// A connection that is watched already, and of which something has been received.
    pub fn begun(fd: OwnedFd, received: &[u8], hand_off: HandOff, context: Arc<Context>) -> SecurePort {
        let source = Arc::clone(&hand_off.source);
        let limit = hand_off.accepted.idle_timeout.map_or(HANDSHAKE_MAX, |idle| idle.min(HANDSHAKE_MAX));
        let until = Instant::now() + limit;
        let acceptor = hand_off.accepted.secure.as_ref().ok_or_else(|| Fault::bug("there is no certificate"));
        let slot = Slot::take();
        let begun = acceptor.and_then(|acceptor| match &slot {
            Some(_) => acceptor.session(),
            None => {
                let why = format!("{HANDSHAKES_MAX} handshakes are under way on this worker already");
                Err(Fault::local(why))
            }
        });
        let (session, failure) = match begun {
            Ok(mut session) => {
                let failure = session.handshake(received).err();
                (Some(session), failure)
            }
            Err(error) => (None, Some(error)),
        };
        let handshake = Handshake { fd, session, hand_off, context, until, failure, _slot: slot };
        SecurePort { phase: Phase::Handshake(Box::new(handshake)), source, queued: false, hung_up: false }
    }

    /// The handshake is over: from here on it is a stream as others are.
    fn open(&mut self, cx: &mut PortContext) -> After {
        let Phase::Handshake(handshake) = std::mem::replace(&mut self.phase, Phase::Over) else {
            return After::Close;
        };
        let Handshake { fd, session: Some(session), hand_off, context, .. } = *handshake else {
            return After::Close;
        };
        oplog::often(
            "tls-session",
            oplog::Level::Notice,
            "TLS session established",
            &[
                ("fd", &fd.as_raw_fd()),
                ("client", &hand_off.described.client),
                ("session", &session.described()),
            ],
        );
        let context = with_peer(context, &session);
        let input = SecureInput { fd, session, more: true, ended: false, failed: None };
        let token = cx.token;
        let mut port = hand_off.reader(Box::new(input), context, cx, token);
        if self.hung_up {
            port.hung_up();
        }
        self.source.does(Doing::Reads);
        let after = port.turn(cx);
        self.phase = Phase::Open(port);
        after
    }
}

/// The peer's certificate as values of its messages.
fn with_peer(context: Arc<Context>, session: &Session) -> Arc<Context> {
    let Some((der, read)) = session.peer() else { return context };
    let mut context = Context::clone(&context);
    let print = tls::Fingerprint::sha1(der).to_string();
    for (name, value) in [
        (".tls.x509_cn", read.common_name()),
        (".tls.x509_o", read.organization()),
        (".tls.x509_ou", read.unit()),
        (".tls.x509_fp", &print),
    ] {
        if let Some(id) = intern(name)
            && !value.is_empty()
        {
            context.values.push((id, value.as_bytes().into()));
        }
    }
    Arc::new(context)
}

impl Handshake {
    /// Goes on as far as it goes without waiting. Whether it is over.
    fn advance(&mut self) -> Result<Option<After>, Fault> {
        let Handshake { fd, session, failure, .. } = self;
        let Some(session) = session else {
            return Err(failure.take().unwrap_or_else(|| Fault::bug("")));
        };
        let mut buffer = [0u8; 16 * 1024];
        for _ in 0..HANDSHAKE_READS {
            let flushed = flush(fd, session);
            if let Some(error) = failure.take() {
                return Err(error);
            }
            flushed.map_err(|error| broken(&error))?;
            if session.is_open() && session.outgoing().is_empty() {
                return Ok(None);
            }
            match rustix::io::read(&*fd, &mut buffer[..]) {
                Ok(0) => return Err(Fault::peer("the peer hung up")),
                Ok(n) => {
                    let received = buffer.get(..n).unwrap_or_default();
                    if let Err(error) = session.handshake(received) {
                        // Tells the peer, if it still listens.
                        let _ = flush(fd, session);
                        return Err(error);
                    }
                }
                Err(rustix::io::Errno::AGAIN) => return Ok(Some(After::Idle)),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(broken(&error.into())),
            }
        }
        Ok(Some(After::Again))
    }
}

fn broken(error: &io::Error) -> Fault {
    Fault::of_connection(error, error.to_string())
}

impl Port for SecurePort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        let handshake = match &mut self.phase {
            Phase::Open(port) => return port.turn(cx),
            Phase::Over => return After::Close,
            Phase::Handshake(handshake) => handshake,
        };
        if !admit(cx.round) {
            return After::Again;
        }
        self.source.does(Doing::Handshakes);
        match handshake.advance() {
            Ok(Some(After::Idle)) if handshake.hand_off.permit.is_to_go() => {
                handshake.failure = Some(Fault::local(MADE_ROOM));
                After::Close
            }
            Ok(Some(after)) => after,
            Ok(None) => self.open(cx),
            Err(error) => {
                handshake.failure = Some(error);
                After::Close
            }
        }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn hung_up(&mut self) {
        self.hung_up = true;
        if let Phase::Open(port) = &mut self.phase {
            port.hung_up();
        }
    }

    fn tick(&mut self, now: Instant) -> bool {
        match &mut self.phase {
            Phase::Open(port) => port.tick(now),
            Phase::Handshake(handshake) if now >= handshake.until => {
                handshake.failure = Some(Fault::unreachable("it was not over in time"));
                false
            }
            _ => true,
        }
    }

    fn closed(&mut self, cx: &mut PortContext) {
        let handshake = match std::mem::replace(&mut self.phase, Phase::Over) {
            Phase::Open(mut port) => return port.closed(cx),
            Phase::Over => return,
            Phase::Handshake(handshake) => handshake,
        };
        let Handshake { fd, hand_off, failure, .. } = *handshake;
        let described = &hand_off.described;
        // Fails only when it was never registered.
        let _ = cx.handle.registry().deregister(&mut SourceFd(&fd.as_raw_fd()));
        if let Some(error) = failure {
            self.source.counters.rejected_connections.add(1);
            self.source.counters.transport_errors.add(engine::ledger::TransportError::TlsHandshake);
            oplog::often(
                "tls-handshake-failed",
                oplog::Level::Error,
                "TLS handshake failed",
                &[("client", &described.client), ("local", &described.local), ("error", &error)],
            );
            leave(&fd);
        }
        described.say_closed(None);
    }

    /// Only this process has the keys: it passes on what it decrypts.
    fn part(&mut self, cx: &mut PortContext) -> Part {
        match &mut self.phase {
            Phase::Open(port) => port.part(cx),
            Phase::Handshake(_) => Part::Stays,
            Phase::Over => Part::Closes,
        }
    }

    fn leave(&mut self, cx: &mut PortContext) -> bool {
        match &mut self.phase {
            Phase::Open(port) => port.leave(cx),
            _ => false,
        }
    }

    fn parts(&self) -> bool {
        match &self.phase {
            Phase::Open(port) => port.parts(),
            _ => true,
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        match &self.phase {
            Phase::Open(port) => port.source(),
            _ => Some(&self.source),
        }
    }
}

/// Lets the peer read why: unread input would make the kernel throw away what is on its way to it.
fn leave(fd: &OwnedFd) {
    let _ = rustix::net::shutdown(fd, Shutdown::Write);
    let mut buffer = [0u8; 4096];
    for _ in 0..HANDSHAKE_READS {
        if !matches!(rustix::io::read(fd, &mut buffer[..]), Ok(n) if n > 0) {
            return;
        }
    }
}
