//! What steps of filters, blocks of expressions and parsers do, and what counts it.

use crate::ledger::{FailureCounters, StepCounters};
use filter::{Called, Filter};
use parsers::Parse;
use std::sync::Arc;

#[derive(Clone)]
pub struct FilterOp {
    pub filter: Arc<Filter>,
    /// Those of the filter statement.
    pub counters: Arc<StepCounters>,
    /// The filter statement, where there is one.
    pub name: Option<Arc<str>>,
    /// Those of this place alone, where the ledger shows it.
    pub here: Option<Arc<StepCounters>>,
    /// It stores what it matched.
    pub writes: bool,
    /// Calls of other filters that are counted for each message for which it does not hold, where it is only
    /// asked beforehand: see [`Filter::refused_calls`].
    pub refused_calls: Arc<[Arc<Called>]>,
}

impl FilterOp {
    pub fn new(filter: Arc<Filter>, counters: Arc<StepCounters>, name: Option<&str>) -> FilterOp {
        let (writes, name) = (!filter.writes().is_empty(), name.map(Arc::from));
        let refused_calls = match filter.counted_call() {
            None => filter.refused_calls().unwrap_or_default().into(),
            Some(_) => Arc::default(),
        };
        FilterOp { writes, filter, counters, name, here: None, refused_calls }
    }

    /// Whether the answer, asked beforehand, says all of it.
    pub fn is_decided_beforehand(&self) -> bool {
        self.filter.is_pure() || self.filter.counted_call().is_some()
    }

    #[inline]
    pub fn count(&self, matched: usize, not_matched: usize) {
        for counters in self.here.iter().chain([&self.counters]) {
            counters.matched.add(matched);
            counters.not_matched.add(not_matched);
        }
    }
}

/// A block of expressions.
#[derive(Clone)]
pub struct FilterXOp {
    pub block: Arc<filterx::Block>,
    pub counters: Arc<StepCounters>,
    /// Why it failed for messages.
    pub failures: Arc<FailureCounters>,
    /// Those of this place alone, where the ledger shows it.
    pub here: Option<Arc<StepCounters>>,
    pub row: Row,
}

/// Where a block stands among blocks that follow one another. What one sets is written to the message for
/// whatever comes behind all of them: templates in the others do not see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Row {
    /// Nothing in the blocks behind it, if there are any, looks at the message.
    #[default]
    Alone,
    First,
    Later,
}

/// One call of a parser statement. A message that fails at any of them is counted as not matched; one that
/// passes the last, as matched.
#[derive(Clone)]
pub struct ParseOp {
    pub parser: Arc<dyn Parse>,
    /// Those of the parser statement.
    pub counters: Arc<StepCounters>,
    /// The parser statement, where there is one.
    pub name: Option<Arc<str>>,
    /// Those of the statement in this place alone, where the ledger shows it.
    pub here: Option<Arc<StepCounters>>,
    /// What kind of parser it is.
    pub kind: &'static str,
    /// No other parser of the statement comes after it.
    pub last: bool,
    /// Which one it is of the program's parsers with contexts: they see the batches of a connection in order.
    pub place: Option<usize>,
    /// The same parser making everything it finds, where `parser` leaves out what nobody reads: for messages
    /// that somebody watches.
    pub wide: Option<Arc<dyn Parse>>,
}

impl ParseOp {
    /// The parser that makes everything it finds.
    pub fn all(&self) -> &dyn Parse {
        self.wide.as_deref().unwrap_or(&*self.parser)
    }
}

impl ParseOp {
    #[inline]
    pub fn count(&self, matched: usize, not_matched: usize) {
        for counters in self.here.iter().chain([&self.counters]) {
            counters.not_matched.add(not_matched);
            if self.last {
                counters.matched.add(matched);
            }
        }
    }
}
