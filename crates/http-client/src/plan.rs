//! What all requests of a destination have in common.

use crate::action::Actions;
use crate::coding::Coding;
use crate::connect::Network;
use crate::extra::Extra;
use crate::judge::Judge;
use crate::proof::Proof;
use crate::servers::Servers;
use crate::url::Url;
use hyper::header::{HeaderName, HeaderValue};
use hyper::{HeaderMap, Method};
use std::sync::Arc;
use std::time::Duration;

/// Where requests go.
#[derive(Clone, Debug)]
pub enum UrlOf {
    Fixed(Url),
    /// A template, which the key of the batch holds expanded.
    Key,
}

#[derive(Clone, Debug)]
pub enum HeaderValueOf {
    Fixed(HeaderValue),
    Key,
}

#[derive(Clone, Debug)]
pub enum Prefix {
    Fixed(Vec<u8>),
    /// Its place among the parts of the key.
    Key(usize),
}

/// What is templated stands in the key of each batch, in this order: addresses, headers, prefix; more may
/// follow.
pub struct Plan {
    /// What the log calls the destination.
    pub name: String,
    pub method: Method,
    /// As many as `servers` has, and at least one.
    pub urls: Vec<UrlOf>,
    pub servers: Arc<Servers>,
    /// What every request has, `Authorization` and `User-Agent` too.
    pub base: HeaderMap,
    pub headers: Vec<(HeaderName, HeaderValueOf)>,
    /// What adds further headers to each request, in this order.
    pub extras: Vec<Arc<dyn Extra>>,
    pub prefix: Prefix,
    pub suffix: Vec<u8>,
    pub delimiter: Vec<u8>,
    /// `content-compression()`.
    pub coding: Option<Coding>,
    /// `timeout()`: of a whole request, with all that belongs to it.
    pub timeout: Option<Duration>,
    pub accepts_redirects: bool,
    pub judge: Judge,
    /// `ack(yes)`: what the server has taken is delivered when it says so later, at the latest after this
    /// time.
    pub acks: Option<Duration>,
    pub actions: Actions,
    pub network: Arc<Network>,
    /// `cloud-auth()`, `azure-auth-header()`.
    pub proof: Option<Proof>,
}
