//! A pattern as understood: only constructs that every engine of this crate gives the same meaning.

use crate::charset::CharSet;

#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    Empty,
    /// Bytes that must stand there; `icase` folds ASCII letters.
    Literal {
        bytes: Vec<u8>,
        icase: bool,
    },
    /// One byte (or one character, with `utf8`) of a set, case already folded into it.
    Set(CharSet),
    Assert(Assert),
    Repeat {
        node: Box<Node>,
        min: u32,
        max: Option<u32>,
        greedy: bool,
    },
    /// A capturing group; they are numbered in the order of their opening parentheses.
    Group(Box<Node>),
    Concat(Vec<Node>),
    Alt(Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assert {
    /// `\A`, `^`
    Start,
    /// `\z`
    End,
    /// `$`, `\Z`: the end, or before a newline that is the last byte.
    EndOrNewline,
    /// `^` under `(?m)`: not after a newline that is the last byte.
    LineStart,
    /// `$` under `(?m)`
    LineEnd,
    /// `\b`
    Word,
    /// `\B`
    NotWord,
}

impl Node {
    pub fn concat(mut items: Vec<Node>) -> Node {
        items.retain(|n| *n != Node::Empty);
        match items.len() {
            0 => Node::Empty,
            1 => items.remove(0),
            _ => Node::Concat(items),
        }
    }

    /// Whether it can match without consuming anything (assertions consume nothing).
    pub fn nullable(&self) -> bool {
        match self {
            Node::Empty | Node::Assert(_) => true,
            Node::Literal { bytes, .. } => bytes.is_empty(),
            Node::Set(_) => false,
            Node::Repeat { node, min, .. } => *min == 0 || node.nullable(),
            Node::Group(node) => node.nullable(),
            Node::Concat(items) => items.iter().all(Node::nullable),
            Node::Alt(items) => items.iter().any(Node::nullable),
        }
    }

    /// Whether the predicate holds for any assertion inside.
    pub fn any_assert(&self, is: &dyn Fn(Assert) -> bool) -> bool {
        match self {
            Node::Assert(a) => is(*a),
            Node::Repeat { node, .. } | Node::Group(node) => node.any_assert(is),
            Node::Concat(items) | Node::Alt(items) => items.iter().any(|n| n.any_assert(is)),
            Node::Empty | Node::Literal { .. } | Node::Set(_) => false,
        }
    }

    /// Whether an engine that knows only `\z` and `(?m:^)` differs on a text that ends with a newline.
    pub fn minds_last_newline(&self) -> bool {
        self.any_assert(&|a| matches!(a, Assert::EndOrNewline | Assert::LineStart))
    }
}
