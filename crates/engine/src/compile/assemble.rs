//! Log paths gathered by source: one program for each, and the plan of them all.

use super::flags::Flags;
use super::paths::Paths;
use super::sources::Entry;
use super::{Configured, Plan, PlannedSource};
use crate::driver::Destination;
use crate::need::Need;
use crate::program::{Branch, Branches, Op, Ordered, Program, Step};
use diag::{Diagnostic, Diagnostics, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

impl<'c> Paths<'_, 'c> {
    pub fn finish(mut self, diags: &mut Diagnostics) -> (Plan, Vec<Configured>) {
        let mut planned: Vec<PlannedSource> = Vec::new();
        let inline = std::mem::take(&mut self.inline_sources);
        let mut groups = self.used_sources(&inline, diags);
        groups.extend(inline);
        for (group, entries) in &groups {
            let branches = self.routed(group, &groups, &mut vec![group.as_str()], diags);
            let mut index = 0;
            for entry in entries.iter().filter(|e| !e.drivers.is_empty()) {
                let mut program = Program {
                    source_steps: entry.steps.clone(),
                    branches: Branches::new(branches.clone()),
                    share_max: self.share_by_source.get(group).copied(),
                    loghost: Some(Arc::clone(&self.identity.loghost)),
                    ..Program::default()
                };
                order_shared(&mut program);
                program.analyse(self.existing.keeps_everything);
                let program = Arc::new(program);
                for call in &entry.drivers {
                    planned.extend(self.source_driver(group, index, call, &program, diags));
                    index += 1;
                }
            }
        }
        self.report_collisions(&planned, diags);
        let filters = self.names.counters().all();
        self.look_at_unused(diags);
        let plan = Plan {
            drops: Vec::new(),
            globals: Arc::clone(self.globals),
            identity: self.identity.clone(),
            sources: planned,
            destinations: self.destinations,
            paths: self.paths,
            steps: self.steps,
            map: Arc::new(self.map),
            filters,
            parsers: self.parsers,
            blocks: self.blocks.into_inner(),
            states: self.states,
            hooks: self.hooks,
        };
        (plan, self.drivers)
    }

    /// Reports sources that could not both be opened: they want one address, or one path for a socket.
    fn report_collisions(&self, planned: &[PlannedSource], diags: &mut Diagnostics) {
        let mut known: Vec<(Need<'_>, &PlannedSource)> = Vec::new();
        for source in planned {
            for need in source.driver.start.needs() {
                // Those of one key have been reported.
                let collides = |(other, first): &&(Need<'_>, &PlannedSource)| {
                    need.collides(other) && first.driver.key != source.driver.key
                };
                if let Some((other, first)) = known.iter().find(collides) {
                    let (here, there) = (need.shown(), other.shown());
                    let text = match here == there {
                        true => format!("two sources want {here}"),
                        false => format!("{here} overlaps with {there}, which an earlier source listens on"),
                    };
                    let finding = Diagnostic::error("E0123", text, source.span);
                    diags.push(
                        finding
                            .label(first.span, "the earlier one")
                            .help("give one of them another place, or refer to one statement twice"),
                    );
                } else {
                    known.push((need, source));
                }
            }
        }
    }

    /// The source statements that log paths take from, themselves or through others, by name.
    fn used_sources(
        &mut self,
        inline: &BTreeMap<String, Vec<Entry<'c>>>,
        diags: &mut Diagnostics,
    ) -> Vec<(String, Vec<Entry<'c>>)> {
        let objects = self.objects;
        let mut found = BTreeMap::new();
        let referred = inline.values().flatten().flat_map(|entry| entry.references.iter().copied());
        let mut wanted: Vec<String> =
            self.by_source.keys().cloned().chain(referred.map(str::to_owned)).collect();
        while let Some(name) = wanted.pop() {
            let Some(object) = objects.sources.get(name.as_str()).filter(|_| !found.contains_key(&name))
            else {
                continue;
            };
            let entries = self.source_entries(&name, &object.body, diags);
            let referred = entries.iter().flat_map(|entry| entry.references.iter().copied());
            wanted.extend(referred.map(str::to_owned));
            found.insert(name, entries);
        }
        found.into_iter().collect()
    }

    /// The branches a source's messages take: its log paths, and, through source statements that refer to it,
    /// the log paths of those.
    pub fn routed<'g>(
        &mut self,
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
                branches.push(self.through(outer, entry, further));
            }
        }
        branches
    }

    /// Messages of a source go through another source statement, `outer`, that refers to it.
    fn through(&mut self, outer: &str, entry: &Entry<'c>, further: Vec<Branch>) -> Branch {
        let at = self.objects.sources.get(outer).map_or_else(Span::default, |object| object.name.span);
        let mut fork = self.fork("source", further, at);
        self.map.add_step(&mut fork, None, 0);
        let steps = entry.steps.iter().cloned().chain([fork]).collect();
        let mut branch = self.branch(steps, &Flags::default(), None);
        self.map.enter(&mut branch, at);
        branch
    }
}

/// Destinations that more than one leaf reaches get their messages in the order of the messages, not of the
/// paths.
fn order_shared(program: &mut Program) {
    fn visit(branches: &mut [Branch], flow: bool, see: &mut dyn FnMut(&mut Step, bool)) {
        for branch in branches {
            let flow = branch.flow_control.unwrap_or(flow);
            for step in &mut branch.steps {
                match &mut step.op {
                    Op::Fork(inner) | Op::Join(inner) => visit(&mut inner.list, flow, see),
                    _ => see(step, flow),
                }
            }
        }
    }
    let address = |d: &Arc<dyn Destination>| Arc::as_ptr(d).cast::<()>() as usize;
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    let mut any_flow = false;
    visit(&mut program.branches.list, false, &mut |step, flow| {
        any_flow |= flow;
        if let Op::Deliver(destination) = &step.op {
            *seen.entry(address(destination)).or_default() += 1;
        }
    });
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    let mut ordered: Vec<Ordered> = Vec::new();
    visit(&mut program.branches.list, false, &mut |step, flow| {
        let Op::Deliver(destination) = &step.op else { return };
        let address = address(destination);
        if seen.get(&address).is_none_or(|count| *count < 2) {
            return;
        }
        let place = *places.entry(address).or_insert_with(|| {
            let destination = Arc::clone(destination);
            ordered.push(Ordered { step: step.clone(), destination, flow_control: false });
            ordered.len() - 1
        });
        ordered[place].flow_control |= flow;
        step.op = Op::DeliverOrdered(place);
    });
    program.ordered = ordered;
    program.flow_control = any_flow;
}
