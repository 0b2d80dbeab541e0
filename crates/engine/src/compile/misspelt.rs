//! Macros that are misspelt: to the language `${YAER}` is a name-value pair like any other, which nothing
//! sets. Who reads and who sets values is gathered while the configuration is compiled.

use conf_syntax::{Config, Visit};
use diag::{Diagnostic, Diagnostics, Span};
use record::NameId;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// The values of a configuration.
#[derive(Default)]
pub(super) struct Values {
    /// Names templates read that are near to a macro's, and that macro.
    suspects: RefCell<BTreeMap<String, String>>,
    names: RefCell<BTreeSet<NameId>>,
    /// Any name that begins so may be set; of a parser that makes names freely, this is empty.
    prefixes: RefCell<BTreeSet<Box<str>>>,
}

impl Values {
    pub fn read(&self, name: &str) {
        if let Some(meant) = template::nearest_macro(name) {
            self.suspects.borrow_mut().insert(name.to_owned(), meant);
        }
    }

    pub fn set(&self, names: impl IntoIterator<Item = NameId>) {
        self.names.borrow_mut().extend(names);
    }

    pub fn set_any(&self, prefix: &str) {
        self.prefixes.borrow_mut().insert(prefix.into());
    }

    fn is_set(&self, name: &str) -> bool {
        record::lookup(name).is_some_and(|id| self.names.borrow().contains(&id))
            || self.prefixes.borrow().iter().any(|prefix| name.starts_with(&**prefix))
    }

    /// Warns about each text that reads a value nothing sets whose name is near to a macro's. For
    /// configurations without errors: in others what sets it may not have been compiled.
    pub fn report(&self, config: &Config, diags: &mut Diagnostics) {
        let mut suspects = self.suspects.take();
        suspects.retain(|name, _| !self.is_set(name));
        if !suspects.is_empty() {
            config.visit(&mut Search { suspects, diags });
        }
    }
}

struct Search<'a> {
    suspects: BTreeMap<String, String>,
    diags: &'a mut Diagnostics,
}

impl Visit for Search<'_> {
    fn text(&mut self, text: &str, span: Span) {
        for (name, meant) in self.suspects.iter().filter(|(name, _)| reads(text, name)) {
            let found = format!("`{name}` is no macro, and nothing sets a value of this name: it is empty");
            self.diags.push(Diagnostic::warning("E0122", found, span).suggest(Some(meant)));
        }
    }
}

/// Whether a template's text has the name as `$NAME`, `${NAME}` or `${NAME:-default}`.
fn reads(text: &str, name: &str) -> bool {
    text.match_indices('$').any(|(at, _)| {
        let rest = text.get(at + 1..).unwrap_or_default();
        let (rest, braced) = rest.strip_prefix('{').map_or((rest, false), |rest| (rest, true));
        rest.strip_prefix(name).is_some_and(|behind| match braced {
            true => behind.starts_with(['}', ':']),
            false => !behind.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_in_templates() {
        for (text, expected) in [
            ("$YAER", true),
            ("x-$YAER.log", true),
            ("${YAER}", true),
            ("${YAER:-none}", true),
            ("$(echo $YAER)", true),
            ("$MONTH ${YAER}", true),
            ("YAER", false),
            ("{YAER}", false),
            ("$YAERS", false),
            ("$YAER_1", false),
            ("${YAER_1}", false),
            ("${X_YAER}", false),
            ("$", false),
            ("${", false),
            ("ä$ä${YAER", false),
        ] {
            assert_eq!(reads(text, "YAER"), expected, "{text}");
        }
    }
}
