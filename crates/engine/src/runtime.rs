//! The engine as a whole: starts a plan, replaces it by another one without losing a message, and stops.

mod berths;
mod hearing;
mod heirs;
mod kept;
mod stop;
pub(crate) mod take_over;

pub use stop::{LeftBehind, Rest};

use crate::compile::{Existing, Plan, PlannedSource, PlannedStep, States};
use crate::driver::Destination;
use crate::hand_over::Queue;
use crate::hooks::Hooked;
use crate::outlet::Outlet;
use crate::plan_map::PlanMap;
use crate::source::{Source, SourceName};
use crate::window::Budget;
use crate::worker::{self, Shared, Ticked, Worker, WorkerHandle};
use diag::Fault;
use heirs::Successors;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use template::Identity;

/// What does not change while the process lives.
pub struct EngineOptions {
    /// 1..=256.
    pub workers: usize,
    /// Bytes of messages under way in the whole process.
    pub memory_max: usize,
    /// Whether one connection's batches may go to several cores.
    pub sharing: bool,
    pub identity: Identity,
}

/// How often something is looked at that is waited for.
const LOOK: Duration = Duration::from_millis(1);

struct Running {
    key: String,
    opened_with: String,
    source: Arc<Source>,
    planned: Arc<PlannedSource>,
}

/// What is running now, for statistics and the ledger.
#[derive(Clone, Default)]
pub struct View {
    /// `$LOGHOST`.
    pub loghost: Arc<str>,
    pub sources: Vec<Arc<Source>>,
    pub destinations: Vec<(String, Arc<dyn Destination>)>,
    pub paths: Vec<(String, Arc<crate::ledger::PathCounters>)>,
    /// Steps of the sources' own channels.
    pub steps: Vec<PlannedStep>,
    /// What each step of the programs is.
    pub map: Arc<PlanMap>,
    /// Which of the paths the configuration gives a name.
    pub named: BTreeSet<String>,
    pub filters: BTreeMap<String, Arc<crate::ledger::StepCounters>>,
    pub parsers: BTreeMap<String, Arc<crate::ledger::StepCounters>>,
    /// Why blocks of FilterX failed, by their place.
    pub blocks: BTreeMap<String, Arc<crate::ledger::FailureCounters>>,
    /// Contexts of parsers.
    pub states: States,
}

impl View {
    /// The log paths with a name, once each.
    pub fn named_paths(&self) -> impl Iterator<Item = (&str, &crate::ledger::PathCounters)> {
        let mut seen = BTreeSet::new();
        let named = self.paths.iter().filter(|(name, _)| self.named.contains(name));
        named
            .filter(move |(name, _)| seen.insert(name.as_str()))
            .map(|(name, counters)| (name.as_str(), &**counters))
    }
}

pub struct Engine {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    running: Vec<Running>,
    existing: Existing,
    view: View,
    /// What a process before this one has left for destinations.
    inherited: Vec<Queue>,
    hooked: Hooked,
    /// What cannot be delivered at the end is left on disk.
    keeps_at_end: bool,
    /// Destinations that the process which has taken over does not have.
    alone: BTreeSet<String>,
    /// Another process may have the logs by now.
    has_left_stores: bool,
}

impl Engine {
    /// Starts the workers. Fails when the system gives no threads or descriptors.
    pub fn new(options: &EngineOptions) -> std::io::Result<Engine> {
        let count = options.workers.clamp(1, 256);
        let shared = Shared::new(count, Budget::for_workers(options.memory_max, count), options.sharing);
        let mut workers = Vec::new();
        for index in 0..count {
            workers.push(Worker::new(index, Arc::clone(&shared), options.identity.clone())?);
        }
        shared.set_workers(workers.iter().map(Worker::handle).collect());
        let mut threads = Vec::new();
        for (index, worker) in workers.into_iter().enumerate() {
            let name = format!("worker-{index}");
            threads.push(std::thread::Builder::new().name(name).spawn(move || worker.run())?);
        }
        Ok(Engine {
            shared,
            threads,
            running: Vec::new(),
            existing: Existing::new(),
            view: View::default(),
            inherited: Vec::new(),
            hooked: Hooked::default(),
            keeps_at_end: true,
            alone: BTreeSet::new(),
            has_left_stores: false,
        })
    }

    pub fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// What a new plan may take over.
    pub fn existing(&self) -> &Existing {
        &self.existing
    }

    pub fn view(&self) -> &View {
        &self.view
    }

    fn workers(&self) -> &[WorkerHandle] {
        self.shared.workers()
    }

