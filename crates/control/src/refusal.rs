//! Why the program does not do what it is asked: what stands behind `FAIL` and `RETRY` in a reply.

use std::fmt;

use stdio::CommandError;

/// A request that is not obeyed, with the words for whoever has asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refusal {
    /// The answer stays the same until something else changes.
    Failed(String),
    /// Not now; ask again.
    NotNow(String),
}

impl Refusal {
    pub fn said(&self) -> &str {
        match self {
            Refusal::Failed(said) | Refusal::NotNow(said) => said,
        }
    }

    /// The reply without its closing line.
    pub fn reply(&self) -> String {
        match self {
            Refusal::Failed(said) => format!("FAIL {said}"),
            Refusal::NotNow(said) => format!("RETRY {said}"),
        }
    }

    /// The same refusal in other words.
    #[must_use]
    pub fn reworded(self, words: impl FnOnce(&str) -> String) -> Refusal {
        match self {
            Refusal::Failed(said) => Refusal::Failed(words(&said)),
            Refusal::NotNow(said) => Refusal::NotNow(words(&said)),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.said())
    }
}

impl std::error::Error for Refusal {}

impl From<String> for Refusal {
    fn from(said: String) -> Refusal {
        Refusal::Failed(said)
    }
}

impl From<&str> for Refusal {
    fn from(said: &str) -> Refusal {
        Refusal::Failed(said.to_owned())
    }
}

/// Whoever's fault it is, the request is not obeyed.
impl From<diag::Fault> for Refusal {
    fn from(fault: diag::Fault) -> Refusal {
        Refusal::Failed(fault.into())
    }
}

/// A command that has asked says why it was refused.
impl From<Refusal> for CommandError {
    fn from(refusal: Refusal) -> CommandError {
        CommandError::failed(refusal.said().trim_end())
    }
}
