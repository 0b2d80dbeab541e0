//! The table: one line a fault, and what else was measured below it.

use crate::tally::Tally;
use crate::trial::Verdict;

pub enum Outcome {
    Passed,
    Failed,
    Skipped,
}

pub fn head() {
    println!(
        "{:<22} {:>6} {:>9} {:>9} {:>9} {:>7} {:>6} {:>9} {:>11} {:>8}  verdict",
        "fault",
        "rounds",
        "sent",
        "acked",
        "delivered",
        "doubled",
        "lost",
        "reordered",
        "unaccounted",
        "restart"
    );
}

pub fn row(name: &str, verdict: &Verdict) -> Outcome {
    let (tally, restart, text, outcome) = match verdict {
        Verdict::Skipped(why) => (Tally::default(), 0, format!("skipped: {why}"), Outcome::Skipped),
        Verdict::Ran { tally, restart_ms, problems, notes } => {
            let (text, outcome) = match problems.is_empty() {
                true => ("passed".to_owned(), Outcome::Passed),
                false => (format!("FAILED: {}", problems.join("; ")), Outcome::Failed),
            };
            let notes = notes.iter().map(|note| format!("\n    {note}"));
            (tally.clone(), *restart_ms, text + &notes.collect::<String>(), outcome)
        }
    };
    println!(
        "{name:<22} {:>6} {:>9} {:>9} {:>9} {:>7} {:>6} {:>9} {:>11} {restart:>5} ms  {text}",
        tally.rounds,
        tally.sent,
        tally.acknowledged,
        tally.delivered,
        tally.doubled,
        tally.lost,
        tally.reordered,
        tally.unaccounted,
    );
    outcome
}
