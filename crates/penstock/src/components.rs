//! What is built in: the drivers, which `drivers` lists itself, and the codes of all findings.

use conf_schema::Context;
use engine::driver::Registry;

/// Everything a configuration may name.
pub fn registry() -> &'static Registry {
    &drivers::REGISTRY
}

/// Stable codes: (code, title, what it means and what to do).
type Codes = &'static [(&'static str, &'static str, &'static str)];

/// The codes of every layer, bottom to top.
pub const CODES: &[(&str, Codes)] = &[
    ("The language", diag::CODES),
    ("Options and components", conf_schema::CODES),
    ("Patterns", pattern::CODES),
    ("Filters", filter::CODES),
    ("Rewrites", rewrite::CODES),
    ("Parsers", parsers::CODES),
    ("FilterX", filterx::CODES),
    ("Pattern databases", patterndb::CODES),
    ("Log paths", engine::CODES),
    ("Drivers", drivers::CODES),
    ("Surroundings", crate::check::CODES),
    ("Lints", crate::check::LINTS),
];

/// The lists alone.
pub fn code_lists() -> Vec<Codes> {
    CODES.iter().map(|(_, codes)| *codes).collect()
}

/// Names of the components that can be used in a configuration, as `source network`.
pub fn names() -> Vec<(Context, &'static str)> {
    let mut names: Vec<_> = registry()
        .catalogue
        .components
        .iter()
        .filter(|c| c.context != Context::Options)
        .flat_map(|c| c.names().map(|name| (c.context, name)))
        .collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests;
