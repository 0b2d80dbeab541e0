//! One finding about a configuration, and the collector every layer pushes into.

use crate::source_map::{SourceMap, Span};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    Error,
    Warning,
    /// Harmless: worth a line for all of them together, and nothing has to be done.
    Remark,
}

impl Severity {
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Remark => "remark",
        }
    }
}

/// A second place that belongs to the finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    pub span: Span,
    pub message: String,
}

/// What is put in the place of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// A name, where what stands there is one too.
    Word(String),
    /// Any text.
    Text(String),
}

impl Replacement {
    pub fn text(&self) -> &str {
        match self {
            Replacement::Word(text) | Replacement::Text(text) => text,
        }
    }
}

/// A finding. Messages are lower case and end without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable, listed in [`crate::CODES`] or the like list of another crate.
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    /// None when the finding has no place (a file that cannot be opened at all).
    pub span: Option<Span>,
    pub labels: Vec<Label>,
    pub notes: Vec<String>,
    /// What to do about it.
    pub help: Option<String>,
    /// What stands in place of the text at `span` when the help is followed.
    pub replacement: Option<Replacement>,
    /// At how many more places the same was found, see [`Diagnostics::push_once`].
    pub more: usize,
}

impl Diagnostic {
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity,
            message: message.into(),
            span: None,
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
            replacement: None,
            more: 0,
        }
    }

    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message).at(span)
    }

    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message).at(span)
    }

    pub fn remark(code: &'static str, message: impl Into<String>, span: Span) -> Diagnostic {
        Diagnostic::new(Severity::Remark, code, message).at(span)
    }

    pub fn at(mut self, span: Span) -> Diagnostic {
        self.span = Some(span);
        self
    }

    pub fn label(mut self, span: Span, message: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, message: message.into() });
        self
    }

    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// What the help says, as a change of the text.
    pub fn replace(self, text: impl Into<String>) -> Diagnostic {
        Diagnostic { replacement: Some(Replacement::Text(text.into())), ..self }
    }

    /// `help: did you mean X`, when there is something near.
    pub fn suggest(self, nearest: Option<&str>) -> Diagnostic {
        match nearest {
            Some(name) => {
                let replacement = Some(Replacement::Word(name.to_owned()));
                Diagnostic { replacement, ..self.help(format!("did you mean `{name}`?")) }
            }
            None => self,
        }
    }
}

/// Collects findings. Bounded: a hostile configuration cannot fill the memory with findings.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    suppressed: usize,
}

/// Findings kept; more are counted only.
const KEPT_MAX: usize = 1000;

impl Diagnostics {
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    pub fn push(&mut self, diagnostic: Diagnostic) {
        let kept = self.list.len() < KEPT_MAX;
        // An error is never lost behind a thousand warnings: has_errors() must stay true.
        if kept || (diagnostic.severity == Severity::Error && !self.has_errors()) {
            self.list.push(diagnostic);
        } else {
            self.suppressed += 1;
        }
    }

    /// Of what is the same at many places, only the first is kept, and the others are counted.
    pub fn push_once(&mut self, diagnostic: Diagnostic) {
        let same = |d: &&mut Diagnostic| d.code == diagnostic.code && d.message == diagnostic.message;
        match self.list.iter_mut().find(same) {
            Some(first) => first.more += usize::from(first.span != diagnostic.span),
            None => self.push(diagnostic),
        }
    }

    pub fn error(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.push(Diagnostic::error(code, message, span));
    }

    pub fn warning(&mut self, code: &'static str, message: impl Into<String>, span: Span) {
        self.push(Diagnostic::warning(code, message, span));
    }

    pub fn extend(&mut self, other: Diagnostics) {
        self.suppressed += other.suppressed;
        for d in other.list {
            self.push(d);
        }
    }

    /// Takes out warnings and remarks that need not be said; errors stay.
    pub fn silence(&mut self, is_meant: impl Fn(&Diagnostic) -> bool) {
        self.list.retain(|finding| finding.severity == Severity::Error || !is_meant(finding));
    }

    pub fn has_errors(&self) -> bool {
        self.list.iter().any(|d| d.severity == Severity::Error)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// How many findings were dropped because there were too many.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }

    /// (errors, warnings)
    pub fn counts(&self) -> (usize, usize) {
        let count = |severity| self.list.iter().filter(|d| d.severity == severity).count();
        (count(Severity::Error), count(Severity::Warning))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Errors and warnings in the order a reader meets them: by file as first read, then by place.
    /// An expansion counts where it is called, so that one call's findings stand together.
    pub fn sorted(&self, map: &SourceMap) -> Vec<&Diagnostic> {
        let mut list: Vec<&Diagnostic> = self.list.iter().collect();
        list.sort_by_key(|d| d.span.map(|s| (map.outermost(s), s)));
        list.dedup();
        list
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;
    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorted_by_place_and_without_doubles() {
        let mut map = SourceMap::new();
        let f = map.add_root("a", "0123456789");
        let mut d = Diagnostics::new();
        d.error("X1", "late", Span::new(f, 8, 9));
        d.warning("X2", "early", Span::new(f, 2, 3));
        d.error("X1", "late", Span::new(f, 8, 9));
        let order: Vec<_> = d.sorted(&map).iter().map(|d| d.message.clone()).collect();
        assert_eq!(order, ["early", "late"]);
        assert_eq!(d.counts(), (2, 1));
    }

    #[test]
    fn the_same_at_many_places_is_one_finding() {
        let mut map = SourceMap::new();
        let f = map.add_root("a", "0123456789");
        let mut d = Diagnostics::new();
        for (text, at) in [("x", 1), ("x", 1), ("x", 2), ("y", 3), ("x", 4)] {
            d.push_once(Diagnostic::warning("X1", text, Span::new(f, at, at + 1)));
        }
        let found: Vec<_> = d.iter().map(|d| (d.message.as_str(), d.more)).collect();
        assert_eq!(found, [("x", 2), ("y", 0)]);
        assert!(crate::render_all(&d, &map).contains("note: the same at 2 more places\n"));
    }

    #[test]
    fn an_error_after_too_many_warnings_still_counts() {
        let mut map = SourceMap::new();
        let f = map.add_root("a", "x");
        let mut d = Diagnostics::new();
        for _ in 0..KEPT_MAX + 5 {
            d.warning("X2", "w", Span::new(f, 0, 1));
        }
        assert!(!d.has_errors());
        d.error("X1", "e", Span::new(f, 0, 1));
        assert!(d.has_errors());
        assert_eq!(d.suppressed(), 5);
    }
}
