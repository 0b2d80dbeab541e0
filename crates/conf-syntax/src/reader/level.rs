//! The texts being read, each called or included by the one below it.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use diag::{FileId, Span};

use super::Scope;

/// One text being read.
pub(super) struct Level {
    pub file: FileId,
    pub text: Arc<str>,
    pub pos: usize,
    /// The value of the backtick at `pos`, being read instead of it.
    pub splice: Option<Splice>,
    pub scope: Option<Rc<Scope>>,
    /// What was called, where this text stands for a call.
    pub called: Option<Called>,
    /// The real file, for files.
    pub path: Option<PathBuf>,
    /// Files to read when this one ends, with the place of the include.
    pub then: VecDeque<PathBuf>,
    pub then_at: Option<Span>,
    /// The file had bytes that are not UTF-8; they were replaced.
    pub lossy: bool,
}

/// A call that a text stands for.
pub(super) struct Called {
    /// Its name, in canonical spelling.
    pub name: String,
    /// It is a name of another time.
    pub is_old: bool,
}

#[derive(Clone)]
pub(super) struct Splice {
    pub text: Rc<str>,
    pub pos: usize,
    /// The backticks: first byte and the byte after the closing one.
    pub start: usize,
    pub end: usize,
}

impl Level {
    pub fn new(file: FileId, text: Arc<str>, scope: Option<Rc<Scope>>) -> Level {
        Level {
            file,
            text,
            pos: 0,
            splice: None,
            scope,
            called: None,
            path: None,
            then: VecDeque::new(),
            then_at: None,
            lossy: false,
        }
    }
}
