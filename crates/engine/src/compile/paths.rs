//! What is known while log paths are compiled, and the top-level log paths themselves. Items are compiled in
//! `items`, destinations in `destinations`; `assemble` makes programs of it all.

use super::items::End;
use super::objects::Objects;
use super::scope::Names;
use super::sources::Entry;
use super::{Configured, Existing, PlannedDestination, PlannedPath, PlannedStep, States};
use crate::driver::Registry;
use crate::hooks::Hooks;
use crate::ledger::{FailureCounters, StepCounters};
use crate::plan_map::PlanMap;
use crate::program::{Branch, Op, Step};
use crate::watch::Kind;
use conf_schema::{Component, Context, ReadContext, Settings};
use conf_syntax::{Call, LogItem, LogPath, ObjectKind};
use diag::{Diagnostic, Diagnostics, SourceMap, Span};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use template::Identity;

pub(super) struct Paths<'a, 'c> {
    pub objects: &'a Objects<'c>,
    pub names: &'a Names<'a, 'c>,
    pub texts: &'a SourceMap,
    pub registry: &'a Registry,
    pub globals: &'a Arc<Settings>,
    pub identity: &'a Identity,
    pub existing: &'a Existing,
    /// Destination statements that were compiled, by name.
    pub destination_steps: BTreeMap<String, Vec<Step>>,
    /// Parser and rewrite statements that were compiled.
    pub object_steps: BTreeMap<(ObjectKind, String), Vec<Step>>,
    /// Statements being compiled: one that refers to itself is an error.
    pub open: BTreeSet<(ObjectKind, String)>,
    /// Counters of named parsers.
    pub parsers: BTreeMap<String, Arc<StepCounters>>,
    /// Why blocks of FilterX failed, by their place.
    pub blocks: RefCell<BTreeMap<String, Arc<FailureCounters>>>,
    pub states: States,
    pub hooks: Vec<Arc<Hooks>>,
    pub drivers: Vec<Configured>,
    pub destinations: Vec<PlannedDestination>,
    pub paths: Vec<PlannedPath>,
    pub steps: Vec<PlannedStep>,
    pub map: PlanMap,
    /// Log paths by the source statement they read, in order.
    pub by_source: BTreeMap<String, Vec<Branch>>,
    /// Entries of inline sources, by the name made up for them.
    pub inline_sources: BTreeMap<String, Vec<Entry<'c>>>,
    pub keys: BTreeMap<String, Span>,
    pub anonymous: usize,
    /// How many `if` and `junction` stand around what is being compiled.
    pub beside: usize,
    /// How many statements of each kind were given a name for the log.
    pub unnamed: RefCell<BTreeMap<Kind, usize>>,
    /// `parallelize(workers(n))` of the log path being compiled.
    pub share_max: Option<usize>,
    /// The same, by source statement: the smallest of its log paths.
    pub share_by_source: BTreeMap<String, usize>,
}

impl<'a, 'c> Paths<'a, 'c> {
    #[allow(clippy::too_many_arguments)]
    pub fn new(
        objects: &'a Objects<'c>,
        names: &'a Names<'a, 'c>,
        texts: &'a SourceMap,
        registry: &'a Registry,
        globals: &'a Arc<Settings>,
        identity: &'a Identity,
        existing: &'a Existing,
    ) -> Paths<'a, 'c> {
        Paths {
            objects,
            names,
            texts,
            registry,
            globals,
            identity,
            existing,
            destination_steps: BTreeMap::new(),
            object_steps: BTreeMap::new(),
            open: BTreeSet::new(),
            parsers: BTreeMap::new(),
            blocks: RefCell::default(),
            states: States::new(),
            hooks: Vec::new(),
            drivers: Vec::new(),
            destinations: Vec::new(),
            paths: Vec::new(),
            steps: Vec::new(),
            map: PlanMap::default(),
            by_source: BTreeMap::new(),
            inline_sources: BTreeMap::new(),
            keys: BTreeMap::new(),
            anonymous: 0,
            beside: 0,
            unnamed: RefCell::default(),
            share_max: None,
            share_by_source: BTreeMap::new(),
        }
    }

