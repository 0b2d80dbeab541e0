//! One encrypted connection: bytes of the wire in, bytes of messages out, and back. Blocks on nothing and
//! owns no descriptor.

use crate::certificate::Certificate;
use crate::reason;
use diag::Fault;
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::unbuffered::{ConnectionState, EncodeError, EncryptError, UnbufferedStatus};
use rustls::{CommonState, Error, ProtocolVersion};

/// Room made for output at a time; what is larger says how much it needs.
const ROOM_BYTES: usize = 1024;

pub struct Session {
    link: Link,
    /// Received, and no whole record yet: never more than one.
    pending: Vec<u8>,
    /// To be sent: handshake, alerts, records.
    out: Vec<u8>,
    sent: usize,
    /// Decrypted while the handshake came to its end.
    early: Vec<u8>,
    closed: bool,
    failed: bool,
}

enum Link {
    Server(Box<UnbufferedServerConnection>),
    Client(Box<UnbufferedClientConnection>),
}

/// What became of received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// More is needed, or may come.
    More,
    /// The peer has ended the session in order; nothing follows.
    Closed,
}

enum Step {
    Again,
    Wait,
    Closed,
}

impl Session {
    pub(crate) fn server(connection: UnbufferedServerConnection) -> Session {
        Session::new(Link::Server(Box::new(connection)))
    }

    pub(crate) fn client(connection: UnbufferedClientConnection) -> Session {
        let mut session = Session::new(Link::Client(Box::new(connection)));
        // The first word is ours; a failure here shows with the first bytes of the peer.
        let _ = session.handshake(&[]);
        session
    }

    fn new(link: Link) -> Session {
        Session {
            link,
            pending: Vec::new(),
            out: Vec::new(),
            sent: 0,
            early: Vec::new(),
            closed: false,
            failed: false,
        }
    }

    fn state(&self) -> &CommonState {
        match &self.link {
            Link::Server(link) => link,
            Link::Client(link) => link,
        }
    }

    /// Messages may go both ways.
    pub fn is_open(&self) -> bool {
        !self.state().is_handshaking()
    }

    /// A TLS 1.3 client is through before the server has looked at its certificate: a refusal may still come.
    pub fn may_be_refused(&self) -> bool {
        matches!(self.link, Link::Client(_))
            && self.state().protocol_version() == Some(ProtocolVersion::TLSv1_3)
    }

    /// The protocol and the cipher suite, for messages.
    pub fn described(&self) -> String {
        let (version, suite) = (self.state().protocol_version(), self.state().negotiated_cipher_suite());
        match (version.and_then(|v| v.as_str()), suite.map(|s| s.suite())) {
            (Some(version), Some(suite)) => {
                format!("{} {}", version.replace("TLSv1_", "TLS 1."), suite.as_str().unwrap_or("unknown"))
            }
            _ => "no session yet".to_owned(),
        }
    }

    /// The peer's own certificate: DER, and what is read of it.
    pub fn peer(&self) -> Option<(&[u8], Certificate)> {
        let leaf = self.state().peer_certificates()?.first()?;
        Some((leaf.as_ref(), Certificate::read(leaf)?))
    }

    /// Takes received bytes during the handshake.
    pub fn handshake(&mut self, received: &[u8]) -> Result<Received, Fault> {
        let mut buffer = std::mem::take(&mut self.pending);
        buffer.extend_from_slice(received);
        let mut early = std::mem::take(&mut self.early);
        let outcome = self.decrypt(&mut buffer, &mut early);
        self.early = early;
        outcome
    }

    /// What was decrypted together with the end of the handshake.
    pub fn take_early(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.early)
    }

    /// Puts what is left of an unfinished record into a buffer: what is received next belongs behind it.
    pub fn begin(&mut self, buffer: &mut Vec<u8>) {
        buffer.clear();
        buffer.extend_from_slice(&self.pending);
        self.pending.clear();
    }

    /// Decrypts the buffer onto the end of `plain`; an unfinished record at its end is kept for later.
    pub fn decrypt(&mut self, buffer: &mut [u8], plain: &mut Vec<u8>) -> Result<Received, Fault> {
        if self.failed {
            return Err(Fault::bug("the session has failed"));
        }
        let mut at = 0;
        let outcome = loop {
            let rest = buffer.get_mut(at..).unwrap_or_default();
            let (discard, step) = match &mut self.link {
                Link::Server(link) => step(link.process_tls_records(rest), &mut self.out, plain),
                Link::Client(link) => step(link.process_tls_records(rest), &mut self.out, plain),
            };
            at = at.saturating_add(discard);
            match step {
                Ok(Step::Again) => {}
                Ok(Step::Wait) => break Ok(if self.closed { Received::Closed } else { Received::More }),
                Ok(Step::Closed) => self.closed = true,
                Err(error) => break Err(error),
            }
        };
        match outcome {
            Ok(received) => {
                self.pending.extend_from_slice(buffer.get(at..).unwrap_or_default());
                Ok(received)
            }
            Err(error) => {
                self.failed = true;
                self.say_why(buffer.get_mut(at..).unwrap_or_default());
                Err(reason::session(&error))
            }
        }
    }

    /// Brings the alert of a failure into the output: the one thing that is still queued. `rest` is what the
    /// failed call left, since the session points into it; it must not be looked at a second time.
    fn say_why(&mut self, rest: &mut [u8]) {
        let mut plain = Vec::new();
        // Its outcome is known: the failure, or the alert, which stands in the output then.
        let _ = match &mut self.link {
            Link::Server(link) => step(link.process_tls_records(rest), &mut self.out, &mut plain),
            Link::Client(link) => step(link.process_tls_records(rest), &mut self.out, &mut plain),
        };
    }

    /// Encrypts bytes of messages into the output.
    pub fn encrypt(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.write(|link, out| link.encrypt(bytes, out))
    }

    /// Says that nothing more comes from here.
    pub fn close(&mut self) {
        // Before the handshake is over there is no session to end.
        let _ = self.write(|link, out| link.close(out));
    }

    fn write(
        &mut self,
        act: impl FnOnce(&mut dyn Write, &mut Vec<u8>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.failed || !self.is_open() {
            return Err(Fault::bug("there is no session"));
        }
        let Session { link, pending, out, .. } = self;
        let (discard, outcome) = match link {
            Link::Server(link) => with_traffic(link.process_tls_records(pending), out, act),
            Link::Client(link) => with_traffic(link.process_tls_records(pending), out, act),
        };
        pending.drain(..discard.min(pending.len()));
        outcome
    }

    /// What is to be sent now.
    pub fn outgoing(&self) -> &[u8] {
        self.out.get(self.sent..).unwrap_or_default()
    }

    /// So many bytes of it were sent.
    pub fn sent(&mut self, count: usize) {
        self.sent += count;
        if self.sent >= self.out.len() {
            self.out.clear();
            self.sent = 0;
        }
    }
}

