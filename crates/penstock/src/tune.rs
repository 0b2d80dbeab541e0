//! `penstock tune`: what would make a configuration faster on this machine. One thing is changed at a time,
//! on a copy that touches nothing, and measured in pairs.

mod bed;
mod change;
mod copy;
mod pairs;

use bed::{Bed, Load};
use change::Change;
use control::cli::TuneArgs;
use copy::Copy;
use pairs::{Gain, Mean};
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

/// A change, and what it brought.
struct Tried {
    change: Change,
    gain: Gain,
}

pub fn run(args: &TuneArgs) -> ExitCode {
    crate::printing::finish(tune(args).map(|text| {
        crate::printing::print(&text);
        true
    }))
}

fn tune(args: &TuneArgs) -> Result<String, String> {
    let sample = std::fs::read(&args.sample)
        .map_err(|error| format!("cannot read {}: {error}", args.sample.display()))?;
    let copy = Copy::of(&args.config, args.source.as_deref())?;
    let load = Load::of(&sample, args.connections, Duration::from_secs(args.seconds))?;
    let (mut base, mut tried) = (Vec::new(), Vec::new());
    for change in change::all().into_iter().filter(|change| change.name().contains(&args.only)) {
        let mut ratios = Vec::new();
        for round in 0..args.rounds {
            // Whatever the machine does more and more, or less and less, is in both of them.
            let as_it_is = |base: &mut Vec<f64>| -> Result<f64, String> {
                let rate = Bed::rate(&copy.text(&Change::Nothing), &Change::Nothing, &load, copy.port())?;
                base.push(rate);
                Ok(rate)
            };
            let changed = || Bed::rate(&copy.text(&change), &change, &load, copy.port());
            let (before, after) = match round % 2 {
                0 => {
                    let before = as_it_is(&mut base)?;
                    (before, changed()?)
                }
                _ => {
                    let after = changed()?;
                    (as_it_is(&mut base)?, after)
                }
            };
            ratios.push(after / before);
        }
        tried.push(Tried { gain: Gain::of(&ratios), change });
    }
    if tried.is_empty() {
        return Err(format!("no change has `{}` in its name; there are {}", args.only, change::names()));
    }
    let base = Mean::of(&base);
    let system = copy.system();
    Ok(if args.json { to_json(args, &base, &tried, &system) } else { to_text(args, &base, &tried, &system) })
}

fn to_text(args: &TuneArgs, base: &Mean, tried: &[Tried], system: &[String]) -> String {
    // Writing to a String does not fail.
    let mut out = format!(
        "# {}: {} pairs of {} s each, {} connections over TCP, destinations to /dev/null\n",
        args.config.display(),
        args.rounds,
        args.seconds,
        args.connections
    );
    let error = 100.0 * base.error / base.value.max(1.0);
    let _ = writeln!(out, "# as it is: {:.0} messages/s, +-{error:.1} %", base.value);
    let better = tried.iter().filter(|one| one.gain.is_better());
    for Tried { change, gain } in better {
        let _ = writeln!(out, "{}   # {}", change.line(), gain.shown());
    }
    let others: Vec<String> = tried
        .iter()
        .filter(|one| !one.gain.is_better())
        .map(|one| format!("{} ({})", one.change.name(), one.gain.shown()))
        .collect();
    if !others.is_empty() {
        let _ = writeln!(out, "# not better by more than the error: {}", others.join(", "));
    }
    for line in system {
        let _ = writeln!(out, "# system: {line}");
    }
    out
}

fn to_json(args: &TuneArgs, base: &Mean, tried: &[Tried], system: &[String]) -> String {
    let tried = tried.iter().map(|Tried { change, gain }| {
        json!({
            "change": change.name(),
            "line": change.line(),
            "gain_percent": gain.percent(),
            "error_percent": gain.error_percent(),
            "is_better": gain.is_better(),
        })
    });
    let report = json!({
        "version": VERSION,
        "rounds": args.rounds,
        "seconds": args.seconds,
        "connections": args.connections,
        "messages_per_second": base.value,
        "error": base.error,
        "tried": tried.collect::<Vec<Value>>(),
        "system": system,
    });
    format!("{report}\n")
}
