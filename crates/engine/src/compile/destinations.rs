//! Destination statements to steps, each driver built once.

use super::flags::Flags;
use super::items::End;
use super::paths::Paths;
use super::{Configured, DestinationKey, PlannedDestination};
use crate::driver::BuildContext;
use crate::hooks::Hooks;
use crate::program::{Op, Step};
use crate::watch::Kind;
use conf_schema::Context;
use conf_syntax::{Call, LogItem, Object, ObjectKind};
use diag::{Diagnostic, Diagnostics, Span};
use std::sync::Arc;

impl<'c> Paths<'_, 'c> {
    pub fn destination(&mut self, name: &str, object: &'c Object, diags: &mut Diagnostics) -> Vec<Step> {
        if let Some(steps) = self.destination_steps.get(name) {
            return steps.clone();
        }
        let key = (ObjectKind::Destination, name.to_owned());
        if !self.open.insert(key.clone()) {
            let text = format!("destination `{name}` refers to itself");
            diags.push(Diagnostic::error("E0110", text, object.name.span).help("break the circle"));
            return Vec::new();
        }
        let steps = self.destination_items(name, &object.body, diags);
        self.open.remove(&key);
        self.destination_steps.insert(name.to_owned(), steps.clone());
        steps
    }

    pub fn destination_items(
        &mut self,
        group: &str,
        body: &'c [LogItem],
        diags: &mut Diagnostics,
    ) -> Vec<Step> {
        // Drivers and channels are siblings: an earlier channel that is final keeps messages from later ones.
        let mut branches = Vec::new();
        let mut drivers = Vec::new();
        let mut index = 0;
        let flags = Flags::default();
        for item in body {
            if let LogItem::Call(call) = item {
                drivers.extend(self.driver(group, index, call, diags));
                index += 1;
                continue;
            }
            if !drivers.is_empty() {
                branches.push(self.branch(std::mem::take(&mut drivers), &flags, None));
            }
            branches.push(match item {
                LogItem::Channel(path) | LogItem::Log(path) => self.channel(path, End::Here, diags),
                other => {
                    let mut made = Vec::new();
                    self.item(other, &mut made, diags);
                    self.branch(made, &flags, None)
                }
            });
        }
        if branches.is_empty() {
            return drivers;
        }
        if !drivers.is_empty() {
            branches.push(self.branch(drivers, &flags, None));
        }
        let at = body.first().map_or_else(Span::default, LogItem::span);
        vec![self.fork("destination", branches, at)]
    }

    pub fn driver(
        &mut self,
        group: &str,
        index: usize,
        call: &Call,
        diags: &mut Diagnostics,
    ) -> Option<Step> {
        let (component, settings) = self.settings(Context::Destination, call, diags)?;
        let part = self.registry.destination(component)?;
        let files = self.names.fingerprint.files_so_far();
        let cx = self.build_context(group, index);
        let (id, driver) = (cx.id(), (part.build)(&settings, &cx, diags));
        self.hooks.extend(Hooks::read(format!("destination {id}"), &settings).map(Arc::new));
        let (context, needs) = (Context::Destination, part.needs);
        self.drivers.push(Configured { context, component, settings, span: call.span, needs });
        let driver = driver.ok()?;
        self.unique(&driver.key, call.span, diags);
        // What a block was called with, and what names in backticks stand for, is in it; its text is the
        // same.
        let options = format!("{}\n{}", call.canonical(), self.names.fingerprint.since(files));
        let key = DestinationKey { id: id.clone(), options, place: driver.key };
        let destination = self.existing.destinations.get(&key).cloned().unwrap_or(driver.destination);
        self.destinations.push(PlannedDestination {
            id: id.clone(),
            key,
            destination: Arc::clone(&destination),
            span: call.span,
        });
        let from = self.statement(Kind::Destination, Some(&id), call.span);
        Some(Step::new(Op::Deliver(destination), from, call.span))
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
}
