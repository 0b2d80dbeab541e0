//! Medians of each case and receiver, then the aims.

use super::Story;
use crate::cases::Case;
use crate::friction::COLUMNS;
use crate::receiver::{RECEIVERS, Receiver};
use crate::results::Run;

pub fn text(story: &Story) -> String {
    let mut out = format!("# Benchmark\n\n{}. Medians of {} rounds.\n\n", story.machine, story.rounds);
    out.push_str(
        "The *floor* receives and writes the same bytes and parses nothing; CPU is given per message and in multiples of \
         the floor's on the same input in the same round. Every line was verified: nothing missing, doubled, or out of \
         order within its connection, unless said.\n\n",
    );
    out.push_str("| case | receiver | CPU us/msg | floors | msg/s | MiB | delivered |\n|---|---|---:|---:|---:|---:|---|\n");
    for case in story.cases {
        for receiver in RECEIVERS {
            if let Some(row) = row(story, case.name, receiver) {
                out.push_str(&format!("| {} | {receiver} | {row} |\n", case.name));
            }
        }
    }
    friction(story, &mut out);
    out.push_str("\n## Cases\n\n");
    story.cases.iter().for_each(|case| out.push_str(&format!("- **{}**: {}\n", case.name, case.about)));
    if !story.judgements.is_empty() {
        out.push_str("\n## Aims\n\n| case | aim | measured | |\n|---|---|---|---|\n");
    }
    for judgement in story.judgements {
        let verdict = match judgement.met {
            Some(true) => "met",
            Some(false) => "**missed**",
            None => "-",
        };
        out.push_str(&format!(
            "| {} | {} | {} | {verdict} |\n",
            judgement.case, judgement.aim, judgement.measured
        ));
    }
    out
}

/// What workers fight over, of the cases that are about their number.
fn friction(story: &Story, out: &mut String) {
    let rows: Vec<String> = story.cases.iter().filter_map(|case| friction_row(story, case)).collect();
    if rows.is_empty() {
        return;
    }
    let names = COLUMNS.map(|(name, _)| name).join(" | ");
    out.push_str(&format!(
        "\n## Among workers\n\nOf penstock, for each thousand messages.\n\n| case | {names} |\n|---|---:|---:|---:|---:|---:|\n{}",
        rows.concat()
    ));
}

fn friction_row(story: &Story, case: &Case) -> Option<String> {
    case.worker_threads.filter(|threads| *threads > 1)?;
    let shown: Option<Vec<String>> = COLUMNS
        .iter()
        .map(|(_, value)| {
            let of_run = |run: &Run| value(&run.friction, run.sent.max(1) as f64 / 1000.0);
            let median = story.results.median(case.name, Receiver::Penstock, of_run)?;
            Some(if median < 100.0 { format!("{median:.2}") } else { format!("{median:.0}") })
        })
        .collect();
    Some(format!("| {} | {} |\n", case.name, shown?.join(" | ")))
}

fn row(story: &Story, case: &str, receiver: Receiver) -> Option<String> {
    let results = story.results;
    let Some(cpu) = results.median(case, receiver, Run::cpu_us) else {
        let failure = results.failure(case, receiver)?;
        return Some(format!("| | | | failed: {}", failure.replace('|', "/")));
    };
    let rate = results.median(case, receiver, Run::rate)?;
    let memory = results.median(case, receiver, |run| run.rss_peak as f64)? / 1048576.0;
    let floors = results.times_floor(case, receiver).map_or("-".into(), |times| format!("{times:.2}"));
    let v = results.verified(case, receiver);
    let delivered = if v.is_clean() {
        "all".into()
    } else {
        format!(
            "{} missing, {} doubled, {} reordered, {} foreign",
            v.missing, v.doubled, v.reordered, v.foreign
        )
    };
    Some(format!("{cpu:.3} | {floors} | {rate:.0} | {memory:.1} | {delivered}"))
}
