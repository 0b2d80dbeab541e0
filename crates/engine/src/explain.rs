//! Which fields a compiled configuration computes, and who asks for them: the demand of each log path in words.

use crate::compile::Plan;
use crate::driver::Destination;
use crate::program::{Branches, Node, Program};
use record::Demand;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Text for `penstock check --explain`: per source its log paths, what each step reads and makes, and who reads each field.
pub fn explain(plan: &Plan) -> String {
    let mut out =
        String::from("Fields by log path. What nobody reads is not parsed, not stored and not formatted.\n");
    let mut last: Option<&Arc<Program>> = None;
    for source in &plan.sources {
        if last.is_some_and(|program| Arc::ptr_eq(program, &source.program)) {
            continue;
        }
        last = Some(&source.program);
        let mut story =
            Story { plan, program: &source.program, lines: String::new(), readers: BTreeMap::new() };
        story.nodes(&source.program.source_nodes, 1);
        story.branches(&source.program.branches, 1);
        let _ = writeln!(out, "\nsource {}", source.group);
        out.push_str(&story.lines);
        out.push_str(&story.asked_for());
    }
    out
}

struct Story<'a> {
    plan: &'a Plan,
    program: &'a Program,
    lines: String,
    /// Who reads each field.
    readers: BTreeMap<&'static str, Vec<String>>,
}

/// Width of the column that names a step.
const STEP_WIDTH: usize = 30;

impl Story<'_> {
    fn branches(&mut self, branches: &Branches, depth: usize) {
        for (index, branch) in branches.list.iter().enumerate() {
            let path = branch.counters.as_ref().and_then(|counters| {
                self.plan.paths.iter().find(|path| Arc::ptr_eq(&path.counters, counters))
            });
            let title = match path {
                Some(path) => format!("log path {}", path.name),
                None => format!("branch {}", index + 1),
            };
            let notes = [(branch.is_final, "final"), (branch.fallback, "fallback")];
            let notes: String =
                notes.iter().filter(|(on, _)| *on).map(|(_, note)| format!(", {note}")).collect();
            let _ = writeln!(self.lines, "{}{title}{notes}", "  ".repeat(depth));
            self.nodes(&branch.nodes, depth + 1);
        }
    }

    fn nodes(&mut self, nodes: &[Node], depth: usize) {
        for node in nodes {
            let label = match node {
                Node::Fork(inner) | Node::Join(inner) => {
                    self.branches(inner, depth);
                    continue;
                }
                Node::Filter(step) => named("filter", &self.plan.filters, &step.counters),
                Node::Parse(step) => named("parser", &self.plan.parsers, &step.counters),
                Node::Rewrite(_) => "rewrite".to_owned(),
                Node::Deliver(step) => self.destination(&step.destination),
                Node::DeliverOrdered(index) => match self.program.ordered.get(*index) {
                    Some(ordered) => self.destination(&ordered.step.destination),
                    None => continue,
                },
            };
            let mut reads = Demand::default();
            match node {
                Node::DeliverOrdered(index) => {
                    self.program
                        .ordered
                        .iter()
                        .skip(*index)
                        .take(1)
                        .for_each(|o| o.step.destination.reads(&mut reads));
                }
                other => other.reads(&mut reads),
            }
            self.step(&label, &reads, depth);
            if let Node::Parse(step) = node {
                self.makes(step.parser.writes(), depth);
            }
        }
    }

    fn destination(&self, destination: &Arc<dyn Destination>) -> String {
        let planned =
            self.plan.destinations.iter().find(|planned| Arc::ptr_eq(&planned.destination, destination));
        format!("destination {}", planned.map_or("", |planned| planned.id.as_str()))
    }

    fn step(&mut self, label: &str, reads: &Demand, depth: usize) {
        let fields = reads.described();
        for field in &fields {
            let readers = self.readers.entry(field).or_default();
            if !readers.iter().any(|known| known == label) {
                readers.push(label.to_owned());
            }
        }
        let fields = if fields.is_empty() { "nothing".to_owned() } else { fields.join(", ") };
        let _ = writeln!(self.lines, "{}{label:<STEP_WIDTH$} reads {fields}", "  ".repeat(depth));
    }

    /// What of a parser's results is kept.
    fn makes(&mut self, writes: parsers::Writes, depth: usize) {
        let demand = &self.program.demand;
        let whole = demand.everything || demand.context;
        let mut made: Vec<&str> = demand
            .names
            .iter()
            .filter(|name| {
                let prefixed =
                    writes.prefix.as_ref().is_some_and(|p| record::name_of(**name).starts_with(&**p));
                writes.names.contains(name) || prefixed
            })
            .map(|name| record::name_of(*name))
            .collect();
        let flags = [(writes.stamp, "time stamp"), (writes.pri, "PRI"), (writes.tags, "tags")];
        made.extend(flags.iter().filter(|(on, _)| *on).map(|(_, what)| *what));
        made.sort_unstable();
        let text = match (whole, made.is_empty()) {
            (true, _) => "all it finds".to_owned(),
            (false, true) => "nothing that is read; only whether it matches counts".to_owned(),
            (false, false) => made.join(", "),
        };
        let _ = writeln!(self.lines, "{}{:<STEP_WIDTH$} makes {text}", "  ".repeat(depth), "");
    }

    fn asked_for(&self) -> String {
        let mut out = String::from("  computed, and for whom\n");
        if self.readers.is_empty() {
            out.push_str("    nothing\n");
        }
        for (field, readers) in &self.readers {
            let _ = writeln!(out, "    {field:<28} {}", readers.join(", "));
        }
        out
    }
}

/// `filter f_name`, or the kind alone for one without a statement of its own.
fn named<T>(kind: &str, known: &BTreeMap<String, Arc<T>>, counters: &Arc<T>) -> String {
    match known.iter().find(|(_, own)| Arc::ptr_eq(own, counters)) {
        Some((name, _)) => format!("{kind} {name}"),
        None => kind.to_owned(),
    }
}
