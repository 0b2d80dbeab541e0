//! A destination with one outlet: a connection, a program, a terminal. The driver gives it the sink.

use super::target::Nudge;
use super::{disk_buffer, paced};
use crate::writer::Writer;
use diag::Fault;
use engine::driver::Destination;
use engine::ledger::DestinationCounters;
use engine::program::{Format, Scratch};
use engine::{Outbox, Outlet, QueueLimits, Shared, Sink, WorkerHandle};
use record::{Batch, Demand};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use template::Identity;

/// What a sink may use of the outlet it stands behind.
#[derive(Clone)]
pub struct SinkContext {
    pub id: u32,
    pub home: WorkerHandle,
    pub counters: Arc<DestinationCounters>,
    pub nudge: Arc<Nudge>,
    /// Set before an event when what is open is to be opened anew: a reload with keep-alive(no).
    pub restart: Arc<AtomicBool>,
}

/// What there is to do before the first message. The error says why the destination could never work here: a
/// privilege is missing, say.
pub type Prepare = Box<dyn Fn(&Shared) -> Result<(), Fault> + Send + Sync>;

pub type MakeSink = Box<dyn Fn(SinkContext) -> Box<dyn Sink> + Send + Sync>;

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
    pub prepare: Option<Prepare>,
    /// Tells it apart from the others of one destination, in what waits on disk; empty for one that is alone.
    pub part: String,
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
            prepare: None,
            part: String::new(),
            outlet: OnceLock::new(),
        }
    }
}

/// A destination for each of `places`, which together are one: all but the first count where it counts and
/// write as it does, and each has its share of throttle().
pub fn alike<T>(
    places: Vec<T>,
    mut writer: Writer,
    identity: &Identity,
    make: impl Fn(T, Writer) -> SingleDestination,
) -> Vec<SingleDestination> {
    writer.throttle = writer.throttle.div_ceil((places.len() as u32).max(1));
    let template = Arc::clone(&writer.template);
    let mut writer = Some(writer);
    let made = places.into_iter().map(|place| {
        // The others will have that of the first.
        make(place, writer.take().unwrap_or_else(|| Writer::new(Arc::clone(&template), identity)))
    });
    let mut made: Vec<SingleDestination> = made.collect();
    if let Some((first, others)) = made.split_first_mut() {
        for other in others {
            other.counters = Arc::clone(&first.counters);
            other.writer = Arc::clone(&first.writer);
            if other.part.is_empty() {
                other.part.clone_from(&other.instance);
            }
        }
    }
    made
}

impl Format for SingleDestination {
    fn format(&self, batch: &mut Batch, selection: &[u32], scratch: &mut Scratch, out: &mut Outbox) {
        // Messages come only after start().
        if let Some(outlet) = self.outlet.get() {
            self.writer.deliver(batch, selection, scratch, out, outlet);
        }
    }

    fn preview(&self, batch: &mut Batch, index: u32, scratch: &mut Scratch) -> Vec<(String, Vec<u8>)> {
        let shown = self.writer.preview(batch, index, scratch);
        shown.map(|output| (self.instance.clone(), output)).into_iter().collect()
    }

    fn reads(&self, demand: &mut Demand) {
        self.writer.reads(demand);
    }
}

impl Destination for SingleDestination {
    fn counters(&self) -> &Arc<DestinationCounters> {
        &self.counters
    }

    fn start(&self, shared: &Arc<Shared>) -> Result<(), Fault> {
        self.prepare.as_ref().map_or(Ok(()), |prepare| prepare(shared))?;
        self.writer.recall_numbers(shared.state());
        let home = shared.any_worker()?.clone();
        let nudge: Arc<Nudge> = Arc::default();
        let place = SinkContext {
            id: 0,
            home: home.clone(),
            counters: Arc::clone(&self.counters),
            nudge: Arc::clone(&nudge),
            restart: Arc::clone(&self.restart),
        };
        let sink = |id| paced::pace(&self.writer, id, (self.make)(SinkContext { id, ..place }));
        let outlet = Outlet::new(self.instance.clone(), Arc::clone(&self.counters), self.limits, home, sink);
        disk_buffer::keep(&self.writer, shared, &outlet, self.limits, self.part.as_bytes())?;
        nudge.set(&outlet);
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
            outlet.event();
        }
    }

    fn described(&self) -> (&'static str, String) {
        (self.driver, self.instance.clone())
    }
}
