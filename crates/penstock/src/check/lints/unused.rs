//! Templates that no option names. Of other statements the compiler says it.

use super::Lints;
use conf_syntax::{Config, Statement, Visit};
use diag::{Diagnostic, Span};
use std::collections::BTreeMap;

pub fn look(config: &Config, lints: &mut Lints<'_>) {
    let mut left: BTreeMap<&str, Span> = BTreeMap::new();
    for statement in &config.items {
        // Files that are included often offer more than one configuration needs.
        if let Statement::Template(template) = statement
            && lints.sources.chain(template.name.span).is_empty()
        {
            left.insert(&template.name.text, template.name.span);
        }
    }
    if left.is_empty() {
        return;
    }
    let mut search = Search { left };
    config.visit(&mut search);
    for raw in config.items.iter().filter_map(raw_text) {
        search.left.retain(|name, _| !raw.contains(name));
    }
    for (name, span) in search.left {
        let text = format!("template `{name}` is not used");
        lints.add(Diagnostic::warning("L0106", text, span).help("remove it, or refer to it"));
    }
}

/// Text that this layer does not look into.
fn raw_text(statement: &Statement) -> Option<&str> {
    match statement {
        Statement::Python(raw) => Some(&raw.text),
        _ => None,
    }
}

struct Search<'c> {
    left: BTreeMap<&'c str, Span>,
}

impl Visit for Search<'_> {
    fn text(&mut self, text: &str, _: Span) {
        let names_it = |name: &str| text == name || text.contains("$(template") && text.contains(name);
        self.left.retain(|name, _| !names_it(name));
    }
}
