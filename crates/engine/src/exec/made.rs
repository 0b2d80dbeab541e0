//! Messages that parsers with contexts have made in a batch, and what becomes of them: the counters of their
//! parser say it.

use super::reached::Reached;
use parsers::Parse;
use parsers::correlation::State;
use record::Batch;
use std::ops::Range;
use std::sync::Arc;

/// Counted when the batch has left the log paths; a panic on the way counts them as dropped.
#[derive(Default)]
pub(super) struct Made(Vec<(Range<usize>, Arc<dyn State>)>);

impl Made {
    /// Notes that a parser made those that joined the batch in `joined`.
    pub fn note(&mut self, joined: Range<usize>, parser: &dyn Parse) {
        if !joined.is_empty() {
            self.0.extend(parser.state().map(|state| (joined, state)));
        }
    }

    pub fn settle(&mut self, batch: &Batch, reached: &Reached) {
        for (joined, state) in self.0.drain(..) {
            let delivered =
                joined.clone().filter_map(|at| batch.joined_origin(at)).filter(|o| reached.has(*o));
            let delivered = delivered.count();
            state.counters().settled(delivered, joined.len() - delivered);
        }
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.iter().for_each(|(joined, state)| state.counters().contained(joined.len()));
        }
    }
}
