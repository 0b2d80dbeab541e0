//! The syntax tree of a configuration: what was written, after includes and blocks are expanded, with its
//! places.
//!
//! The tree knows no component: a driver, an option, a rewrite operation, a filter function is a [`Call`].

use std::path::PathBuf;

use diag::{Diagnostics, Span};

use crate::options::Secret;

mod call;
mod canonical;
mod filter;
mod visit;

pub use call::{Arg, ArgKind, Call, Quote};
pub use canonical::quoted;
pub use filter::{CompareOp, FilterExpr, Operand, OperandKind};
pub use visit::{Visit, visit_parts};

/// `-` and `_` mean the same in keywords, options and block arguments: the canonical spelling has `-`.
pub fn norm(name: &str) -> String {
    name.replace('_', "-")
}

/// A whole configuration.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// `@version`, clamped to the newest known one; None when it was not given (the newest is assumed).
    pub version: Option<Version>,
    /// Statements in source order; with `allow-config-dups` only the last of each name is left.
    pub items: Vec<Statement>,
    /// `@define`s in source order (a later one wins).
    pub defines: Vec<Define>,
    /// `@requires` lines that were met.
    pub requires: Vec<Requires>,
    /// `@module` lines.
    pub modules: Vec<Module>,
    /// Every block definition that was read.
    pub blocks: Vec<BlockDef>,
    /// `@config-id`
    pub config_id: Option<Name>,
    /// Files read, the main file first, each once.
    pub files: Vec<PathBuf>,
    /// What backticks read from files of secrets, by the name in backticks. No text that is shown may have
    /// the values in it.
    pub secrets: Vec<(String, Secret)>,
    /// The configuration with all includes and blocks expanded, for `--preprocess-into`. Secrets stand in it
    /// by their names.
    pub preprocessed: String,
}

/// `@version: major.minor`
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    pub major: u16,
    pub minor: u16,
}

impl Version {
    pub const fn new(major: u16, minor: u16) -> Version {
        Version { major, minor }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)
    }
}

/// A name or word with its place, spelled as written.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: String,
    pub span: Span,
}

impl Name {
    /// The canonical spelling for keyword and option look-up (names of user objects are not normalised).
    pub fn norm(&self) -> String {
        norm(&self.text)
    }

    /// Equal to a keyword written with `-`.
    pub fn is(&self, keyword: &str) -> bool {
        same_keyword(&self.text, keyword)
    }
}

/// Equality under `-` = `_`, without allocating.
pub fn same_keyword(a: &str, b: &str) -> bool {
    let fold = |c: u8| if c == b'_' { b'-' } else { c };
    a.len() == b.len() && a.bytes().map(fold).eq(b.bytes().map(fold))
}

#[derive(Clone, Debug)]
pub struct Define {
    pub name: Name,
    pub value: String,
}

#[derive(Clone, Debug)]
pub struct Requires {
    pub module: Name,
    pub message: Option<String>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Module {
    pub name: Name,
    pub args: Vec<Arg>,
    pub span: Span,
}

/// A block definition; its text stands at `body`.
#[derive(Clone, Debug)]
pub struct BlockDef {
    pub context: Name,
    pub name: Name,
    /// Canonical name and default (None: must be given) of each argument.
    pub params: Vec<(String, Option<String>)>,
    /// `...`: takes any other argument too.
    pub varargs: bool,
    pub span: Span,
    pub body: Span,
}

#[derive(Clone, Debug)]
pub enum Statement {
    /// `source name { drivers and forks };`
    Source(Object),
    /// `destination name { drivers and forks };`
    Destination(Object),
    /// `parser name { parsers and forks };`
    Parser(Object),
    /// `rewrite name { operations and forks };`
    Rewrite(Object),
    /// `filter name { expression };`
    Filter(FilterObject),
    Template(TemplateDef),
    TemplateFunction(TemplateFunction),
    /// `options { ... };`: may occur several times, merged, the last one wins.
    Options(OptionsDef),
    /// `log [name] { ... };`
    Log(LogPath),
    Application(Box<Application>),
    /// `python { code };`
    Python(RawBlock),
    Transformation(Box<Transformation>),
}

impl Statement {
    pub fn span(&self) -> Span {
        match self {
            Statement::Source(o)
            | Statement::Destination(o)
            | Statement::Parser(o)
            | Statement::Rewrite(o) => o.span,
            Statement::Filter(f) => f.span,
            Statement::Template(t) => t.span,
            Statement::TemplateFunction(t) => t.span,
            Statement::Options(o) => o.span,
            Statement::Log(l) => l.span,
            Statement::Application(a) => a.span,
            Statement::Transformation(t) => t.span,
            Statement::Python(r) => r.span,
        }
    }
}

/// What a name in a log path refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ObjectKind {
    Source,
    Destination,
    Filter,
    Parser,
    Rewrite,
}

impl ObjectKind {
    pub const ALL: [ObjectKind; 5] = [
        ObjectKind::Source,
        ObjectKind::Destination,
        ObjectKind::Filter,
        ObjectKind::Parser,
        ObjectKind::Rewrite,
    ];

