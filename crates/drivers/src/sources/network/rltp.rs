//! `transport(rltp)` of network() and syslog(): messages from another penstock, acknowledged when everything
//! they led to is done. docs/rltp.md has the protocol.

mod port;
mod slab;
mod stream;

use conf_schema::Settings;
use diag::{Diagnostic, Diagnostics, Reported};
use engine::worker::{Port, PortContext};
use intake::listener::{Joined, Protocol};
use mio::Token;
use port::RltpPort;
use state::Store;
use std::sync::Arc;
use stream::Stream;

/// The least a receiver takes as one batch.
const PAYLOAD_BYTES_MIN: usize = 1 << 20;
/// The longest message that still fits, whatever log-msg-size() says.
const PAYLOAD_BYTES_MAX: usize = 256 << 20;

/// What the connections of one source have in common.
#[derive(Clone)]
pub struct Rltp {
    store: Arc<Store>,
    /// What the names of its streams begin with in the state file.
    prefix: Arc<[u8]>,
    /// The largest payload of a batch that is taken.
    payload_bytes_max: u32,
}

/// Options that mean nothing to batches, whose messages are in the clear and told apart already.
pub fn check(s: &Settings, diags: &mut Diagnostics) -> Result<(), Reported> {
    let Some(at) = s.encoding("encoding").and(s.span("encoding")) else { return Ok(()) };
    let text = "encoding() does not go with transport(rltp)";
    diags.push(Diagnostic::error("D0122", text, at).help("give encoding() where the messages come in first"));
    Err(Reported)
}

impl Rltp {
    /// `key` tells the source from others; its senders' streams are remembered under it.
    pub fn new(store: &Arc<Store>, key: &str, log_msg_size: usize) -> Rltp {
        let prefix: Arc<[u8]> = format!("rltp_sd({key})/").into_bytes().into();
        Stream::prune(store, &prefix);
        let payload = log_msg_size.saturating_add(PAYLOAD_BYTES_MIN).min(PAYLOAD_BYTES_MAX);
        Rltp { store: Arc::clone(store), prefix, payload_bytes_max: payload as u32 }
    }
}

impl Protocol for Rltp {
    fn port(&self, connection: Joined, cx: &PortContext, token: Token) -> Box<dyn Port> {
        Box::new(RltpPort::new(connection, self.clone(), cx, token))
    }
}

#[cfg(test)]
mod tests;
