//! How the cases went, as JSON.

use super::coverage::{Coverage, Gap, Row, RuleRow};
use super::suite::{Suite, Verdict};
use serde_json::{Value, json};

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

pub fn render(suites: &[Suite]) -> String {
    let verdicts = || suites.iter().flat_map(|suite| &suite.verdicts);
    let failed = verdicts().filter(|verdict| !verdict.failures.is_empty()).count();
    let report = json!({
        "version": VERSION,
        "passed": verdicts().count() - failed,
        "failed": failed,
        "configurations": suites.iter().map(one).collect::<Vec<_>>(),
    });
    format!("{report:#}\n")
}

fn one(suite: &Suite) -> Value {
    json!({
        "config": suite.config.display().to_string(),
        "error": suite.error,
        "cases": suite.verdicts.iter().map(case).collect::<Vec<_>>(),
        "coverage": suite.coverage.as_ref().map(coverage),
    })
}

fn case(verdict: &Verdict) -> Value {
    json!({
        "file": verdict.file,
        "name": verdict.name,
        "environment": verdict.environment.0,
        "passed": verdict.failures.is_empty(),
        "microseconds": verdict.took.as_micros() as u64,
        "failures": verdict.failures.iter().map(|failure| failure.text.as_str()).collect::<Vec<_>>(),
        "explained": verdict.explained,
    })
}

fn coverage(coverage: &Coverage) -> Value {
    json!({
        "steps": coverage.rows.iter().map(step).collect::<Vec<_>>(),
        "rules": coverage.rules.iter().map(rule).collect::<Vec<_>>(),
    })
}

fn step(row: &Row) -> Value {
    json!({
        "location": format!("{}:{}", row.file, row.line),
        "label": row.label,
        "is_step": row.is_step,
        "entered": row.counts.entered,
        "passed": row.counts.passed,
        "stopped": row.counts.stopped,
        "gap": row.gap.map(Gap::words),
    })
}

fn rule(rule: &RuleRow) -> Value {
    json!({ "database": rule.database, "id": rule.id, "cases": rule.cases, "examples": rule.examples })
}