    /// Compiles the log paths, and what they refer to.
    pub fn compile(&mut self, diags: &mut Diagnostics) {
        let mut names = BTreeSet::new();
        for log in self.objects.logs.clone() {
            if let Some(name) = &log.name
                && !names.insert(&name.text)
            {
                let text = format!("a log path named `{}` exists already", name.text);
                diags.push(
                    Diagnostic::error("E0104", text, name.span).help("give each named log path its own name"),
                );
            }
            self.top_level(log, diags);
        }
    }

    /// The component a call names, and what its options say; `None` when something is wrong with them, which
    /// is reported.
    pub fn settings(
        &self,
        context: Context,
        call: &Call,
        diags: &mut Diagnostics,
    ) -> Option<(&'static Component, Settings)> {
        let component = self.registry.catalogue.resolve(context, call, diags)?;
        let read = ReadContext { sources: self.texts, globals: Some(Arc::clone(self.globals)) };
        let before = diags.counts().0;
        let settings = conf_schema::read(call, component, &read, diags);
        (diags.counts().0 == before).then_some((component, settings))
    }

    fn top_level(&mut self, log: &'c LogPath, diags: &mut Diagnostics) {
        let mut sources = Vec::new();
        let mut rest = Vec::new();
        // One that does not exist has been reported.
        let mut names_sources = false;
        for item in &log.items {
            match item {
                LogItem::Reference(r) if r.kind == ObjectKind::Source => {
                    names_sources = true;
                    if self.objects.refer(r.kind, &r.name, diags) {
                        sources.push(r.name.text.clone());
                    }
                }
                LogItem::Inline(i) if i.kind == ObjectKind::Source => {
                    let name = format!("#anon-source{}", self.anonymous);
                    self.anonymous += 1;
                    let entries = self.source_entries(&name, &i.body, diags);
                    self.inline_sources.insert(name.clone(), entries);
                    sources.push(name);
                }
                other => rest.push(other),
            }
        }
        let flags = self.flags(&log.flags, diags);
        if flags.catchall {
            self.objects.use_all_sources();
            sources = self.objects.sources.keys().map(|s| (*s).to_owned()).collect();
        }
        let place = self.texts.locate(self.texts.outermost(log.span));
        let name =
            log.name.as_ref().map_or_else(|| format!("{}:{}", place.file, place.line), |n| n.text.clone());
        let key = log.name.as_ref().map_or_else(|| self.texts.text(log.span).to_owned(), |n| n.text.clone());
        let at = self.statement(Kind::LogPath, Some(&name), log.span);
        let counters = self.existing.paths.get(&key).cloned().unwrap_or_default();
        let mut steps = self.items(&rest, End::Here, diags);
        self.give_states(&mut steps);
        let mut branch = Branch { at: Some(at), ..self.branch(steps, &flags, Some(Arc::clone(&counters))) };
        self.map.add_branch(&mut branch, None, self.paths.len(), log.span);
        self.paths.push(PlannedPath { id: branch.id, name, key, named: log.name.is_some(), counters });
        if sources.is_empty() && !names_sources {
            let text = "a log path without a source gets no messages";
            diags.push(
                Diagnostic::warning("E0105", text, log.span).help("add `source(name);` or flags(catchall)"),
            );
        }
        sources.dedup();
        self.report_unreachable(log, &sources, &branch, diags);
        let share_max = self.share_max.take();
        for source in sources {
            if let Some(max) = share_max {
                let known = self.share_by_source.entry(source.clone()).or_insert(max);
                *known = max.min(*known);
            }
            self.by_source.entry(source).or_default().push(branch.clone());
        }
    }

    /// Warns about a log path all of whose messages an earlier one keeps for itself.
    fn report_unreachable(
        &self,
        log: &LogPath,
        sources: &[String],
        branch: &Branch,
        diags: &mut Diagnostics,
    ) {
        let keeps_all = |earlier: &Branch| {
            let narrows = |step: &Step| !matches!(step.op, Op::Rewrite(_) | Op::Deliver(_));
            (earlier.is_final || branch.fallback) && !earlier.fallback && !earlier.steps.iter().any(narrows)
        };
        let taken =
            |source: &String| self.by_source.get(source).is_some_and(|paths| paths.iter().any(keeps_all));
        if !sources.is_empty() && sources.iter().all(taken) {
            let text = "no message reaches this log path: an earlier one without a filter takes them all";
            diags.push(
                Diagnostic::warning("E0118", text, log.span)
                    .help("move it before that one, give that one a filter, or remove its flags(final)"),
            );
        }
    }
}
