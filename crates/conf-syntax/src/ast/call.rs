//! Calls and their arguments: drivers, options, operations, functions; anything written `name(args)`.

use diag::{Diagnostics, Span};

use super::{CompareOp, FilterExpr, Name};

/// `name(args)`
#[derive(Clone, Debug)]
pub struct Call {
    pub name: Name,
    pub args: Vec<Arg>,
    /// From the name to the closing parenthesis.
    pub span: Span,
}

impl Call {
    /// Name equality under `-` = `_`.
    pub fn is(&self, keyword: &str) -> bool {
        self.name.is(keyword)
    }

    /// Reads the arguments as one filter expression: for `condition(...)`, `where(...)`, `having(...)`,
    /// `trigger(...)`. Reports what is wrong; None for an empty or wrong expression.
    pub fn filter_expr(&self, diags: &mut Diagnostics) -> Option<FilterExpr> {
        crate::filter_expr::from_args(&self.args, self.span, diags)
    }

    /// The nested options: arguments of the form `name(args)`.
    pub fn options(&self) -> impl Iterator<Item = &Call> {
        self.args.iter().filter_map(|a| match &a.kind {
            ArgKind::Call(c) => Some(c),
            _ => None,
        })
    }

    /// The arguments that are not nested options.
    pub fn values(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(|a| !matches!(a.kind, ArgKind::Call(_)))
    }
}

#[derive(Clone, Debug)]
pub struct Arg {
    pub kind: ArgKind,
    pub span: Span,
}

impl Arg {
    /// The text of a word, a string or a number, as most options take it.
    pub fn text(&self) -> Option<&str> {
        match &self.kind {
            ArgKind::Str { text, .. } | ArgKind::Ident(text) => Some(text),
            ArgKind::Int { text, .. } | ArgKind::Float { text, .. } => Some(text),
            _ => None,
        }
    }

    /// The type of a template that is a number without quotes: `set(10 value("n"))` is `set(int("10")
    /// value("n"))`.
    pub fn number_type(&self) -> Option<&'static str> {
        match self.kind {
            ArgKind::Int { .. } => Some("int"),
            ArgKind::Float { .. } => Some("double"),
            _ => None,
        }
    }

    pub fn int(&self) -> Option<i64> {
        match self.kind {
            ArgKind::Int { value, .. } => Some(value),
            _ => None,
        }
    }

    /// `yes`/`on`/non-zero and `no`/`off`/0 (bare words only, `true` is not one of them).
    pub fn yes_no(&self) -> Option<bool> {
        match &self.kind {
            ArgKind::Ident(w) if w == "yes" || w == "on" => Some(true),
            ArgKind::Ident(w) if w == "no" || w == "off" => Some(false),
            ArgKind::Int { value, .. } => Some(*value != 0),
            _ => None,
        }
    }

    /// What kind of thing this is, for messages.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            ArgKind::Call(_) => "an option",
            ArgKind::Str { .. } => "a string",
            ArgKind::Ident(_) => "a word",
            ArgKind::Int { .. } => "a number",
            ArgKind::Float { .. } => "a decimal number",
            ArgKind::Range(..) => "a range",
            ArgKind::Pair(..) => "a pair",
            ArgKind::Op(_) => "an operator",
            ArgKind::Group(_) => "parentheses",
            ArgKind::Braces(_) => "braces",
            ArgKind::List(_) => "a list in brackets",
            ArgKind::Semicolon => "`;`",
        }
    }
}

#[derive(Clone, Debug)]
pub enum ArgKind {
    /// A nested option or call: `name(args)`.
    Call(Call),
    /// A quoted string, escapes resolved.
    Str {
        text: String,
        quote: Quote,
    },
    /// A bare word, as written.
    Ident(String),
    /// A whole number, suffix applied (`10MB` is 10000000), and as written.
    Int {
        value: i64,
        text: String,
    },
    Float {
        value: f64,
        text: String,
    },
    /// `a..b`; the ends are words or numbers.
    Range(Box<Arg>, Box<Arg>),
    /// `key => value`
    Pair(Box<Arg>, Box<Arg>),
    /// A comparison operator; only filter expressions have them.
    Op(CompareOp),
    /// Parentheses without a name before them; only filter expressions have them.
    Group(Vec<Arg>),
    /// Braces among arguments.
    Braces(Vec<Arg>),
    /// `["a", "b"]`, where an option takes several texts.
    List(Vec<Arg>),
    /// `;` among arguments: in a filter expression it means "and".
    Semicolon,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Quote {
    /// `"..."`
    Double,
    /// `'...'`
    Single,
}
