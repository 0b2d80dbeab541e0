//! A worker's part in handing over to another process: each port gives what it can, some stay and pass on.

use super::{Port, Worker};
use crate::hand_over::{Handed, Part};
use mio::Token;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What the ports of all workers have given.
#[derive(Default)]
pub(crate) struct Parting {
    pub handed: Mutex<Vec<Handed>>,
    /// Ports that are in the middle of something.
    pub staying: AtomicUsize,
    /// Ports that do nothing but pass on.
    pub passing: AtomicUsize,
}

impl Worker {
    pub(super) fn part(&mut self, parting: &Parting) {
        let parts = |port: &dyn Port| port.parts();
        let all: Vec<usize> =
            self.ports.iter().filter(|(_, port)| parts(&***port)).map(|(at, _)| at).collect();
        for at in all {
            let Some(port) = self.ports.get_mut(at) else { continue };
            self.cx.token = Token(at);
            match port.part(&mut self.cx) {
                Part::Closes => self.leave(at),
                Part::Stays if port.passes_on() => drop(parting.passing.fetch_add(1, Ordering::SeqCst)),
                Part::Stays => drop(parting.staying.fetch_add(1, Ordering::SeqCst)),
                Part::Gone(handed) => {
                    drop(self.ports.remove(at));
                    parting.handed.lock().extend(handed);
                }
                Part::Becomes(connection, mut instead) => {
                    *instead.queued() = std::mem::take(port.queued());
                    *port = instead;
                    parting.passing.fetch_add(1, Ordering::SeqCst);
                    parting.handed.lock().push(Handed::Connection(*connection));
                    // What is there already will not be announced again.
                    self.enqueue(at);
                }
            }
        }
    }
}