/// One answer of the state machine: how much of the buffer is used up, and what comes next.
fn step<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    out: &mut Vec<u8>,
    plain: &mut Vec<u8>,
) -> (usize, Result<Step, Error>) {
    let UnbufferedStatus { mut discard, state } = status;
    let state = match state {
        Ok(state) => state,
        Err(error) => return (discard, Err(error)),
    };
    let step = match state {
        ConnectionState::ReadTraffic(mut traffic) => loop {
            match traffic.next_record() {
                Some(Ok(record)) => {
                    discard += record.discard;
                    plain.extend_from_slice(record.payload);
                }
                Some(Err(error)) => break Err(error),
                None => break Ok(Step::Again),
            }
        },
        ConnectionState::EncodeTlsData(mut data) => {
            append(out, |room| {
                data.encode(room).map_err(|error| match error {
                    EncodeError::InsufficientSize(needed) => Some(needed.required_size),
                    EncodeError::AlreadyEncoded => None,
                })
            });
            Ok(Step::Again)
        }
        // It stands in the output, and whoever has the descriptor sends it before anything later.
        ConnectionState::TransmitTlsData(data) => {
            data.done();
            Ok(Step::Again)
        }
        ConnectionState::PeerClosed => Ok(Step::Closed),
        ConnectionState::BlockedHandshake | ConnectionState::WriteTraffic(_) | ConnectionState::Closed => {
            Ok(Step::Wait)
        }
        _ => Err(Error::General("early data, which is switched off".to_owned())),
    };
    (discard, step)
}

/// Runs an encoder with room behind the output, as much as it says it needs. Whether it wrote.
fn append(out: &mut Vec<u8>, mut encode: impl FnMut(&mut [u8]) -> Result<usize, Option<usize>>) -> bool {
    let length = out.len();
    let mut room = ROOM_BYTES;
    loop {
        out.resize(length + room, 0);
        match encode(out.get_mut(length..).unwrap_or_default()) {
            Ok(written) => {
                out.truncate(length + written);
                return true;
            }
            Err(Some(needed)) if needed > room => room = needed,
            Err(_) => {
                out.truncate(length);
                return false;
            }
        }
    }
}

/// A session that may send, whichever side it is.
trait Write {
    fn encrypt(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault>;
    fn close(&mut self, out: &mut Vec<u8>) -> Result<(), Fault>;
}

/// Bytes a record adds to what it holds, at most, with a margin.
const RECORD_EXTRA: usize = 64;
/// Bytes of messages that one record holds at most.
pub const RECORD_BYTES: usize = 16 * 1024;

impl<Data> Write for rustls::unbuffered::WriteTraffic<'_, Data> {
    fn encrypt(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        let (length, records) = (out.len(), bytes.len() / RECORD_BYTES + 1);
        let mut room = bytes.len() + records * RECORD_EXTRA;
        loop {
            out.resize(length + room, 0);
            match self.encrypt(bytes, out.get_mut(length..).unwrap_or_default()) {
                Ok(written) => {
                    out.truncate(length + written);
                    return Ok(());
                }
                Err(EncryptError::InsufficientSize(needed)) if needed.required_size > room => {
                    room = needed.required_size;
                }
                Err(error) => {
                    out.truncate(length);
                    return Err(Fault::local(error.to_string()));
                }
            }
        }
    }

    fn close(&mut self, out: &mut Vec<u8>) -> Result<(), Fault> {
        let done = append(out, |room| {
            self.queue_close_notify(room).map_err(|error| match error {
                EncryptError::InsufficientSize(needed) => Some(needed.required_size),
                EncryptError::EncryptExhausted => None,
            })
        });
        if done { Ok(()) } else { Err(Fault::local("nothing more can be encrypted")) }
    }
}

fn with_traffic<Data>(
    status: UnbufferedStatus<'_, '_, Data>,
    out: &mut Vec<u8>,
    act: impl FnOnce(&mut dyn Write, &mut Vec<u8>) -> Result<(), Fault>,
) -> (usize, Result<(), Fault>) {
    let UnbufferedStatus { discard, state } = status;
    let outcome = match state {
        Ok(ConnectionState::WriteTraffic(mut traffic)) => act(&mut traffic, out),
        Ok(_) => Err(Fault::peer("the session cannot send")),
        Err(error) => Err(reason::session(&error)),
    };
    (discard, outcome)
}
