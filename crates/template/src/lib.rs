//! Templates: `"$ISODATE ${HOST:-unknown} $(lowercase $PROGRAM)\n"` compiled to a flat list of copies.
//!
//! A [`Template`] is compiled once for its options and printed by workers, each with its own
//! [`RenderContext`]. Copies from a batch's text that follow each other are joined, so a message that is
//! printed the way it came in costs one copy.

mod assemble;
mod budget;
mod calendar;
mod call;
mod compile;
mod context;
mod cost;
mod date;
mod error;
mod escape;
mod facts;
mod function;
mod functions;
mod glob;
mod json;
pub mod layout;
mod line;
pub mod list;
mod macros;
mod op;
mod options;
#[cfg(feature = "python")]
pub mod python;
mod render;
pub mod sample;
mod scope;
mod sdata;
mod sink;
mod spans;
mod syntax;
mod tags;
mod template;
mod typed;
pub mod value_pairs;
mod writer;

#[cfg(test)]
mod tests;

pub use budget::{RENDERED_BYTES_MAX, note_oversized, oversized};
pub use context::{Identity, RenderContext};
pub use cost::Cost;
pub use error::TemplateError;
pub use function::FunctionInfo;
pub use functions::functions;
#[cfg(feature = "python")]
pub use functions::{Prepare, calls_in};
pub use macros::{DATE_PREFIXES, MACROS, MacroInfo, nearest_macro};
pub use options::{OnError, TemplateOptions, TsFormat};
pub use scope::{Condition, DnsOptions, NameOptions, NameUse, NoScope, Scope};
pub use slog::draft::seal;
pub use template::Template;
pub use typed::TypeHint;

/// A message: a record and the batch its text is in.
#[derive(Clone, Copy)]
pub struct Msg<'a> {
    pub batch: &'a record::Batch,
    pub record: &'a record::Record,
}

/// The value a name or macro stands for where a configuration names one, as in `value("HOST")`; `None` for a
/// macro that is computed (or when the table of names is full).
pub fn value_name(name: &str) -> Option<record::NameId> {
    compile::value_name(name)
}

/// Whether this is a macro that is computed from the message, so that nothing can set it.
pub fn is_computed(name: &str) -> bool {
    macros::find(name).is_some() && compile::value_name(name).is_none()
}