    /// Puts a plan into effect in place of the one that runs. When something of it cannot be opened, what ran
    /// before runs on, and the errors come back.
    pub fn apply(&mut self, plan: Plan) -> Result<(), Vec<Fault>> {
        #[cfg(feature = "python")]
        {
            python::keep_in(self.shared.state());
            python::start().map_err(|error| vec![Fault::local(error)])?;
        }
        let hooks = plan.hooks.clone();
        self.hooked.begin(&hooks).map_err(|fault| vec![fault])?;
        self.open(plan).inspect_err(|_| self.hooked.undo(&hooks))?;
        self.hooked.replace(hooks);
        self.outlets().for_each(|outlet| outlet.reloaded());
        Ok(())
    }

    fn open(&mut self, plan: Plan) -> Result<(), Vec<Fault>> {
        self.may_remove(&plan)?;
        self.keeps_at_end = plan.globals.bool("keep-on-stop").unwrap_or(true);
        let wanted = plan.globals.bool("dead-letters").unwrap_or(false);
        let letters = self.shared.durable.keep_letters(wanted).map_err(|fault| vec![fault])?;
        let mut fresh = Vec::new();
        for planned in &plan.destinations {
            let letters = letters.as_ref().map(|letters| (letters, planned.id.as_str()));
            planned.destination.counters().dead_letters.set(letters);
            if self.existing.destinations.contains_key(&planned.key) {
                continue;
            }
            if let Err(fault) = planned.destination.start(&self.shared) {
                close_all(&fresh);
                return Err(vec![fault.at(&planned.id)]);
            }
            // Until those that are replaced have handed over what waits there, in memory or on disk.
            planned.destination.hold();
            fresh.push(Arc::clone(&planned.destination));
        }
        let loghost = Arc::clone(&plan.identity.loghost);
        let Plan {
            drops, sources, destinations, paths, steps, map, filters, parsers, blocks, states, ..
        } = plan;
        let ticked = self.ticked();
        for queue in std::mem::take(&mut self.inherited) {
            let all = destinations.iter().map(|d| (d.id.as_str(), &d.destination));
            self.inherited.extend(take_over::take_in(all, queue).err());
        }
        let planned: Vec<Arc<PlannedSource>> = sources.into_iter().map(Arc::new).collect();
        if let Err(faults) = self.switch_sources(&planned) {
            close_all(&fresh);
            return Err(faults);
        }
        // Nothing formats for the old destinations any more once every worker has been round.
        self.barrier();
        let stays = |state| states.values().any(|s| Arc::ptr_eq(s, state));
        for gone in self.existing.states.values().filter(|state| !stays(state)) {
            gone.close();
        }
        self.empty_contexts(ticked, Instant::now());
        let mut now = Existing::new();
        let mut shown = Vec::new();
        for planned in destinations {
            shown.push((planned.id.clone(), Arc::clone(&planned.destination)));
            now.destinations.insert(planned.key, planned.destination);
        }
        now.paths = paths.iter().map(|p| (p.key.clone(), Arc::clone(&p.counters))).collect();
        now.steps = steps.iter().map(|step| (step.key.clone(), Arc::clone(&step.counters))).collect();
        now.filters = filters.clone();
        now.parsers = parsers.clone();
        now.blocks = blocks.clone();
        now.states = states.clone();
        let old = std::mem::replace(&mut self.existing, now).destinations;
        let successors = Successors::new(old.keys(), self.existing.destinations.keys());
        self.hear_out_replaced(&old, &successors);
        for (key, destination) in &old {
            match self.existing.destinations.contains_key(key) {
                true => destination.reloaded(),
                false => self.hand_over(key, destination, &successors, &drops),
            }
        }
        self.take_along(&fresh);
        fresh.iter().for_each(|destination| destination.release());
        self.bury_kept(old.is_empty());
        for Running { source, .. } in &self.running {
            let letters = letters.as_ref().map(|letters| (letters, source.id.as_str()));
            source.counters.dead_letters.set(letters);
        }
        self.note_queues();
        self.shared.durable.say_unused();
        self.view = View {
            loghost,
            sources: self.running.iter().map(|r| Arc::clone(&r.source)).collect(),
            destinations: shown,
            named: paths.iter().filter(|p| p.named).map(|p| p.name.clone()).collect(),
            paths: paths.into_iter().map(|p| (p.name, p.counters)).collect(),
            steps,
            map,
            filters,
            parsers,
            blocks,
            states,
        };
        Ok(())
    }

