//! What was measured as bars, one for each row of each table, as SVG for light and dark screens.

use super::report::{Report, Row, Section};
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const MARGIN: f64 = 24.0;
/// What stands left of the bars, and right of them.
const NAMES: f64 = 240.0;
const FIGURES: f64 = 150.0;
const BAR: f64 = 18.0;
const STEP: f64 = 26.0;
const HEAD: f64 = 44.0;

const STYLE: &str = "\
svg { background: #fff; font-family: system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; }
.title { font-size: 16px; font-weight: 600; fill: #1d2329; } .head { font-size: 13px; font-weight: 600; fill: #1d2329; }
.name, .quiet { font-size: 12px; fill: #58626c; } .name { text-anchor: end; } .figure { font-size: 12px; fill: #1d2329; }
.bar { fill: #2f6fb3; } .error { stroke: #1d2329; stroke-width: 1.2; }
@media (prefers-color-scheme: dark) {
svg { background: #15191d; } .title, .head, .figure { fill: #e8ecf0; } .name, .quiet { fill: #a3adb8; }
.bar { fill: #6ea1ff; } .error { stroke: #e8ecf0; }
}
";

pub fn text(report: &Report) -> String {
    let rows: usize = report.sections.iter().map(|section| section.rows.len()).sum();
    let height = 80.0 + report.sections.len() as f64 * HEAD + rows as f64 * STEP + MARGIN;
    // Writing to a String does not fail.
    let mut out = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {WIDTH:.0} {height:.0}\">\n<style>\n{STYLE}</style>\n\
         <text class=\"title\" x=\"{MARGIN}\" y=\"36\">Messages a second</text>\n<text class=\"quiet\" x=\"{MARGIN}\" y=\"56\">{}</text>\n",
        escaped(&report.machine)
    );
    let mut y = 80.0;
    for section in &report.sections {
        let _ = writeln!(
            out,
            "<text class=\"head\" x=\"{MARGIN}\" y=\"{:.0}\">{}</text>",
            y + 20.0,
            escaped(section.title)
        );
        y += HEAD - 12.0;
        bars(&mut out, section, y);
        y += section.rows.len() as f64 * STEP + 12.0;
    }
    out.push_str("</svg>\n");
    out
}

fn bars(out: &mut String, section: &Section, top: f64) {
    let part = |row: &Row| row.error_percent().unwrap_or(0.0) / 100.0;
    let high = |row: &Row| row.rate.value * (1.0 + part(row));
    let most = section.rows.iter().map(high).fold(1.0, f64::max);
    let left = MARGIN + NAMES;
    let scale = (WIDTH - left - FIGURES - MARGIN) / most;
    for (number, row) in section.rows.iter().enumerate() {
        let y = top + number as f64 * STEP;
        let (length, middle) = (row.rate.value * scale, y + BAR / 2.0);
        let error = length * part(row);
        let base = y + BAR / 2.0 + 4.0;
        let name = escaped(&row.name);
        let _ = writeln!(out, "<text class=\"name\" x=\"{:.0}\" y=\"{base:.1}\">{name}</text>", left - 10.0);
        let _ = writeln!(
            out,
            "<rect class=\"bar\" x=\"{left:.0}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"{BAR:.0}\" rx=\"3\"/>"
        );
        let _ = writeln!(
            out,
            "<path class=\"error\" d=\"M{:.1},{middle:.1} H{:.1}\"/>",
            (left + length - error).max(left),
            left + length + error
        );
        let _ = writeln!(
            out,
            "<text class=\"figure\" x=\"{:.1}\" y=\"{base:.1}\">{}, {:.0} MB/s</text>",
            left + length + error + 8.0,
            crate::graph::grouped(row.rate.value.round() as u64),
            row.megabytes
        );
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_bar() {
        let svg = text(&super::super::report::example());
        assert_eq!(svg.matches("class=\"bar\"").count(), 2);
        assert!(svg.contains(">a \"b\" &lt;c&gt;</text>") && svg.contains(">100, 0 MB/s</text>"), "{svg}");
    }
}
