//! Why a template does not compile, and where.

use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// Byte in the template's text.
    pub offset: usize,
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl TemplateError {
    pub(crate) fn new(offset: usize, message: impl Into<String>) -> TemplateError {
        TemplateError { offset, message: message.into(), help: None }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> TemplateError {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.offset)
    }
}

impl std::error::Error for TemplateError {}
