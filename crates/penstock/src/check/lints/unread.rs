//! Values that are set and parsers that look, and nobody reads what comes of it: by what is read behind each
//! step of each log path.

use super::Lints;
use diag::{Diagnostic, Span};
use engine::compile::Plan;
use engine::program::{Branches, Op, ParseOp, Program, Step};
use record::{Demand, NameId, name_of};
use rewrite::Rewrite;
use std::collections::BTreeMap;

/// Parsers that fit every message, or leave alone what they do not fit: they are there for their values.
const FOR_VALUES: [&str; 4] = ["kv-parser", "date-parser", "syslog-parser", "linux-audit-parser"];

pub fn look(plan: &Plan, lints: &mut Lints<'_>) {
    // One that is read behind one source only is read.
    let mut unread: BTreeMap<Span, Option<Unread>> = BTreeMap::new();
    for source in &plan.sources {
        let mut search = Search { program: &source.program, unread: &mut unread };
        // What one log path does to a message, no other sees.
        let behind = search.branches(&source.program.branches, &Demand::default());
        search.steps(&source.program.source_steps, behind);
    }
    for (span, what) in unread {
        match what {
            Some(Unread::Value(name)) => {
                let text = format!("nobody reads the value `{name}` that is set here");
                let help = "correct its name, read it, or leave it out";
                lints.add(Diagnostic::warning("L0107", text, span).help(help));
            }
            Some(Unread::Parser) => {
                let finding = Diagnostic::warning("L0108", "nobody reads what this parser finds", span);
                lints.add(finding.help("use its values, or leave it out"));
            }
            None => {}
        }
    }
}

enum Unread {
    Value(&'static str),
    Parser,
}

/// Goes through a program against the way of the messages, with what is read from there on.
struct Search<'p> {
    program: &'p Program,
    /// By place; None: somebody reads it.
    unread: &'p mut BTreeMap<Span, Option<Unread>>,
}

impl Search<'_> {
    /// What is read from the beginning of any branch on, where `behind` is read behind them.
    fn branches(&mut self, branches: &Branches, behind: &Demand) -> Demand {
        let mut read = behind.clone();
        for branch in &branches.list {
            let before = self.steps(&branch.steps, behind.clone());
            read.merge(&before);
        }
        read
    }

    fn steps(&mut self, steps: &[Step], mut read: Demand) -> Demand {
        for step in steps.iter().rev() {
            match &step.op {
                Op::Fork(inner) => {
                    let inside = self.branches(inner, &Demand::default());
                    read.merge(&inside);
                }
                Op::Join(inner) => read = self.branches(inner, &read),
                Op::Rewrite(rewrite) => {
                    self.rewrite(step.span, rewrite, &read);
                    step.reads(&mut read);
                }
                Op::Parse(parse) => {
                    let unread = is_for_nobody(parse, &read).then_some(Unread::Parser);
                    self.note(step.span, unread);
                    step.reads(&mut read);
                    // Contexts keep whole messages, for the ones they make.
                    read.everything |= parse.parser.state().is_some();
                }
                Op::DeliverOrdered(index) => {
                    if let Some(ordered) = self.program.ordered.get(*index) {
                        ordered.destination.reads(&mut read);
                    }
                }
                Op::Filter(_) | Op::FilterX(_) | Op::Deliver(_) => step.reads(&mut read),
            }
        }
        read
    }

    fn rewrite(&mut self, span: Span, rewrite: &Rewrite, read: &Demand) {
        let writes = rewrite.writes();
        let sets_more = writes.stamp || writes.pri || writes.tags || writes.everything;
        // What its condition keeps and what its pattern keeps are its own.
        let set = writes.names.iter().copied().find(|name| *name > NameId(NameId::MATCH_MAX));
        let unread = set.filter(|_| !sets_more && is_nobody_s(&writes.names, read));
        self.note(span, unread.map(|name| Unread::Value(name_of(name))));
    }

    fn note(&mut self, span: Span, unread: Option<Unread>) {
        match self.unread.get_mut(&span) {
            Some(known) if unread.is_none() => *known = None,
            Some(_) => {}
            None => {
                self.unread.insert(span, unread);
            }
        }
    }
}

fn is_for_nobody(parse: &ParseOp, read: &Demand) -> bool {
    // All that it can find, not what is left of it.
    let writes = parse.wide.as_ref().unwrap_or(&parse.parser).writes();
    let has_other_purpose = writes.stamp || writes.pri || writes.tags || parse.parser.state().is_some();
    let under = |prefix: &str| read.names.iter().any(|name| name_of(*name).starts_with(prefix));
    let is_read_by_prefix =
        |prefix: &str| prefix.is_empty() || under(prefix) || read.sdata && is_of_sdata(prefix);
    let finds_something = writes.prefix.is_some() || !writes.names.is_empty();
    FOR_VALUES.contains(&parse.kind)
        && finds_something
        && !has_other_purpose
        && !writes.prefix.as_deref().is_some_and(is_read_by_prefix)
        && is_nobody_s(&writes.names, read)
}

fn is_nobody_s(names: &[NameId], read: &Demand) -> bool {
    let is_open = read.everything || read.context || read.raw;
    let is_read = |name: &NameId| read.names.contains(name) || read.sdata && is_of_sdata(name_of(*name));
    !is_open && !names.iter().any(is_read)
}

/// It leaves with the structured data.
fn is_of_sdata(name: &str) -> bool {
    name.starts_with(".SDATA")
}
