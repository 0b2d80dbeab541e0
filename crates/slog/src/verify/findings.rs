//! What verifying a log found, each with the line.

use crate::entry::NotAnEntry;
use std::fmt;

/// More are counted, not kept.
pub const FINDINGS_MAX: usize = 10_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    NotAnEntry { line: u64, why: NotAnEntry },
    Damaged { line: u64, entry: u64 },
    Renumbered { line: u64, entry: u64, claims: u64 },
    Missing { line: u64, first: u64, last: u64 },
    Moved { line: u64, entry: u64, behind: u64 },
    Twice { line: u64, entry: u64 },
    TooOld { line: u64, entry: u64, first: u64 },
    Cut { line: u64, entry: u64 },
    OldMac { line: u64, more: u64 },
    MacMismatch,
    Empty,
}

impl Finding {
    fn line(&self) -> u64 {
        match self {
            Finding::NotAnEntry { line, .. }
            | Finding::Damaged { line, .. }
            | Finding::Renumbered { line, .. }
            | Finding::Missing { line, .. }
            | Finding::Moved { line, .. }
            | Finding::Twice { line, .. }
            | Finding::TooOld { line, .. } => *line,
            Finding::Cut { .. } | Finding::OldMac { .. } | Finding::MacMismatch | Finding::Empty => u64::MAX,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Finding::NotAnEntry { line, why } => write!(f, "line {line}: this is not an entry: {why}"),
            Finding::Damaged { line, entry } => write!(
                f,
                "line {line}: entry {entry} is damaged: it was changed, or sealed with another key"
            ),
            Finding::Renumbered { line, entry, claims } => {
                write!(f, "line {line}: entry {entry} was given the number {claims}")
            }
            Finding::Missing { line, first, last } if first == last => {
                write!(f, "line {line}: entry {first} is missing before this line")
            }
            Finding::Missing { line, first, last } => {
                write!(f, "line {line}: entries {first} to {last} are missing before this line")
            }
            Finding::Moved { line, entry, behind } => {
                write!(f, "line {line}: entry {entry} was moved: it stands behind entry {behind}")
            }
            Finding::Twice { line, entry } => write!(f, "line {line}: entry {entry} is there a second time"),
            Finding::TooOld { line, entry, first } => write!(
                f,
                "line {line}: entry {entry} is older than the key, which opens from entry {first} on; an older key opens it"
            ),
            Finding::Cut { line, entry } => write!(
                f,
                "line {line}: the log is cut off behind entry {entry}, or the MAC file is that of another log: the aggregated MAC does \
                 not match"
            ),
            Finding::OldMac { line, more } => write!(
                f,
                "line {line}: the MAC file was made behind this line, the {more} lines after it are not covered: copy log and MAC file \
                 while nothing is written"
            ),
            Finding::MacMismatch => f.write_str(
                "the aggregated MAC does not match, as after any change; whether the end is cut off too cannot be told",
            ),
            Finding::Empty => f.write_str("there is nothing to verify, the log is empty"),
        }
    }
}

/// What became of a log.
#[derive(Debug)]
pub struct Report {
    /// In the order of the lines, what concerns the whole log last.
    pub findings: Vec<Finding>,
    /// Findings beyond [`FINDINGS_MAX`].
    pub more: u64,
    pub lines: u64,
    /// Entries that were opened.
    pub entries: u64,
}

impl Report {
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

#[derive(Default)]
pub(super) struct Findings {
    kept: Vec<Finding>,
    more: u64,
}

impl Findings {
    pub fn push(&mut self, finding: Finding) {
        // What concerns the whole log is always said.
        if self.kept.len() < FINDINGS_MAX || finding.line() == u64::MAX {
            self.kept.push(finding);
        } else {
            self.more += 1;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub fn report(mut self, lines: u64, entries: u64) -> Report {
        self.kept.sort_by_key(Finding::line);
        Report { findings: self.kept, more: self.more, lines, entries }
    }
}
