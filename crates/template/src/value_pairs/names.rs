//! Which names are meant, what they become, and how a format lays them out.

use super::{Rekey, Scopes, Step, ValuePairs};
use crate::glob;

/// How the names are sorted and what is written around the values, as far as that depends on names alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// In order; nothing around them.
    Plain,
    /// As [`Layout::Plain`]; a dot in front becomes an underline, since a path has a level between dots.
    Path,
    /// `name=` with blanks between.
    Assigned,
    /// Braces, quotes and keys of a JSON object, in descending order.
    Json { delimiter: u8, leave_initial_dot: bool, flat: bool },
}

impl ValuePairs {
    /// Whether a value's name is meant.
    pub(super) fn includes(&self, name: &str) -> bool {
        let dotted = name.starts_with('.');
        let scoped = name.starts_with(".SDATA.") && self.scopes.has(Scopes::SDATA)
            || dotted && self.scopes.has(Scopes::DOT_NV)
            || !dotted && self.scopes.has(Scopes::NV);
        decide(&self.patterns, name).unwrap_or(scoped)
    }

    /// The name it gets.
    pub(super) fn final_name(&self, name: &str) -> String {
        renamed(name, &self.rekeys, self.layout)
    }
}

/// What patterns say of a name: the last that matches it.
pub(super) fn decide(patterns: &[(String, bool)], name: &str) -> Option<bool> {
    let decides = |(glob, _): &&(String, bool)| glob::matches(name.as_bytes(), glob.as_bytes());
    patterns.iter().rfind(decides).map(|(_, include)| *include)
}

pub(super) fn renamed(name: &str, rekeys: &[Rekey], layout: Layout) -> String {
    let mut name = name.to_owned();
    for rekey in rekeys {
        if glob::matches(name.as_bytes(), rekey.glob.as_bytes()) {
            name = rekey.steps.iter().fold(name, |name, step| apply(step, name));
        }
    }
    let underlined = matches!(layout, Layout::Path | Layout::Json { leave_initial_dot: false, .. });
    if underlined && name.starts_with('.') {
        name.replace_range(..1, "_");
    }
    name
}

fn apply(step: &Step, name: String) -> String {
    match step {
        Step::Shift(count) => match name.char_indices().nth(*count) {
            Some((at, _)) => name[at..].to_owned(),
            None => name,
        },
        Step::ShiftLevels(0) => name,
        Step::ShiftLevels(levels) => match name.match_indices('.').nth(levels - 1) {
            Some((dot, _)) => name[dot + 1..].to_owned(),
            None => name,
        },
        Step::AddPrefix(prefix) => format!("{prefix}{name}"),
        Step::ReplacePrefix(from, to) => match name.strip_prefix(from.as_str()) {
            Some(rest) => format!("{to}{rest}"),
            None => name,
        },
        Step::Upper => name.to_ascii_uppercase(),
        Step::Lower => name.to_ascii_lowercase(),
    }
}
