//! Values that are set and parsers that look, and nobody reads what comes of it.

use super::Lints;
use diag::{Diagnostic, Span};
use engine::compile::Plan;
use engine::program::{Branches, Op, ParseOp, Program, Step};
use record::{Demand, name_of};
use std::collections::BTreeMap;

/// Parsers that fit every message, or leave alone what they do not fit: they are there for their values.
const FOR_VALUES: [&str; 4] = ["kv-parser", "date-parser", "syslog-parser", "linux-audit-parser"];

pub fn look(plan: &Plan, lints: &mut Lints<'_>) {
    // One that is read behind one source only is read.
    let mut unread: BTreeMap<Span, Option<Unread>> = BTreeMap::new();
    for source in &plan.sources {
        let mut search = Search { program: &source.program, unread: &mut unread };
        search.steps(&source.program.source_steps);
        search.branches(&source.program.branches);
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

struct Search<'p> {
    program: &'p Program,
    /// By place; None: somebody reads it.
    unread: &'p mut BTreeMap<Span, Option<Unread>>,
}

impl Search<'_> {
    fn branches(&mut self, branches: &Branches) {
        branches.list.iter().for_each(|branch| self.steps(&branch.steps));
    }

    fn steps(&mut self, steps: &[Step]) {
        for step in steps {
            match &step.op {
                Op::Fork(inner) | Op::Join(inner) => self.branches(inner),
                Op::Rewrite(rewrite) => {
                    let writes = rewrite.writes();
                    let sets_more = writes.stamp || writes.pri || writes.tags || writes.everything;
                    let unread = match writes.names.as_slice() {
                        [only] if !sets_more && self.is_nobody_s(&[*only]) => {
                            Some(Unread::Value(name_of(*only)))
                        }
                        _ => None,
                    };
                    self.note(step.span, unread);
                }
                Op::Parse(parse) => {
                    let unread = self.is_for_nobody(parse).then_some(Unread::Parser);
                    self.note(step.span, unread);
                }
                _ => {}
            }
        }
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

    fn is_for_nobody(&self, parse: &ParseOp) -> bool {
        let writes = parse.parser.writes();
        let has_other_purpose = writes.stamp || writes.pri || writes.tags || parse.parser.state().is_some();
        let is_open = writes.prefix.as_deref() == Some("");
        let under = |prefix: &str| self.demand().names.iter().any(|name| name_of(*name).starts_with(prefix));
        let is_read_by_prefix = writes.prefix.as_deref().is_some_and(under);
        let finds_something = writes.prefix.is_some() || !writes.names.is_empty();
        FOR_VALUES.contains(&parse.kind)
            && finds_something
            && !has_other_purpose
            && !is_open
            && !is_read_by_prefix
            && self.is_nobody_s(&writes.names)
    }

    fn demand(&self) -> &Demand {
        &self.program.demand
    }

    fn is_nobody_s(&self, names: &[record::NameId]) -> bool {
        let demand = self.demand();
        let is_open = demand.everything || demand.context || demand.raw;
        !is_open && !names.iter().any(|name| demand.names.contains(name))
    }
}
