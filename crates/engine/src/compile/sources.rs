//! Source statements: drivers, and what happens to their messages inside the statement.

use super::items::End;
use super::paths::Paths;
use super::{Configured, PlannedSource};
use crate::hooks::Hooks;
use crate::program::{Program, Step};
use crate::watch::Kind;
use conf_schema::Context;
use conf_syntax::{Call, LogItem, LogPath, ObjectKind};
use diag::{Diagnostic, Diagnostics};
use std::sync::Arc;

/// Drivers that share the steps between them and the log paths.
#[derive(Default)]
pub(super) struct Entry<'c> {
    pub drivers: Vec<&'c Call>,
    /// Other source statements whose messages come in here as well.
    pub references: Vec<&'c str>,
    pub steps: Vec<Step>,
}

impl<'c> Paths<'_, 'c> {
    /// The drivers of a source statement's body. A `channel {}` inside has drivers of its own, and steps for
    /// their messages alone.
    pub fn source_entries(
        &mut self,
        group: &str,
        body: &'c [LogItem],
        diags: &mut Diagnostics,
    ) -> Vec<Entry<'c>> {
        let mut plain = Entry::default();
        let mut entries = Vec::new();
        for item in body {
            match item {
                LogItem::Call(call) => plain.drivers.push(call),
                LogItem::Channel(path) | LogItem::Log(path) => entries.extend(self.channel_entries(group, path, diags)),
                LogItem::Junction(branches, _) => {
                    for branch in branches {
                        if let LogItem::Channel(path) | LogItem::Log(path) = branch {
                            entries.extend(self.channel_entries(group, path, diags));
                        }
                    }
                }
                other => diags.push(
                    Diagnostic::error("E0112", "this cannot stand in a source statement by itself", other.span())
                        .help("put it into a `channel { source { ... }; ... };` together with the source it belongs to"),
                ),
            }
        }
        if !plain.drivers.is_empty() {
            entries.insert(0, plain);
        }
        entries
    }

    fn channel_entries(&mut self, group: &str, path: &'c LogPath, diags: &mut Diagnostics) -> Vec<Entry<'c>> {
        let mut entries = Vec::new();
        let mut items = Vec::new();
        for item in &path.items {
            match item {
                LogItem::Inline(i) if i.kind == ObjectKind::Source => {
                    entries.extend(self.source_entries(group, &i.body, diags));
                }
                LogItem::Reference(r) if r.kind == ObjectKind::Source => {
                    if self.objects.refer(r.kind, &r.name, diags) {
                        entries.push(Entry { references: vec![&r.name.text], ..Entry::default() });
                    }
                }
                LogItem::Junction(branches, _) if entries.is_empty() && holds_sources(branches) => {
                    for branch in branches {
                        if let LogItem::Channel(path) | LogItem::Log(path) = branch {
                            entries.extend(self.channel_entries(group, path, diags));
                        }
                    }
                }
                LogItem::Channel(path) | LogItem::Log(path) if holds_sources(std::slice::from_ref(item)) => {
                    entries.extend(self.channel_entries(group, path, diags));
                }
                other => items.push(other),
            }
        }
        let mut steps = self.items(&items, End::Joined, diags);
        self.give_states(&mut steps);
        self.map.add_steps(&mut steps, None);
        self.show_steps(group, &mut steps);
        for entry in &mut entries {
            entry.steps.extend(steps.iter().cloned());
        }
        entries
    }

    pub fn source_driver(
        &mut self,
        group: &str,
        index: usize,
        call: &Call,
        program: &Arc<Program>,
        diags: &mut Diagnostics,
    ) -> Option<PlannedSource> {
        let (component, settings) = self.settings(Context::Source, call, diags)?;
        let part = self.registry.source(component)?;
        let cx = self.build_context(group, index);
        let (id, driver) = (cx.id(), (part.build)(&settings, &cx, diags));
        self.hooks.extend(Hooks::read(format!("source {id}"), &settings).map(Arc::new));
        let (context, needs) = (Context::Source, part.needs);
        self.drivers.push(Configured { context, component, settings, span: call.span, needs });
        let driver = driver.ok()?;
        self.unique(&driver.key, call.span, diags);
        let (group, program) = (group.to_owned(), Arc::clone(program));
        let at = self.map.add_source(self.statement(Kind::Source, Some(&id), call.span), call.span);
        Some(PlannedSource { group, id, driver, program, span: call.span, at })
    }
}

fn holds_sources(branches: &[LogItem]) -> bool {
    branches.iter().any(|b| match b {
        LogItem::Channel(path) | LogItem::Log(path) => path.items.iter().any(|i| match i {
            LogItem::Inline(i) => i.kind == ObjectKind::Source,
            LogItem::Reference(r) => r.kind == ObjectKind::Source,
            _ => false,
        }),
        _ => false,
    })
}
