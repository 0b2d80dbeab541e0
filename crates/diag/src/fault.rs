//! What went wrong at a border of the program, and whose fault it is: what can be done about it depends on
//! that.

use std::fmt;
use std::io::{self, ErrorKind};

/// Who has to do something before it can go well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// The other side said or did what it must not. Another connection may go better.
    Peer,
    /// Nobody answers at the other side. It cures itself when somebody does.
    Unreachable,
    /// This machine: a disk, a limit, a right, an address that is taken. The same configuration may work
    /// later.
    Local,
    /// The configuration, or what it names: a password, a file that is no key. Until a person changes it
    /// nothing gets better.
    Misconfigured,
    /// The program itself.
    Bug,
}

/// An error with the words for the log. They say what could not be done, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub whose: Whose,
    said: String,
}

impl Fault {
    pub fn peer(said: impl Into<String>) -> Fault {
        Fault { whose: Whose::Peer, said: said.into() }
    }

    pub fn unreachable(said: impl Into<String>) -> Fault {
        Fault { whose: Whose::Unreachable, said: said.into() }
    }

    pub fn local(said: impl Into<String>) -> Fault {
        Fault { whose: Whose::Local, said: said.into() }
    }

    pub fn misconfigured(said: impl Into<String>) -> Fault {
        Fault { whose: Whose::Misconfigured, said: said.into() }
    }

    pub fn bug(said: impl Into<String>) -> Fault {
        Fault { whose: Whose::Bug, said: said.into() }
    }

    /// Of a connection: what the system says tells who it was.
    pub fn of_connection(error: &io::Error, said: impl Into<String>) -> Fault {
        let whose = match error.kind() {
            ErrorKind::ConnectionRefused
            | ErrorKind::NotFound
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable
            | ErrorKind::NetworkDown
            | ErrorKind::TimedOut => Whose::Unreachable,
            ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted
            | ErrorKind::BrokenPipe
            | ErrorKind::NotConnected
            | ErrorKind::UnexpectedEof
            | ErrorKind::InvalidData => Whose::Peer,
            _ => Whose::Local,
        };
        Fault { whose, said: said.into() }
    }

    /// Of a file that the configuration names: one that is not there or is something else is the
    /// configuration's, one that may not be read or cannot be is this machine's.
    pub fn of_file(error: &io::Error, said: impl Into<String>) -> Fault {
        let whose = match error.kind() {
            ErrorKind::NotFound
            | ErrorKind::NotADirectory
            | ErrorKind::IsADirectory
            | ErrorKind::FileTooLarge
            | ErrorKind::InvalidInput
            | ErrorKind::InvalidData => Whose::Misconfigured,
            _ => Whose::Local,
        };
        Fault { whose, said: said.into() }
    }

    /// The same with what it happened to in front.
    #[must_use]
    pub fn at(self, place: &str) -> Fault {
        Fault { said: format!("{place}: {}", self.said), ..self }
    }

    pub fn said(&self) -> &str {
        &self.said
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.said)
    }
}

impl std::error::Error for Fault {}

/// The words alone, for answers to people.
impl From<Fault> for String {
    fn from(fault: Fault) -> String {
        fault.said
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_system_says_of_a_connection_tells_whose_fault_it_is() {
        let whose = |kind: ErrorKind| Fault::of_connection(&kind.into(), "cannot connect").whose;
        assert_eq!(whose(ErrorKind::ConnectionRefused), Whose::Unreachable);
        assert_eq!(whose(ErrorKind::ConnectionReset), Whose::Peer);
        assert_eq!(whose(ErrorKind::AddrInUse), Whose::Local);
    }

    #[test]
    fn of_a_file_what_is_named_wrongly_is_told_from_what_may_not_be_read() {
        let whose = |kind: ErrorKind| Fault::of_file(&kind.into(), "cannot read").whose;
        assert_eq!(whose(ErrorKind::NotFound), Whose::Misconfigured);
        assert_eq!(whose(ErrorKind::PermissionDenied), Whose::Local);
    }

    #[test]
    fn the_place_stands_in_front_and_the_fault_stays_whose_it_is() {
        let fault = Fault::misconfigured("no such user").at("d_central#0");
        assert_eq!(
            (fault.whose, fault.to_string().as_str()),
            (Whose::Misconfigured, "d_central#0: no such user")
        );
    }
}
