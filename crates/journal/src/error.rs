//! What can be wrong with a journal file.

use std::fmt;
use std::io;

#[derive(Debug)]
pub enum Error {
    Io(io::Error),
    /// It does not begin as a journal file does.
    Foreign,
    /// It is written in a way that is not known here: the flags that are not.
    Flags(u32),
    /// An object reaches beyond the end of the file, or is none: where, and what is wrong.
    Object(u64, &'static str),
    /// A value that cannot be unpacked.
    Packed(u64, &'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Io(error) => error.fmt(f),
            Error::Foreign => f.write_str("it is no journal file"),
            Error::Flags(flags) => {
                write!(f, "it is of a later format of systemd's (incompatible flags {flags:#x})")
            }
            Error::Object(at, what) => write!(f, "damaged at byte {at}: {what}"),
            Error::Packed(at, how) => write!(f, "damaged at byte {at}: a value cannot be unpacked ({how})"),
        }
    }
}

impl std::error::Error for Error {}

impl From<io::Error> for Error {
    fn from(error: io::Error) -> Error {
        Error::Io(error)
    }
}
