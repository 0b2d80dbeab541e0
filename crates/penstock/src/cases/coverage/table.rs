//! Coverage as a table of what no case has taken.

use super::{Coverage, Row};
use std::fmt::Write;

pub fn render(coverage: &Coverage) -> String {
    let mut out = String::new();
    let (steps, inner): (Vec<&Row>, Vec<&Row>) = coverage.rows.iter().partition(|row| row.is_step);
    let of = |rows: &[&Row]| {
        let reached = rows.iter().filter(|row| row.counts.entered > 0).count();
        let deciding: Vec<&&Row> = rows.iter().filter(|row| row.decides).collect();
        let both = deciding.iter().filter(|row| row.counts.passed > 0 && row.counts.stopped > 0).count();
        (format!("{reached} of {}", rows.len()), format!("{both} of {}", deciding.len()))
    };
    let (reached, both) = of(&steps);
    let _ = write!(out, "coverage of {}: {reached} steps reached", coverage.config);
    let _ = write!(out, ", {both} filters and parsers with both outcomes");
    if !inner.is_empty() {
        let (reached, both) = of(&inner);
        let _ =
            write!(out, ", {reached} statements of FilterX reached, {both} conditions with both outcomes");
    }
    if !coverage.rules.is_empty() {
        let hit = coverage.rules.iter().filter(|rule| rule.cases + rule.examples > 0).count();
        let _ = write!(out, ", {hit} of {} rules", coverage.rules.len());
    }
    out.push('\n');
    let gaps: Vec<(String, &str, &str)> = coverage
        .rows
        .iter()
        .filter_map(|row| Some((format!("{}:{}", row.file, row.line), row.label.as_str(), row.gap?.words())))
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
