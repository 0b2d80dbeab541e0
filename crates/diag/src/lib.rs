//! Diagnostics: what is wrong with a configuration, where, and what to do. One collector, one renderer.
//!
//! Every layer that reads configuration pushes [`Diagnostic`]s with a stable code into one [`Diagnostics`];
//! the places are [`Span`]s into a [`SourceMap`], which knows the include and block expansion chain of each
//! text.

mod codes;
mod diagnostic;
mod fault;
mod nearest;
mod render;
mod reported;
mod source_map;

pub use codes::{CODES, explain, find_duplicate};
pub use diagnostic::{Diagnostic, Diagnostics, Label, Replacement, Severity};
pub use fault::{Fault, Whose};
pub use nearest::nearest;
pub use render::{remarks_line, render_all, render_json, render_one, render_verbose, replacement};
pub use reported::Reported;
pub use source_map::{FileId, Location, Origin, Part, SourceFile, SourceMap, Span};
