//! Where in the configuration the reader stands: decides which blocks a name can call.

/// A place blocks can be called from. `Plain` is everywhere else: names and values, where nothing is
/// expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Context {
    Root,
    Source,
    Destination,
    Parser,
    Rewrite,
    Filter,
    Log,
    Options,
    /// Inside the parentheses of a source driver.
    InnerSource,
    /// Inside the parentheses of a destination driver.
    InnerDestination,
    Plain,
}

impl Context {
    /// The name a block definition uses for it.
    pub fn name(self) -> Option<&'static str> {
        Some(match self {
            Context::Root => "root",
            Context::Source => "source",
            Context::Destination => "destination",
            Context::Parser => "parser",
            Context::Rewrite => "rewrite",
            Context::Filter => "filter",
            Context::Log => "log",
            Context::Options => "options",
            Context::InnerSource => "inner-src",
            Context::InnerDestination => "inner-dest",
            Context::Plain => return None,
        })
    }

    /// Inside the parentheses of something called in this context.
    pub fn inside(self) -> Context {
        match self {
            Context::Source | Context::InnerSource => Context::InnerSource,
            Context::Destination | Context::InnerDestination => Context::InnerDestination,
            _ => Context::Plain,
        }
    }
}

/// Names a block definition may use; those not in [`Context`] belong to places this language layer never
/// expands in.
pub const DEFINITION_CONTEXTS: &[&str] = &[
    "root",
    "source",
    "destination",
    "parser",
    "rewrite",
    "filter",
    "log",
    "options",
    "inner-src",
    "inner-dest",
    "block-def",
    "block-ref",
    "block-content",
    "block-arg",
    "pragma",
    "format",
    "template-func",
    "client-proto",
    "server-proto",
    "config",
    "filterx",
    "filterx-func",
];

/// Options whose arguments are a filter expression: filter blocks can be called there, and `;` means "and".
pub const FILTER_OPTIONS: &[&str] = &["condition", "where", "having", "trigger"];
