//! The program while it runs: the engine, the configuration it has, and how that is replaced by another.

mod history;
mod reload;
mod removed;
mod statistics;
mod trial;

use control::Refusal;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::Thread;
use std::time::{Duration, SystemTime};

use conf_schema::Settings;
use control::cli::{RunOptions, SandboxUnsaid};
use diag::Fault;
use engine::compile::Existing;
use engine::hand_over::Queue;
use engine::{Engine, Shared, View};
use filter::Filter;
use oplog::Verbosity;
use parking_lot::{Mutex, MutexGuard, RwLock};
use template::Identity;

use crate::configuration::{Configuration, seconds};
use crate::console::Door;
use crate::diff;
use crate::lookout::Observed;
use crate::lookout::bounds::Bounds;
use crate::subject::graph;
use crate::subject::recording::Captures;
use crate::subject::secrets::Veil;
pub use history::{Gone, History};
use reload::{OnTrial, Previous};
use statistics::{Statistics, statistics};

const ENDING: &str = "the program is about to end";

/// What the program needs to remember of a configuration that runs.
#[derive(Clone)]
pub struct Running {
    pub original: String,
    pub preprocessed: String,
    pub id: String,
    pub files: Vec<String>,
    /// JSON.
    pub graph: String,
    /// Of each node of the graph the text, without secrets.
    pub statements: Arc<BTreeMap<String, String>>,
    /// Over its passwords and tokens.
    pub veil: Veil,
    /// When its main file was last changed, in seconds since 1970.
    pub modified: u64,
    pub view: View,
}

pub struct Daemon {
    path: PathBuf,
    /// Of the machine itself: configurations give it names.
    identity: Identity,
    /// As the command line said.
    verbosity: Verbosity,
    sandbox: SandboxUnsaid,
    /// None once the end has begun. Held while a configuration is put into effect.
    engine: Mutex<Option<Engine>>,
    /// What runs, to go back to it.
    current: Mutex<Configuration>,
    /// How long a new configuration is on trial, unless whoever asks for it says otherwise.
    trial: Duration,
    /// Held for the time of a reload and its trial.
    reloading: Mutex<()>,
    on_trial: OnTrial,
    /// What a roll-back puts into effect.
    previous: Mutex<Previous>,
    /// Another process has taken the place of this one.
    given: AtomicBool,
    /// Microseconds within which the service manager wants a sign of life; 0: it wants none.
    pub watchdog: AtomicU64,
    /// Seconds between the lines of stats(freq()); 0: none. And the thread that writes them.
    statistics_every: AtomicU64,
    statistics_thread: Mutex<Option<Thread>>,
    pub shared: Arc<Shared>,
    running: RwLock<Arc<Running>>,
    pub history: History,
    pub door: Door,
    /// What waits, is held or will be full, as it was seen last, and from when on that is a complaint.
    observed: Mutex<Observed>,
    bounds: Mutex<Bounds>,
    /// What is being recorded for somebody.
    pub captures: Captures,
    /// Bytes of what came that are kept: keep-input().
    keep_input: AtomicU64,
    /// Moments in seconds since 1970.
    pub reloaded: AtomicU64,
    pub reloaded_well: AtomicU64,
}

impl Daemon {
    /// Takes over an engine that runs `configuration`.
    pub fn new(
        options: &RunOptions,
        identity: Identity,
        engine: Engine,
        configuration: Configuration,
        globals: &Settings,
    ) -> Daemon {
        let now = seconds(SystemTime::now());
        let program = Daemon {
            path: options.config.clone(),
            identity,
            verbosity: options.verbosity,
            sandbox: options.sandbox,
            shared: Arc::clone(engine.shared()),
            running: RwLock::new(Arc::new(Running::new(&configuration, engine.view()))),
            engine: Mutex::new(Some(engine)),
            current: Mutex::new(configuration),
            trial: options.reload_health_time,
            reloading: Mutex::default(),
            on_trial: OnTrial::default(),
            previous: Mutex::default(),
            given: AtomicBool::new(false),
            watchdog: AtomicU64::new(0),
            statistics_every: AtomicU64::new(0),
            statistics_thread: Mutex::default(),
            history: History::default(),
            door: Door::new(options.console.as_deref().and_then(|text| web_console::address(text).ok())),
            observed: Mutex::default(),
            bounds: Mutex::new(Bounds::of(globals)),
            captures: Captures::default(),
            keep_input: AtomicU64::new(globals.size("keep-input").unwrap_or(0)),
            reloaded: AtomicU64::new(now),
            reloaded_well: AtomicU64::new(now),
        };
        program.apply_log_level(globals);
        program.apply_statistics(globals);
        program
    }

    pub fn observed(&self) -> Observed {
        self.observed.lock().clone()
    }

    pub fn observe(&self, observed: Observed) {
        *self.observed.lock() = observed;
    }

    /// Bytes of what came that are to be kept.
    pub fn keep_input(&self) -> u64 {
        self.keep_input.load(Ordering::Relaxed)
    }

    /// From when on the program is not well.
    pub fn bounds(&self) -> Bounds {
        self.bounds.lock().clone()
    }

    /// How often the counters are to be said in the log.
    pub fn statistics_every(&self) -> Option<Duration> {
        let seconds = self.statistics_every.load(Ordering::Relaxed);
        (seconds > 0).then(|| Duration::from_secs(seconds))
    }

