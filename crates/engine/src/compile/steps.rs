//! The steps of a source's own channel, as the ledger shows them: there is no log path yet whose row could
//! say what ended there.

use super::PlannedStep;
use super::paths::Paths;
use crate::ledger::StepCounters;
use crate::program::{Branches, Op, Step};
use diag::{Origin, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Names of steps that a row of several branches lists.
const NAMED_MAX: usize = 4;

impl Paths<'_, '_> {
    /// Gives the steps behind the drivers of a source statement counters of their own. Of branches that
    /// messages choose from, none ends a message alone: they are one step.
    pub fn show_steps(&mut self, group: &str, steps: &mut [Step]) {
        // The parsers of one statement are one step.
        let mut statements: BTreeMap<Arc<str>, Arc<StepCounters>> = BTreeMap::new();
        for step in steps {
            if let Op::Fork(Branches { list, .. }) | Op::Join(Branches { list, .. }) = &mut step.op
                && let [only] = list.as_mut_slice()
            {
                self.show_steps(group, &mut only.steps);
                continue;
            }
            let statement = match &step.op {
                Op::Filter(_) | Op::FilterX(_) | Op::Fork(_) | Op::Join(_) => None,
                Op::Parse(parse) => parse.name.clone(),
                Op::Rewrite(_) | Op::Deliver(_) | Op::DeliverOrdered(_) => continue,
            };
            let known = statement.as_ref().and_then(|statement| statements.get(statement)).cloned();
            let counters = known.unwrap_or_else(|| self.show_step(group, step));
            statements.extend(statement.map(|statement| (statement, Arc::clone(&counters))));
            match &mut step.op {
                Op::Filter(filter) => filter.here = Some(counters),
                Op::Parse(parse) => parse.here = Some(counters),
                Op::FilterX(op) => op.here = Some(counters),
                Op::Fork(branches) | Op::Join(branches) => branches.counters = Some(counters),
                Op::Rewrite(_) | Op::Deliver(_) | Op::DeliverOrdered(_) => {}
            }
        }
    }

    fn show_step(&mut self, group: &str, step: &Step) -> Arc<StepCounters> {
        let name = step_name(step);
        let same = || self.steps.iter().filter(|known| known.group == group && known.name == name);
        let key = format!("{group} {name} {}", same().count());
        let place = format!("in source {group}, {}", self.way_to(step.span));
        // Each row has a name and a detail that no other has.
        let detail = match same().filter(|known| known.place == place).count() {
            0 => place.clone(),
            earlier => format!("{place}, number {}", earlier + 1),
        };
        let counters = self.existing.steps.get(&key).cloned().unwrap_or_default();
        self.steps.push(PlannedStep {
            id: step.id,
            group: group.to_owned(),
            name,
            place,
            detail,
            key,
            counters: Arc::clone(&counters),
        });
        counters
    }

    /// The place in the configuration, and the blocks on the way from there, such as `a.conf:3, in
    /// kubernetes()`.
    fn way_to(&self, at: Span) -> String {
        let place = self.texts.locate(self.texts.outermost(at));
        let blocks = self.texts.chain(at).into_iter().rev().filter_map(|(origin, _)| match origin {
            Origin::Expanded { block, .. } => Some(format!(", in {block}()")),
            _ => None,
        });
        format!("{}:{}{}", place.file, place.line, blocks.collect::<String>())
    }
}

/// A filter or parser by its name; branches by what they are, and which filters and parsers stand in them.
fn step_name(step: &Step) -> String {
    match &step.op {
        Op::Filter(filter) => {
            filter.name.as_ref().map_or_else(|| "filter".to_owned(), |name| format!("filter {name}"))
        }
        Op::Parse(parse) => match &parse.name {
            Some(name) => format!("parser {name}"),
            None => format!("parser {}()", parse.kind),
        },
        Op::FilterX(_) => "filterx".to_owned(),
        Op::Fork(branches) | Op::Join(branches) => {
            let mut names = Vec::new();
            names_in(branches, &mut names);
            let more = names.len().saturating_sub(NAMED_MAX);
            names.truncate(NAMED_MAX);
            if more > 0 {
                names.push(format!("{more} more"));
            }
            let what = &step.from.rule;
            if names.is_empty() { what.clone() } else { format!("{what}: {}", names.join(", ")) }
        }
        Op::Rewrite(_) | Op::Deliver(_) | Op::DeliverOrdered(_) => String::new(),
    }
}

fn names_in(branches: &Branches, names: &mut Vec<String>) {
    for step in branches.list.iter().flat_map(|branch| &branch.steps) {
        match &step.op {
            Op::Filter(_) | Op::Parse(_) | Op::FilterX(_) => {
                let name = step_name(step);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            Op::Fork(inner) | Op::Join(inner) => names_in(inner, names),
            _ => {}
        }
    }
}
