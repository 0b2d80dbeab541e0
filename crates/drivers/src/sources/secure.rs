//! Encrypted connections of sources: the handshake in small turns, then the same reader as plain ones, over decrypted bytes.

use super::input::read_spare;
use super::listener::Place;
use engine::hand_over::Part;
use engine::reader::Input;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use mio::unix::SourceFd;
use mio::{Interest, Registry, Token};
use record::{Context, intern};
use rustix::net::{SendFlags, Shutdown};
use std::cell::{Cell, RefCell};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tls::{Received, Session};

/// A handshake that takes longer is over; so is one that takes longer than idle-timeout().
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);
/// Handshakes a worker goes on with in one round. Each may cost a millisecond of signing, and the others' messages wait behind it.
const HANDSHAKES_PER_ROUND: u32 = 4;
/// Handshakes a worker has under way at once; whoever comes then is refused. Each holds some memory for a peer nobody knows yet.
const HANDSHAKES_MAX: usize = 1000;
/// Reads of one handshake in a turn.
const HANDSHAKE_READS: usize = 8;
/// A record and what is around it: kept free in the slab, so that an unfinished one of the last read fits as well.
const RECORD_BYTES: usize = 17 * 1024;
/// Answers to the peer encrypted at a time.
const SENT_BYTES: usize = 64 * 1024;

