//! What can go wrong with a process of the pool.

use std::fmt;
use std::time::Duration;

#[derive(Clone, Debug)]
pub enum Fault {
    /// There is no such interpreter, or it cannot be started.
    CannotStart(String),
    /// The process ended by itself; how.
    Ended(String),
    /// It did not answer in time.
    Silent(Duration),
    /// It answered something that is none of its answers.
    Malformed,
    /// Python refused with this traceback: an import failed, a block, or init().
    Refused(String),
}

impl Fault {
    /// Whether the process is of no use any more.
    pub fn is_fatal(&self) -> bool {
        !matches!(self, Fault::Refused(_))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::CannotStart(why) => write!(f, "python3 cannot be started: {why}"),
            Fault::Ended(how) => write!(f, "the Python process ended: {how}"),
            Fault::Silent(bound) => {
                write!(f, "the Python process did not answer within {} seconds", bound.as_secs())
            }
            Fault::Malformed => f.write_str("the Python process answered something that is no answer"),
            Fault::Refused(trace) => f.write_str(trace),
        }
    }
}
