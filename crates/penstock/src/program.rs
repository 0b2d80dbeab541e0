//! The program while it runs: the engine, the configuration it has, and how that is replaced by another.

mod history;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use conf_schema::Settings;
use control::cli::RunOptions;
use engine::{Engine, Shared, View};
use oplog::Verbosity;
use parking_lot::{Mutex, RwLock};
use template::Identity;

use crate::configuration::{Configuration, seconds};
use crate::run::notify;
use crate::subject::graph;
pub use history::{Gone, History};

/// What the program needs to remember of a configuration that runs.
pub struct Running {
    pub original: String,
    pub preprocessed: String,
    pub id: String,
    pub files: Vec<String>,
    /// JSON.
    pub graph: String,
    /// When its main file was last changed, in seconds since 1970.
    pub modified: u64,
    pub view: View,
}

pub struct Program {
    path: PathBuf,
    identity: Identity,
    /// As the command line said.
    verbosity: Verbosity,
    /// None once the end has begun. Held for the time of a reload.
    engine: Mutex<Option<Engine>>,
    pub shared: Arc<Shared>,
    running: RwLock<Arc<Running>>,
    pub history: History,
    /// Moments in seconds since 1970.
    pub reloaded: AtomicU64,
    pub reloaded_well: AtomicU64,
}

impl Program {
    /// Takes over an engine that runs `configuration`.
    pub fn new(
        options: &RunOptions,
        identity: Identity,
        engine: Engine,
        configuration: &Configuration,
        globals: &Settings,
    ) -> Program {
        let now = seconds(SystemTime::now());
        let program = Program {
            path: options.config.clone(),
            identity,
            verbosity: options.verbosity,
            shared: Arc::clone(engine.shared()),
            running: RwLock::new(Arc::new(Running::new(configuration, engine.view()))),
            engine: Mutex::new(Some(engine)),
            history: History::default(),
            reloaded: AtomicU64::new(now),
            reloaded_well: AtomicU64::new(now),
        };
        program.apply_log_level(globals);
        apply_statistics(globals);
        program
    }

    pub fn running(&self) -> Arc<Running> {
        Arc::clone(&self.running.read())
    }

    /// Reads the configuration again and puts it into effect. When that fails, the one that runs has never stopped. Both outcomes
    /// are sentences.
    pub fn reload(&self) -> Result<String, String> {
        let mut slot = self.engine.lock();
        let Some(engine) = slot.as_mut() else { return Err("the program is about to end".into()) };
        notify::reloading();
        oplog::notice("Configuration reload request received, reloading configuration", &[]);
        let outcome = self.replace(engine);
        let now = seconds(SystemTime::now());
        self.reloaded.store(now, Ordering::Relaxed);
        match &outcome {
            Ok(()) => {
                self.reloaded_well.store(now, Ordering::Relaxed);
                oplog::notice("Configuration reload finished", &[]);
            }
            Err(error) => {
                oplog::error(
                    "Error initializing configuration, reverting back to the old one",
                    &[("error", error)],
                );
            }
        }
        notify::ready();
        match outcome {
            Ok(()) => Ok("Config reload successful".into()),
            Err(error) => Err(format!("Config reload failed, reverted to previous config: {error}")),
        }
    }

    fn replace(&self, engine: &mut Engine) -> Result<(), String> {
        let mut configuration = Configuration::read(&self.path);
        let plan = configuration.compile(&self.identity, engine.existing());
        configuration.log_findings();
        let Some(plan) = plan else {
            return Err(configuration.first_error().unwrap_or_else(|| "the configuration has errors".into()));
        };
        let globals = Arc::clone(&plan.globals);
        engine.apply(plan).map_err(|errors| errors.join("; "))?;
        let fresh = Arc::new(Running::new(&configuration, engine.view()));
        let old = std::mem::replace(&mut *self.running.write(), Arc::clone(&fresh));
        self.history.replaced(&old.view, &fresh.view);
        self.apply_log_level(&globals);
        apply_statistics(&globals);
        Ok(())
    }

    /// The more talkative one of command line and `log-level()`; without that option, what was set at run time stays.
    fn apply_log_level(&self, globals: &Settings) {
        let given = globals.is_set("log-level");
        let level = globals.choice("log-level").and_then(|word| word.parse::<Verbosity>().ok());
        if let Some(level) = level.filter(|_| given) {
            oplog::set_verbosity(level.max(self.verbosity));
        }
    }

    /// Whether the file still is what runs.
    pub fn verify(&self) -> Result<String, String> {
        let configuration = Configuration::read(&self.path);
        if configuration.id() == self.running().id {
            return Ok("Configuration file matches active configuration".into());
        }
        Err("Configuration file does not match active configuration".into())
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
        Running {
            original: configuration.original().to_owned(),
            preprocessed: config.preprocessed.clone(),
            id: configuration.id(),
            files: config.files.iter().map(|path| path.display().to_string()).collect(),
            graph: graph::of(config),
            modified: configuration.modified,
            view: View {
                sources: view.sources.clone(),
                destinations: view.destinations.clone(),
                paths: view.paths.clone(),
                filters: view.filters.clone(),
                parsers: view.parsers.clone(),
                states: view.states.clone(),
            },
        }
    }
}

/// stats(level() max-dynamics()), or the options of old that say the same.
fn apply_statistics(globals: &Settings) {
    let block = globals.block("stats");
    let number = |name: &str, old: &str| {
        let given = block.filter(|stats| stats.is_set(name)).and_then(|stats| stats.int(name));
        given.or(globals.int(old).filter(|_| globals.is_set(old)))
    };
    let level = number("level", "stats-level").and_then(|n| u8::try_from(n).ok()).unwrap_or(0);
    let max = number("max-dynamics", "stats-max-dynamics").and_then(|n| usize::try_from(n).ok());
    parsers::metrics_probe::configure(level, max);
}
