//! What a log holds for messages until they are safe: the tickets of their batches.

use super::LogFolder;
use super::latency::SafeLatency;
use crate::window::Tickets;
use std::any::Any;
use std::sync::Arc;
use store::{Held, OnSafe};

/// Told when they are safe: their tickets are settled, and how long that took is noted.
pub(crate) struct Stored {
    tickets: Tickets,
    messages: u64,
    /// Of messages that are only given to the system, the time says nothing.
    latency: Option<Arc<SafeLatency>>,
}

impl Stored {
    /// The sources of messages that have to be on disk look at the log before they read on.
    pub fn new(tickets: Tickets, messages: usize, place: &LogFolder, reliable: bool) -> Stored {
        if reliable {
            tickets.iter().for_each(|ticket| ticket.waits_for(place.log.load()));
        }
        let latency = reliable.then(|| Arc::clone(&place.latency));
        Stored { tickets, messages: messages as u64, latency }
    }

    /// Of messages whose sources are not to look at the log.
    pub fn of(tickets: Tickets) -> Stored {
        Stored { tickets, messages: 0, latency: None }
    }

    /// Those of messages that were not stored.
    pub fn tickets_of(held: Held) -> Tickets {
        let held: Box<dyn Any> = held;
        held.downcast::<Stored>().map_or_else(|_| Tickets::default(), |stored| stored.tickets)
    }
}

impl OnSafe for Stored {
    fn safe(mut self: Box<Self>) {
        if let (Some(latency), Some(oldest)) = (&self.latency, self.tickets.first()) {
            latency.note(oldest.age(), self.messages);
        }
        self.tickets.settle();
    }

    fn never_safe(mut self: Box<Self>) {
        self.tickets.give_up();
    }
}
