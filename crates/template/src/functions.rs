//! The table of template functions. A new one is an entry in one of the groups.

mod correlation;
mod dates;
mod digests;
mod dns;
mod encode;
mod formats;
mod geoip2;
mod getent;
mod iterate;
mod lists;
mod logic;
mod numbers;
mod pairs;
mod paths;
#[cfg(feature = "python")]
mod python;
mod slog;
mod text;

pub(crate) use correlation::At;
pub(crate) use dns::KnownNames;

pub(crate) use encode::base64;
pub(crate) use lists::reparted;
#[cfg(feature = "python")]
pub use python::{Prepare, calls_in};

pub(crate) use logic::ChosenTemplate;

use crate::TemplateError;
use crate::function::FunctionInfo;

/// Every group of functions, in the order of the manual.
const GROUPS: &[&[FunctionInfo]] = &[
    text::FUNCTIONS,
    logic::FUNCTIONS,
    numbers::FUNCTIONS,
    lists::FUNCTIONS,
    encode::FUNCTIONS,
    pairs::FUNCTIONS,
    formats::FUNCTIONS,
    digests::FUNCTIONS,
    getent::FUNCTIONS,
    dns::FUNCTIONS,
    geoip2::FUNCTIONS,
    iterate::FUNCTIONS,
    paths::FUNCTIONS,
    #[cfg(feature = "python")]
    python::FUNCTIONS,
    slog::FUNCTIONS,
    dates::FUNCTIONS,
    correlation::FUNCTIONS,
];

/// Functions of syslog-ng that do not work here, refused by name, and what to do instead.
const NOT_YET: &[(&str, &str)] = &[
    #[cfg(not(feature = "python"))]
    ("python", "this program was built without Python: make the value with rewrites and template functions"),
];

/// All template functions, for the manual.
pub fn functions() -> impl Iterator<Item = &'static FunctionInfo> {
    GROUPS.iter().flat_map(|group| group.iter())
}

pub(crate) fn find(name: &str) -> Option<&'static FunctionInfo> {
    functions().find(|f| same_name(f.name, name))
}

/// `_` and `-` are one in the names of functions, as in all names of the language.
pub fn same_name(known: &str, name: &str) -> bool {
    let plain = |byte: u8| if byte == b'_' { b'-' } else { byte };
    known.len() == name.len() && known.bytes().map(plain).eq(name.bytes().map(plain))
}

pub(crate) fn unknown(name: &str, offset: usize) -> TemplateError {
    if let Some((_, instead)) = NOT_YET.iter().find(|(known, _)| same_name(known, name)) {
        let error =
            TemplateError::new(offset, format!("the template function $({name}) is not available yet"));
        return error.help(*instead);
    }
    let error = TemplateError::new(offset, format!("there is no template function $({name})"));
    match diag::nearest(name, functions().map(|f| f.name)) {
        Some(near) => error.help(format!("did you mean $({near})?")),
        None => error.help("a literal dollar sign is written $$"),
    }
}
