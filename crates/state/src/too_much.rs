//! Why something is not remembered.

use crate::log::{NAME_MAX, VALUE_MAX};
use crate::store::ENTRIES_MAX;
use std::fmt;

/// The bound that it is beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TooMuch {
    /// A name of so many bytes.
    Name(usize),
    /// A value of so many bytes.
    Value(usize),
    /// One name more.
    Entries,
}

impl TooMuch {
    pub(crate) fn of(name: &[u8], value: &[u8], has_room: bool) -> Result<(), TooMuch> {
        match () {
            () if name.len() > NAME_MAX => Err(TooMuch::Name(name.len())),
            () if value.len() > VALUE_MAX => Err(TooMuch::Value(value.len())),
            () if !has_room => Err(TooMuch::Entries),
            () => Ok(()),
        }
    }

    pub(crate) fn say(self) {
        oplog::limited("state-full", oplog::Level::Error, "Not remembered", &[("reason", &self)]);
    }
}

impl fmt::Display for TooMuch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TooMuch::Name(bytes) => {
                write!(f, "a name in the state file has at most {NAME_MAX} bytes, this one has {bytes}")
            }
            TooMuch::Value(bytes) => {
                write!(f, "a value in the state file has at most {VALUE_MAX} bytes, this one has {bytes}")
            }
            TooMuch::Entries => write!(f, "the state file takes no more than {ENTRIES_MAX} names"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_named() {
        let of = |name: usize, value: usize, room| {
            TooMuch::of(&vec![0; name], &vec![0; value], room).map_err(|e| e.to_string())
        };
        assert_eq!(of(NAME_MAX, VALUE_MAX, true), Ok(()));
        for (said, expected) in [
            (of(8193, 0, true), "a name in the state file has at most 8192 bytes, this one has 8193"),
            (of(1, 66_000, true), "a value in the state file has at most 65536 bytes, this one has 66000"),
            (of(1, 1, false), "the state file takes no more than 1048576 names"),
        ] {
            assert_eq!(said, Err(expected.to_owned()));
        }
    }
}
