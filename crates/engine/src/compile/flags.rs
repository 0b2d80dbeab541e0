//! `flags()` of log paths, and branches made with them.

use super::paths::Paths;
use crate::plan_map::StepId;
use crate::program::{Branch, Step, spoils};
use conf_syntax::Name;
use diag::{Diagnostic, Diagnostics, nearest};
use std::sync::Arc;

#[derive(Default)]
pub(super) struct Flags {
    pub is_final: bool,
    pub fallback: bool,
    pub catchall: bool,
    pub flow_control: Option<bool>,
}

impl Paths<'_, '_> {
    pub fn branch(
        &self,
        steps: Vec<Step>,
        flags: &Flags,
        counters: Option<Arc<crate::ledger::PathCounters>>,
    ) -> Branch {
        Branch {
            id: StepId::default(),
            writes: steps.iter().any(Step::writes),
            spoils: spoils::of(&steps),
            steps,
            is_final: flags.is_final,
            fallback: flags.fallback,
            claims: false,
            flow_control: flags.flow_control,
            counters,
            at: None,
        }
    }

    pub fn flags(&self, names: &[Name], diags: &mut Diagnostics) -> Flags {
        const KNOWN: [&str; 7] = [
            "final",
            "fallback",
            "catchall",
            "catch-all",
            "flow-control",
            "no-flow-control",
            "drop-unmatched",
        ];
        let mut flags = Flags {
            flow_control: self.globals.bool("log-flow-control").filter(|on| *on),
            ..Flags::default()
        };
        for name in names {
            match name.norm().as_str() {
                "final" => flags.is_final = true,
                "fallback" => flags.fallback = true,
                "catchall" | "catch-all" => flags.catchall = true,
                "flow-control" => flags.flow_control = Some(true),
                "no-flow-control" => flags.flow_control = Some(false),
                "drop-unmatched" => diags.push(
                    Diagnostic::warning("E0106", "the flag drop-unmatched has no effect", name.span)
                        .help("remove it"),
                ),
                other => {
                    let text = format!("unknown log path flag `{other}` is ignored");
                    diags.push(Diagnostic::warning("E0106", text, name.span).suggest(nearest(other, KNOWN)));
                }
            }
        }
        flags
    }
}
