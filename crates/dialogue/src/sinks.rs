//! What makes the sinks of a destination that is a dialogue: a session and a connection for each worker.

use crate::client::Dialogue;
use crate::dial::Dial;
use crate::session::Session;
use delivery::batching::MakeFlight;
use engine::Sink;
use flight::{FlightSink, Limits};
use std::sync::Arc;

/// `name` is what the log calls the destination.
pub fn sinks<S: Session + 'static>(
    name: String,
    dial: Arc<Dial>,
    session: impl Fn() -> S + Send + Sync + 'static,
) -> MakeFlight {
    Arc::new(move |place, limits: Limits| -> Box<dyn Sink> {
        let (outlet, counters) = (place.id, Arc::clone(&place.counters));
        let client = Dialogue::new(place, Arc::clone(&dial), session());
        Box::new(FlightSink::new(client, limits, name.clone(), outlet, &counters))
    })
}
