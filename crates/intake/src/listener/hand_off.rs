//! A connection between its listener and the port that serves it: what it is served as, in the clear or
//! encrypted, by the reader of messages or by a protocol.

use super::permits::Permit;
use super::{Accepted, register};
use crate::encoding::{EncodedInput, of_frames};
use crate::input::FdInput;
use crate::joined::JoinedInput;
use crate::proxied;
use crate::secure::SecurePort;
use engine::WorkerHandle;
use engine::reader::{Described, Input, StreamOptions, StreamPort};
use engine::source::Source;
use engine::worker::{Port, PortContext};
use mio::unix::SourceFd;
use mio::{Interest, Token};
use record::Context;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use wire::Framing;

/// A protocol that answers its peers: has a port of its own for each connection, over bytes that are in the
/// clear.
pub trait Protocol: Send + Sync {
    fn port(&self, connection: Joined, cx: &PortContext, token: Token) -> Box<dyn Port>;

    /// Peers get answers, and send again what was not acknowledged.
    fn answers(&self) -> bool {
        true
    }

    /// Something comes in the clear before TLS begins: the header of a proxy.
    fn before_tls(&self) -> bool {
        false
    }
}

/// A connection that is about to be served.
pub struct Joined {
    /// Reads, and sends with [`Input::send`]; the descriptor is watched for both.
    pub input: Box<dyn Input>,
    pub source: Arc<Source>,
    pub accepted: Arc<Accepted>,
    pub context: Arc<Context>,
    pub described: Described,
    /// To be dropped when the connection is over.
    pub permit: Permit,
}

/// Who will serve a connection, and as what.
pub struct HandOff {
    pub(super) worker: WorkerHandle,
    pub source: Arc<Source>,
    pub accepted: Arc<Accepted>,
    pub permit: Permit,
    pub described: Described,
}

impl HandOff {
    pub(super) fn serve(self, fd: OwnedFd, context: Arc<Context>) {
        let worker = self.worker.clone();
        worker.add(move |token, cx| {
            self.permit.wakes(cx.handle.waker(token));
            if self.accepted.secure.is_some() {
                let registry = cx.handle.registry();
                if self.accepted.protocol.as_ref().is_some_and(|protocol| protocol.before_tls()) {
                    return proxied::before_tls(fd, self, context, registry, token);
                }
                return Ok(Box::new(SecurePort::new(fd, self, context, registry, token)?));
            }
            match self.accepted.protocol {
                None => register(&fd.as_raw_fd(), cx.handle.registry(), token)?,
                Some(_) => {
                    let both = Interest::READABLE | Interest::WRITABLE;
                    cx.handle.registry().register(&mut SourceFd(&fd.as_raw_fd()), token, both)?;
                }
            }
            Ok(self.reader(Box::new(FdInput(fd)), context, cx, token))
        });
    }

    /// The reader of its messages, over bytes that are in the clear.
    pub fn reader(
        self,
        input: Box<dyn Input>,
        context: Arc<Context>,
        cx: &PortContext,
        token: Token,
    ) -> Box<dyn Port> {
        let HandOff { source, accepted, permit, described, .. } = self;
        let protocol = accepted.protocol.clone();
        let joined = Joined { input, source, accepted, context, described, permit };
        match protocol {
            Some(protocol) => protocol.port(joined, cx, token),
            None => joined.stream(cx, token),
        }
    }
}

impl Joined {
    /// Reads messages, one after the other.
    pub fn stream(mut self, cx: &PortContext, token: Token) -> Box<dyn Port> {
        let framing = self.framing();
        if let Some(encoding) = self.accepted.encoding
            && framing != Framing::OctetCounting
        {
            self.input = Box::new(EncodedInput::new(self.input, encoding, framing));
        }
        self.decoded(cx, token, false)
    }

    /// How messages are told apart in the bytes as they come. Lines are put together of text.
    fn framing(&self) -> Framing {
        match self.accepted.multi_line {
            Some(_) => Framing::Lines,
            None => self.accepted.framing.framing,
        }
    }

    /// The same of bytes in the encoding of this program. `between`: with multi-line-mode(), they begin in
    /// what is part of no message.
    pub fn decoded(self, cx: &PortContext, token: Token, between: bool) -> Box<dyn Port> {
        let decode = self
            .accepted
            .encoding
            .and_then(|encoding| of_frames(encoding, self.framing(), self.accepted.framing.log_msg_size));
        let Joined { mut input, source, accepted, context, described, permit } = self;
        let mut framing = accepted.framing;
        if let Some((mode, _)) = &accepted.multi_line {
            let (mut joined, counted) = JoinedInput::new(input, mode, framing);
            if between {
                joined.skip_to_next();
            }
            (input, framing) = (Box::new(joined), counted);
        }
        let options = StreamOptions {
            framing,
            idle_timeout: accepted.idle_timeout,
            decode,
            window_messages: None,
            fetch_limit: accepted.fetch_limit,
            described: Some(described),
            passes_as: accepted.passes_as(),
            newcomer: Some(permit.newcomer()),
            on_close: Some(Box::new(move || drop(permit))),
        };
        Box::new(StreamPort::new(input, source, context, options, cx, token))
    }
}
