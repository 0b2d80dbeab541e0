//! Log paths to nodes.

use super::objects::Objects;
use super::scope::{Names, template_error};
use super::sources::Entry;
use super::{DestinationKey, Existing, Plan, PlannedDestination, PlannedPath, PlannedSource};
use crate::driver::{BuildContext, Destination, Registry};
use crate::ledger::StepCounters;
use crate::program::{Branch, Branches, FilterStep, Node, Ordered, ParseStep, Program};
use conf_schema::{Context, ReadContext, Settings};
use conf_syntax::{Call, Config, FilterExpr, LogItem, LogPath, Name, Object, ObjectKind};
use diag::{Diagnostic, Diagnostics, SourceMap, Span, nearest};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use template::{Identity, Template};

pub(super) struct Paths<'a, 'c> {
    pub objects: &'a Objects<'c>,
    pub names: &'a Names<'a, 'c>,
    pub texts: &'a SourceMap,
    pub registry: &'a Registry,
    pub globals: &'a Arc<Settings>,
    pub identity: &'a Identity,
    existing: &'a Existing,
    /// Destination statements that were compiled, by name.
    destination_nodes: BTreeMap<String, Vec<Node>>,
    /// Parser and rewrite statements that were compiled.
    object_nodes: BTreeMap<(ObjectKind, String), Vec<Node>>,
    /// Statements being compiled: one that refers to itself is an error.
    open: BTreeSet<(ObjectKind, String)>,
    filters: BTreeMap<String, Arc<StepCounters>>,
    /// Counters of named parsers.
    parsers: BTreeMap<String, Arc<StepCounters>>,
    destinations: Vec<PlannedDestination>,
    paths: Vec<PlannedPath>,
    /// Log paths by the source statement they read, in order.
    by_source: BTreeMap<String, Vec<Branch>>,
    /// Entries of inline sources, by the name made up for them.
    pub inline_sources: BTreeMap<String, Vec<Entry<'c>>>,
    keys: BTreeMap<String, Span>,
    anonymous: usize,
    /// `parallelize(workers(n))` of the log path being compiled.
    share_max: Option<usize>,
    /// The same, by source statement: the smallest of its log paths.
    share_by_source: BTreeMap<String, usize>,
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
            destination_nodes: BTreeMap::new(),
            object_nodes: BTreeMap::new(),
            open: BTreeSet::new(),
            filters: BTreeMap::new(),
            parsers: BTreeMap::new(),
            destinations: Vec::new(),
            paths: Vec::new(),
            by_source: BTreeMap::new(),
            inline_sources: BTreeMap::new(),
            keys: BTreeMap::new(),
            anonymous: 0,
            share_max: None,
            share_by_source: BTreeMap::new(),
        }
    }

    pub fn compile(&mut self, _config: &'c Config, diags: &mut Diagnostics) {
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
        // Statements no log path uses are checked all the same.
        for (name, object) in &self.objects.destinations.clone() {
            self.destination(name, object, diags);
        }
        for (kind, set) in
            [(ObjectKind::Parser, &self.objects.parsers), (ObjectKind::Rewrite, &self.objects.rewrites)]
        {
            for (name, object) in set {
                self.object(kind, name, object, diags);
            }
        }
        for name in self.objects.filters.keys() {
            self.names.filter(name, diags);
        }
        self.objects.report_unused(diags);
    }

    fn top_level(&mut self, log: &'c LogPath, diags: &mut Diagnostics) {
        let mut sources = Vec::new();
        let mut rest = Vec::new();
        for item in &log.items {
            match item {
                LogItem::Reference(r) if r.kind == ObjectKind::Source => {
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
            sources = self.objects.sources.keys().map(|s| (*s).to_owned()).collect();
        }
        let place = self.texts.locate(self.texts.outermost(log.span));
        let name =
            log.name.as_ref().map_or_else(|| format!("{}:{}", place.file, place.line), |n| n.text.clone());
        let key = log.name.as_ref().map_or_else(|| self.texts.text(log.span).to_owned(), |n| n.text.clone());
        let counters = self.existing.paths.get(&key).cloned().unwrap_or_default();
        self.paths.push(PlannedPath { name, key, counters: Arc::clone(&counters) });
        let nodes = self.items(&rest, diags);
        let branch = self.branch(nodes, &flags, Some(counters));
        if sources.is_empty() {
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
            let narrows = |n: &Node| !matches!(n, Node::Rewrite(_) | Node::Deliver(_));
            (earlier.is_final || branch.fallback) && !earlier.fallback && !earlier.nodes.iter().any(narrows)
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

    fn branch(
        &self,
        nodes: Vec<Node>,
        flags: &Flags,
        counters: Option<Arc<crate::ledger::PathCounters>>,
    ) -> Branch {
        Branch {
            writes: nodes.iter().any(node_writes),
            nodes,
            is_final: flags.is_final,
            fallback: flags.fallback,
            claims: false,
            flow_control: flags.flow_control,
            counters,
        }
    }

    fn flags(&self, names: &[Name], diags: &mut Diagnostics) -> Flags {
        const KNOWN: [&str; 7] = [
            "final",
            "fallback",
            "catchall",
            "catch-all",
            "flow-control",
            "no-flow-control",
            "drop-unmatched",
        ];
        let mut flags = Flags {
            flow_control: self.globals.bool("log-flow-control").filter(|on| *on),
            ..Flags::default()
        };
        for name in names {
            match name.norm().as_str() {
                "final" => flags.is_final = true,
                "fallback" => flags.fallback = true,
                "catchall" | "catch-all" => flags.catchall = true,
                "flow-control" => flags.flow_control = Some(true),
                "no-flow-control" => flags.flow_control = Some(false),
                "drop-unmatched" => diags.push(
                    Diagnostic::warning("E0106", "the flag drop-unmatched has no effect", name.span)
                        .help("remove it"),
                ),
                other => {
                    let text = format!("unknown log path flag `{other}` is ignored");
                    diags.push(Diagnostic::warning("E0106", text, name.span).suggest(nearest(other, KNOWN)));
                }
            }
        }
        flags
    }

    /// A sequence of items to a sequence of nodes. Embedded log paths in a row are one fork.
    pub fn items(&mut self, items: &[&'c LogItem], diags: &mut Diagnostics) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut forks = Vec::new();
        for item in items {
            match item {
                LogItem::Log(log) => {
                    let branch = self.channel(log, diags);
                    forks.push(branch);
                    continue;
                }
                _ if !forks.is_empty() => nodes.push(Node::Fork(Branches::new(std::mem::take(&mut forks)))),
                _ => {}
            }
            self.item(item, &mut nodes, diags);
        }
        if !forks.is_empty() {
            nodes.push(Node::Fork(Branches::new(forks)));
        }
        nodes
    }

    fn item(&mut self, item: &'c LogItem, nodes: &mut Vec<Node>, diags: &mut Diagnostics) {
        match item {
            LogItem::Reference(r) => self.reference(r.kind, &r.name, nodes, diags),
            LogItem::Inline(i) => {
                match i.kind {
                    ObjectKind::Destination => {
                        let name = format!("#anon-destination{}", self.anonymous);
                        self.anonymous += 1;
                        let made = self.destination_items(&name, &i.body, diags);
                        nodes.extend(made);
                    }
                    ObjectKind::Source => {
                        let text = "a source cannot stand here";
                        diags.push(Diagnostic::error("E0107", text, i.span).help(
                            "put it at the beginning of a top-level log path, or into a source statement",
                        ));
                    }
                    kind => {
                        let made = self.body(kind, &i.body, diags);
                        nodes.extend(made);
                    }
                }
            }
            LogItem::InlineFilter(expr, _) => {
                nodes.extend(expr.as_ref().and_then(|e| self.filter_node(e, diags)))
            }
            LogItem::Junction(branches, _) => {
                let branches = branches.iter().filter_map(|b| match b {
                    LogItem::Channel(path) | LogItem::Log(path) => Some(path),
                    _ => None,
                });
                let branches = branches.map(|path| self.channel(path, diags)).collect();
                nodes.push(Node::Join(Branches::new(branches)));
            }
            LogItem::Channel(path) => {
                let branch = self.channel(path, diags);
                nodes.push(Node::Join(Branches::new(vec![branch])));
            }
            LogItem::Log(path) => {
                let branch = self.channel(path, diags);
                nodes.push(Node::Fork(Branches::new(vec![branch])));
            }
            LogItem::If(conditional) => {
                let mut branches = Vec::new();
                for case in &conditional.branches {
                    let mut made: Vec<Node> =
                        case.condition.iter().filter_map(|c| self.filter_node(c, diags)).collect();
                    let body: Vec<&LogItem> = case.body.items.iter().collect();
                    made.extend(self.items(&body, diags));
                    let branch = self.exclusive(made, &case.body.flags, diags);
                    branches.push(Branch { claims: case.condition.is_some(), ..branch });
                }
                let otherwise: Vec<&LogItem> = conditional.otherwise.iter().flat_map(|o| &o.items).collect();
                let flags = conditional.otherwise.as_ref().map_or(&[][..], |o| &o.flags);
                let made = self.items(&otherwise, diags);
                branches.push(self.exclusive(made, flags, diags));
                nodes.push(Node::Join(Branches::new(branches)));
            }
            LogItem::Parallelize(call) => self.parallelize(call, diags),
            LogItem::FilterX(raw) => diags.push(
                Diagnostic::error(
                    "E0108",
                    "FilterX blocks are not available in this version",
                    raw.keyword.span,
                )
                .help("write the same with filter, rewrite and if/elif/else"),
            ),
            LogItem::Call(call) => {
                let text = format!("`{}()` cannot stand in a log path by itself", call.name.text);
                let help = "put it into `parser { ... };`, `rewrite { ... };` or `destination { ... };`";
                diags.push(Diagnostic::error("E0109", text, call.name.span).help(help));
            }
        }
    }

    /// A branch of an if: what it takes, later branches do not see.
    fn exclusive(&self, nodes: Vec<Node>, flags: &[Name], diags: &mut Diagnostics) -> Branch {
        let flags = Flags { is_final: true, fallback: false, ..self.flags(flags, diags) };
        self.branch(nodes, &flags, None)
    }

    fn channel(&mut self, path: &'c LogPath, diags: &mut Diagnostics) -> Branch {
        let flags = self.flags(&path.flags, diags);
        let items: Vec<&LogItem> = path.items.iter().collect();
        let nodes = self.items(&items, diags);
        self.branch(nodes, &flags, None)
    }

    /// Work is shared anyway; what is said here bounds it. The order of a connection is kept whatever the key.
    fn parallelize(&mut self, call: &Call, diags: &mut Diagnostics) {
        let read = ReadContext { sources: self.texts, globals: Some(Arc::clone(self.globals)) };
        let Some(component) = self.registry.catalogue.resolve(Context::LogPath, call, diags) else { return };
        let settings = conf_schema::read(call, component, &read, diags);
        if let Some(workers) = settings.int("workers") {
            self.share_max = Some(workers.max(1) as usize);
        }
        if let Some(key) = settings.template("worker-partition-key") {
            match Template::named_or_text(&key.text, self.names.options(), self.names) {
                Ok(made) if made.literal().is_some() => {
                    let finding =
                        Diagnostic::error("E0119", "this key is the same for every message", key.span);
                    diags.push(finding.help("put a macro in it, such as `$HOST`, or leave it out"));
                }
                Ok(_) => {}
                Err(error) => diags.push(template_error(&error, key.span)),
            }
        }
    }

    fn reference(&mut self, kind: ObjectKind, name: &Name, nodes: &mut Vec<Node>, diags: &mut Diagnostics) {
        if !self.objects.refer(kind, name, diags) {
            return;
        }
        let text = name.text.as_str();
        match kind {
            ObjectKind::Filter => {
                if let Some(filter) = self.names.filter(text, diags) {
                    let earlier = || self.existing.filters.get(text).cloned().unwrap_or_default();
                    let counters = self.filters.entry(text.to_owned()).or_insert_with(earlier);
                    nodes.push(Node::Filter(FilterStep::new(filter, Arc::clone(counters))));
                }
            }
            ObjectKind::Destination => {
                if let Some(object) = self.objects.destinations.get(text) {
                    let made = self.destination(text, object, diags);
                    nodes.extend(made);
                }
            }
            ObjectKind::Parser | ObjectKind::Rewrite => {
                let set =
                    if kind == ObjectKind::Parser { &self.objects.parsers } else { &self.objects.rewrites };
                if let Some(object) = set.get(text) {
                    let made = self.object(kind, text, object, diags);
                    nodes.extend(made);
                }
            }
            ObjectKind::Source => diags.push(
                Diagnostic::error("E0107", "a source cannot stand here", name.span)
                    .help("put it at the beginning of a top-level log path, or into a source statement"),
            ),
        }
    }

    fn filter_node(&self, expr: &FilterExpr, diags: &mut Diagnostics) -> Option<Node> {
        let filter = self.names.compile_filter(expr, diags)?;
        Some(Node::Filter(FilterStep::new(filter, Arc::default())))
    }

    fn object(
        &mut self,
        kind: ObjectKind,
        name: &str,
        object: &'c Object,
        diags: &mut Diagnostics,
    ) -> Vec<Node> {
        let key = (kind, name.to_owned());
        if let Some(nodes) = self.object_nodes.get(&key) {
            return nodes.clone();
        }
        if !self.open.insert(key.clone()) {
            let text = format!("{} `{name}` refers to itself", kind.keyword());
            diags.push(Diagnostic::error("E0110", text, object.name.span).help("break the circle"));
            return Vec::new();
        }
        let mut nodes = self.body(kind, &object.body, diags);
        if kind == ObjectKind::Parser {
            let earlier = || self.existing.parsers.get(name).cloned().unwrap_or_default();
            let counters = Arc::clone(self.parsers.entry(name.to_owned()).or_insert_with(earlier));
            let steps =
                nodes.iter_mut().filter_map(|n| if let Node::Parse(step) = n { Some(step) } else { None });
            for (place, step) in steps.rev().enumerate() {
                (step.counters, step.last) = (Arc::clone(&counters), place == 0);
            }
        }
        self.open.remove(&key);
        self.object_nodes.insert(key, nodes.clone());
        nodes
    }

    /// The body of a parser or rewrite.
    fn body(&mut self, kind: ObjectKind, body: &'c [LogItem], diags: &mut Diagnostics) -> Vec<Node> {
        let mut nodes = Vec::new();
        for item in body {
            match item {
                LogItem::Call(call) if kind == ObjectKind::Rewrite => {
                    if let Some(rewrite) = self.names.compile_rewrite(call, diags) {
                        nodes.push(Node::Rewrite(rewrite));
                    }
                }
                LogItem::Call(call) => nodes.extend(self.parser(call, diags)),
                other => self.item(other, &mut nodes, diags),
            }
        }
        nodes
    }

    fn parser(&self, call: &Call, diags: &mut Diagnostics) -> Option<Node> {
        let component = self.registry.catalogue.resolve(Context::Parser, call, diags)?;
        let (_, build) = parsers::ALL.iter().find(|(c, _)| std::ptr::eq(*c, component))?;
        let read = ReadContext { sources: self.texts, globals: Some(Arc::clone(self.globals)) };
        let before = diags.counts().0;
        let settings = conf_schema::read(call, component, &read, diags);
        if diags.counts().0 > before {
            return None;
        }
        let parser = self.names.build_parser(*build, &settings, call.span, diags)?;
        Some(Node::Parse(ParseStep { parser, counters: Arc::default(), last: true }))
    }

    fn destination(&mut self, name: &str, object: &'c Object, diags: &mut Diagnostics) -> Vec<Node> {
        if let Some(nodes) = self.destination_nodes.get(name) {
            return nodes.clone();
        }
        let key = (ObjectKind::Destination, name.to_owned());
        if !self.open.insert(key.clone()) {
            let text = format!("destination `{name}` refers to itself");
            diags.push(Diagnostic::error("E0110", text, object.name.span).help("break the circle"));
            return Vec::new();
        }
        let nodes = self.destination_items(name, &object.body, diags);
        self.open.remove(&key);
        self.destination_nodes.insert(name.to_owned(), nodes.clone());
        nodes
    }

    fn destination_items(&mut self, group: &str, body: &'c [LogItem], diags: &mut Diagnostics) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut index = 0;
        let mut forks = Vec::new();
        for item in body {
            match item {
                LogItem::Call(call) => {
                    nodes.extend(self.driver(group, index, call, diags).map(Node::Deliver));
                    index += 1;
                }
                LogItem::Channel(path) | LogItem::Log(path) => forks.push(self.channel(path, diags)),
                other => {
                    let mut made = Vec::new();
                    self.item(other, &mut made, diags);
                    let flags = Flags::default();
                    forks.push(self.branch(made, &flags, None));
                }
            }
        }
        if !forks.is_empty() {
            nodes.push(Node::Fork(Branches::new(forks)));
        }
        nodes
    }

    fn driver(
        &mut self,
        group: &str,
        index: usize,
        call: &Call,
        diags: &mut Diagnostics,
    ) -> Option<Arc<dyn Destination>> {
        let component = self.registry.catalogue.resolve(Context::Destination, call, diags)?;
        let (_, build) = self.registry.destinations.iter().find(|(c, _)| std::ptr::eq(*c, component))?;
        let read = ReadContext { sources: self.texts, globals: Some(Arc::clone(self.globals)) };
        let before = diags.counts().0;
        let settings = conf_schema::read(call, component, &read, diags);
        if diags.counts().0 > before {
            return None;
        }
        let cx = self.build_context(group, index);
        let (id, driver) = (cx.id(), build(&settings, &cx, diags)?);
        self.unique(&driver.key, call.span, diags);
        let options = format!("{}\n{}", self.texts.text(call.span), self.names.fingerprint());
        let key = DestinationKey { id: id.clone(), options };
        let destination = self.existing.destinations.get(&key).cloned().unwrap_or(driver.destination);
        self.destinations.push(PlannedDestination {
            id,
            key: key.options,
            destination: Arc::clone(&destination),
        });
        Some(destination)
    }

    pub fn build_context<'b>(&'b self, group: &'b str, index: usize) -> BuildContext<'b> {
        BuildContext {
            sources: self.texts,
            scope: self.names,
            version: self.names.version,
            globals: self.globals,
            identity: self.identity,
            group,
            index,
        }
    }

    /// Two drivers of one name could not be told apart after a reload.
    pub fn unique(&mut self, key: &str, span: Span, diags: &mut Diagnostics) {
        if let Some(first) = self.keys.get(key) {
            let text = "this driver is the same as an earlier one";
            diags.push(Diagnostic::error("E0111", text, span).label(*first, "the earlier one").help(
                "give one of them a persist-name(\"...\") of its own, or refer to one statement twice",
            ));
            return;
        }
        self.keys.insert(key.to_owned(), span);
    }

    pub fn finish(mut self, diags: &mut Diagnostics) -> Plan {
        let mut planned: Vec<PlannedSource> = Vec::new();
        let mut groups: Vec<(String, Vec<Entry<'c>>)> = Vec::new();
        for (name, object) in &self.objects.sources {
            let entries = self.source_entries(name, &object.body, diags);
            groups.push(((*name).to_owned(), entries));
        }
        groups.extend(std::mem::take(&mut self.inline_sources));
        for (group, entries) in &groups {
            let branches = self.routed(group, &groups, &mut vec![group.as_str()], diags);
            let mut index = 0;
            for entry in entries.iter().filter(|e| !e.drivers.is_empty()) {
                let mut program = Program {
                    source_nodes: entry.nodes.clone(),
                    branches: Branches::new(branches.clone()),
                    share_max: self.share_by_source.get(group).copied(),
                    ..Program::default()
                };
                order_shared(&mut program);
                program.analyse();
                let program = Arc::new(program);
                for call in &entry.drivers {
                    planned.extend(self.source_driver(group, index, call, &program, diags));
                    index += 1;
                }
            }
        }
        Plan {
            globals: Arc::clone(self.globals),
            sources: planned,
            destinations: self.destinations,
            paths: self.paths,
            filters: self.filters,
            parsers: self.parsers,
        }
    }

    /// The branches a source's messages take: its log paths, and, through source statements that refer to it, the log paths of those.
    fn routed<'g>(
        &self,
        group: &str,
        groups: &'g [(String, Vec<Entry<'c>>)],
        on_the_way: &mut Vec<&'g str>,
        diags: &mut Diagnostics,
    ) -> Vec<Branch> {
        let mut branches = self.by_source.get(group).cloned().unwrap_or_default();
        for (outer, entries) in groups {
            for entry in entries.iter().filter(|e| e.references.contains(&group)) {
                if on_the_way.contains(&outer.as_str()) {
                    if let Some(object) = self.objects.sources.get(outer.as_str()) {
                        let text = format!("source `{outer}` refers to itself");
                        diags.push(
                            Diagnostic::error("E0110", text, object.name.span).help("break the circle"),
                        );
                    }
                    continue;
                }
                on_the_way.push(outer);
                let further = self.routed(outer, groups, on_the_way, diags);
                on_the_way.pop();
                let mut nodes = entry.nodes.clone();
                nodes.push(Node::Fork(Branches::new(further)));
                branches.push(self.branch(nodes, &Flags::default(), None));
            }
        }
        branches
    }
}

#[derive(Default)]
struct Flags {
    is_final: bool,
    fallback: bool,
    catchall: bool,
    flow_control: Option<bool>,
}

fn node_writes(node: &Node) -> bool {
    match node {
        Node::Filter(step) => step.writes,
        Node::Rewrite(_) | Node::Parse(_) => true,
        Node::Fork(branches) | Node::Join(branches) => branches.writes(),
        Node::Deliver(_) | Node::DeliverOrdered(_) => false,
    }
}

/// Destinations that more than one leaf reaches get their messages in the order of the messages, not of the paths.
fn order_shared(program: &mut Program) {
    fn visit(branches: &mut [Branch], flow: bool, see: &mut dyn FnMut(&mut Node, bool)) {
        for branch in branches {
            let flow = branch.flow_control.unwrap_or(flow);
            for node in &mut branch.nodes {
                match node {
                    Node::Fork(inner) | Node::Join(inner) => visit(&mut inner.list, flow, see),
                    other => see(other, flow),
                }
            }
        }
    }
    let address = |d: &Arc<dyn Destination>| Arc::as_ptr(d).cast::<()>() as usize;
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut any_flow = false;
    visit(&mut program.branches.list, false, &mut |node, flow| {
        any_flow |= flow;
        if let Node::Deliver(d) = node {
            *seen.entry(address(d)).or_default() += 1;
        }
    });
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ordered: Vec<Ordered> = Vec::new();
    visit(&mut program.branches.list, false, &mut |node, flow| {
        let Node::Deliver(d) = node else { return };
        if seen.get(&address(d)).is_none_or(|count| *count < 2) {
            return;
        }
        let place = *places.entry(address(d)).or_insert_with(|| {
            ordered.push(Ordered { destination: Arc::clone(d), flow_control: false });
            ordered.len() - 1
        });
        ordered[place].flow_control |= flow;
        *node = Node::DeliverOrdered(place);
    });
    program.ordered = ordered;
    program.flow_control = any_flow;
}
