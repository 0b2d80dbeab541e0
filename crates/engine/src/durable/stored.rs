//! What a log holds for messages until they are safe: the tickets of their batches.

use super::Place;
use super::latency::SafeLatency;
use crate::window::Ticket;
use std::sync::Arc;

/// Dropped when they are safe: their sources hear of it, and how long that took is noted.
pub(crate) struct Stored {
    tickets: Vec<Arc<Ticket>>,
    messages: u64,
    /// Of messages that are only given to the system, the time says nothing.
    latency: Option<Arc<SafeLatency>>,
}

impl Stored {
    /// The sources of messages that have to be on disk look at the log before they read on.
    pub fn new(tickets: Vec<Arc<Ticket>>, messages: usize, place: &Place, reliable: bool) -> Stored {
        if reliable {
            tickets.iter().for_each(|ticket| ticket.waits_for(place.log.load()));
        }
        let latency = reliable.then(|| Arc::clone(&place.latency));
        Stored { tickets, messages: messages as u64, latency }
    }

    /// They were not stored.
    pub fn into_tickets(mut self) -> Vec<Arc<Ticket>> {
        std::mem::take(&mut self.tickets)
    }
}

impl Drop for Stored {
    fn drop(&mut self) {
        if let (Some(latency), Some(oldest)) = (&self.latency, self.tickets.first()) {
            latency.note(oldest.age(), self.messages);
        }
    }
}
