//! Every component the program has, and those of syslog-ng that it does not have: finds the one a call means.

use conf_syntax::{Call, same_keyword};
use diag::{Diagnostic, Diagnostics, nearest};

use crate::spec::{Component, Context};

/// A component of syslog-ng that is refused by name.
#[derive(Debug)]
pub struct Unavailable {
    pub context: Context,
    pub name: &'static str,
    /// What to do instead.
    pub remedy: &'static str,
}

/// The remedy for what is a block of the library, which the configuration does not include.
pub const INCLUDE_LIBRARY: &str = "it is a block of the configuration library: add `@include \"scl.conf\"`";

#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    pub components: &'static [&'static Component],
    pub unavailable: &'static [Unavailable],
}

impl Catalogue {
    pub fn find(&self, context: Context, name: &str) -> Option<&'static Component> {
        let of = self.components.iter().copied().filter(|c| c.context == context);
        of.into_iter().find(|c| c.names().any(|n| same_keyword(n, name)))
    }

    /// The component `call` means. Otherwise reports what is wrong: not available, only elsewhere, or
    /// unknown.
    pub fn resolve(
        &self,
        context: Context,
        call: &Call,
        diags: &mut Diagnostics,
    ) -> Option<&'static Component> {
        let name = call.name.text.as_str();
        if let Some(component) = self.find(context, name) {
            return Some(component);
        }
        let what = context.as_str();
        let known = self.unavailable.iter().find(|u| u.context == context && same_keyword(u.name, name));
        if let Some(missing) = known {
            let name = missing.name;
            let text = match missing.remedy == INCLUDE_LIBRARY {
                true => format!("`{name}()` is a {what} of the library, which is not included"),
                false => format!("`{name}()` is a {what} of syslog-ng that penstock does not have yet"),
            };
            diags.push(Diagnostic::error("O0112", text, call.name.span).help(missing.remedy));
            return None;
        }
        let mut finding = Diagnostic::error("O0111", format!("unknown {what} `{name}()`"), call.name.span);
        let elsewhere = self.components.iter().find(|c| c.names().any(|n| same_keyword(n, name)));
        if let Some(other) = elsewhere {
            finding = finding.note(format!("`{}()` is a {}", other.name, other.context.as_str()));
        }
        let here = self.components.iter().filter(|c| c.context == context).flat_map(|c| c.names());
        let missing = self.unavailable.iter().filter(|u| u.context == context).map(|u| u.name);
        diags.push(finding.suggest(nearest(name, here.chain(missing))));
        None
    }
}
