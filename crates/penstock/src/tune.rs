//! `penstock tune`: what would make a configuration faster on this machine. One thing is changed at a time,
//! on a copy that touches nothing, and measured in pairs.

mod change;

use crate::diff;
use crate::rig::{Bed, Copy, Folder, Gain, Load, Mean, Outgoing, Sample, Sink, Variant};
use change::Change;
use control::cli::TuneArgs;
use serde_json::{Value, json};
use std::fmt::Write;
use std::process::ExitCode;
use std::time::Duration;
use stdio::CommandError;

/// Grows when something is removed or changes its meaning.
const VERSION: u32 = 1;

/// Filters of which an earlier place is looked at.
const PLACEMENTS_MAX: usize = 20;
/// Messages of the sample that have to come out the same.
const TRIED_MESSAGES_MAX: usize = 2000;
/// What a measurement takes beside its own time.
const EACH_SECONDS: u64 = 1;

/// A change, and what it brought.
struct Tried {
    change: Change,
    gain: Gain,
}

pub fn run(args: &TuneArgs) -> ExitCode {
    stdio::finish(tune(args).map(|text| {
        crate::printing::print(&text);
        true
    }))
}

fn tune(args: &TuneArgs) -> Result<String, CommandError> {
    let sample = Sample::read(&args.sample)?;
    let copy = Copy::of(&args.config, args.source.as_deref(), args.connections)?;
    let place = Folder::below(copy.folder())?;
    let file = place.path().join("sample");
    sample.write(&file)?;
    let sink = Sink::begin()?;
    let outgoing = match copy.has_network() {
        true => Outgoing::Sink { port: sink.port(), has_all: false },
        false => Outgoing::Nowhere,
    };
    let load = Load { file, connections: args.connections, is_secure: false };
    let pairs =
        Pairs { copy: &copy, load: &load, outgoing: &outgoing, duration: Duration::from_secs(args.seconds) };
    let (mut base, mut tried) = (Vec::new(), Vec::new());
    let mut changes = change::all(copy.has_network());
    changes.extend(placements(&copy, &sample)?);
    let names = changes.iter().map(Change::name).collect::<Vec<String>>().join(", ");
    changes.retain(|change| change.name().contains(&args.only));
    say_how_long(args, changes.len());
    for change in changes {
        let mut ratios = Vec::new();
        for round in 0..args.rounds {
            let (before, after) = pairs.one(&change, round % 2 == 0)?;
            base.push(before);
            ratios.push(after / before);
        }
        tried.push(Tried { gain: Gain::of(&ratios), change });
    }
    if tried.is_empty() {
        return Err(format!("no change has `{}` in its name; there are {names}", args.only).into());
    }
    let base = Mean::of(&base);
    let system = copy.system();
    let report = Report { args, copy: &copy, base, tried, system };
    Ok(if args.json { report.to_json() } else { report.to_text() })
}

/// It takes minutes in which nothing else is to be seen.
fn say_how_long(args: &TuneArgs, changes: usize) {
    let measurements = 2 * changes as u64 * u64::from(args.rounds);
    let minutes = (measurements * (args.seconds + EACH_SECONDS)).div_ceil(60);
    let changes = stdio::counted(changes as u64, "change", "changes");
    stdio::err!("{changes} to be tried, about {}", stdio::counted(minutes, "minute", "minutes"));
}

/// Filters that may stand earlier: nothing else comes out of the sample then.
fn placements(copy: &Copy, sample: &Sample) -> Result<Vec<Change>, CommandError> {
    let plain = copy.text(&Variant::default());
    let mut changes = Vec::new();
    for (number, earlier) in copy.earlier().iter().enumerate().take(PLACEMENTS_MAX) {
        let moved = copy.text(&Variant { earlier: Some(number), ..Variant::default() });
        let messages = sample.messages().take(TRIED_MESSAGES_MAX);
        if diff::comes_out_same([&plain, &moved], Some(copy.source()), messages)? {
            changes.push(Change::of_filter(number, &earlier.words));
        }
    }
    Ok(changes)
}

/// Measurements in pairs: whatever the machine does more and more, or less and less, is in both of them.
struct Pairs<'p> {
    copy: &'p Copy,
    load: &'p Load,
    outgoing: &'p Outgoing,
    duration: Duration,
}

impl Pairs<'_> {
    /// Messages a second without a change and with it.
    fn one(&self, change: &Change, is_plain_first: bool) -> Result<(f64, f64), CommandError> {
        let plain = Variant { outgoing: self.outgoing.clone(), ..Variant::default() };
        let changed = change.variant(self.outgoing);
        let rate = |variant: &Variant| {
            Bed::measure(self.copy, variant, self.load, self.duration).map(|seen| seen.messages)
        };
        if is_plain_first {
            let before = rate(&plain)?;
            Ok((before, rate(&changed)?))
        } else {
            let after = rate(&changed)?;
            Ok((rate(&plain)?, after))
        }
    }
}

/// What was measured.
struct Report<'r> {
    args: &'r TuneArgs,
    copy: &'r Copy,
    base: Mean,
    tried: Vec<Tried>,
    system: Vec<String>,
}

impl Report<'_> {
    /// What is better by more than the error, as lines of a configuration, each with its figure in front.
    fn to_text(&self) -> String {
        let args = self.args;
        // Writing to a String does not fail.
        let mut out = format!(
            "# {}: {} pairs of {} s each, {} over TCP, destinations over the network to a sink, others to /dev/null\n",
            args.config.display(),
            args.rounds,
            args.seconds,
            stdio::counted(u64::from(args.connections), "connection", "connections")
        );
        let error = 100.0 * self.base.margin() / self.base.value.max(1.0);
        let _ = writeln!(out, "# as it is: {:.0} messages/s, +-{error:.1} %", self.base.value);
        let (better, others): (Vec<&Tried>, Vec<&Tried>) =
            self.tried.iter().partition(|one| one.gain.is_better());
        for Tried { change, gain } in better {
            for (about, lines) in change.lines(self.copy) {
                let _ = writeln!(out, "# {}: {about}\n{lines}", gain.shown());
            }
        }
        if !others.is_empty() {
            let count = stdio::counted(others.len() as u64, "change is", "changes are");
            let _ = writeln!(out, "# {count} not better by more than the error: --json has them");
        }
        for line in &self.system {
            let _ = writeln!(out, "# system: {line}");
        }
        out
    }

    fn to_json(&self) -> String {
        let (args, base) = (self.args, &self.base);
        let tried = self.tried.iter().map(|Tried { change, gain }| {
            let lines: Vec<String> = change.lines(self.copy).into_iter().map(|(_, lines)| lines).collect();
            json!({
                "change": change.name(),
                "line": lines.join("\n"),
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
            "error": base.margin(),
            "tried": tried.collect::<Vec<Value>>(),
            "system": self.system,
        });
        format!("{report}\n")
    }
}
