//! `in-list()`: whether a value is one of the lines of a file, which is read when the configuration is
//! compiled.

use crate::context::Workspace;
use crate::subject::Subject;
use std::collections::HashSet;
use template::{Msg, RenderContext};

pub struct InList {
    pub subject: Subject,
    lines: HashSet<Box<[u8]>>,
}

impl InList {
    /// Each line without its newline; the last line may lack one (syslog-ng would lose its last character
    /// then).
    pub fn new(subject: Subject, file: &[u8]) -> InList {
        let file = file.strip_suffix(b"\n").unwrap_or(file);
        let lines = match file.is_empty() {
            true => HashSet::new(),
            false => file.split(|b| *b == b'\n').map(Box::from).collect(),
        };
        InList { subject, lines }
    }

    pub fn holds(&self, msg: Msg<'_>, work: &mut Workspace, render: &mut RenderContext) -> bool {
        self.subject.with(msg, work, render, |text, _| self.lines.contains(text))
    }
}
