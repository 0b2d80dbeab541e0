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
    /// then). An empty line is none: a value that is not there is in no list.
    pub fn new(subject: Subject, file: &[u8]) -> InList {
        let lines = file.split(|b| *b == b'\n').filter(|line| !line.is_empty()).map(Box::from).collect();
        InList { subject, lines }
    }

    pub fn holds(&self, msg: Msg<'_>, work: &mut Workspace, render: &mut RenderContext) -> bool {
        self.subject.with(msg, work, render, |text, _| self.lines.contains(text))
    }
}
