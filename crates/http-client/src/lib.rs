//! HTTP as destinations speak it: batches become requests, answers become outcomes.
//!
//! hyper speaks the protocol, on the threads of [`guest`]; here stands what it leaves open: connections with
//! their options, proxies and TLS, which of several servers is asked, what may be said of a request that
//! failed, and what a server means by its answer.

mod acks;
mod action;
mod answer;
mod caller;
mod channel;
mod coding;
mod connect;
mod dates;
mod exchange;
mod extra;
pub mod judge;
mod plan;
pub mod proof;
mod proxies;
mod request;
mod sender;
mod servers;
mod session;
mod streamed;
#[cfg(test)]
mod tests;
mod url;
mod version;
mod wire;

pub use action::{Action, Actions};
pub use answer::Answer;
pub use caller::{Caller, Question};
pub use coding::Coding;
pub use connect::{Network, basic};
pub use dates::seconds;
pub use exchange::{Failure, Whole, said};
pub use extra::Extra;
pub use hyper::Method;
pub use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
pub use judge::Judge;
pub use plan::{HeaderValueOf, Plan, Prefix, UrlOf};
pub use proxies::Proxies;
pub use request::{Load, keys, load, load_shared};
pub use sender::{Going, Tasks};
pub use servers::Servers;
pub use session::serve;
pub use streamed::Streamed;
pub use url::{Url, percent_decoded, percent_encoded};
pub use version::Version;
pub use wire::Passed;
