//! What can be wrong with a pattern.

use std::fmt;

/// A pattern that cannot be used. The place is for the caller to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternError {
    /// Stable, listed in [`crate::CODES`].
    pub code: &'static str,
    pub message: String,
    /// Byte of the pattern's text the error is about.
    pub offset: Option<usize>,
}

impl PatternError {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> PatternError {
        PatternError { code, message: message.into(), offset: None }
    }
}

impl fmt::Display for PatternError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.offset {
            Some(at) => write!(f, " (at byte {at} of the pattern)"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for PatternError {}
