//! Why control leaves an expression, and how that is told.

use super::{Halt, Run};
use crate::program::Written;
use record::Batch;
use std::ops::AddAssign;
use value::{Print, REPR, Span, Value};

/// Bytes of an operand that are told.
const OPERAND_BYTES_MAX: usize = 200;

/// Where control goes.
#[derive(Clone, Copy, Debug)]
pub enum Signal {
    Error(Failure),
    /// A statement does not hold.
    Falsy(Value),
    /// The block ends with success.
    Done,
    /// The message goes nowhere.
    Drop,
    /// Out of the innermost braces.
    Break,
}

/// What went wrong. Plain data: it becomes a text only when somebody asks.
#[derive(Clone, Copy, Debug)]
pub enum Failure {
    Said(&'static str),
    /// A text of the message is not set, by the number of the variable.
    Unset(u32),
    NoVariable(u32),
    /// Something, and the type that was met.
    Type(&'static str, &'static str),
    /// What a value of this type cannot do.
    Cannot(&'static str, &'static str),
    /// A conversion, from one type to another.
    Cast(&'static str, &'static str),
    /// Something, and a value.
    Value(&'static str, Value),
    /// A text that was made.
    Made(Span),
    /// A bound has been reached.
    Limit(&'static str),
}

/// Why a block fails for a message, as it is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cause {
    /// A statement does not hold.
    #[default]
    Falsy,
    /// A variable is not set.
    Unset,
    /// A value is of a type that does not fit.
    Type,
    /// What is made of the message is too large.
    Limit,
    /// Anything else: a key that is missing, a text that cannot be read, an overflow.
    Value,
}

/// All causes by the names that they have in statistics.
pub const CAUSES: [(Cause, &str); 5] = [
    (Cause::Falsy, "falsy"),
    (Cause::Unset, "unset"),
    (Cause::Type, "type"),
    (Cause::Limit, "limit"),
    (Cause::Value, "value"),
];

/// How many messages of a batch failed, by the cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Causes([usize; CAUSES.len()]);

impl Causes {
    pub fn count(&mut self, cause: Cause) {
        if let Some(count) = self.0.get_mut(cause as usize) {
            *count += 1;
        }
    }

    /// In the order of [`CAUSES`].
    pub fn counts(&self) -> [usize; CAUSES.len()] {
        self.0
    }
}

impl AddAssign for Causes {
    fn add_assign(&mut self, more: Causes) {
        self.0.iter_mut().zip(more.0).for_each(|(sum, more)| *sum += more);
    }
}

impl Signal {
    pub(crate) fn cause(self) -> Cause {
        match self {
            Signal::Error(Failure::Unset(_) | Failure::NoVariable(_)) => Cause::Unset,
            Signal::Error(Failure::Type(..) | Failure::Cannot(..) | Failure::Cast(..)) => Cause::Type,
            Signal::Error(Failure::Limit(_)) => Cause::Limit,
            Signal::Error(_) => Cause::Value,
            _ => Cause::Falsy,
        }
    }
}

/// What is told of a block that failed for a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// `file:line:column` of the statement.
    pub location: String,
    /// The statement as written.
    pub statement: String,
    pub message: String,
    pub cause: Cause,
    /// What the variables of the statement were.
    pub operands: Vec<Operand>,
    /// It was no error: the statement does not hold, as this is what it gave.
    pub falsy: Option<Falsy>,
}

/// A value for which a statement does not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Falsy {
    /// As `repr()` shows it.
    pub value: String,
    pub type_name: &'static str,
}

/// A variable or an element of one, as written, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    pub name: String,
    /// As `repr()` shows it; `None` where it is not set.
    pub value: Option<String>,
}

