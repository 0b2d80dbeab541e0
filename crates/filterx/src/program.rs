//! A compiled block: expressions whose names are places of variables, whose literals and patterns are
//! prepared.

use crate::ast::{AssignBy, By, Compare};
use crate::run::{Eval, Memory, Run, Signal};
use crate::tally::Tally;
use parsers::scanners::names::Table;
use pattern::Pattern;
use record::{Demand, NameId};
use template::Template;
use value::Value;

/// A part of a function or statement that has its own way of being run.
pub trait Operation: Send + Sync {
    fn run(&self, run: &mut Run<'_>) -> Eval;

    /// What takes texts out of a text, where that is all that is asked of what it makes.
    fn extractor(&self) -> Option<&dyn Extract> {
        None
    }
}

/// Takes the texts of some keys out of a text.
pub trait Extract {
    /// The text.
    fn text(&self) -> &Expr;

    /// The variable that has them, of which nothing else is asked.
    fn variable(&self) -> u32;

    /// Finds them, each key once with its last value, in [`Memory::known`]; false where this text has to be
    /// read the usual way.
    fn extract(&self, text: &[u8], memory: &mut Memory) -> bool;
}

/// A function of values alone.
pub type Plain = fn(&mut Run<'_>, &[Value]) -> Eval;

/// Arguments of a function of values alone.
pub const ARGUMENTS_MAX: usize = 4;

pub enum Expr {
    /// A value without text.
    Value(Value),
    /// A text of the block, by its number.
    Text(u32),
    Variable(u32),
    Template(Box<Template>),
    Attribute(Box<Expr>, u32),
    Element(Box<(Expr, Expr)>),
    Slice(Box<(Expr, Option<Expr>, Option<Expr>)>),
    /// Its pairs; whether two keys may be equal.
    Dict(Box<[Pair]>, bool),
    LaidOut(Box<Layout>),
    List(Box<[Expr]>),
    Tuple(Box<[Expr]>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Plus(Box<Expr>),
    Or(Box<(Expr, Expr)>),
    And(Box<(Expr, Expr)>),
    Coalesce(Box<(Expr, Expr)>),
    Ternary(Box<(Expr, Option<Expr>, Expr)>),
    Compare(Compare, By, Box<(Expr, Expr)>),
    /// A comparison for equality with a text of the block.
    IsText(Box<Expr>, u32, bool),
    Same(bool, Box<(Expr, Expr)>),
    Matches(bool, Box<(Expr, Pattern)>),
    In(bool, Box<(Expr, Expr)>),
    Add(Box<(Expr, Expr)>),
    Calculate(Calculate, Box<(Expr, Expr)>),
    Isset(Box<Target>),
    /// The same of an element of what an expression makes.
    IsThere(Box<Expr>),
    Unset(Box<[Target]>),
    Move(Box<Target>),
    Plain(Plain, Box<[Expr]>),
    Operation(Box<dyn Operation>),
    Control(Signal),
    /// `done` or `break` as an operand: it is true, and control goes there behind the statement.
    Noted(Signal),
    /// A statement with such an operand; whether it has to hold.
    Ending(Box<Expr>, bool),
    If(Box<[Branch]>, Option<Body>),
    /// An `if` whose conditions compare one variable with texts.
    Chain(Box<Chain>),
    Switch(Box<Switch>),
    Assign(Box<(Target, Expr)>),
    AssignUnlessNull(Box<(Target, Expr)>),
    AddTo(Box<(Target, Expr)>),
    /// `dpath(...) =`: what is missing on the way is made.
    AssignPath(Box<(Target, Expr)>, AssignBy),
    Declare(u32, Box<Expr>),
    /// An operand that is not always evaluated, where that is counted: its number for the tally.
    Counted(u32, Box<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calculate {
    Minus,
    Times,
    Divide,
    Modulo,
}

pub struct Pair {
    pub key: Expr,
    pub value: Expr,
    pub optional: bool,
}

/// A dict with known keys: what is the same for all messages is there already, as cells and as JSON.
pub struct Layout {
    /// The number of its JSON among the texts of the block. Values that are open are left out there.
    pub text: u32,
    /// Keys and values by turns, strings as places in its JSON. Values that are open are null.
    pub cells: Box<[Value]>,
    /// Pairs whose value depends on the message, by their numbers.
    pub open: Box<[(usize, Expr)]>,
    /// The same, a bit each.
    pub open_bits: u64,
}

/// What can be set, unset and asked for: a variable, or an element below it.
pub struct Target {
    pub variable: u32,
    pub path: Box<[Step]>,
}

/// A container that is changed in place.
pub enum Holder {
    Target(Target),
    /// What an expression makes, which nobody else has.
    Made(Expr),
}

pub enum Step {
    Key(Expr),
    /// `[]`
    Append,
}

pub type Body = Box<[Statement]>;

pub struct Statement {
    pub expr: Expr,
    /// Its value must be truthy; else any value will do.
    pub checked: bool,
    /// Which one it is of the block's places.
    pub number: u32,
}

/// What is done where a condition holds.
pub struct Branch {
    pub condition: Expr,
    /// Which one the condition is of the block's places.
    pub number: u32,
    pub body: Body,
}

/// What a place of a block is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Statement,
    /// It decides what is done, or whether the message goes on.
    Condition,
    /// An `if`, whose conditions have places of their own; `break`.
    Frame,
}

/// Where a statement or condition stands.
pub struct Written {
    /// `file:line:column`.
    pub location: Box<str>,
    /// As written, with single blanks.
    pub text: Box<str>,
    pub role: Role,
    /// Variables and elements of them that it looks at, as written: told when it fails.
    pub(crate) operands: Box<[(Box<str>, Expr)]>,
}

/// Decided by one look-up, where the variable is a text.
pub struct Chain {
    pub variable: u32,
    /// Number of the first branch that asks for each text.
    pub texts: Texts,
    pub branches: Box<[Branch]>,
    pub otherwise: Option<Body>,
}

/// What is decided by a text.
pub type Texts = Table<usize>;

pub struct Switch {
    pub selector: Expr,
    /// Number of the case of each text.
    pub texts: Texts,
    /// The other labels with the number of their case, in order.
    pub labels: Vec<(Label, usize)>,
    pub default: Option<usize>,
    pub cases: Vec<Case>,
}

/// What a case of a `switch` does.
pub struct Case {
    pub body: Body,
    /// Control goes on with the next case. What ends with a `break` does not, and has none.
    pub falls_through: bool,
}

pub enum Label {
    Value(Expr),
    Range(Expr, Expr),
}

/// A variable of a block.
pub struct Variable {
    /// With its `$` for one of the message.
    pub name: Box<str>,
    pub of: Of,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// A value of the message.
    Message(NameId),
    /// A variable of the block, or one that an earlier block declared by this name.
    Block(NameId),
}

/// What a block may look at and change, for the demand of log paths.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    pub reads: Demand,
    /// There are templates, which see the message as it is outside of blocks.
    pub has_templates: bool,
    pub writes: Vec<NameId>,
}

/// A compiled block.
pub struct Block {
    pub(crate) statements: Body,
    /// Of each statement, by its number.
    pub(crate) places: Box<[Written]>,
    pub(crate) variables: Box<[Variable]>,
    pub(crate) texts: Box<[Box<[u8]>]>,
    pub(crate) uses: Uses,
    /// It compares and sets texts, and nothing else.
    pub(crate) decides: bool,
    /// Where evaluations are counted.
    pub(crate) tally: Option<Tally>,
    /// The number for the tally of each place.
    pub(crate) tallied: Box<[u32]>,
    pub(crate) asker: u64,
}

impl Block {
    /// Adds what it looks at.
    pub fn reads(&self, demand: &mut Demand) {
        demand.merge(&self.uses.reads);
    }

    /// Its statements and conditions, those inside others too.
    pub fn places(&self) -> &[Written] {
        &self.places
    }

    /// Whether templates in it look at the message.
    pub fn has_templates(&self) -> bool {
        self.uses.has_templates
    }

    /// The values it may set.
    pub fn writes(&self) -> &[NameId] {
        &self.uses.writes
    }
}
