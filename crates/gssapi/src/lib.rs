//! Kerberos for clients: logins by SASL's GSSAPI (RFC 4752) with the system's library, MIT's
//! `libgssapi_krb5.so.2`. It is loaded when the first login needs it: nothing of it is needed to build or to
//! start.
//!
//! [`Exchange::begin`] asks the servers of the realm and waits for them; what follows waits for nobody.

mod context;
mod exchange;
mod library;
mod types;

pub use exchange::{Begun, Exchange};

use std::fmt;
use std::path::PathBuf;

/// As whom the program shows itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Whom {
    /// Whoever has tickets in the cache that the environment names: somebody has called `kinit`.
    Cached,
    /// A principal, whose keys are in a file: tickets are fetched, and fetched anew before they end.
    Keytab { principal: String, file: PathBuf },
}

/// What somebody wants to log in to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// `kafka` of `kafka/broker.example.com@EXAMPLE.COM`.
    pub name: String,
    pub host: String,
}

/// Why there is no login.
#[derive(Debug, PartialEq, Eq)]
pub enum Error {
    /// The library is not there, or is another one: what the loader says.
    NoLibrary(String),
    /// What could not be done, and the library's words for why.
    Failed { doing: String, why: String },
    /// The other side does not keep to RFC 4752.
    Protocol(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::NoLibrary(why) => write!(
                f,
                "Kerberos needs the library {}, of the package libgssapi-krb5-2 or krb5-libs: {why}",
                library::NAME
            ),
            Error::Failed { doing, why } => write!(f, "Kerberos cannot {doing}: {why}"),
            Error::Protocol(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Error {}
