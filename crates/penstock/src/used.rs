//! The drivers that the log paths of a configuration use, one after another with their options: for whoever asks what a configuration
//! needs from the system.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use conf_schema::{Component, Context, ReadContext, Settings, State};
use conf_syntax::{Call, Config, LogItem, LogPath, ObjectKind, Statement};
use diag::{Diagnostics, SourceMap, Span};
use engine::compile::{Plan, PlannedSource};

use crate::components::registry;
use crate::configuration::Configuration;

/// A driver and its options.
pub struct Driver {
    pub context: Context,
    pub component: &'static Component,
    pub settings: Settings,
    /// Its call.
    pub span: Span,
}

impl Driver {
    /// The option in the text, or the whole call.
    pub fn at(&self, option: &str) -> Span {
        self.settings.span(option).unwrap_or(self.span)
    }

    pub fn has(&self, name: &str) -> bool {
        self.component.table().option(name).is_some_and(|o| o.state == State::Supported)
    }
}

/// What log paths use, by the call of the driver.
struct Used<'p> {
    sources: BTreeMap<Span, &'p PlannedSource>,
    destinations: BTreeSet<Span>,
}

impl Used<'_> {
    fn new(plan: &Plan) -> Used<'_> {
        Used {
            sources: plan.sources.iter().map(|source| (source.span, source)).collect(),
            destinations: plan.destinations.iter().map(|destination| destination.span).collect(),
        }
    }
}

/// Calls `look` with each driver that a log path uses, and with what the plan has made of it where it is a source. Without a plan, which
/// there is not when something is wrong, these are all drivers.
pub fn each_driver(
    configuration: &Configuration,
    plan: Option<&Plan>,
    look: &mut dyn FnMut(&Driver, Option<&PlannedSource>),
) {
    let texts = &configuration.parsed.sources;
    let mut walk = Walk { texts, globals: None, used: plan.map(Used::new), look };
    walk.config(&configuration.parsed.config);
}

struct Walk<'a> {
    texts: &'a SourceMap,
    globals: Option<Arc<Settings>>,
    used: Option<Used<'a>>,
    look: &'a mut dyn FnMut(&Driver, Option<&PlannedSource>),
}

impl Walk<'_> {
    fn config(&mut self, config: &Config) {
        let calls = config.items.iter().filter_map(|s| match s {
            Statement::Options(o) => Some(&o.options),
            _ => None,
        });
        let read = ReadContext { sources: self.texts, globals: None };
        // What is wrong with the options was reported when the configuration was compiled.
        let globals =
            conf_schema::read_options(calls.flatten(), registry().options, &read, &mut Diagnostics::new());
        self.globals = Some(Arc::new(globals));
        for statement in &config.items {
            match statement {
                Statement::Source(object) => self.items(&object.body, Some(Context::Source)),
                Statement::Destination(object) => self.items(&object.body, Some(Context::Destination)),
                Statement::Log(path) => self.items(&path.items, None),
                _ => {}
            }
        }
    }

    fn path(&mut self, path: &LogPath, context: Option<Context>) {
        self.items(&path.items, context);
    }

    /// `context` is what a bare call here would be.
    fn items(&mut self, items: &[LogItem], context: Option<Context>) {
        for item in items {
            match item {
                LogItem::Call(call) => {
                    if let Some(context) = context {
                        self.driver(context, call);
                    }
                }
                LogItem::Inline(inline) => {
                    let context = match inline.kind {
                        ObjectKind::Source => Some(Context::Source),
                        ObjectKind::Destination => Some(Context::Destination),
                        _ => None,
                    };
                    self.items(&inline.body, context);
                }
                LogItem::Junction(branches, _) => self.items(branches, context),
                LogItem::Channel(path) | LogItem::Log(path) => self.path(path, context),
                LogItem::If(conditional) => {
                    let bodies = conditional.branches.iter().map(|b| &b.body).chain(&conditional.otherwise);
                    bodies.for_each(|path| self.path(path, context));
                }
                _ => {}
            }
        }
    }

    fn driver(&mut self, context: Context, call: &Call) {
        let planned = self.used.as_ref().map(|used| used.sources.get(&call.span).copied());
        let is_used = match (&self.used, context) {
            (Some(used), Context::Destination) => used.destinations.contains(&call.span),
            _ => planned.is_none_or(|planned| planned.is_some()),
        };
        let Some(component) = registry().catalogue.find(context, &call.name.text).filter(|_| is_used) else {
            return;
        };
        let read = ReadContext { sources: self.texts, globals: self.globals.clone() };
        let mut wrong = Diagnostics::new();
        let settings = conf_schema::read(call, component, &read, &mut wrong);
        if wrong.has_errors() {
            return;
        }
        let driver = Driver { context, component, settings, span: call.span };
        (self.look)(&driver, planned.flatten());
    }
}

/// The files and folders that tls() names: option, what it is, path, place.
pub fn secrets(
    settings: &Settings,
) -> impl Iterator<Item = (&'static str, &'static str, PathBuf, Span)> + '_ {
    let named = [
        ("key-file", "file"),
        ("cert-file", "file"),
        ("pkcs12-file", "file"),
        ("ca-file", "file"),
        ("ca-dir", "folder"),
        ("crl-dir", "folder"),
    ];
    let tls = settings.block("tls");
    named.into_iter().filter_map(move |(option, what)| {
        let tls = tls?;
        Some((option, what, tls.path(option)?.to_owned(), tls.span(option)?))
    })
}
