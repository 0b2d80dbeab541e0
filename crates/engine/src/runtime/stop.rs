//! The end of the engine: what can be delivered is, what cannot is kept on disk or given to another process,
//! and the rest is given up, counted and said.

use super::Engine;
use super::hearing::{ANSWERS_MAX, hear_out};
use crate::chunk::Chunk;
use crate::hand_over::Queue;
use crate::ledger::Given;
use crate::outlet::Outlet;
use crate::worker;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where what cannot be delivered goes.
pub enum Rest<'a> {
    /// To disk, to be sent after the next start.
    Kept,
    /// To another process; returns once that has it safe. The error says why it has not.
    Given(&'a mut dyn FnMut(&[Queue]) -> Result<(), String>),
}

/// What a destination had left at the end.
pub struct LeftBehind {
    /// `<statement>#<n>`.
    pub destination: String,
    /// Messages on disk.
    pub kept: u64,
    pub given_up: Given,
}

impl Engine {
    /// Stops reading, waits for what was read to be delivered, at most `patience`, and ends the workers.
    /// Returns the destinations that had something left.
    pub fn stop(mut self, patience: Duration, rest: Rest<'_>) -> Vec<LeftBehind> {
        let ticked = self.ticked();
        let running = std::mem::take(&mut self.running);
        self.stop_sources(&running);
        // What was begun is not lost: contexts are closed as if their time was over.
        self.existing.states.values().for_each(|state| state.close());
        let until = Instant::now() + patience;
        self.empty_contexts(ticked, until);
        let outlets: Vec<_> = self.view.destinations.iter().flat_map(|(_, d)| d.outlets()).collect();
        while Instant::now() < until && outlets.iter().any(|o| o.is_settling()) {
            std::thread::park_timeout(Duration::from_millis(5));
        }
        hear_out(&outlets, ANSWERS_MAX);
        match rest {
            Rest::Given(give) if self.keeps_at_end => self.give_rest(give),
            _ => self.keep_rest(&outlets),
        }
        self.note_queues();
        self.shared.durable.settle();
        let kept = self.kept();
        // What is left is given up here; sources that can will read it again.
        for outlet in outlets {
            outlet.close();
        }
        // What was delivered just now is still to be told to those who wait to hear it.
        let until = Instant::now() + worker::LEAVE_MAX;
        while self.shared.is_any_leaving() && Instant::now() < until {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        for worker in self.workers() {
            worker.stop();
        }
        for thread in std::mem::take(&mut self.threads) {
            let _ = thread.join();
        }
        self.shared.durable.close();
        self.hooked.stop();
        self.left_behind(&kept)
    }

    /// Messages on disk, by destination in the order of the view.
    fn kept(&self) -> Vec<u64> {
        let on_disk = |outlet: &Arc<Outlet>| outlet.on_disk().map_or(0, |on| on.messages);
        self.view.destinations.iter().map(|(_, d)| d.outlets().iter().map(on_disk).sum()).collect()
    }

    fn left_behind(&self, kept: &[u64]) -> Vec<LeftBehind> {
        let all = self.view.destinations.iter().zip(kept).map(|((id, destination), kept)| LeftBehind {
            destination: id.clone(),
            kept: *kept,
            given_up: destination.counters().given_up.so_far(),
        });
        all.filter(|left| left.kept > 0 || left.given_up.messages > 0).collect()
    }

    /// What cannot be delivered is put on disk, to be sent after the next start.
    pub(super) fn keep_rest(&self, outlets: &[Arc<Outlet>]) {
        for outlet in outlets {
            outlet.counters.given_up.because("its queue was not empty at the end");
            if !self.keeps_at_end {
                outlet.counters.given_up.because("keep-on-stop(no)");
            } else if let Err(why) = outlet.take_refuge(&self.shared.durable) {
                outlet.counters.given_up.because(why.said());
                oplog::error(
                    "What waits for a destination cannot be kept until the next start",
                    &[("location", &outlet.name), ("error", &why)],
                );
            }
            if self.keeps_at_end {
                outlet.make_room();
            }
            outlet.store_rest();
        }
        self.note_kept();
    }

    /// What cannot be delivered goes to another process: this one has no store any more.
    fn give_rest(&self, give: &mut dyn FnMut(&[Queue]) -> Result<(), String>) {
        let (mut queues, mut owners) = (Vec::new(), Vec::new());
        for (id, destination) in &self.view.destinations {
            for outlet in destination.outlets() {
                let mut chunks = Vec::from(outlet.end());
                for chunk in &mut chunks {
                    chunk.seal();
                    chunk.rewind();
                }
                if chunks.iter().any(|chunk| !chunk.is_empty()) {
                    let name = destination.names_outlets().then(|| outlet.name.clone());
                    queues.push(Queue { destination: id.clone(), outlet: name, chunks });
                    owners.push(outlet);
                }
            }
        }
        if queues.is_empty() {
            return;
        }
        let outcome = give(&queues);
        for (queue, outlet) in queues.into_iter().zip(owners) {
            match &outcome {
                Ok(()) => {
                    let messages = queue.chunks.iter().map(Chunk::messages).sum();
                    outlet.counters.waiting.sub(messages);
                    queue.chunks.into_iter().for_each(|mut chunk| chunk.tickets.settle());
                }
                Err(why) => {
                    outlet.counters.given_up.because(why);
                    outlet.abandon(queue.chunks.into());
                }
            }
        }
    }
}
