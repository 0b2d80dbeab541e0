//! What makes the sinks of a destination whose client is a library: a guest for each worker.

use crate::jobs::Jobs;
use crate::line::{Caller, Line};
use delivery::batching::MakeFlight;
use engine::Sink;
use engine::ledger::DestinationCounters;
use flight::{FlightSink, Limits, Part};
use std::sync::Arc;

/// `name` is what the log calls the destination. `load` makes what is sent of a batch, and `serve` the guest
/// that sends it.
pub fn sinks<L, F, R>(
    name: String,
    load: impl FnMut(&Part<'_>) -> L + Clone + Send + Sync + 'static,
    serve: F,
) -> MakeFlight
where
    L: Send + 'static,
    F: Fn(Jobs<L>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = ()> + Send + 'static,
{
    Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let line = Line::open(Caller::at(&place), &name, limits.away, load.clone(), serve.clone());
        line.sink(limits, &place.counters)
    })
}

impl<L: Send + 'static> Line<L> {
    /// The sink of the outlet that it belongs to.
    pub fn sink(self, limits: Limits, counters: &Arc<DestinationCounters>) -> Box<dyn Sink> {
        let (name, outlet) = (self.name().to_owned(), self.caller().outlet);
        Box::new(FlightSink::new(self, limits, name, outlet, counters))
    }
}
