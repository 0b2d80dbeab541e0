//! Which fields a compiled configuration computes, and who asks for them: the demand of each log path in
//! words.

use crate::compile::Plan;
use crate::plan_map::{Entry, StepId};
use crate::program::{Branches, Op, Program, Step};
use record::Demand;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Arc;

/// Text for `penstock check --explain`: per source its log paths, what each step reads and makes, and who
/// reads each field.
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
        story.steps(&source.program.source_steps, 1);
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
        for branch in &branches.list {
            let title = self.label(branch.id);
            let notes = [(branch.is_final, "final"), (branch.fallback, "fallback")];
            let notes: String =
                notes.iter().filter(|(on, _)| *on).map(|(_, note)| format!(", {note}")).collect();
            let _ = writeln!(self.lines, "{}{title}{notes}", "  ".repeat(depth));
            self.steps(&branch.steps, depth + 1);
        }
    }

    fn steps(&mut self, steps: &[Step], depth: usize) {
        for step in steps {
            let mut reads = Demand::default();
            let told = match &step.op {
                Op::Fork(inner) | Op::Join(inner) => {
                    self.branches(inner, depth);
                    continue;
                }
                Op::DeliverOrdered(index) => match self.program.ordered.get(*index) {
                    Some(ordered) => {
                        ordered.destination.reads(&mut reads);
                        step.id
                    }
                    None => continue,
                },
                _ => {
                    step.reads(&mut reads);
                    step.id
                }
            };
            let label = self.label(told);
            self.step(&label, &reads, depth);
            if let Op::Parse(parse) = &step.op {
                self.makes(parse.parser.writes(), depth);
            }
        }
    }

    fn label(&self, id: StepId) -> String {
        self.plan.map.entry(id).map_or_else(String::new, Entry::label)
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
