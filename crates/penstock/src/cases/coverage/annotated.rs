//! Coverage beside the lines of the configuration, as text.

use super::Coverage;
use std::fmt::Write;

/// In front of each line how many messages came to it; `-` where nobody could come, `!` where something of it
/// was not taken.
pub fn render(coverages: &[&Coverage]) -> String {
    let mut out = String::new();
    for coverage in coverages {
        for (name, text) in &coverage.texts {
            let _ = writeln!(out, "{name}");
            let known = coverage.lines(name);
            for (number, line) in (1..).zip(text.lines()) {
                let (count, mark) = match known.get(&number) {
                    None => ("-".to_owned(), ' '),
                    Some(line) => (line.entered.to_string(), if line.gaps.is_empty() { ' ' } else { '!' }),
                };
                let _ = writeln!(out, "{count:>8} {mark} {number:>5} | {line}");
                for gap in known.get(&number).into_iter().flat_map(|line| &line.gaps) {
                    let _ = writeln!(out, "{:>17} ^ {gap}", "");
                }
            }
            out.push('\n');
        }
    }
    out
}
