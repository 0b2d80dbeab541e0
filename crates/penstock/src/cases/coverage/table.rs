//! Coverage as a table of what no case has taken.

use super::{Coverage, Row};
use engine::watch::Kind;
use std::fmt::Write;

pub fn render(coverage: &Coverage) -> String {
    let mut out = String::new();
    let reached = coverage.rows.iter().filter(|row| row.counts.entered > 0).count();
    let _ =
        write!(out, "coverage of {}: {reached} of {} steps reached", coverage.config, coverage.rows.len());
    let deciding: Vec<&Row> =
        coverage.rows.iter().filter(|row| matches!(row.kind, Kind::Filter | Kind::Parser)).collect();
    let both = deciding.iter().filter(|row| row.counts.passed > 0 && row.counts.stopped > 0).count();
    let _ = write!(out, ", {both} of {} filters and parsers with both outcomes", deciding.len());
    if !coverage.rules.is_empty() {
        let hit = coverage.rules.iter().filter(|rule| rule.cases + rule.examples > 0).count();
        let _ = write!(out, ", {hit} of {} rules", coverage.rules.len());
    }
    out.push('\n');
    let gaps: Vec<(String, &str, &str)> = coverage
        .rows
        .iter()
        .filter_map(|row| Some((format!("{}:{}", row.file, row.line), row.label.as_str(), row.gap?)))
        .collect();
    let place_width = gaps.iter().map(|(place, ..)| place.chars().count()).max().unwrap_or_default();
    let label_width = gaps.iter().map(|(_, label, _)| label.chars().count()).max().unwrap_or_default();
    for (place, label, gap) in &gaps {
        let _ = writeln!(out, "  {place:<place_width$}  {label:<label_width$}  {gap}");
    }
    for rule in coverage.rules.iter().filter(|rule| rule.cases + rule.examples == 0) {
        let _ = writeln!(out, "  {}  rule {}  never hit", rule.database, rule.id);
    }
    out
}
