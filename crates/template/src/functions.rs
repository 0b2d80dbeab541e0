//! The table of template functions. A new one is an entry in one of the groups.

mod dates;
mod encode;
mod lists;
mod logic;
mod numbers;
mod paths;
mod text;

use crate::TemplateError;
use crate::function::FunctionInfo;

/// Every group of functions, in the order of the manual.
const GROUPS: &[&[FunctionInfo]] = &[
    text::FUNCTIONS,
    logic::FUNCTIONS,
    numbers::FUNCTIONS,
    lists::FUNCTIONS,
    encode::FUNCTIONS,
    paths::FUNCTIONS,
    dates::FUNCTIONS,
];

/// Functions of syslog-ng that do not work here yet: refused by name.
const NOT_YET: &[&str] = &[
    "average",
    "context-length",
    "context-lookup",
    "context-values",
    "dns-resolve-ip",
    "format-cef-extension",
    "format-cim",
    "format-ewmm",
    "format-flat-json",
    "format-gelf",
    "format-json",
    "format-welf",
    "geoip2",
    "getent",
    "graphite-output",
    "grep",
    "hash",
    "iterate",
    "max",
    "md4",
    "md5",
    "min",
    "names",
    "python",
    "sha1",
    "sha256",
    "sha512",
    "slog",
    "sum",
    "values",
];

/// All template functions, for the manual.
pub fn functions() -> impl Iterator<Item = &'static FunctionInfo> {
    GROUPS.iter().flat_map(|group| group.iter())
}

pub(crate) fn find(name: &str) -> Option<&'static FunctionInfo> {
    functions().find(|f| f.name == name)
}

pub(crate) fn unknown(name: &str, offset: usize) -> TemplateError {
    if NOT_YET.contains(&name) {
        return TemplateError::new(offset, format!("the template function $({name}) is not available yet"));
    }
    let error = TemplateError::new(offset, format!("there is no template function $({name})"));
    match diag::nearest(name, functions().map(|f| f.name)) {
        Some(near) => error.help(format!("did you mean $({near})?")),
        None => error.help("a literal dollar sign is written $$"),
    }
}
