//! Why control leaves an expression, and how that is told.

use super::{Halt, Run};
use crate::program::Block;
use record::Batch;
use value::{Print, REPR, Span, Value};

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
    /// A conversion, from one type to another.
    Cast(&'static str, &'static str),
    /// Something, and a value.
    Value(&'static str, Value),
    /// A text that was made.
    Made(Span),
}

/// What is told of a block that failed for a message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// `file:line:column` of the statement.
    pub location: String,
    /// The statement as written.
    pub statement: String,
    pub message: String,
    /// It was no error: the statement does not hold.
    pub is_falsy: bool,
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
            Failure::Said(text) => text.to_owned(),
            Failure::Unset(variable) => format!("Variable is unset: \"{}\"", names(variable)),
            Failure::NoVariable(variable) => format!("No such variable: \"{}\"", names(variable)),
            Failure::Type(what, kind) => format!("{what}, got: {kind}"),
            Failure::Cast(from, to) => format!("Failed to typecast: from_type: {from}, to_type: {to}"),
            Failure::Value(what, value) => format!("{what}: {}", shown(value)),
            Failure::Made(span) => String::from_utf8_lossy(batch.bytes(span)).into_owned(),
        }
    }
}

impl Report {
    pub(crate) fn of(block: &Block, batch: &Batch, signal: Signal, statement: Option<u32>) -> Report {
        let place = statement.and_then(|number| block.places.get(number as usize));
        let names =
            |number: u32| block.variables.get(number as usize).map_or(String::new(), |v| v.name.to_string());
        let (message, is_falsy) = match signal {
            Signal::Error(failure) => (failure.text(&names, batch), false),
            Signal::Falsy(value) => {
                (Failure::Value("bailing out due to a falsy expr", value).text(&names, batch), true)
            }
            Signal::Done | Signal::Drop | Signal::Break => (String::new(), false),
        };
        Report {
            location: place.map_or(String::new(), |p| p.location.to_string()),
            statement: place.map_or(String::new(), |p| p.text.to_string()),
            message,
            is_falsy,
        }
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
        self.error("Too many values in one batch")
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
            _ => String::new(),
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
