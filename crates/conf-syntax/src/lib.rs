//! The configuration language of syslog-ng at the level of syntax: text in, tree and diagnostics out.
//!
//! Knows no component: any `name(args)` is parsed. Includes, backticks, pragmas and blocks are resolved here.
//!
//! ```
//! let options = conf_syntax::ParseOptions::default();
//! let text = "@version: 4.11\nsource s { tcp(port(514)); };\n";
//! let parsed = conf_syntax::parse_text("x.conf", text, &options);
//! assert!(!parsed.diagnostics.has_errors());
//! assert_eq!(parsed.config.items.len(), 1);
//! ```

pub mod ast;
mod balance;
mod context;
mod duplicates;
mod filter_expr;
mod literal;
mod options;
mod parser;
mod reader;
mod scripts;
mod token;

pub use ast::*;
pub use literal::unescape;
pub use options::{BuiltIn, Library, Limits, OldName, ParseOptions, Secret, Written};
pub use scripts::{Block as ScriptBlock, NewScripts, Scripts};

use std::path::Path;

use diag::{Diagnostic, Diagnostics, Origin, SourceMap, Span};

use parser::Parser;
use reader::Reader;

/// A configuration as read: the tree, the texts its spans point into, and all findings.
pub struct Parsed {
    pub config: Config,
    pub sources: SourceMap,
    pub diagnostics: Diagnostics,
}

/// Reads the configuration file at `path` and everything it includes. With an empty include path, relative
/// includes are looked up beside the file.
pub fn parse_file(path: &Path, options: &ParseOptions) -> Parsed {
    let mut reader = Reader::new(options);
    if reader.include_path.is_empty() {
        reader.include_path = path.parent().map(Path::to_path_buf).into_iter().collect();
    }
    if reader.open_main(path) {
        finish(reader)
    } else {
        Parsed { config: Config::default(), sources: reader.sources, diagnostics: reader.diags }
    }
}

/// Reads a configuration from `text`; `name` stands in messages.
pub fn parse_text(name: &str, text: &str, options: &ParseOptions) -> Parsed {
    let mut reader = Reader::new(options);
    reader.open_text(name, text);
    finish(reader)
}

fn finish(reader: Reader<'_>) -> Parsed {
    let top = reader.start();
    let (mut config, mut reader) = Parser::new(reader).config();
    let newest = reader.options.newest_version;
    if config.version.is_none() && !reader.has_version {
        reader.diags.push(
            Diagnostic::warning("P0022", format!("no `@version`; {newest} is assumed"), top)
                .help(format!("begin the file with `@version: {newest}`")),
        );
    }
    let allowed = reader.global("allow-config-dups").is_some_and(is_on)
        || config.version.is_some_and(|v| v < Version::new(3, 3));
    let library = reader.options.library.as_ref();
    let built_in = |at: Span| {
        let file = reader.sources.file(at.file);
        file.zip(library).is_some_and(|(file, library)| Path::new(&*file.name).starts_with(&library.folder))
    };
    duplicates::resolve(&mut config.items, allowed, built_in, &mut reader.diags);
    let mut head = format!("@version: {}\n", config.version.unwrap_or(newest));
    if allowed {
        head.push_str("@define allow-config-dups 1\n");
    }
    config.preprocessed.insert_str(0, &head);
    Parsed { config, sources: reader.sources, diagnostics: reader.diags }
}

fn is_on(value: &str) -> bool {
    matches!(value, "yes" | "on") || value.parse::<i64>().is_ok_and(|n| n != 0)
}

/// Reads one filter expression written inside something else, as in `$(if ...)` and `$(grep ...)`. `at` is
/// where that something stands; spans of the result point into a text added to `sources`.
pub fn parse_filter_text(
    text: &str,
    at: Option<Span>,
    sources: &mut SourceMap,
    diagnostics: &mut Diagnostics,
) -> Option<FilterExpr> {
    let options = ParseOptions { read_files: false, env: None, ..ParseOptions::default() };
    let mut reader = Reader::new(&options);
    reader.sources = std::mem::take(sources);
    let before = reader.diags.len();
    let origin = match at {
        Some(at) => Origin::Included { at },
        None => Origin::Root,
    };
    reader.open_generated("filter expression", text, origin);
    let mut parser = Parser::new(reader);
    let expr = parser.filter_to_end();
    let reader = parser.reader;
    let failed = reader.diags.len() > before && reader.diags.has_errors();
    *sources = reader.sources;
    diagnostics.extend(reader.diags);
    expr.filter(|_| !failed)
}
