//! Another process takes the place of this one: what runs here is handed over, or goes on as before when the
//! other one fails.

use super::Engine;
use super::heirs::Successors;
use crate::chunk::Chunk;
use crate::compile::Plan;
use crate::driver::Destination;
use crate::hand_over::{Handed, Queue};
use crate::outlet::Outlet;
use crate::worker::Parting;
use diag::Fault;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// How long destinations that move may empty their queues before the rest is handed over.
const DRAIN_MAX: Duration = Duration::from_millis(60);
/// The same of destinations with many outlets, such as files by host: what waits there cannot be handed over.
const DRAIN_MANY_MAX: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(1);

/// What a round of handing over has brought.
#[derive(Default)]
pub struct Parted {
    pub handed: Vec<Handed>,
    pub queues: Vec<Queue>,
    /// Connections in the middle of a handshake and the like: the next round may bring them.
    pub staying: usize,
    /// Connections of which the bytes are passed on by this process.
    pub passing: usize,
}

impl Engine {
    /// Stops all reading, and gives away every socket and connection another process can go on with, and what
    /// waits at destinations after a moment's time to send it. Can be called again for what stayed.
    pub fn part(&mut self) -> Parted {
        let mut parted = Parted::default();
        // Twice: in the first round a listener may still hand a connection to a worker that was visited
        // already.
        for _ in 0..2 {
            let parting = Arc::new(Parting::default());
            self.workers().iter().for_each(|worker| worker.part(&parting));
            self.barrier();
            parted.handed.append(&mut parting.handed.lock());
            parted.staying = parting.staying.load(Ordering::SeqCst);
            parted.passing = parting.passing.load(Ordering::SeqCst);
        }
        self.drain();
        self.hear_out_parting();
        if self.has_left_stores {
            parted.queues = self.export(|_, outlet| outlet.export_late());
            return parted;
        }
        parted.queues = match self.keeps_at_end {
            true => self.export(|id, outlet| self.leave_behind(id, outlet)),
            false => self.export(|_, outlet| outlet.export()),
        };
        self.leave_stores();
        parted
    }

    /// Nothing on disk is in use by this process any more.
    fn leave_stores(&mut self) {
        self.has_left_stores = true;
        let outlets = self.existing.destinations.values().flat_map(|destination| destination.outlets());
        let outlets: Vec<_> = outlets.filter(|outlet| outlet.is_on_disk()).collect();
        self.keep_rest(&outlets);
        self.shared.durable.settle();
        // What found no room there is read again by the other process, where its source can.
        outlets.iter().for_each(|outlet| outlet.close());
        self.shared.durable.close();
    }

    fn drain(&self) {
        let began = Instant::now();
        let is_through = |outlet: &Arc<Outlet>| outlet.waiting() == 0 && !outlet.is_awaited();
        let idle = |outlet: &Arc<Outlet>| is_through(outlet) || !outlet.is_moving();
        loop {
            let busy = |d: &Arc<dyn Destination>| !d.outlets().iter().all(idle);
            let mut busy = self.existing.destinations.values().filter(|d| busy(d));
            let many = busy.clone().any(|d| d.outlets().len() != 1);
            let most = if many { DRAIN_MANY_MAX } else { DRAIN_MAX };
            if busy.next().is_none() || began.elapsed() >= most {
                return;
            }
            std::thread::park_timeout(LOOK);
        }
    }

    /// Queues of destinations that have one only. Those of the others stay: nobody can know which outlet the
    /// other process will make.
    fn export(&self, take: impl Fn(&str, &Outlet) -> Vec<Chunk>) -> Vec<Queue> {
        let mut queues = Vec::new();
        for (key, destination) in &self.existing.destinations {
            if let [outlet] = destination.outlets().as_slice()
                && !outlet.is_on_disk()
                && !(self.alone.contains(&key.id) && outlet.is_moving())
            {
                let chunks = take(&key.id, outlet);
                if !chunks.is_empty() {
                    queues.push(Queue { destination: key.id.clone(), outlet: None, chunks });
                }
            }
        }
        queues
    }

