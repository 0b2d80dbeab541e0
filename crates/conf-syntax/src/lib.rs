//! The configuration language of syslog-ng at the level of syntax: text in, tree and diagnostics out.
//!
//! Knows no component: any `name(args)` is parsed. Includes, backticks, pragmas and blocks are resolved here.

pub mod ast;
mod filter_expr;
mod options;

pub use ast::*;
pub use options::{Limits, ParseOptions};

use std::path::Path;

use diag::{Diagnostics, SourceMap};

/// A configuration as read: the tree, the texts its spans point into, and all findings.
pub struct Parsed {
    pub config: Config,
    pub sources: SourceMap,
    pub diagnostics: Diagnostics,
}

/// Reads the configuration file at `path` and everything it includes.
pub fn parse_file(_path: &Path, _options: &ParseOptions) -> Parsed {
    unimplemented!("being written")
}

/// Reads a configuration from `text`; `name` stands in messages.
pub fn parse_text(_name: &str, _text: &str, _options: &ParseOptions) -> Parsed {
    unimplemented!("being written")
}

/// Reads one filter expression, as inside `$(if ...)` and `$(grep ...)`. Spans point into `name`d text added to
/// `sources`.
pub fn parse_filter_text(
    _name: &str,
    _text: &str,
    _sources: &mut SourceMap,
    _diagnostics: &mut Diagnostics,
) -> Option<FilterExpr> {
    unimplemented!("being written")
}
