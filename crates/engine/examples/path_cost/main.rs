//! What whole log paths cost a message, without sockets: `cargo run --release -p engine --example path_cost`
//! prints nanoseconds. Arguments are a row and the number of rounds, for `valgrind --tool=callgrind`: the
//! difference of two numbers of rounds is what messages cost. `path_cost FILE MESSAGES ROUNDS [OUTPUT]` does
//! the same for a configuration with the source `in()` and the destination `out(template())`, and the lines
//! of a file, 64 in a batch, which its source does not read (`flags(no-parse)`); what comes out and all
//! counters go into a file.

mod rows;

use engine::compile::Plan;
use engine::ledger::StepCounters;
use std::fmt::Write;
use std::time::Instant;

/// Messages in a batch of those from a file.
const BATCH: usize = 64;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [config, messages, rounds, rest @ ..] => {
            return file(config, messages, rounds.parse().unwrap_or(1), rest.first());
        }
        _ => own(arguments.first(), arguments.get(1).and_then(|n| n.parse().ok()).unwrap_or(200)),
    }
    Ok(())
}

fn own(only: Option<&String>, rounds: usize) {
    for (name, config) in rows::all() {
        if only.is_some_and(|only| only != name) {
            continue;
        }
        let mut path = rows::Path::new(&config, rows::messages(name));
        let best = best(&mut path, rounds) / rows::MESSAGES as f64;
        let bytes = path.output().len() / rows::MESSAGES;
        println!("{name:20} {best:8.1} ns a message, {bytes} bytes of output");
    }
}

fn file(config: &str, messages: &str, rounds: usize, output: Option<&String>) -> std::io::Result<()> {
    let (config, messages) = (std::fs::read_to_string(config)?, std::fs::read(messages)?);
    let lines: Vec<&[u8]> = messages.split_inclusive(|byte| *byte == b'\n').collect();
    let batches: Vec<Vec<u8>> = lines.chunks(BATCH).map(|lines| lines.concat()).collect();
    let flags = wire::ParseFlags { no_parse: true, ..wire::ParseFlags::default() };
    let mut path = rows::Path::of(&config, &batches, flags);
    let best = best(&mut path, rounds) / lines.len() as f64;
    println!("{best:8.1} ns a message, {} bytes of output", path.output().len() / lines.len());
    if let Some(output) = output {
        std::fs::write(output, [path.output(), counters(&path.plan).into_bytes()].concat())?;
    }
    Ok(())
}

/// What every counter of the configuration says, a line each.
fn counters(plan: &Plan) -> String {
    let mut text = String::new();
    for path in &plan.paths {
        let (ingress, matched) = (path.counters.ingress.value(), path.counters.matched.value());
        let _ = writeln!(text, "path {} {ingress} {matched}", path.name);
    }
    let mut step = |kind: &str, name: &str, counters: &StepCounters| {
        let (matched, not_matched) = (counters.matched.value(), counters.not_matched.value());
        let _ = writeln!(text, "{kind} {name} {matched} {not_matched}");
    };
    plan.steps.iter().for_each(|one| step("step", &one.key, &one.counters));
    plan.filters.iter().for_each(|(name, counters)| step("filter", name, counters));
    plan.parsers.iter().for_each(|(name, counters)| step("parser", name, counters));
    text
}

/// Nanoseconds of the fastest of some rounds, after one that is not measured.
fn best(path: &mut rows::Path, rounds: usize) -> f64 {
    path.run();
    let mut best = f64::MAX;
    for _ in 0..rounds {
        let begin = Instant::now();
        path.run();
        best = best.min(begin.elapsed().as_nanos() as f64);
    }
    best
}
