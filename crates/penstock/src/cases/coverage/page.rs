//! Coverage beside the lines of the configuration, as a page that needs nothing else.

use super::Coverage;
use std::fmt::Write;

const HEAD: &str = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
<meta name=\"viewport\" content=\"width=device-width\"><title>Coverage</title><style>\n\
:root { color-scheme: light dark; }\n\
body { font: 14px/1.5 system-ui, sans-serif; margin: 2em; }\n\
table { border-collapse: collapse; font: 13px/1.5 ui-monospace, monospace; }\n\
td { padding: 0 .8em; white-space: pre-wrap; vertical-align: top; }\n\
td:nth-child(-n+2) { text-align: right; opacity: .6; }\n\
.full { background: #2a92; } .part { background: #fb03; } .none { background: #e333; }\n\
i { opacity: .8; }\n</style></head><body>\n<h1>Coverage</h1>\n";

pub fn render(coverages: &[&Coverage]) -> String {
    let mut out = String::from(HEAD);
    for coverage in coverages {
        for (name, text) in &coverage.texts {
            let known = coverage.lines(name);
            let reached = known.values().filter(|line| line.entered > 0).count();
            let _ = writeln!(
                out,
                "<h2>{}</h2>\n<p>{reached} of {} lines</p>\n<table>",
                escaped(name),
                known.len()
            );
            for (number, line) in (1..).zip(text.lines()) {
                let (class, count, gaps) = match known.get(&number) {
                    None => ("", String::new(), String::new()),
                    Some(line) => {
                        let class = match (line.entered, line.gaps.is_empty()) {
                            (0, _) => "none",
                            (_, false) => "part",
                            (_, true) => "full",
                        };
                        (class, line.entered.to_string(), line.gaps.join("; "))
                    }
                };
                let _ = writeln!(
                    out,
                    "<tr class=\"{class}\"><td>{number}</td><td>{count}</td><td>{}</td><td><i>{}</i></td></tr>",
                    escaped(line),
                    escaped(&gaps)
                );
            }
            out.push_str("</table>\n");
        }
        rules(&mut out, coverage);
    }
    out.push_str("</body></html>\n");
    out
}

fn rules(out: &mut String, coverage: &Coverage) {
    if coverage.rules.is_empty() {
        return;
    }
    out.push_str("<h2>Rules</h2>\n<table>\n");
    for rule in &coverage.rules {
        let class = if rule.cases + rule.examples > 0 { "full" } else { "none" };
        let _ = writeln!(
            out,
            "<tr class=\"{class}\"><td>{} by cases</td><td>{} by examples</td><td>{}</td><td>{}</td></tr>",
            rule.cases,
            rule.examples,
            escaped(&rule.id),
            escaped(&rule.database)
        );
    }
    out.push_str("</table>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