    pub fn keyword(self) -> &'static str {
        match self {
            ObjectKind::Source => "source",
            ObjectKind::Destination => "destination",
            ObjectKind::Filter => "filter",
            ObjectKind::Parser => "parser",
            ObjectKind::Rewrite => "rewrite",
        }
    }
}

/// A named source, destination, parser or rewrite. The body holds [`LogItem::Call`]s and forks.
#[derive(Clone, Debug)]
pub struct Object {
    pub name: Name,
    pub body: Vec<LogItem>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct FilterObject {
    pub name: Name,
    /// None when the body is empty or was wrong (an error was reported).
    pub expr: Option<FilterExpr>,
    pub span: Span,
}

/// `template name "text";`, `template name type(text);` or `template name { template(..); ... };`
#[derive(Clone, Debug)]
pub struct TemplateDef {
    pub name: Name,
    pub body: TemplateBody,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TemplateBody {
    /// The text, with its type hint.
    Text(TypedText),
    /// The options inside the braces: `template(...)`, `template-escape(...)`.
    Options(Vec<Call>),
}

/// `"text"` or `type("text")`
#[derive(Clone, Debug)]
pub struct TypedText {
    pub type_hint: Option<Name>,
    pub text: String,
    /// The place of the text.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct TemplateFunction {
    pub name: Name,
    pub text: TypedText,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct OptionsDef {
    pub options: Vec<Call>,
    pub span: Span,
}

/// `application name[topic] { filter { expression }; parser { parsers }; };`
#[derive(Clone, Debug)]
pub struct Application {
    pub name: Name,
    pub topic: Name,
    pub filter: Option<FilterExpr>,
    pub parser: Option<Vec<LogItem>>,
    /// `filterx { }`, raw.
    pub filterx: Option<RawBlock>,
    /// What is wrong in its braces: that counts only where an `app-parser()` uses the application.
    pub findings: Diagnostics,
    pub span: Span,
}

/// `transformation application[topic] { transform[name] { step[name] { items }; }; };`
#[derive(Clone, Debug)]
pub struct Transformation {
    /// Of the application.
    pub name: Name,
    pub topic: Name,
    pub transforms: Vec<Transform>,
    pub span: Span,
}

/// `transform[name] { steps };`
#[derive(Clone, Debug)]
pub struct Transform {
    pub name: Name,
    /// Each is the body of a step.
    pub steps: Vec<LogPath>,
}

/// Braces with text this layer does not look into.
#[derive(Clone, Debug)]
pub struct RawBlock {
    /// `python`, `filterx`
    pub keyword: Name,
    /// The words between the keyword and the brace.
    pub head: Vec<Name>,
    /// The text between the braces, and where it stands: what was put into it from elsewhere is a text of its
    /// own.
    pub text: String,
    pub inner: Span,
    pub span: Span,
}

/// The body of a `log`, `channel`, or branch.
#[derive(Clone, Debug)]
pub struct LogPath {
    pub name: Option<Name>,
    /// In order; embedded `log {}` and `channel {}` come last (otherwise an error was reported).
    pub items: Vec<LogItem>,
    /// `flags(...)`, spelled as written; unknown ones are not judged here.
    pub flags: Vec<Name>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum LogItem {
    /// A driver, parser, rewrite operation, or anything written `name(args)`.
    Call(Call),
    /// `source(name)` inside a log path.
    Reference(Reference),
    /// `source { ... }` and the like (not filters) inside a log path.
    Inline(Inline),
    /// `filter { expression }` inside a log path; None when the body was empty or wrong.
    InlineFilter(Option<FilterExpr>, Span),
    /// `filterx { ... }`, raw.
    FilterX(RawBlock),
    /// `junction { channel {...}; ... }`: the branches.
    Junction(Vec<LogItem>, Span),
    /// `channel { ... }`
    Channel(LogPath),
    /// an embedded `log { ... }`
    Log(LogPath),
    If(If),
    /// `parallelize(...)`
    Parallelize(Call),
}

impl LogItem {
    pub fn span(&self) -> Span {
        match self {
            LogItem::Call(c) | LogItem::Parallelize(c) => c.span,
            LogItem::Reference(r) => r.span,
            LogItem::Inline(i) => i.span,
            LogItem::InlineFilter(_, span) | LogItem::Junction(_, span) => *span,
            LogItem::FilterX(r) => r.span,
            LogItem::Channel(l) | LogItem::Log(l) => l.span,
            LogItem::If(i) => i.span,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Reference {
    pub kind: ObjectKind,
    pub name: Name,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Inline {
    /// Never `Filter`.
    pub kind: ObjectKind,
    pub body: Vec<LogItem>,
    pub span: Span,
}

/// `if (c) {..} elif (c) {..} else {..}`; without conditions the first branch whose contents match is taken.
#[derive(Clone, Debug)]
pub struct If {
    /// `if` and each `elif`, in order; never empty.
    pub branches: Vec<IfBranch>,
    /// Without one, an unmatched message passes on unchanged.
    pub otherwise: Option<LogPath>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct IfBranch {
    /// None in the form without parentheses (and after an error in the condition).
    pub condition: Option<FilterExpr>,
    /// Written with parentheses.
    pub has_condition: bool,
    pub body: LogPath,
}
