//! Two objects of one kind and name: an error, or (when allowed) the last one wins. What is built in gives
//! way to what comes later.

use std::collections::HashMap;

use diag::{Diagnostic, Diagnostics, Span};

use crate::ast::{Name, Statement};

/// Reports doubles; when they are allowed, leaves only the last of each. `built_in` says whether a place is
/// in the library.
pub fn resolve(
    items: &mut Vec<Statement>,
    allowed: bool,
    built_in: impl Fn(Span) -> bool,
    diags: &mut Diagnostics,
) {
    let mut seen: HashMap<(&'static str, String), usize> = HashMap::new();
    let mut dropped = vec![false; items.len()];
    for (index, item) in items.iter().enumerate() {
        let Some((kind, name)) = named(item) else { continue };
        let Some(first) = seen.insert((kind, name.text.clone()), index) else { continue };
        let earlier = items.get(first).and_then(named).map(|(_, n)| n.span).unwrap_or(name.span);
        // A log path is never replaced: two of one name are always an error.
        if (allowed && kind != "log path") || (built_in(earlier) && !built_in(name.span)) {
            if let Some(flag) = dropped.get_mut(first) {
                *flag = true;
            }
            continue;
        }
        diags.push(
            Diagnostic::error("P0110", format!("the {kind} `{}` is defined twice", name.text), name.span)
                .label(earlier, "first defined here")
                .help("rename one, or write `@define allow-config-dups 1` to let the last one win"),
        );
    }
    let mut index = 0;
    items.retain(|_| {
        index += 1;
        dropped.get(index - 1) != Some(&true)
    });
}

fn named(item: &Statement) -> Option<(&'static str, &Name)> {
    match item {
        Statement::Source(o) => Some(("source", &o.name)),
        Statement::Destination(o) => Some(("destination", &o.name)),
        Statement::Parser(o) => Some(("parser", &o.name)),
        Statement::Rewrite(o) => Some(("rewrite", &o.name)),
        Statement::Filter(f) => Some(("filter", &f.name)),
        Statement::Template(t) => Some(("template", &t.name)),
        Statement::TemplateFunction(t) => Some(("template function", &t.name)),
        Statement::Log(l) => l.name.as_ref().map(|n| ("log path", n)),
        Statement::Options(_)
        | Statement::Application(_)
        | Statement::Transformation(_)
        | Statement::Python(_) => None,
    }
}
