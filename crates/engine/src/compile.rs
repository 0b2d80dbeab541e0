//! Turns the syntax tree into programs: resolves names, builds drivers, lays out log paths. All errors are
//! reported, nothing is opened.

mod applications;
mod assemble;
mod destinations;
mod expressions;
mod filter_counters;
mod fingerprint;
mod flags;
mod items;
mod misspelt;
mod objects;
mod paths;
#[cfg(feature = "python")]
mod python;
mod scope;
mod sources;
mod statements;
mod states;
mod steps;
mod tags;
mod transformations;
mod unused;

use crate::driver::{Destination, Needs, Registry, SourceDriver, Start, all_needs};
use crate::hooks::Hooks;
use crate::ledger::{FailureCounters, PathCounters, StepCounters};
use crate::need::Need;
use crate::plan_map::{Entrance, PlanMap, StepId};
use crate::program::Program;
use conf_schema::{Component, Context, ReadContext, Settings};
use conf_syntax::{Config, FilterExpr, Statement};
use diag::{Diagnostics, SourceMap, Span};
use filter::Filter;
use objects::Objects;
use paths::Paths;
use scope::Names;
pub(crate) use scope::global_template_options;
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
    pub at: Entrance,
}

impl PlannedSource {
    /// What the running source is to do from now on.
    pub fn settings(&self) -> crate::source::Settings {
        let mut settings = (self.driver.settings)(Arc::clone(&self.program));
        settings.at = Some(self.at.clone());
        settings
    }
}

/// A destination driver that log paths already point to. `key` tells whether an equal one of the last
/// configuration can stay.
pub struct PlannedDestination {
    pub id: String,
    pub key: DestinationKey,
    pub destination: Arc<dyn Destination>,
    /// The call of the driver.
    pub span: Span,
}

/// A log path as the ledger shows it.
pub struct PlannedPath {
    /// Which step of the plan it is.
    pub id: StepId,
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
    /// Which step of the plan it is; of the parsers of one statement, the first.
    pub id: StepId,
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

/// A driver that log paths use, as its options have it.
pub struct Configured {
    pub context: Context,
    pub component: &'static Component,
    pub settings: Settings,
    /// The call of the driver.
    pub span: Span,
    needs: Needs,
}

impl Configured {
    /// What its options ask for.
    pub fn needs(&self) -> Vec<Need<'static>> {
        all_needs(self.needs, &self.settings)
    }

    /// The option in the text, or the whole call.
    pub fn at(&self, option: &str) -> Span {
        self.settings.span(option).unwrap_or(self.span)
    }
}

/// What has become of a configuration.
pub struct Compiled {
    /// `None` when there are errors.
    pub plan: Option<Plan>,
    /// The drivers that log paths use and whose options are right, in the order of the text.
    pub drivers: Vec<Configured>,
    pub globals: Arc<Settings>,
}

/// A compiled configuration.
pub struct Plan {
    /// Destinations whose messages may be dropped when they are not in it, by statement or id.
    pub drops: Vec<String>,
    pub globals: Arc<Settings>,
    /// This machine by the names that the global options give it.
    pub identity: Identity,
    pub sources: Vec<PlannedSource>,
    pub destinations: Vec<PlannedDestination>,
    pub paths: Vec<PlannedPath>,
    pub steps: Vec<PlannedStep>,
    /// What each step is, by its identity.
    pub map: Arc<PlanMap>,
    /// Counters of named filters, by name.
    pub filters: BTreeMap<String, Arc<StepCounters>>,
    /// Counters of named parsers, by name.
    pub parsers: BTreeMap<String, Arc<StepCounters>>,
    /// Why blocks of FilterX failed, by their place.
    pub blocks: BTreeMap<String, Arc<FailureCounters>>,
    pub states: States,
    /// Commands to run when drivers come and go.
    pub hooks: Vec<Arc<Hooks>>,
}

impl Plan {
    /// What opens a source.
    pub fn opened_by(&self, driver: &Configured) -> Option<&dyn Start> {
        let planned = self.sources.iter().find(|source| source.span == driver.span)?;
        Some(&*planned.driver.start)
    }
}

/// Contexts of parsers, by the parser's key and the number of its reference.
pub type States = BTreeMap<String, Arc<dyn parsers::correlation::State>>;

/// What the running configuration lends to the next one: destinations that stay when nothing about them
/// changed, and the counters of log paths and filters, which go on under the same name.
#[derive(Default)]
pub struct Existing {
    pub destinations: BTreeMap<DestinationKey, Arc<dyn Destination>>,
    pub paths: BTreeMap<String, Arc<PathCounters>>,
    pub steps: BTreeMap<String, Arc<StepCounters>>,
    pub filters: BTreeMap<String, Arc<StepCounters>>,
    /// Counters of named parsers, by name.
    pub parsers: BTreeMap<String, Arc<StepCounters>>,
    /// Why blocks of FilterX failed, by their place.
    pub blocks: BTreeMap<String, Arc<FailureCounters>>,
    pub states: States,
    /// Parsers are to make also what nobody reads: somebody looks at messages on their way.
    pub keeps_everything: bool,
}

impl Existing {
    pub fn new() -> Existing {
        Existing::default()
    }

    /// Of a configuration that is only tried.
    pub fn tried() -> Existing {
        Existing { keeps_everything: true, ..Existing::default() }
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

/// A filter expression that stands beside a configuration and may refer to its filters. `None` when it has
/// errors.
pub fn filter(
    expr: &FilterExpr,
    config: &Config,
    texts: &SourceMap,
    registry: &Registry,
    diags: &mut Diagnostics,
) -> Option<Arc<Filter>> {
    let globals = read_globals(config, texts, registry, diags);
    let objects = Objects::collect(config, diags);
    let existing = Existing::new();
    let names = Names::new(&objects, &globals, version(config), texts, &existing, diags);
    names.compile_filter(expr, diags)
}

fn read_globals(
    config: &Config,
    texts: &SourceMap,
    registry: &Registry,
    diags: &mut Diagnostics,
) -> Arc<Settings> {
    let calls = config.items.iter().filter_map(|s| match s {
        Statement::Options(o) => Some(&o.options),
        _ => None,
    });
    let read = ReadContext { sources: texts, globals: None };
    Arc::new(conf_schema::read_options(calls.flatten(), registry.options, &read, diags))
}

/// The version of the language that it is written in.
fn version(config: &Config) -> (u16, u16) {
    config.version.map_or((4, 26), |version| (version.major, version.minor))
}

/// Compiles a configuration. `identity` has the name that the machine itself has.
pub fn compile(
    config: &Config,
    texts: &SourceMap,
    registry: &Registry,
    identity: &Identity,
    existing: &Existing,
    diags: &mut Diagnostics,
) -> Compiled {
    let globals = read_globals(config, texts, registry, diags);
    let is_full = globals.bool("use-fqdn").unwrap_or(false);
    let identity = &identity.named(is_full, globals.text("custom-domain"));
    tags::number(config);
    let objects = Objects::collect(config, diags);
    let names = Names::new(&objects, &globals, version(config), texts, existing, diags);
    #[cfg(feature = "python")]
    names.python.check(&objects, diags);
    let mut paths = Paths::new(&objects, &names, texts, registry, &globals, identity, existing);
    paths.compile(diags);
    let (plan, mut drivers) = paths.finish(diags);
    drivers.sort_by_key(|driver| driver.span);
    if diags.has_errors() {
        return Compiled { plan: None, drivers, globals };
    }
    names.values().report(config, diags);
    Compiled { plan: Some(plan), drivers, globals }
}
