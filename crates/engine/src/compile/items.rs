//! The items of a log path to nodes: references, inline objects, junctions, conditions.

use super::flags::Flags;
use super::paths::Paths;
use super::scope::template_error;
use crate::program::{Branch, Branches, FilterStep, Node, ParseStep, RewriteStep};
use crate::watch::Kind;
use conf_schema::Context;
use conf_syntax::{Call, FilterExpr, LogItem, LogPath, Name, Object, ObjectKind};
use diag::{Diagnostic, Diagnostics, Span};
use std::sync::Arc;
use template::Template;

impl<'c> Paths<'_, 'c> {
    /// A sequence of items to a sequence of nodes. Embedded log paths in a row are one fork.
    pub fn items(&mut self, items: &[&'c LogItem], diags: &mut Diagnostics) -> Vec<Node> {
        let mut nodes = Vec::new();
        let mut forks = Vec::new();
        let mut at = Span::default();
        for item in items {
            match item {
                LogItem::Log(log) => {
                    if forks.is_empty() {
                        at = log.span;
                    }
                    let branch = self.channel(log, diags);
                    forks.push(branch);
                    continue;
                }
                _ if !forks.is_empty() => {
                    nodes.push(Node::Fork(Branches::new(std::mem::take(&mut forks)).of("log", at)));
                }
                _ => {}
            }
            self.item(item, &mut nodes, diags);
        }
        if !forks.is_empty() {
            nodes.push(Node::Fork(Branches::new(forks).of("log", at)));
        }
        nodes
    }

    pub fn item(&mut self, item: &'c LogItem, nodes: &mut Vec<Node>, diags: &mut Diagnostics) {
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
                        let made = self.body(kind, None, &i.body, diags);
                        nodes.extend(made);
                    }
                }
            }
            LogItem::InlineFilter(expr, _) => {
                nodes.extend(expr.as_ref().and_then(|e| self.filter_node(e, item.span(), diags)))
            }
            LogItem::Junction(branches, _) => {
                let branches = branches.iter().filter_map(|b| match b {
                    LogItem::Channel(path) | LogItem::Log(path) => Some(path),
                    _ => None,
                });
                let branches = branches.map(|path| self.channel(path, diags)).collect();
                nodes.push(Node::Join(Branches::new(branches).of("junction", item.span())));
            }
            LogItem::Channel(path) => {
                let branch = self.channel(path, diags);
                nodes.push(Node::Join(Branches::new(vec![branch]).of("channel", item.span())));
            }
            LogItem::Log(path) => {
                let branch = self.channel(path, diags);
                nodes.push(Node::Fork(Branches::new(vec![branch]).of("log", item.span())));
            }
            LogItem::If(conditional) => {
                let mut branches = Vec::new();
                for case in &conditional.branches {
                    let condition = case.condition.iter();
                    let mut made: Vec<Node> =
                        condition.filter_map(|c| self.filter_node(c, item.span(), diags)).collect();
                    let body: Vec<&LogItem> = case.body.items.iter().collect();
                    made.extend(self.items(&body, diags));
                    let branch = self.exclusive(made, &case.body.flags, diags);
                    branches.push(Branch { claims: case.condition.is_some(), ..branch });
                }
                let otherwise: Vec<&LogItem> = conditional.otherwise.iter().flat_map(|o| &o.items).collect();
                let flags = conditional.otherwise.as_ref().map_or(&[][..], |o| &o.flags);
                let made = self.items(&otherwise, diags);
                branches.push(self.exclusive(made, flags, diags));
                nodes.push(Node::Join(Branches::new(branches).of("if", item.span())));
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
    pub fn exclusive(&self, nodes: Vec<Node>, flags: &[Name], diags: &mut Diagnostics) -> Branch {
        let flags = Flags { is_final: true, fallback: false, ..self.flags(flags, diags) };
        self.branch(nodes, &flags, None)
    }

    pub fn channel(&mut self, path: &'c LogPath, diags: &mut Diagnostics) -> Branch {
        let flags = self.flags(&path.flags, diags);
        let items: Vec<&LogItem> = path.items.iter().collect();
        let nodes = self.items(&items, diags);
        let at = self.statement(Kind::Channel, path.name.as_ref().map(|n| n.text.as_str()), path.span);
        Branch { at: Some(at), ..self.branch(nodes, &flags, None) }
    }

    /// Work is shared anyway; what is said here bounds it. The order of a connection is kept whatever the key.
    pub fn parallelize(&mut self, call: &Call, diags: &mut Diagnostics) {
        let Some((_, settings)) = self.settings(Context::LogPath, call, diags) else { return };
        if let Some(workers) = settings.int("workers").filter(|workers| *workers > 0) {
            self.share_max = Some(workers as usize);
        }
        if let Some(key) = settings.template("worker-partition-key") {
            match Template::compile(&key.text, self.names.options(), self.names) {
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

    pub fn reference(
        &mut self,
        kind: ObjectKind,
        name: &Name,
        nodes: &mut Vec<Node>,
        diags: &mut Diagnostics,
    ) {
        if !self.objects.refer(kind, name, diags) {
            return;
        }
        let text = name.text.as_str();
        match kind {
            ObjectKind::Filter => {
                if let Some(filter) = self.names.filter(text, diags) {
                    let counters = self.names.counters().of(text);
                    let object = self.objects.filters.get(text);
                    let stands =
                        object.and_then(|object| object.expr.as_ref()).map(|expr| self.body_of(expr));
                    let from = self.statement(Kind::Filter, Some(text), stands.unwrap_or(name.span));
                    nodes.push(Node::Filter(FilterStep::new(filter, counters, name.span, from)));
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

    pub fn filter_node(&self, expr: &FilterExpr, at: Span, diags: &mut Diagnostics) -> Option<Node> {
        let filter = self.names.compile_filter(expr, diags)?;
        let from = self.statement(Kind::Filter, None, self.body_of(expr));
        Some(Node::Filter(FilterStep::new(filter, Arc::default(), at, from)))
    }

    pub fn object(
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
        let mut nodes = self.body(kind, Some(name), &object.body, diags);
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

    /// The body of a parser or rewrite; `rule` is the name of the statement.
    pub fn body(
        &mut self,
        kind: ObjectKind,
        rule: Option<&str>,
        body: &'c [LogItem],
        diags: &mut Diagnostics,
    ) -> Vec<Node> {
        let own = if kind == ObjectKind::Rewrite { Kind::Rewrite } else { Kind::Parser };
        let made_up = rule.is_none().then(|| self.made_up(own));
        let rule = rule.or(made_up.as_deref());
        let mut nodes = Vec::new();
        for item in body {
            match item {
                LogItem::Call(call) if kind == ObjectKind::Rewrite => {
                    if let Some(rewrite) = self.names.compile_rewrite(call, diags) {
                        let at = self.statement(own, rule, call.span);
                        nodes.push(Node::Rewrite(RewriteStep { rewrite, at }));
                    }
                }
                LogItem::Call(call) if call.is("app-parser") => nodes.extend(self.app_parser(call, diags)),
                LogItem::Call(call) => nodes.extend(self.parser(call, rule, diags)),
                other => self.item(other, &mut nodes, diags),
            }
        }
        nodes
    }

    pub fn parser(&self, call: &Call, rule: Option<&str>, diags: &mut Diagnostics) -> Option<Node> {
        let (component, settings) = self.settings(Context::Parser, call, diags)?;
        let (_, build) = parsers::ALL.iter().find(|(c, _)| std::ptr::eq(*c, component))?;
        let parser = self.names.build_parser(*build, &settings, call.span, diags)?;
        let from = self.statement(Kind::Parser, rule, call.span);
        Some(Node::Parse(ParseStep {
            parser,
            counters: Arc::default(),
            here: None,
            name: component.name,
            at: call.span,
            last: true,
            place: None,
            wide: None,
            from,
        }))
    }
}
