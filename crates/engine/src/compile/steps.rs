//! The steps of a source's own channel, as the ledger shows them: there is no log path yet whose row could say what ended there.

use super::PlannedStep;
use super::paths::Paths;
use crate::ledger::StepCounters;
use crate::program::{Branches, Node};
use diag::{Origin, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names of steps that a row of several branches lists.
const NAMED_MAX: usize = 4;

impl Paths<'_, '_> {
    /// Gives the steps behind the drivers of a source statement counters of their own. Of branches that messages choose from, none
    /// ends a message alone: they are one step.
    pub fn show_steps(&mut self, group: &str, nodes: &mut [Node]) {
        // The parsers of one statement are one step.
        let mut statements: BTreeMap<usize, Arc<StepCounters>> = BTreeMap::new();
        for node in nodes {
            match node {
                Node::Filter(step) => {
                    let (name, at) = (self.filter_name(&step.counters), step.at);
                    step.here = Some(self.step(group, name, at));
                }
                Node::Parse(step) => {
                    let statement = Arc::as_ptr(&step.counters) as usize;
                    let counters = statements.entry(statement).or_insert_with(|| {
                        let name = self.parser_name(&step.counters, step.name);
                        self.step(group, name, step.at)
                    });
                    step.here = Some(Arc::clone(counters));
                }
                Node::Fork(branches) | Node::Join(branches) => match branches.list.as_mut_slice() {
                    [only] => self.show_steps(group, &mut only.nodes),
                    _ => {
                        let name = self.branches_name(branches);
                        branches.counters = Some(self.step(group, name, branches.at));
                    }
                },
                Node::Rewrite(_) | Node::Deliver(_) | Node::DeliverOrdered(_) => {}
            }
        }
    }

    fn step(&mut self, group: &str, name: String, at: Span) -> Arc<StepCounters> {
        let same = || self.steps.iter().filter(|step| step.group == group && step.name == name);
        let key = format!("{group} {name} {}", same().count());
        let place = format!("in source {group}, {}", self.way_to(at));
        // Each row has a name and a detail that no other has.
        let detail = match same().filter(|step| step.place == place).count() {
            0 => place.clone(),
            earlier => format!("{place}, number {}", earlier + 1),
        };
        let counters = self.existing.steps.get(&key).cloned().unwrap_or_default();
        self.steps.push(PlannedStep {
            group: group.to_owned(),
            name,
            place,
            detail,
            key,
            counters: Arc::clone(&counters),
        });
        counters
    }

    /// The place in the configuration, and the blocks on the way from there, such as `a.conf:3, in kubernetes()`.
    fn way_to(&self, at: Span) -> String {
        let place = self.texts.locate(self.texts.outermost(at));
        let blocks = self.texts.chain(at).into_iter().rev().filter_map(|(origin, _)| match origin {
            Origin::Expanded { block, .. } => Some(format!(", in {block}()")),
            _ => None,
        });
        format!("{}:{}{}", place.file, place.line, blocks.collect::<String>())
    }

    fn filter_name(&self, counters: &Arc<StepCounters>) -> String {
        let known = self.names.counters().name_of(counters);
        known.map_or_else(|| "filter".to_owned(), |name| format!("filter {name}"))
    }

    fn parser_name(&self, counters: &Arc<StepCounters>, kind: &str) -> String {
        let known = self.parsers.iter().find(|(_, own)| Arc::ptr_eq(own, counters));
        known.map_or_else(|| format!("parser {kind}()"), |(name, _)| format!("parser {name}"))
    }

    /// What they are, and which filters and parsers stand in them.
    fn branches_name(&self, branches: &Branches) -> String {
        let mut names = Vec::new();
        self.names_in(branches, &mut names);
        let more = names.len().saturating_sub(NAMED_MAX);
        names.truncate(NAMED_MAX);
        if more > 0 {
            names.push(format!("{more} more"));
        }
        match names.is_empty() {
            true => branches.what.to_owned(),
            false => format!("{}: {}", branches.what, names.join(", ")),
        }
    }

    fn names_in(&self, branches: &Branches, names: &mut Vec<String>) {
        for node in branches.list.iter().flat_map(|branch| &branch.nodes) {
            let name = match node {
                Node::Filter(step) => self.filter_name(&step.counters),
                Node::Parse(step) => self.parser_name(&step.counters, step.name),
                Node::Fork(inner) | Node::Join(inner) => {
                    self.names_in(inner, names);
                    continue;
                }
                _ => continue,
            };
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
}
