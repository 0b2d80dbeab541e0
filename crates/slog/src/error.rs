//! What can be wrong with a key file or a MAC file, and what to do about it.

use std::fmt;
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Error {
    /// The system did not let us at a file.
    File { path: PathBuf, error: std::io::Error },
    /// It is not a key file: too short, or its check does not fit.
    Key { path: PathBuf, what: &'static str },
    /// The same of a MAC file.
    Mac { path: PathBuf, what: &'static str },
    /// The key says that there are entries already, the MAC over them is missing.
    NoMac { path: PathBuf, counter: u64 },
}

impl Error {
    pub(crate) fn file(path: &Path, error: std::io::Error) -> Error {
        Error::File { path: path.to_owned(), error }
    }

    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            Error::File { path, error } => match error.kind() {
                std::io::ErrorKind::NotFound => format!(
                    "make a key with `slogkey -m MASTER` and `slogkey -d MASTER ADDRESS SERIAL HOSTKEY`, keep a copy of it away from this \
                     machine, and put it at {}",
                    path.display()
                ),
                std::io::ErrorKind::PermissionDenied => format!(
                    "{} has to be readable and writable for the user the program runs as, and for nobody else",
                    path.display()
                ),
                _ => "the disk, or what the file stands on, has to be looked at".to_owned(),
            },
            Error::Key { .. } => {
                "put a host key there that `slogkey -d` has made; `slogkey -c FILE` says whether a file is one".to_owned()
            }
            Error::Mac { .. } | Error::NoMac { .. } => {
                "put the MAC file there that belongs to this key, or begin a new log: with a new host key and without a MAC file"
                    .to_owned()
            }
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::File { path, error } => write!(f, "{}: {error}", path.display()),
            Error::Key { path, what } => write!(f, "{} is not a key file: {what}", path.display()),
            Error::Mac { path, what } => write!(f, "{} is not a MAC file: {what}", path.display()),
            Error::NoMac { path, counter } => write!(
                f,
                "the key has sealed {counter} entries, but there is no MAC over them in {}",
                path.display()
            ),
        }
    }
}

impl std::error::Error for Error {}
