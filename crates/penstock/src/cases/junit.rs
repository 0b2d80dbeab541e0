//! How the cases went, in JUnit's form, which build servers read.

use super::suite::{Suite, Verdict};
use std::fmt::Write;

pub fn render(suites: &[Suite]) -> String {
    let all = || suites.iter().flat_map(|suite| &suite.verdicts);
    let failed = all().filter(|verdict| !verdict.failures.is_empty()).count();
    let errors = suites.iter().filter(|suite| suite.error.is_some()).count();
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(
        out,
        "<testsuites name=\"penstock\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\">",
        all().count() + errors
    );
    suites.iter().for_each(|suite| one(&mut out, suite));
    out.push_str("</testsuites>\n");
    out
}

fn one(out: &mut String, suite: &Suite) {
    let failed = suite.verdicts.iter().filter(|verdict| !verdict.failures.is_empty()).count();
    let errors = usize::from(suite.error.is_some());
    let took: f64 = suite.verdicts.iter().map(|verdict| verdict.took.as_secs_f64()).sum();
    let config = escaped(&suite.config.display().to_string());
    let _ = writeln!(
        out,
        "  <testsuite name=\"{config}\" tests=\"{}\" failures=\"{failed}\" errors=\"{errors}\" time=\"{took:.6}\">",
        suite.verdicts.len() + errors
    );
    if let Some(error) = &suite.error {
        let _ = writeln!(out, "    <testcase name=\"the configuration\" classname=\"{config}\">");
        let _ = writeln!(out, "      <error message=\"cannot be tested\">{}</error>", escaped(error));
        out.push_str("    </testcase>\n");
    }
    suite.verdicts.iter().for_each(|verdict| case(out, verdict));
    out.push_str("  </testsuite>\n");
}

fn case(out: &mut String, verdict: &Verdict) {
    let (name, file) = (escaped(&verdict.name), escaped(&verdict.file));
    let took = verdict.took.as_secs_f64();
    let _ = write!(out, "    <testcase name=\"{name}\" classname=\"{file}\" time=\"{took:.6}\"");
    let Some(first) = verdict.failures.first() else {
        out.push_str("/>\n");
        return;
    };
    let texts: Vec<&str> = verdict.failures.iter().map(|failure| failure.text.as_str()).collect();
    let text = format!("{}\n\n{}", texts.join("\n"), verdict.explained);
    let message = first.text.lines().next().unwrap_or_default();
    let _ = writeln!(out, ">\n      <failure message=\"{}\">{}</failure>", escaped(message), escaped(&text));
    out.push_str("    </testcase>\n");
}

/// Text and attributes of XML; what XML has no way to say becomes `?`.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('?'),
            c => out.push(c),
        }
    }
    out
}
