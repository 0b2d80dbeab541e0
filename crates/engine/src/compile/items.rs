//! The items of a log path to steps: references, inline objects, junctions, conditions.

use super::expressions::note_rows;
use super::flags::Flags;
use super::paths::Paths;
use super::scope::template_error;
use crate::program::{Branch, Branches, FilterOp, Op, ParseOp, Step};
use crate::watch::Kind;
use conf_schema::Context;
use conf_syntax::{Call, FilterExpr, LogItem, LogPath, Name, Object, ObjectKind};
use diag::{Diagnostic, Diagnostics, Span};
use std::sync::Arc;
use template::Template;

/// What becomes of messages at the end of a sequence of items.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Nothing more: all that counts is whether something took them.
    Here,
    /// They go on behind it.
    Joined,
}

impl<'c> Paths<'_, 'c> {
    /// A sequence of items to a sequence of steps.
    pub fn items(&mut self, items: &[&'c LogItem], end: End, diags: &mut Diagnostics) -> Vec<Step> {
        let mut steps = Vec::new();
        let (items, forks) = items.split_at(items.len() - embedded_last(items.iter().copied()));
        for (index, item) in items.iter().enumerate() {
            let from = steps.len();
            self.item(item, &mut steps, diags);
            let decides = index + 1 == items.len() && forks.is_empty() && end == End::Here;
            if !decides && is_destination(item) {
                for step in steps.iter_mut().skip(from) {
                    if let Op::Fork(channels) = &mut step.op {
                        channels.all_go_on = true;
                    }
                }
            }
        }
        if !forks.is_empty() {
            steps.push(self.embedded(forks, end, diags));
        }
        note_rows(&mut steps);
        steps
    }

    /// Embedded log paths and channels: all that stand in a row are one fork, as if a junction were around
    /// them.
    fn embedded(&mut self, forks: &[&'c LogItem], end: End, diags: &mut Diagnostics) -> Step {
        let at = forks.first().map_or_else(Span::default, |item| item.span());
        if let [LogItem::Channel(path)] = forks {
            return self.alone(path, at, diags);
        }
        let is_beside = end == End::Joined;
        self.beside += usize::from(is_beside);
        let paths: Vec<&'c LogPath> = forks.iter().copied().filter_map(embedded).collect();
        let branches = paths.into_iter().map(|path| self.channel(path, end, diags)).collect();
        self.beside -= usize::from(is_beside);
        match end {
            End::Here => self.fork("log", branches, at),
            End::Joined => self.join("junction", branches, at),
        }
    }

    fn alone(&mut self, path: &'c LogPath, at: Span, diags: &mut Diagnostics) -> Step {
        let branch = self.channel(path, End::Joined, diags);
        self.join("channel", vec![branch], at)
    }

    pub fn item(&mut self, item: &'c LogItem, steps: &mut Vec<Step>, diags: &mut Diagnostics) {
        match item {
            LogItem::Reference(r) => self.reference(r.kind, &r.name, steps, diags),
            LogItem::Inline(i) => {
                match i.kind {
                    ObjectKind::Destination => {
                        let name = format!("#anon-destination{}", self.anonymous);
                        self.anonymous += 1;
                        let made = self.destination_items(&name, &i.body, diags);
                        steps.extend(made);
                    }
                    ObjectKind::Source => {
                        let text = "a source cannot stand here";
                        diags.push(Diagnostic::error("E0107", text, i.span).help(
                            "put it at the beginning of a top-level log path, or into a source statement",
                        ));
                    }
                    kind => {
                        let made = self.body(kind, None, &i.body, diags);
                        steps.extend(made);
                    }
                }
            }
            LogItem::InlineFilter(expr, _) => {
                steps.extend(expr.as_ref().and_then(|e| self.filter_step(e, item.span(), diags)))
            }
            LogItem::Junction(branches, _) => {
                let branches = branches.iter().filter_map(|b| match b {
                    LogItem::Channel(path) | LogItem::Log(path) => Some(path),
                    _ => None,
                });
                self.beside += 1;
                let branches: Vec<Branch> =
                    branches.map(|path| self.channel(path, End::Joined, diags)).collect();
                self.beside -= 1;
                // One without a channel has nobody to take the message away.
                if !branches.is_empty() {
                    steps.push(self.join("junction", branches, item.span()));
                }
            }
            LogItem::Channel(path) => {
                steps.push(self.alone(path, item.span(), diags));
            }
            LogItem::Log(path) => {
                let branch = self.channel(path, End::Here, diags);
                steps.push(self.fork("log", vec![branch], item.span()));
            }
            LogItem::If(conditional) => {
                let mut branches = Vec::new();
                self.beside += 1;
                for case in &conditional.branches {
                    let condition = case.condition.iter();
                    let mut made: Vec<Step> =
                        condition.filter_map(|c| self.filter_step(c, item.span(), diags)).collect();
                    let body: Vec<&LogItem> = case.body.items.iter().collect();
                    made.extend(self.items(&body, End::Joined, diags));
                    let branch = self.exclusive(made, &case.body.flags, diags);
                    branches.push(Branch { claims: case.condition.is_some(), ..branch });
                }
                let otherwise: Vec<&LogItem> = conditional.otherwise.iter().flat_map(|o| &o.items).collect();
                let flags = conditional.otherwise.as_ref().map_or(&[][..], |o| &o.flags);
                let made = self.items(&otherwise, End::Joined, diags);
                self.beside -= 1;
                branches.push(self.exclusive(made, flags, diags));
                steps.push(self.join("if", branches, item.span()));
            }
            LogItem::Parallelize(call) => self.parallelize(call, diags),
            LogItem::FilterX(raw) => steps.extend(self.filterx(raw, diags)),
            LogItem::Call(call) => {
                let text = format!("`{}()` cannot stand in a log path by itself", call.name.text);
                let help = "put it into `parser { ... };`, `rewrite { ... };` or `destination { ... };`";
                diags.push(Diagnostic::error("E0109", text, call.name.span).help(help));
            }
        }
    }

    /// Branches each of which sees the message as it was.
    pub fn fork(&self, what: &str, branches: Vec<Branch>, at: Span) -> Step {
        Step::new(Op::Fork(Branches::new(branches)), self.statement(Kind::Fork, Some(what), at), at)
    }

    /// Branches whose results go on together.
    pub fn join(&self, what: &str, branches: Vec<Branch>, at: Span) -> Step {
        Step::new(Op::Join(Branches::new(branches)), self.statement(Kind::Join, Some(what), at), at)
    }

    /// A branch of an if: what it takes, later branches do not see.
    pub fn exclusive(&self, steps: Vec<Step>, flags: &[Name], diags: &mut Diagnostics) -> Branch {
        let flags = Flags { is_final: true, fallback: false, ..self.flags(flags, diags) };
        self.branch(steps, &flags, None)
    }

    pub fn channel(&mut self, path: &'c LogPath, end: End, diags: &mut Diagnostics) -> Branch {
        let flags = self.flags(&path.flags, diags);
        let items: Vec<&LogItem> = path.items.iter().collect();
        let steps = self.items(&items, end, diags);
        let at = self.statement(Kind::Channel, path.name.as_ref().map(|n| n.text.as_str()), path.span);
        Branch { at: Some(at), ..self.branch(steps, &flags, None) }
    }

    /// Work is shared anyway; what is said here bounds it. The order of a connection is kept whatever the
    /// key.
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
        steps: &mut Vec<Step>,
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
                    steps.push(Step::new(
                        Op::Filter(FilterOp::new(filter, counters, Some(text))),
                        from,
                        name.span,
                    ));
                }
            }
            ObjectKind::Destination => {
                if let Some(object) = self.objects.destinations.get(text) {
                    let made = self.destination(text, object, diags);
                    steps.extend(made);
                }
            }
            ObjectKind::Parser | ObjectKind::Rewrite => {
                let set =
                    if kind == ObjectKind::Parser { &self.objects.parsers } else { &self.objects.rewrites };
                if let Some(object) = set.get(text) {
                    let made = self.object(kind, text, object, diags);
                    steps.extend(made);
                }
            }
            ObjectKind::Source => diags.push(
                Diagnostic::error("E0107", "a source cannot stand here", name.span)
                    .help("put it at the beginning of a top-level log path, or into a source statement"),
            ),
        }
    }

    pub fn filter_step(&self, expr: &FilterExpr, at: Span, diags: &mut Diagnostics) -> Option<Step> {
        let filter = self.names.compile_filter(expr, diags)?;
        let from = self.statement(Kind::Filter, None, self.body_of(expr));
        Some(Step::new(Op::Filter(FilterOp::new(filter, Arc::default(), None)), from, at))
    }

    pub fn object(
        &mut self,
        kind: ObjectKind,
        name: &str,
        object: &'c Object,
        diags: &mut Diagnostics,
    ) -> Vec<Step> {
        let key = (kind, name.to_owned());
        if let Some(steps) = self.object_steps.get(&key) {
            return steps.clone();
        }
        if !self.open.insert(key.clone()) {
            let text = format!("{} `{name}` refers to itself", kind.keyword());
            diags.push(Diagnostic::error("E0110", text, object.name.span).help("break the circle"));
            return Vec::new();
        }
        let mut steps = self.body(kind, Some(name), &object.body, diags);
        if kind == ObjectKind::Parser {
            let earlier = || self.existing.parsers.get(name).cloned().unwrap_or_default();
            let counters = Arc::clone(self.parsers.entry(name.to_owned()).or_insert_with(earlier));
            let parsers = steps.iter_mut().rev().filter_map(|step| match &mut step.op {
                Op::Parse(parse) => Some(parse),
                _ => None,
            });
            for (behind, parse) in parsers.enumerate() {
                (parse.counters, parse.last) = (Arc::clone(&counters), behind == 0);
                parse.name = Some(name.into());
            }
        }
        self.open.remove(&key);
        self.object_steps.insert(key, steps.clone());
        steps
    }

    /// The body of a parser or rewrite; `rule` is the name of the statement.
    pub fn body(
        &mut self,
        kind: ObjectKind,
        rule: Option<&str>,
        body: &'c [LogItem],
        diags: &mut Diagnostics,
    ) -> Vec<Step> {
        let own = if kind == ObjectKind::Rewrite { Kind::Rewrite } else { Kind::Parser };
        let made_up = rule.is_none().then(|| self.made_up(own));
        let rule = rule.or(made_up.as_deref());
        let mut steps = Vec::new();
        // Those of a parser statement follow one another.
        let last = if kind == ObjectKind::Rewrite { embedded_last(body.iter()) } else { 0 };
        let (body, forks) = body.split_at(body.len() - last);
        for item in body {
            match item {
                LogItem::Call(call) if kind == ObjectKind::Rewrite => {
                    if let Some(rewrite) = self.names.compile_rewrite(call, diags) {
                        let from = self.statement(own, rule, call.span);
                        steps.push(Step::new(Op::Rewrite(rewrite), from, call.span));
                    }
                }
                LogItem::Call(call) if call.is("app-parser") => steps.extend(self.app_parser(call, diags)),
                LogItem::Call(call) if call.is("app-transform") => {
                    steps.extend(self.app_transform(call, diags));
                }
                LogItem::Call(call) => steps.extend(self.parser(call, rule, diags)),
                other => self.item(other, &mut steps, diags),
            }
        }
        if !forks.is_empty() {
            let forks: Vec<&LogItem> = forks.iter().collect();
            steps.push(self.embedded(&forks, End::Joined, diags));
        }
        steps
    }

    pub fn parser(&self, call: &Call, rule: Option<&str>, diags: &mut Diagnostics) -> Option<Step> {
        let (component, settings) = self.settings(Context::Parser, call, diags)?;
        let (_, build) = parsers::ALL.iter().find(|(c, _)| std::ptr::eq(*c, component))?;
        let parser = self.names.build_parser(*build, &settings, call.span, diags)?;
        let from = self.statement(Kind::Parser, rule, call.span);
        let parse = ParseOp {
            parser,
            counters: Arc::default(),
            name: None,
            here: None,
            kind: component.name,
            last: true,
            place: None,
            wide: None,
        };
        Some(Step::new(Op::Parse(parse), from, call.span))
    }
}

/// How many embedded log paths and channels stand at the end.
fn embedded_last<'i>(items: impl DoubleEndedIterator<Item = &'i LogItem>) -> usize {
    items.rev().take_while(|item| embedded(item).is_some()).count()
}

fn embedded(item: &LogItem) -> Option<&LogPath> {
    match item {
        LogItem::Channel(path) | LogItem::Log(path) => Some(path),
        _ => None,
    }
}

fn is_destination(item: &LogItem) -> bool {
    match item {
        LogItem::Reference(r) => r.kind == ObjectKind::Destination,
        LogItem::Inline(i) => i.kind == ObjectKind::Destination,
        _ => false,
    }
}
