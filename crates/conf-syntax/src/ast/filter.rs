//! Filter expressions as a tree.

use diag::Span;

use super::{Call, TypedText};

/// Comparison operators of filter expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `lt le eq ne ge gt`: compare the bytes
    StrLt,
    StrLe,
    StrEq,
    StrNe,
    StrGe,
    StrGt,
    /// `< <= == != >= >`: aware of types
    Lt,
    Le,
    Eq,
    Ne,
    Ge,
    Gt,
    /// `===` and `!==`: equal in type and value, or not
    StrictEq,
    StrictNe,
}

impl CompareOp {
    pub const ALL: [(&'static str, CompareOp); 14] = [
        ("lt", CompareOp::StrLt),
        ("le", CompareOp::StrLe),
        ("eq", CompareOp::StrEq),
        ("ne", CompareOp::StrNe),
        ("ge", CompareOp::StrGe),
        ("gt", CompareOp::StrGt),
        ("<", CompareOp::Lt),
        ("<=", CompareOp::Le),
        ("==", CompareOp::Eq),
        ("!=", CompareOp::Ne),
        (">=", CompareOp::Ge),
        (">", CompareOp::Gt),
        ("===", CompareOp::StrictEq),
        ("!==", CompareOp::StrictNe),
    ];

    /// As it is written in the configuration.
    pub fn symbol(self) -> &'static str {
        Self::ALL.iter().find(|(_, op)| *op == self).map_or("", |(symbol, _)| symbol)
    }
}

/// A filter expression. `and`/`or` are flat lists; depth is bounded by the parser.
#[derive(Clone, Debug)]
pub enum FilterExpr {
    Not(Box<FilterExpr>, Span),
    /// Two or more.
    And(Vec<FilterExpr>, Span),
    /// Two or more.
    Or(Vec<FilterExpr>, Span),
    /// A filter function: `facility(...)`, `match(...)`, `filter(name)`.
    Call(Call),
    Compare {
        lhs: Operand,
        op: CompareOp,
        rhs: Operand,
        span: Span,
    },
}

impl FilterExpr {
    pub fn span(&self) -> Span {
        match self {
            FilterExpr::Not(_, span) | FilterExpr::And(_, span) | FilterExpr::Or(_, span) => *span,
            FilterExpr::Compare { span, .. } => *span,
            FilterExpr::Call(c) => c.span,
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug)]
pub struct Operand {
    pub kind: OperandKind,
    /// A word without quotes: `message`, not `"$MESSAGE"`.
    pub bare: bool,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum OperandKind {
    /// `"template"`, `word` or `type("template")`
    Template(TypedText),
    Int(i64),
    Float(f64),
}