thread_local! {
    /// Handshakes of this worker that are under way.
    static UNDER_WAY: Cell<usize> = const { Cell::new(0) };
    /// The worker's round, and the handshakes it went on with in it.
    static ROUND: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
    /// Received bytes of the connection whose turn it is: one buffer a worker, not one a connection.
    static RECEIVED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// One of the handshakes under way, until it is dropped. Ports stay with their worker.
struct Slot;

impl Slot {
    fn take() -> Option<Slot> {
        let taken = UNDER_WAY.get();
        (taken < HANDSHAKES_MAX).then(|| {
            UNDER_WAY.set(taken + 1);
            Slot
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        UNDER_WAY.set(UNDER_WAY.get().saturating_sub(1));
    }
}

/// Whether another handshake may be gone on with in this round.
fn admit(round: u64) -> bool {
    let (seen, count) = ROUND.get();
    let count = if seen == round { count } else { 0 };
    ROUND.set((round, count + 1));
    count < HANDSHAKES_PER_ROUND
}

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
    place: Place,
    context: Arc<Context>,
    until: Instant,
    failure: Option<String>,
    _slot: Option<Slot>,
}

impl SecurePort {
    /// Watches the descriptor; the first turn comes by itself.
    pub fn new(
        fd: OwnedFd,
        place: Place,
        context: Arc<Context>,
        registry: &Registry,
        token: Token,
    ) -> io::Result<SecurePort> {
        // Output is rare and small, but it must not be forgotten when the peer takes none.
        registry.register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::READABLE | Interest::WRITABLE)?;
        Ok(SecurePort::begun(fd, &[], place, context))
    }

    /// A connection that is watched already, and of which something has been received.
    pub fn begun(fd: OwnedFd, received: &[u8], place: Place, context: Arc<Context>) -> SecurePort {
        let source = Arc::clone(&place.source);
        let limit = place.accepted.idle_timeout.map_or(HANDSHAKE_MAX, |idle| idle.min(HANDSHAKE_MAX));
        let until = Instant::now() + limit;
        let acceptor = place.accepted.secure.as_ref().ok_or_else(|| "there is no certificate".to_owned());
        let slot = Slot::take();
        let begun = acceptor.and_then(|acceptor| match &slot {
            Some(_) => acceptor.session(),
            None => Err(format!("{HANDSHAKES_MAX} handshakes are under way on this worker already")),
        });
        let (session, failure) = match begun {
            Ok(mut session) => {
                let failure = session.handshake(received).err();
                (Some(session), failure)
            }
            Err(error) => (None, Some(error)),
        };
        let handshake = Handshake { fd, session, place, context, until, failure, _slot: slot };
        SecurePort { phase: Phase::Handshake(Box::new(handshake)), source, queued: false, hung_up: false }
    }

    /// The handshake is over: from here on it is a stream as others are.
    fn open(&mut self, cx: &mut PortContext) -> After {
        let Phase::Handshake(handshake) = std::mem::replace(&mut self.phase, Phase::Over) else {
            return After::Close;
        };
        let Handshake { fd, session: Some(session), place, context, .. } = *handshake else {
            return After::Close;
        };
        oplog::notice(
            "TLS session established",
            &[
                ("fd", &fd.as_raw_fd()),
                ("client", &place.described.client),
                ("session", &session.described()),
            ],
        );
        let context = with_peer(context, &session);
        let input = SecureInput { fd, session, more: true, ended: false, failed: None };
        let token = cx.token;
        let mut port = place.reader(Box::new(input), context, cx, token);
        if self.hung_up {
            port.hung_up();
        }
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
    fn advance(&mut self) -> Result<Option<After>, String> {
        let Handshake { fd, session, failure, .. } = self;
        let Some(session) = session else { return Err(failure.take().unwrap_or_default()) };
        let mut buffer = [0u8; 16 * 1024];
        for _ in 0..HANDSHAKE_READS {
            let flushed = flush(fd, session);
            if let Some(error) = failure.take() {
                return Err(error);
            }
            flushed.map_err(|error| error.to_string())?;
            if session.is_open() && session.outgoing().is_empty() {
                return Ok(None);
            }
            match rustix::io::read(&*fd, &mut buffer[..]) {
                Ok(0) => return Err("the peer hung up".to_owned()),
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
                Err(error) => return Err(std::io::Error::from(error).to_string()),
            }
        }
        Ok(Some(After::Again))
    }
}

/// Sends what the session wants sent, as much as the kernel takes.
fn flush(fd: &OwnedFd, session: &mut Session) -> io::Result<()> {
    while !session.outgoing().is_empty() {
        match rustix::net::send(fd, session.outgoing(), SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(n) => session.sent(n),
            Err(rustix::io::Errno::AGAIN) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
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
        match handshake.advance() {
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
                handshake.failure = Some("it was not over in time".to_owned());
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
        let Handshake { fd, place, failure, .. } = *handshake;
        let described = &place.described;
        // Fails only when it was never registered.
        let _ = cx.handle.registry().deregister(&mut SourceFd(&fd.as_raw_fd()));
        if let Some(error) = failure {
            self.source.counters.rejected_connections.add(1);
            oplog::error(
                "TLS handshake failed",
                &[("client", &described.client), ("local", &described.local), ("error", &error)],
            );
            leave(&fd);
        }
        oplog::notice(
            "Syslog connection closed",
            &[("fd", &described.fd), ("client", &described.client), ("local", &described.local)],
        );
    }

    /// Only this process has the keys: it passes on what it decrypts.
    fn part(&mut self, cx: &mut PortContext) -> Part {
        match &mut self.phase {
            Phase::Open(port) => port.part(cx),
            Phase::Handshake(_) => Part::Stays,
            Phase::Over => Part::Closes,
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
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

/// The bytes of messages behind an encrypted connection.
struct SecureInput {
    fd: OwnedFd,
    session: Session,
    /// The last read brought all it asked for: there may be more.
    more: bool,
    /// The peer has ended the session.
    ended: bool,
    /// What broke it, to be said after what came before it.
    failed: Option<String>,
}

impl Input for SecureInput {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        let early = self.session.take_early();
        if !early.is_empty() {
            into.extend_from_slice(&early);
            return Ok(early.len());
        }
        if let Some(error) = self.failed.take() {
            return Err(io::Error::other(error));
        }
        if self.ended {
            return Ok(0);
        }
        RECEIVED.with_borrow_mut(|received| self.receive(received, into, max))
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        flush(&self.fd, &mut self.session)?;
        if !self.session.outgoing().is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        let piece = bytes.get(..SENT_BYTES).unwrap_or(bytes);
        if !piece.is_empty() {
            self.session.encrypt(piece).map_err(io::Error::other)?;
            flush(&self.fd, &mut self.session)?;
        }
        Ok(piece.len())
    }

    fn always_ready(&self) -> bool {
        // Decrypted, it is always less than what was asked for.
        self.more || self.ended || self.failed.is_some()
    }

    fn unwatch(&mut self, registry: &Registry) {
        let _ = registry.deregister(&mut SourceFd(&self.fd.as_raw_fd()));
    }

    fn farewell(&mut self) {
        self.session.close();
        // Whoever takes nothing any more is cut off later.
        let _ = flush(&self.fd, &mut self.session);
    }

    fn deregister(&mut self, registry: &Registry) {
        self.session.close();
        // A peer that takes nothing any more does not get a goodbye.
        let _ = flush(&self.fd, &mut self.session);
        let _ = registry.deregister(&mut SourceFd(&self.fd.as_raw_fd()));
    }
}

impl SecureInput {
    fn receive(&mut self, received: &mut Vec<u8>, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        let wanted = max.saturating_sub(RECORD_BYTES).max(RECORD_BYTES);
        let before = into.len();
        loop {
            self.session.begin(received);
            let read = read_spare(&self.fd, received, wanted);
            self.more = matches!(read, Ok(n) if n == wanted);
            // Also when nothing came: the unfinished record goes back to where it is kept.
            match self.session.decrypt(received, into) {
                Ok(outcome) => self.ended |= outcome == Received::Closed,
                Err(error) => self.failed = Some(error),
            }
            // Answers to what the peer changes while it sends, and the alert of a failure.
            let flushed = flush(&self.fd, &mut self.session);
            let got = into.len() - before;
            if got > 0 {
                return Ok(got);
            }
            if let Some(error) = self.failed.take() {
                return Err(io::Error::other(error));
            }
            if self.ended {
                return Ok(0);
            }
            if read? == 0 {
                let text = "the peer has gone without ending the TLS session";
                return Err(io::Error::new(ErrorKind::UnexpectedEof, text));
            }
            flushed?;
        }
    }
}
