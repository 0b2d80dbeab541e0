//! How a destination shows who it is, where that is not a password: tokens that end, and signatures.

pub mod account;
pub mod options;
mod shared_key;
mod tokens;

pub use shared_key::SharedKey;
#[cfg(any(test, feature = "fuzzing"))]
pub use tokens::fuzz;
pub use tokens::{Client, Grant, Shown, Tokens};

use flight::Outcome;
use hyper::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use std::time::{Duration, SystemTime};

/// Without timeout(): how long a server of tokens may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// What a request is given before it goes.
pub enum Proof {
    Tokens(Box<Tokens>),
    SharedKey(Box<SharedKey>),
}

impl Proof {
    /// Adds what a request with a body of so many bytes has to show. Where nothing can be had, that is what
    /// becomes of its messages: nothing is sent.
    pub async fn add(
        &self,
        headers: &mut HeaderMap,
        body_bytes: usize,
        timeout: Option<Duration>,
    ) -> Result<(), Outcome> {
        match self {
            Proof::Tokens(tokens) => {
                let value = tokens.value(timeout.unwrap_or(PATIENCE)).await?;
                headers.insert(AUTHORIZATION, value);
            }
            Proof::SharedKey(key) => {
                for (name, value) in key.headers(body_bytes, SystemTime::now()).map_err(Outcome::Hold)? {
                    headers.insert(name, value);
                }
            }
        }
        Ok(())
    }

    /// A server has refused a request with these headers. `true`: another may do.
    pub async fn refused(&self, headers: &HeaderMap) -> bool {
        match (self, headers.get(AUTHORIZATION)) {
            (Proof::Tokens(tokens), Some(value)) => {
                tokens.forget(value).await;
                true
            }
            _ => false,
        }
    }
}

/// A header that no log shows.
fn secret(text: &str) -> Result<HeaderValue, String> {
    let mut value =
        HeaderValue::from_str(text).map_err(|_| "what is to be shown is no value of a header".to_owned())?;
    value.set_sensitive(true);
    Ok(value)
}

type Line = (HeaderName, HeaderValue);
