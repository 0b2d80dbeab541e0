//! What stands in a block, as written, with its places.

/// Bytes `start..end` of the block's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extent {
    pub start: u32,
    pub end: u32,
}

impl Extent {
    pub fn to(self, end: Extent) -> Extent {
        Extent { start: self.start, end: end.end.max(self.start) }
    }
}

/// A word with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Word {
    pub text: String,
    pub at: Extent,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    pub kind: Kind,
    pub at: Extent,
    /// Expressions inside one another from here on.
    pub depth: u16,
}

/// How a text was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    Double,
    Single,
    Slash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    Coalesce,
    Or,
    And,
    Compare(Compare, By),
    Same,
    NotSame,
    Matches,
    NotMatches,
    In,
    NotIn,
    Plus,
    Minus,
    Times,
    Divide,
    Modulo,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

/// What of two values is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// `==`: numbers as numbers.
    Value,
    /// `eq`: as `string()` has them.
    Text,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    Not,
    Minus,
    Plus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AssignBy {
    Plain,
    Plus,
    /// `=??`: nothing is done with what errors or is null.
    Coalesce,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    pub key: Expr,
    pub value: Expr,
    /// `:??`
    pub optional: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    pub name: Option<Word>,
    pub value: Expr,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    pub name: Word,
    pub args: Vec<Argument>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    pub label: Label,
    pub at: Extent,
    pub body: Vec<Expr>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Label {
    Value(Expr),
    Range(Expr, Expr),
    Default,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    Null,
    Boolean(bool),
    Integer(i64),
    Double(f64),
    Text(Vec<u8>, Quote),
    /// `name`
    Name(String),
    /// `$name`, `${name}`
    Message(String),
    Attribute(Box<Expr>, Word),
    Element(Box<Expr>, Box<Expr>),
    /// `x[]`
    Append(Box<Expr>),
    Slice(Box<Expr>, Option<Box<Expr>>, Option<Box<Expr>>),
    Dict(Vec<Pair>),
    List(Vec<Expr>),
    Tuple(Vec<Expr>),
    Call(Call),
    Enum(String),
    Isset(Box<Expr>),
    Dpath(Box<Expr>),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `c ? a : b`; without the first, `c ?: b`.
    Ternary(Box<Expr>, Option<Box<Expr>>, Box<Expr>),
    Drop,
    Done,
    Break,
    If(Vec<(Expr, Vec<Expr>)>, Option<Vec<Expr>>),
    /// Statements before the first case are never run and not kept.
    Switch(Box<Expr>, Vec<Case>),
    Assign(Box<Expr>, AssignBy, Box<Expr>),
    Declare(Word, Box<Expr>),
}

impl Kind {
    /// Calls `visit` with each expression that stands directly in it.
    pub fn each<'e>(&'e self, visit: &mut dyn FnMut(&'e Expr)) {
        match self {
            Kind::Attribute(a, _)
            | Kind::Append(a)
            | Kind::Isset(a)
            | Kind::Dpath(a)
            | Kind::Unary(_, a)
            | Kind::Declare(_, a) => visit(a),
            Kind::Element(a, b) | Kind::Binary(_, a, b) | Kind::Assign(a, _, b) => {
                visit(a);
                visit(b);
            }
            Kind::Slice(a, b, c) => {
                visit(a);
                b.iter().chain(c).for_each(|e| visit(e));
            }
            Kind::Ternary(a, b, c) => {
                visit(a);
                b.iter().for_each(|e| visit(e));
                visit(c);
            }
            Kind::Dict(pairs) => pairs.iter().for_each(|pair| {
                visit(&pair.key);
                visit(&pair.value);
            }),
            Kind::List(items) | Kind::Tuple(items) => items.iter().for_each(visit),
            Kind::Call(call) => call.args.iter().for_each(|argument| visit(&argument.value)),
            Kind::If(branches, otherwise) => {
                for (condition, body) in branches {
                    visit(condition);
                    body.iter().for_each(&mut *visit);
                }
                otherwise.iter().flatten().for_each(visit);
            }
            Kind::Switch(selector, cases) => {
                visit(selector);
                for case in cases {
                    match &case.label {
                        Label::Value(value) => visit(value),
                        Label::Range(low, high) => {
                            visit(low);
                            visit(high);
                        }
                        Label::Default => {}
                    }
                    case.body.iter().for_each(&mut *visit);
                }
            }
            _ => {}
        }
    }

    /// How deep the deepest expression in it is.
    pub fn depth(&self) -> u16 {
        let mut deepest = 0;
        self.each(&mut |expr| deepest = deepest.max(expr.depth));
        deepest
    }
}
