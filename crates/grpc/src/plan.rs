//! What all calls of a destination have in common, and a batch on its way.

use crate::judge::Actions;
use flight::{Outcome, Part};
use http_client::proof::Proof;
use http_client::proof::account::Account;
use http_client::{HeaderName, HeaderValueOf, Network, Url};
use std::time::Duration;

/// Reads ids of messages, in their order.
pub type Ids = fn(&[u8]) -> Vec<String>;

/// `keep-alive()`: a server that is asked for a sign of life and gives none is away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeepAlive {
    pub time: Duration,
    pub timeout: Duration,
    /// Between calls too.
    pub without_calls: bool,
}

pub struct Plan {
    /// What the log calls the destination.
    pub name: String,
    pub url: Url,
    pub network: Network,
    pub user_agent: String,
    /// `:authority`, where it is not the host of the address.
    pub authority: Option<String>,
    /// Expanded values stand in the key of each batch, in this order, from `headers_from` on.
    pub headers: Vec<(HeaderName, HeaderValueOf)>,
    /// Parts of the key that stand before those of the headers.
    pub headers_from: usize,
    /// Who signs a token for each call's service.
    pub account: Option<Account>,
    /// What shows who calls otherwise.
    pub proof: Option<Proof>,
    pub compresses: bool,
    pub timeout: Duration,
    pub keep_alive: Option<KeepAlive>,
    pub answer_bytes_max: usize,
    pub actions: Actions,
    /// What the message of a successful answer says of a batch of so many messages.
    pub read: fn(&[u8], usize) -> Outcome,
    /// The ids that it gives the messages, where it does.
    pub ids: Option<Ids>,
}

/// A batch as it is called with.
pub struct Load {
    /// `/package.Service/Method`.
    pub path: &'static str,
    /// In its frame.
    pub message: Vec<u8>,
    /// The expanded templates that its messages have in common.
    pub key: Vec<u8>,
    pub messages: usize,
    /// Messages that cannot be sent, by their place, and why: the others go without them.
    pub refused: Vec<(usize, String)>,
}

impl Load {
    /// All messages of a batch, as `message`.
    pub fn of(path: &'static str, message: Vec<u8>, part: &Part<'_>) -> Load {
        let (key, messages) = (part.key.to_vec(), part.messages.len());
        Load { path, message, key, messages, refused: Vec::new() }
    }
}
