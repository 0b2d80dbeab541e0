//! What every parser offers the engine.

use crate::correlation::State;
use crate::kubernetes::pods::Wake;
use filter::{Filter, FilterContext};
use record::{Batch, Demand, NameId};
use std::sync::Arc;
use std::time::Duration;

/// A compiled parser. Shared by all workers; each brings its [`FilterContext`].
pub trait Parse: Send + Sync {
    /// Parses the selected records and leaves in `selection` those that could be parsed, in their order. A
    /// record that could not is left as it was.
    fn parse(&self, batch: &mut Batch, selection: &mut Vec<u32>, cx: &mut FilterContext);

    /// Why the message that was parsed last, by itself, failed, where the parser knows more than that it does
    /// not match.
    fn said(&self, _cx: &mut FilterContext) -> Option<String> {
        None
    }

    /// Adds what it looks at.
    fn reads(&self, demand: &mut Demand);

    /// What it may change.
    fn writes(&self) -> Writes;

    /// The same parser for a program that reads only what `demand` says; `None` when it would be no other.
    fn narrowed(&self, _demand: &Demand) -> Option<Arc<dyn Parse>> {
        None
    }

    /// A filter without traces that holds for every message that can be parsed: one for which it does not
    /// fails here, and is left as it was. For parsers of which that costs less than the attempt.
    fn guard(&self) -> Option<Arc<Filter>> {
        None
    }

    /// What it wants to know before the first message of a file comes.
    fn gate(&self) -> Option<Arc<dyn Gate>> {
        None
    }

    /// The contexts of a parser that keeps messages. Such a parser is run with an empty selection once a
    /// second, may add records to the batch and put them into the selection, and sees the batches of a
    /// connection in their order.
    fn state(&self) -> Option<Arc<dyn State>> {
        None
    }

    /// The same parser with other contexts: those given, left by a reload, where they fit, else new ones. For
    /// [`Parse::state`] only.
    fn with_state(&self, _state: Option<Arc<dyn State>>) -> Option<Arc<dyn Parse>> {
        None
    }
}

/// What has to be known of a file before its messages are taken: it is not read until then, for a while.
/// Nothing of it is lost or held meanwhile, and other files are read.
pub trait Gate: Send + Sync {
    /// Whether the file may be read now; once it may, nobody asks again. `waited`: how long that was not so,
    /// `None` the first time. Then, `wake` makes what is called as soon as it may; whoever asks does so once
    /// a second besides.
    fn is_open(&self, file: &[u8], waited: Option<Duration>, wake: &dyn Fn() -> Wake) -> bool;
}

/// What a parser may change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Writes {
    pub names: Vec<NameId>,
    /// Any name that begins with this.
    pub prefix: Option<Box<str>>,
    pub stamp: bool,
    pub pri: bool,
    pub tags: bool,
}

impl Writes {
    pub fn names(names: Vec<NameId>) -> Writes {
        Writes { names, ..Writes::default() }
    }

    pub fn prefix(prefix: &str) -> Writes {
        Writes { prefix: Some(prefix.into()), ..Writes::default() }
    }
}