impl Failure {
    /// In words.
    pub fn text(self, names: &dyn Fn(u32) -> String, batch: &Batch) -> String {
        let shown = |value: Value| {
            let mut out = Vec::new();
            Print { text: &batch.text, trees: &batch.trees, style: REPR }.put(value, &mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        match self {
            Failure::Said(text) | Failure::Limit(text) => text.to_owned(),
            Failure::Unset(variable) => format!("Variable is unset: \"{}\"", names(variable)),
            Failure::NoVariable(variable) => format!("No such variable: \"{}\"", names(variable)),
            Failure::Type(what, kind) => format!("{what}, got: {kind}"),
            Failure::Cannot(what, kind) => format!("{what}: {kind}"),
            Failure::Cast(from, to) => format!("Failed to typecast: from_type: {from}, to_type: {to}"),
            Failure::Value(what, value) => format!("{what}: {}", shown(value)),
            Failure::Made(span) => String::from_utf8_lossy(batch.bytes(span)).into_owned(),
        }
    }
}

impl Report {
    /// Of a block that has just failed.
    pub(crate) fn of(run: &mut Run<'_>) -> Report {
        let message = run.failure_text();
        let falsy = match run.signal {
            Signal::Falsy(value) => Some(Falsy { value: run.shown(value), type_name: value.type_name() }),
            _ => None,
        };
        let place = run.place_failed();
        let operands = place.map(|place| &place.operands[..]).unwrap_or_default();
        let operands = operands.iter().map(|(name, expr)| run.operand(name, expr)).collect();
        Report {
            location: place.map_or(String::new(), |p| p.location.to_string()),
            statement: place.map_or(String::new(), |p| p.text.to_string()),
            message,
            cause: run.signal.cause(),
            operands,
            falsy,
        }
    }

    /// `$X = 5, d.a is not set`
    pub fn operands_told(&self) -> String {
        told(&self.operands)
    }
}

pub(super) fn told(operands: &[Operand]) -> String {
    let told = operands.iter().map(|operand| match &operand.value {
        Some(value) => format!("{} = {value}", operand.name),
        None => format!("{} is not set", operand.name),
    });
    told.collect::<Vec<_>>().join(", ")
}

impl<'a> Run<'a> {
    /// The statement that control left.
    pub(crate) fn place_failed(&self) -> Option<&'a Written> {
        self.places.get(self.statement? as usize)
    }

    pub(super) fn operand(&mut self, name: &str, expr: &crate::program::Expr) -> Operand {
        let value = self.eval(expr).ok().map(|value| self.shown(value));
        Operand { name: name.to_owned(), value }
    }

    /// A value as `repr()` shows it, cut where it is long.
    fn shown(&mut self, value: Value) -> String {
        let mut out = Vec::new();
        self.put(value, REPR, &mut out);
        let is_long = out.len() > OPERAND_BYTES_MAX;
        out.truncate(OPERAND_BYTES_MAX);
        let end = if is_long { "..." } else { "" };
        format!("{}{end}", String::from_utf8_lossy(&out))
    }
}

impl Run<'_> {
    #[cold]
    pub fn fail<T>(&mut self, failure: Failure) -> Result<T, Halt> {
        self.signal = Signal::Error(failure);
        Err(Halt)
    }

    #[cold]
    pub fn error<T>(&mut self, text: &'static str) -> Result<T, Halt> {
        self.fail(Failure::Said(text))
    }

    /// An error whose text depends on the message.
    #[cold]
    pub fn error_made<T>(&mut self, text: &str) -> Result<T, Halt> {
        let span = self.batch.append(text.as_bytes());
        self.fail(Failure::Made(span))
    }

    /// The batch has no room for more values.
    #[cold]
    pub(crate) fn full<T>(&mut self) -> Result<T, Halt> {
        self.fail(Failure::Limit("Too many values in one batch"))
    }

    /// Whether control left because of an error, which may be passed over.
    pub(crate) fn is_error(&self) -> bool {
        matches!(self.signal, Signal::Error(_))
    }

    /// The text of what went wrong last.
    pub(crate) fn failure_text(&self) -> String {
        let names =
            |number: u32| self.variables.get(number as usize).map_or(String::new(), |v| v.name.to_string());
        match self.signal {
            Signal::Error(failure) => failure.text(&names, self.batch),
            Signal::Falsy(value) => {
                Failure::Value("bailing out due to a falsy expr", value).text(&names, self.batch)
            }
            Signal::Done | Signal::Drop | Signal::Break => String::new(),
        }
    }
}

/// In the words of AxoSyslog, with a piece of the text around the place.
pub(crate) fn json_text(error: &value::JsonError, text: &[u8]) -> String {
    const AROUND: usize = 16;
    let part = |from: usize, to: usize| {
        String::from_utf8_lossy(text.get(from.min(text.len())..to.min(text.len())).unwrap_or_default())
            .into_owned()
    };
    let before = part(error.at.saturating_sub(AROUND), error.at);
    match error.problem {
        value::Problem::Incomplete => {
            format!("Error parsing JSON string: JSON text incomplete, excerpt: {before}")
        }
        value::Problem::Token => "Error parsing JSON string: Invalid JSON, unrecognized token".to_owned(),
        value::Problem::More => {
            "Error parsing JSON string: Expected a single JSON object, multiple top-level objects found"
                .to_owned()
        }
        value::Problem::TooDeep => "Error parsing JSON string: nested too deep".to_owned(),
        value::Problem::Full => "Error parsing JSON string: too many values in one batch".to_owned(),
        value::Problem::Number | value::Problem::Unexpected => {
            let here = part(error.at, error.at + 1);
            let after = part(error.at + 1, error.at + AROUND);
            format!(
                "Error parsing JSON string: JSON parse error at {}, excerpt: {before}>{here}<{after}",
                error.at
            )
        }
    }
}
