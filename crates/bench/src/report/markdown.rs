//! Medians of each case and receiver, then the aims.

use super::Story;
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
