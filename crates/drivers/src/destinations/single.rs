//! A destination with one outlet: a connection, a program, a terminal. The driver gives it the sink.

use super::paced;
use super::target::Nudge;
use crate::writer::Writer;
use engine::driver::Destination;
use engine::ledger::DestinationCounters;
use engine::program::{Format, Scratch};
use engine::{Outbox, Outlet, QueueLimits, Shared, Sink, WorkerHandle};
use record::Batch;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// What a sink may use of the outlet it stands behind.
#[derive(Clone)]
pub struct Place {
    pub id: u32,
    pub home: WorkerHandle,
    pub counters: Arc<DestinationCounters>,
    pub nudge: Arc<Nudge>,
    /// Set before an event when what is open is to be opened anew: a reload with keep-alive(no).
    pub restart: Arc<AtomicBool>,
}

/// Says before the first message why the destination could never work here: a privilege that is missing.
pub type Precondition = fn() -> Result<(), String>;

pub type MakeSink = Box<dyn Fn(Place) -> Box<dyn Sink> + Send + Sync>;

pub struct SingleDestination {
    pub driver: &'static str,
    /// Address, path or command, for statistics.
    pub instance: String,
    pub writer: Arc<Writer>,
    pub limits: QueueLimits,
    /// Stays open over a reload.
    pub keep_alive: bool,
    pub make: MakeSink,
    pub counters: Arc<DestinationCounters>,
    pub restart: Arc<AtomicBool>,
    pub precondition: Option<Precondition>,
    outlet: OnceLock<Arc<Outlet>>,
}

impl SingleDestination {
    pub fn new(
        (driver, instance): (&'static str, String),
        writer: Writer,
        limits: QueueLimits,
        keep_alive: bool,
        make: MakeSink,
    ) -> SingleDestination {
        SingleDestination {
            driver,
            instance,
            writer: Arc::new(writer),
            limits,
            keep_alive,
            make,
            counters: Arc::default(),
            restart: Arc::default(),
            precondition: None,
            outlet: OnceLock::new(),
        }
    }
}

impl Format for SingleDestination {
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox) {
        // Messages come only after start().
        if let Some(outlet) = self.outlet.get() {
            self.writer.deliver(batch, selection, scratch, out, outlet);
        }
    }
}

impl Destination for SingleDestination {
    fn counters(&self) -> &Arc<DestinationCounters> {
        &self.counters
    }

    fn start(&self, shared: &Arc<Shared>) -> Result<(), String> {
        self.precondition.map_or(Ok(()), |holds| holds())?;
        self.writer.recall_numbers(shared.state());
        let home = shared.any_worker().ok_or("there are no workers")?.clone();
        let nudge: Arc<Nudge> = Arc::default();
        let place = Place {
            id: 0,
            home: home.clone(),
            counters: Arc::clone(&self.counters),
            nudge: Arc::clone(&nudge),
            restart: Arc::clone(&self.restart),
        };
        let sink = |id| paced::pace(&self.writer, id, (self.make)(Place { id, ..place }));
        let outlet = Outlet::new(self.instance.clone(), Arc::clone(&self.counters), self.limits, home, sink);
        nudge.set(&outlet);
        // Opens what there is to open, so that trouble shows before the first message.
        outlet.event(&mut Vec::new());
        let _ = self.outlet.set(outlet);
        Ok(())
    }

    fn outlets(&self) -> Vec<Arc<Outlet>> {
        self.outlet.get().cloned().into_iter().collect()
    }

    fn reloaded(&self) {
        if !self.keep_alive
            && let Some(outlet) = self.outlet.get()
        {
            self.restart.store(true, Ordering::Relaxed);
            outlet.event(&mut Vec::new());
        }
    }

    fn described(&self) -> (&'static str, String) {
        (self.driver, self.instance.clone())
    }
}
