//! Messages given to a destination past all sources and log paths: imported from a foreign queue, or dead
//! letters that are tried again.

use crate::chunk::Chunk;
use crate::dead_letters::Letter;
use crate::driver::Destination;
use crate::outbox::Outbox;
use crate::outlet::Outlet;
use crate::program::Scratch;
use crate::window::{Mark, Window};
use crate::worker::Shared;
use record::{Batch, Stamp};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes that may wait at a destination before more is given.
const WINDOW_BYTES: usize = 16 << 20;
/// How long a destination may take nothing before it is given up.
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(2);

/// Gives messages to destinations, with flow control.
pub struct Injector {
    scratch: Scratch,
    window: Arc<Window>,
    outbox: Outbox,
}

impl Injector {
    pub fn new(shared: &Shared, identity: template::Identity) -> Injector {
        let window = Window::new(WINDOW_BYTES, None, Arc::clone(&shared.budget));
        let mut outbox = Outbox::default();
        outbox.flow_control = true;
        Injector { scratch: Scratch::new(identity), window, outbox }
    }

    /// Waits until more may be given. `false` when the destination takes nothing.
    pub fn wait(&self) -> bool {
        let mut left = self.window.used();
        let mut deadline = Instant::now() + PATIENCE;
        while left >= WINDOW_BYTES {
            std::thread::park_timeout(LOOK);
            let now = self.window.used();
            if now < left {
                (left, deadline) = (now, Instant::now() + PATIENCE);
            } else if Instant::now() > deadline {
                return false;
            }
        }
        true
    }

    /// Formats the messages of a batch as the destination does and puts them at the end of its queues.
    pub fn format(&mut self, destination: &dyn Destination, batch: &mut Batch) {
        let selection: Vec<u32> = (0..batch.records.len() as u32).collect();
        let ticket = self.window.ticket(batch.text.len(), selection.len());
        self.scratch.begin_batch(Stamp::now(0));
        destination.format(batch, &selection, &mut self.scratch, &mut self.outbox);
        let parcels = self.outbox.take(&ticket);
        ticket.settle();
        for (outlet, chunk) in parcels {
            outlet.push(chunk);
            outlet.pump();
        }
    }

    /// Puts the message of a letter at the end of one queue, in the form that belongs there. `mark` goes when
    /// it is dealt with.
    pub fn push(&mut self, outlet: &Arc<Outlet>, letter: &Letter<'_>, mark: Mark) {
        let message = outlet.formed(letter.form, letter.message, letter.text);
        let message = outlet.again(&message);
        let ends = vec![message.len() as u32];
        let mut chunk = Chunk::read_back(message.to_vec(), ends, 0, None);
        chunk.flow_control = true;
        chunk.tickets.push(self.window.marked(message.len(), 1, Some(mark)));
        outlet.push_new(chunk);
        outlet.pump();
    }
}
