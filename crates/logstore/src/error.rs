//! What can be wrong with a log store.

use std::fmt;
use std::io;

#[derive(Debug)]
pub enum Error {
    /// The system did not let us at a file.
    File(io::Error),
    /// The file is none, or one of a version that is not known.
    Foreign(&'static str),
    /// What stands at an offset of the file cannot be.
    Damaged { at: u64, what: &'static str },
    /// The store was begun with other settings than those that are to write it.
    Unlike(&'static str),
    /// A certificate or private key does not do.
    Key(String),
    /// An encrypted chunk, and no key that opens it.
    Locked(&'static str),
    /// The format cannot count any further.
    Full,
}

impl Error {
    pub(crate) fn damaged(at: u64, what: &'static str) -> Error {
        Error::Damaged { at, what }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File(error) => error.fmt(f),
            Error::Foreign(what) | Error::Unlike(what) | Error::Locked(what) => f.write_str(what),
            Error::Damaged { at, what } => write!(f, "damaged at {at}: {what}"),
            Error::Key(what) => f.write_str(what),
            Error::Full => f.write_str("the store has as many messages as its format can count"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::File(error)
    }
}