    /// Names the thread that is to be woken when that changes.
    pub fn statistics_changed(&self, thread: Thread) {
        *self.statistics_thread.lock() = Some(thread);
    }

    /// Which metrics count, before the first message comes.
    pub fn apply_metrics(globals: &Settings) {
        let Statistics { level, max_dynamics, .. } = statistics(globals);
        parsers::metrics_probe::configure(level, max_dynamics);
    }

    fn apply_statistics(&self, globals: &Settings) {
        self.statistics_every.store(statistics(globals).freq, Ordering::Relaxed);
        if let Some(thread) = &*self.statistics_thread.lock() {
            thread.unpark();
        }
    }

    /// A filter expression, which may refer to the filters of the configuration that runs. The error is that
    /// of the language.
    pub fn filter(&self, text: &str) -> Result<Arc<Filter>, String> {
        self.current.lock().filter(text)
    }

    pub fn running(&self) -> Arc<Running> {
        Arc::clone(&self.running.read())
    }

    /// Everything that runs is opened anew: another process, to which it was given, has failed.
    pub fn restart(&self, engine: &mut Engine, queues: Vec<Queue>) -> Result<(), Fault> {
        let mut existing = Existing::new();
        existing.paths = engine.existing().paths.clone();
        existing.filters = engine.existing().filters.clone();
        existing.parsers = engine.existing().parsers.clone();
        existing.blocks = engine.existing().blocks.clone();
        existing.states = engine.existing().states.clone();
        let plan = self.current.lock().compile(&self.identity, &existing);
        let plan = plan.ok_or_else(|| Fault::misconfigured("it does not compile any more"))?;
        engine.resume(plan, queues).map_err(|faults| Fault::local(joined(&faults)))?;
        let running = self.running();
        let fresh = Arc::new(Running { view: engine.view().clone(), ..Running::clone(&running) });
        self.history.replaced(&running.view, &fresh.view);
        *self.running.write() = fresh;
        Ok(())
    }

    /// Looks at the configuration that runs. A reload waits meanwhile.
    pub fn with_configuration<T>(&self, look: impl FnOnce(&Configuration) -> T) -> T {
        look(&self.current.lock())
    }

    /// What the configuration that runs says of the console.
    pub fn console(&self) -> Option<web_console::Options> {
        self.current.lock().console.clone()
    }

    /// The configuration's file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names of this machine, by the configuration that runs.
    pub fn identity(&self) -> Identity {
        Identity { loghost: Arc::clone(&self.running().view.loghost), ..self.identity.clone() }
    }

    /// For whoever hands everything over to another process.
    pub fn engine(&self) -> MutexGuard<'_, Option<Engine>> {
        self.engine.lock()
    }

    /// Another process has taken over.
    pub fn given(&self) {
        self.given.store(true, Ordering::SeqCst);
    }

    pub fn is_given(&self) -> bool {
        self.given.load(Ordering::SeqCst)
    }

    /// The more talkative one of command line and `log-level()`; without that option, what was set at run
    /// time stays.
    fn apply_log_level(&self, globals: &Settings) {
        let given = globals.is_set("log-level");
        let level = globals.choice("log-level").and_then(|word| word.parse::<Verbosity>().ok());
        if let Some(level) = level.filter(|_| given) {
            oplog::set_verbosity(level.max(self.verbosity));
        }
    }

    /// Whether the file still is what runs.
    pub fn verify(&self) -> Result<String, Refusal> {
        let configuration = Configuration::read(&self.path);
        if configuration.id() == self.running().id {
            return Ok("Configuration file matches active configuration".into());
        }
        Err("Configuration file does not match active configuration".into())
    }

    /// What the file says differently from what runs.
    pub fn difference(&self) -> Result<String, Refusal> {
        let configuration = Configuration::read(&self.path);
        if let Some(error) = configuration.first_error() {
            return Err(error.into());
        }
        Ok(diff::told(&self.current.lock(), &configuration))
    }

    /// Whether what runs is what the file means.
    pub fn says_the_file(&self) -> bool {
        let configuration = Configuration::read(&self.path);
        configuration.first_error().is_none() && diff::is_none(&self.current.lock(), &configuration)
    }

    pub fn reopen(&self) {
        if let Some(engine) = self.engine.lock().as_ref() {
            engine.reopen();
        }
    }

    /// Begins the end: gives the engine away, after a reload that is under way.
    pub fn end(&self) -> Option<Engine> {
        self.engine.lock().take()
    }
}

impl Running {
    fn new(configuration: &Configuration, view: &View) -> Running {
        let config = configuration.config();
        let (graph, statements) = graph::of(config, &configuration.parsed.sources);
        Running {
            original: configuration.original().to_owned(),
            preprocessed: config.preprocessed.clone(),
            id: configuration.id(),
            files: config.files.iter().map(|path| path.display().to_string()).collect(),
            graph,
            statements: Arc::new(statements),
            veil: configuration.veil(),
            modified: configuration.modified,
            view: view.clone(),
        }
    }
}
/// All of them in one line.
pub fn joined(faults: &[Fault]) -> String {
    faults.iter().map(Fault::said).collect::<Vec<_>>().join("; ")
}