    fn switch_sources(&mut self, planned: &[Arc<PlannedSource>]) -> Result<(), Vec<Fault>> {
        let same =
            |r: &Running, p: &PlannedSource| r.key == p.driver.key && r.opened_with == p.driver.opened_with;
        let (mut kept, dropped): (Vec<Running>, Vec<Running>) =
            self.running.drain(..).partition(|r| planned.iter().any(|p| same(r, p)));
        // Addresses have to be free before others can have them.
        self.stop_sources(&dropped);
        let mut started: Vec<Running> = Vec::new();
        let mut faults = Vec::new();
        for p in planned.iter().filter(|p| !kept.iter().any(|r| same(r, p))) {
            let running = Running::new(p);
            match p.driver.start.start(&self.shared, &running.source) {
                Ok(()) => started.push(running),
                Err(fault) => faults.push(fault.at(&p.id)),
            }
        }
        if faults.is_empty() {
            for running in &mut kept {
                if let Some(p) = planned.iter().find(|p| same(running, p)) {
                    running.source.set_settings(p.settings());
                    // The program that it had is needed no more, nor what runs for it.
                    running.planned = Arc::clone(p);
                }
            }
            self.running = kept.into_iter().chain(started).collect();
            self.note_stateful();
            return Ok(());
        }
        self.stop_sources(&started);
        let mut again = kept;
        for old in dropped {
            match old.planned.driver.start.start(&self.shared, &old.source) {
                Ok(()) => again.push(old),
                Err(fault) => faults.push(fault.at("cannot be opened again").at(&old.planned.id)),
            }
        }
        self.running = again;
        self.note_stateful();
        Err(faults)
    }

    fn note_stateful(&self) {
        let sources = self.running.iter().map(|r| Arc::clone(&r.source));
        self.shared.set_stateful(sources.filter(|s| s.settings().program.is_stateful()).collect());
    }

    /// The sources that run now and whose log paths have contexts.
    fn ticked(&self) -> Vec<Ticked> {
        let all = self.running.iter().map(|r| (Arc::clone(&r.source), r.source.settings()));
        all.filter(|(_, settings)| settings.program.is_stateful()).collect()
    }

    /// Gives log paths ticks, in which contexts that were closed say their last. What one tick has made is
    /// waited for before the next, up to `until`.
    fn empty_contexts(&self, ticked: Vec<Ticked>, until: Instant) {
        let Some(worker) = self.workers().first().filter(|_| !ticked.is_empty()) else { return };
        let ticked = Arc::new(ticked);
        loop {
            let (tell, told) = sync_channel(1);
            let round = Arc::clone(&ticked);
            // Nobody listens only where this thread is gone.
            worker.run(move |cx| drop(tell.send(worker::portion(cx, &round))));
            let Ok(Some(made)) = told.recv() else { break };
            while made.used() > 0 && Instant::now() < until {
                std::thread::park_timeout(LOOK);
            }
        }
        self.barrier();
    }

    fn stop_sources(&self, stopping: &[Running]) {
        if stopping.is_empty() {
            return;
        }
        let sources: Arc<Vec<Arc<Source>>> =
            Arc::new(stopping.iter().map(|r| Arc::clone(&r.source)).collect());
        // Twice: in the first round a listener may still hand a connection to a worker that was visited
        // already.
        for _ in 0..2 {
            for worker in self.workers() {
                let sources = Arc::clone(&sources);
                worker.each(move |port| {
                    port.source().is_some_and(|s| sources.iter().any(|x| Arc::ptr_eq(x, s)))
                });
            }
            self.barrier();
        }
    }

    /// Waits until every worker has finished what it had read. Two rounds: the first may hand batches to
    /// workers already visited.
    fn barrier(&self) {
        for _ in 0..2 {
            let (done, waiting) = sync_channel(0);
            for worker in self.workers() {
                worker.barrier(done.clone());
            }
            drop(done);
            // Ends when every worker has dropped its sender.
            let _ = waiting.recv();
        }
    }

    /// SIGUSR1: files are opened anew.
    pub fn reopen(&self) {
        self.outlets().for_each(|outlet| outlet.reopen());
    }

    /// Notes on disk whose queues there are.
    fn note_queues(&self) {
        let keys = self.existing.destinations.keys();
        self.shared.durable.note_names(keys.map(|key| (key.id.as_str(), key.place.as_str())));
    }

    fn outlets(&self) -> impl Iterator<Item = Arc<Outlet>> {
        self.view.destinations.iter().flat_map(|(_, destination)| destination.outlets())
    }
}

impl Running {
    fn new(planned: &Arc<PlannedSource>) -> Running {
        let driver = &planned.driver;
        let settings = planned.settings();
        Running {
            key: driver.key.clone(),
            opened_with: driver.opened_with.clone(),
            source: Source::new(
                SourceName {
                    group: planned.group.as_str().into(),
                    id: planned.id.clone(),
                    driver: driver.driver,
                    instance: driver.instance.clone(),
                    carrier: driver.carrier.clone(),
                },
                settings,
            ),
            planned: Arc::clone(planned),
        }
    }
}

fn close_all(destinations: &[Arc<dyn Destination>]) {
    for outlet in destinations.iter().flat_map(|d| d.outlets()) {
        outlet.close();
    }
}
