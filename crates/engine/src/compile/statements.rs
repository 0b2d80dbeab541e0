//! Which statement each step comes from: its name, or one made up, and its place.

use super::paths::Paths;
use crate::watch::{Kind, Statement};
use conf_syntax::FilterExpr;
use diag::Span;
use std::sync::Arc;

impl Paths<'_, '_> {
    /// The statement of a step. Names of statements without one count up by kind, as in syslog-ng:
    /// `#anon-filter0`.
    pub fn statement(&self, kind: Kind, rule: Option<&str>, span: Span) -> Arc<Statement> {
        let rule = rule.map_or_else(|| self.made_up(kind), str::to_owned);
        Arc::new(Statement { kind, rule, location: self.texts.locate(span).to_string() })
    }

    /// Where the body of a filter begins: behind its brace, as syslog-ng says it; without one, where the
    /// expression does.
    pub fn body_of(&self, expr: &FilterExpr) -> Span {
        let span = expr.span();
        let before = self.texts.file(span.file).and_then(|file| file.text.get(..span.start as usize));
        let open = before.map(str::trim_end).filter(|text| text.ends_with('{'));
        open.map_or(span, |text| Span::new(span.file, text.len(), text.len()))
    }

    /// A name for something that has none in the configuration.
    pub fn made_up(&self, kind: Kind) -> String {
        let mut unnamed = self.unnamed.borrow_mut();
        let count = unnamed.entry(kind).or_default();
        *count += 1;
        format!("#anon-{}{}", kind.name(), *count - 1)
    }
}