    /// The other process failed: the plan, which is that of what ran, is put into effect anew. Sockets are
    /// those that were offered to `transport`.
    pub fn resume(&mut self, plan: Plan, queues: Vec<Queue>) -> Result<(), Vec<Fault>> {
        self.running.clear();
        self.has_left_stores = false;
        let before = std::mem::take(&mut self.existing.destinations);
        self.inherited = queues;
        let outcome = self.apply(plan);
        let successors = Successors::new(before.keys(), self.existing.destinations.keys());
        for (key, destination) in &before {
            self.hand_over(key, destination, &successors, &[]);
        }
        outcome
    }

    /// What the other process has no destination for is delivered here.
    pub fn put_back(&self, queues: Vec<Queue>) {
        for queue in queues {
            let own = self.existing.destinations.iter().find(|(key, _)| key.id == queue.destination);
            if let Some([outlet]) = own.map(|(_, d)| d.outlets()).as_deref() {
                outlet.put_back(queue.chunks);
            }
        }
    }

    /// The other process does not have these destinations: what waits there is handed over only where nothing
    /// moves.
    pub fn goes_on_alone(&mut self, destinations: Vec<String>) {
        self.alone = destinations.into_iter().collect();
        let all = self.existing.destinations.iter();
        let alone = all.filter(|(key, _)| self.alone.contains(&key.id)).flat_map(|(_, d)| d.outlets());
        alone.for_each(|outlet| outlet.goes_on());
    }

    /// Whether nothing that waits here moves, and the other process has the destinations for it: there it
    /// waits as well as here, and may go on with the configuration of that one.
    pub fn is_through_or_stuck(&self) -> bool {
        self.existing.destinations.iter().all(|(key, destination)| {
            // What is not handed over at the end would be given up.
            let may_stay = !self.keeps_at_end || self.alone.contains(&key.id);
            let mut waiting = destination.outlets().into_iter().filter(|outlet| outlet.waiting() > 0);
            waiting.all(|outlet| !may_stay && !outlet.is_moving())
        })
    }

    /// The other process goes on: contexts end, as if their time was over, and what they say is handed over
    /// as well.
    pub fn end_contexts(&mut self) -> Vec<Queue> {
        let ticked = self.ticked();
        if ticked.is_empty() {
            return Vec::new();
        }
        self.existing.states.values().for_each(|state| state.close());
        self.empty_contexts(ticked, Instant::now());
        self.drain();
        self.export(|_, outlet| outlet.export_late())
    }

    /// Asks the peers of connections that are passed on to go.
    pub fn farewell(&self) {
        self.workers().iter().for_each(|worker| {
            worker.each(|port| {
                port.farewell();
                false
            });
        });
    }

    /// What a process before this one has left for the destinations of the first plan.
    pub fn inherit(&mut self, queues: Vec<Queue>) {
        self.inherited = queues;
    }

    /// Destinations of [`Engine::inherit`] that the plan does not have.
    pub fn disinherited(&mut self) -> Vec<String> {
        std::mem::take(&mut self.inherited).into_iter().map(|queue| queue.destination).collect()
    }
}

/// Puts what another process has left in front of what waits at the destination, or gives it back when there
/// is none.
pub fn take_in<'a>(
    mut destinations: impl Iterator<Item = (&'a str, &'a Arc<dyn Destination>)>,
    queue: Queue,
) -> Result<(), Queue> {
    let Some((_, found)) = destinations.find(|(id, _)| *id == queue.destination) else { return Err(queue) };
    let outlet = match &queue.outlet {
        Some(name) if found.names_outlets() => found.outlet_named(name),
        // Which of several it was is not known: the first one is as good as any.
        None if !found.names_outlets() => found.outlets().into_iter().next(),
        _ => None,
    };
    let Some(outlet) = outlet else { return Err(queue) };
    outlet.take_in(queue.chunks);
    Ok(())
}
