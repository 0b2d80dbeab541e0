//! Turns the syntax tree into programs: resolves names, builds drivers, lays out log paths. All errors are reported, nothing is opened.

mod applications;
mod assemble;
mod destinations;
mod filter_counters;
mod flags;
mod items;
mod misspelt;
mod objects;
mod paths;
mod scope;
mod sources;
mod statements;
mod states;
mod steps;
mod tags;
mod unused;

use crate::driver::{Destination, Registry, SourceDriver};
use crate::hooks::Hooks;
use crate::ledger::{PathCounters, StepCounters};
use crate::program::Program;
use crate::watch;
use conf_schema::{ReadContext, Settings};
use conf_syntax::{Config, Statement};
use diag::{Diagnostics, SourceMap, Span};
use objects::Objects;
use paths::Paths;
use scope::Names;
use std::collections::BTreeMap;
use std::sync::Arc;
use template::Identity;

/// A source driver ready to be started.
pub struct PlannedSource {
    pub group: String,
    /// `<statement>#<n>`.
    pub id: String,
    pub driver: SourceDriver,
    pub program: Arc<Program>,
    /// The call of the driver.
    pub span: Span,
    pub at: Arc<watch::Statement>,
}

impl PlannedSource {
    /// What the running source is to do from now on.
    pub fn settings(&self) -> crate::source::Settings {
        let mut settings = (self.driver.settings)(Arc::clone(&self.program));
        settings.at = Some(Arc::clone(&self.at));
        settings
    }
}

/// A destination driver that log paths already point to. `key` tells whether an equal one of the last configuration can stay.
pub struct PlannedDestination {
    pub id: String,
    pub key: DestinationKey,
    pub destination: Arc<dyn Destination>,
    /// The call of the driver.
    pub span: Span,
}

/// A log path as the ledger shows it.
pub struct PlannedPath {
    pub name: String,
    /// Its name, or its whole text: what it is known by after a reload.
    pub key: String,
    /// The configuration gives it a name.
    pub named: bool,
    pub counters: Arc<PathCounters>,
}

/// A filter, parser or junction of a source's own channel, as the ledger shows it.
#[derive(Clone)]
pub struct PlannedStep {
    /// The source statement.
    pub group: String,
    pub name: String,
    /// Where it stands, and the same told apart from others of its name in that place.
    pub place: String,
    pub detail: String,
    /// What it is known by after a reload.
    pub key: String,
    pub counters: Arc<StepCounters>,
}

/// A compiled configuration.
pub struct Plan {
    /// Destinations whose messages may be dropped when they are not in it, by statement or id.
    pub drops: Vec<String>,
    pub globals: Arc<Settings>,
    pub sources: Vec<PlannedSource>,
    pub destinations: Vec<PlannedDestination>,
    pub paths: Vec<PlannedPath>,
    pub steps: Vec<PlannedStep>,
    /// Counters of named filters, by name.
    pub filters: BTreeMap<String, Arc<StepCounters>>,
    /// Counters of named parsers, by name.
    pub parsers: BTreeMap<String, Arc<StepCounters>>,
    pub states: States,
    /// Commands to run when drivers come and go.
    pub hooks: Vec<Arc<Hooks>>,
}

/// Contexts of parsers, by the parser's key and the number of its reference.
pub type States = BTreeMap<String, Arc<dyn parsers::correlation::State>>;

/// What the running configuration lends to the next one: destinations that stay when nothing about them changed, and the counters of
/// log paths and filters, which go on under the same name.
#[derive(Default)]
pub struct Existing {
    pub destinations: BTreeMap<DestinationKey, Arc<dyn Destination>>,
    pub paths: BTreeMap<String, Arc<PathCounters>>,
    pub steps: BTreeMap<String, Arc<StepCounters>>,
    pub filters: BTreeMap<String, Arc<StepCounters>>,
    /// Counters of named parsers, by name.
    pub parsers: BTreeMap<String, Arc<StepCounters>>,
    pub states: States,
}

impl Existing {
    pub fn new() -> Existing {
        Existing::default()
    }
}

/// Identity of a destination with everything its options say.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DestinationKey {
    /// `<statement>#<n>`.
    pub id: String,
    pub options: String,
    /// Where it writes to, or its persist-name(). No two destinations of one configuration have the same.
    pub place: String,
}

/// Compiles a configuration. The plan is `None` when there are errors.
pub fn compile(
    config: &Config,
    texts: &SourceMap,
    registry: &Registry,
    identity: &Identity,
    existing: &Existing,
    diags: &mut Diagnostics,
) -> Option<Plan> {
    let calls = config.items.iter().filter_map(|s| match s {
        Statement::Options(o) => Some(&o.options),
        _ => None,
    });
    let read = ReadContext { sources: texts, globals: None };
    let globals = Arc::new(conf_schema::read_options(calls.flatten(), registry.options, &read, diags));
    tags::number(config);
    let objects = Objects::collect(config, diags);
    let version = config.version.map_or((4, 26), |v| (v.major, v.minor));
    let names = Names::new(&objects, &globals, version, texts, existing, diags);
    let mut paths = Paths::new(&objects, &names, texts, registry, &globals, identity, existing);
    paths.compile(diags);
    let plan = paths.finish(diags);
    if diags.has_errors() {
        return None;
    }
    names.values().report(config, diags);
    Some(plan)
}
