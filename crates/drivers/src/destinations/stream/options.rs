//! What a connected stream is told by the configuration.

use super::failback::Failback;
use crate::destinations::target::Connect;
use std::sync::Arc;
use std::time::Duration;
use tls::Connector;

pub struct StreamOptions {
    pub connect: Connect,
    pub close_on_input: bool,
    /// From a failure to the next attempt, once every server was tried.
    pub time_reopen: Duration,
    pub failback: Option<Failback>,
    /// Connections are encrypted.
    pub secure: Option<Secured>,
}

/// How connections are encrypted.
pub struct Secured {
    pub options: tls::Options,
    /// `None` when the certificates cannot be read: each attempt to connect tries again, and says why.
    pub connector: Option<Arc<Connector>>,
}
