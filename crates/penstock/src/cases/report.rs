//! How the cases went, for people.

use super::suite::{Suite, Verdict};

/// Lines of one explanation that are shown.
const LINES_MAX: usize = 200;

pub fn print(suites: &[Suite], verbose: bool) {
    let (mut passed, mut failed, mut broken) = (0, 0, 0);
    for suite in suites {
        if let Some(error) = &suite.error {
            stdio::out!("{} cannot be tested:", suite.config.display());
            stdio::out!("{}", error.trim_end());
            broken += 1;
        }
        for verdict in &suite.verdicts {
            match verdict.failures.is_empty() {
                true => passed += 1,
                false => failed += 1,
            }
            if verbose || !verdict.failures.is_empty() {
                one(verdict);
            }
        }
    }
    let broken = match broken {
        0 => String::new(),
        count => {
            format!(", {} cannot be tested", stdio::counted(count as u64, "configuration", "configurations"))
        }
    };
    let all = stdio::counted((passed + failed) as u64, "case", "cases");
    stdio::out!("{all}: {passed} passed, {failed} failed{broken}");
}

fn one(verdict: &Verdict) {
    let word = if verdict.failures.is_empty() { "ok    " } else { "FAILED" };
    stdio::out!("{word} {}: {}", verdict.file, verdict.name);
    if !verdict.environment.is_own() && !verdict.failures.is_empty() {
        stdio::out!("  with {}", verdict.environment);
    }
    for failure in &verdict.failures {
        stdio::out!("  {}", failure.text);
    }
    let lines: Vec<&str> = verdict.explained.lines().collect();
    if !lines.is_empty() {
        stdio::out!("  what happened:");
    }
    lines.iter().take(LINES_MAX).for_each(|line| stdio::out!("    {line}"));
    if lines.len() > LINES_MAX {
        let more = stdio::counted((lines.len() - LINES_MAX) as u64, "line", "lines");
        stdio::out!("    and {more} more: penstock explain shows them");
    }
}
