//! The `bench` command, and the hidden ones it starts itself with: `floor-receiver`, `load` and others.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;

pub use crate::report::machine;

use crate::cases::aim::Judgement;
use crate::cases::{self, Case, Feed};
use crate::command;
use crate::floor;
use crate::grpc;
use crate::hop;
use crate::http;
use crate::kafka;
use crate::looking;
use crate::matrix;
use crate::measure::Plan;
use crate::mongodb;
use crate::receiver::{Programs, RECEIVERS, Receiver};
use crate::redis;
use crate::reload;
use crate::report::{self, Story};
use crate::safe;
use crate::storm;
use stdio::CommandError;

/// Compare receivers: CPU per message, rate, memory, and whether everything arrived.
#[derive(Debug, Parser)]
#[command(
    name = "bench",
    disable_version_flag = true,
    after_help = "\
`bench --config FILE --sample FILE` measures a configuration of yours on this machine instead: rate over connections, size of messages and
worker threads, with and without TLS and disk buffer. A copy is measured; the running program, its ports and servers are not touched.
`bench reload` measures reloads under load, `bench safe` how soon messages are safe on disk, `bench looking` what it costs to look at a
running program; see `bench reload --help`."
)]
struct Args {
    /// Cases to run: names, patterns like tcp-*, or the first word of several, such as cores, separated by
    /// commas [default: all that this machine has cores for]
    #[arg(long, value_delimiter = ',')]
    cases: Vec<String>,
    /// Receivers to run: floor, penstock, syslog-ng, rsyslog [default: all that are here]
    #[arg(long, value_delimiter = ',')]
    receivers: Vec<String>,
    /// Rounds of everything, interleaved
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Messages of a TCP case
    #[arg(long, default_value_t = 500_000, value_parser = clap::value_parser!(u64).range(1..))]
    messages: u64,
    /// Seconds of a UDP case
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    udp_seconds: u64,
    /// Folder for bench.csv, bench.md and bench.svg
    #[arg(long)]
    out: Option<PathBuf>,
    /// Folder in which receivers write [default: the system's folder for temporary files]
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// Keep what receivers wrote, and their configurations
    #[arg(long)]
    keep: bool,
    /// List the cases and stop
    #[arg(long)]
    list: bool,
    /// Measure a copy of this configuration instead of the cases
    #[arg(short = 'f', long, value_name = "FILE", requires = "sample", conflicts_with_all = ["cases", "receivers", "list"])]
    config: Option<PathBuf>,
    /// Of --config: messages to send, one in a line, or a recording of penstock capture
    #[arg(long, value_name = "FILE", requires = "config")]
    sample: Option<PathBuf>,
    /// Of --config: the source that gets them [default: the first that takes text over the network]
    #[arg(long, value_name = "NAME", requires = "config")]
    source: Option<String>,
    /// Of --config: seconds of a measurement
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=600))]
    seconds: u64,
    /// Of --config: only tables in whose name this stands: connections, size, workers, tls, disk
    #[arg(long, value_name = "TEXT", default_value = "")]
    only: String,
    /// Of --config: print JSON
    #[arg(long, requires = "config")]
    json: bool,
}

/// A configuration of somebody's own, which is measured instead of the cases.
pub struct Own {
    pub config: PathBuf,
    pub sample: PathBuf,
    pub source: Option<String>,
    pub rounds: u32,
    /// Of one measurement.
    pub seconds: u64,
    /// Text in the names of tables.
    pub only: String,
    pub out: Option<PathBuf>,
    pub work_dir: Option<PathBuf>,
    pub json: bool,
}

impl Args {
    fn own(&self) -> Option<Own> {
        let (config, sample) = self.config.clone().zip(self.sample.clone())?;
        Some(Own {
            config,
            sample,
            source: self.source.clone(),
            rounds: self.rounds,
            seconds: self.seconds,
            only: self.only.clone(),
            out: self.out.clone(),
            work_dir: self.work_dir.clone(),
            json: self.json,
        })
    }
}

/// Its options, for manual pages and completions.
pub fn command_line() -> clap::Command {
    <Args as clap::CommandFactory>::command()
}

/// Runs the command; `args` are those after the command's name. `own` measures a configuration of somebody's
/// own: whoever calls knows how to run one.
pub fn run(
    args: impl Iterator<Item = OsString>,
    own: impl FnOnce(&Own) -> Result<bool, CommandError>,
) -> ExitCode {
    let mut args: Vec<OsString> = args.collect();
    match args.first().and_then(|first| first.to_str()) {
        Some("floor-receiver") => return floor::run(&args[1..]),
        Some("distance") => return hop::run(&args[1..]),
        Some("kafka-sink") => return kafka::run(&args[1..]),
        Some("kafka-log") => return kafka::keep(&args[1..]),
        Some("http-sink") => return http::run(&args[1..]),
        Some("grpc-sink") => return grpc::run(&args[1..]),
        Some("mongodb-sink") => return mongodb::run(&args[1..]),
        Some("redis-sink") => return redis::run(&args[1..]),
        Some("storm") => return storm::run(&args[1..]),
        Some("reload") => return reload::run(args.split_off(1)),
        Some("safe") => return safe::run(args.split_off(1)),
        Some("looking") => return looking::run(args.split_off(1)),
        Some("load") => return loggen::cli::run(args.split_off(1).into_iter()),
        _ => {}
    }
    command::run("bench", args, |args: &Args| match args.own() {
        Some(asked) => own(&asked),
        None => work(args),
    })
}

/// Whether all aims that were judged are met, and nothing failed.
fn work(args: &Args) -> Result<bool, CommandError> {
    let cases = chosen_cases(&args.cases)?;
    if args.list {
        list(&cases);
        return Ok(true);
    }
    let programs = Programs::find();
    let receivers = chosen_receivers(&args.receivers, &programs)?;
    let parent = args.work_dir.clone().unwrap_or_else(std::env::temp_dir);
    let plan = Plan {
        messages: args.messages,
        udp_seconds: args.udp_seconds,
        parent: &parent,
        keep: args.keep,
        programs: &programs,
    };
    let results = matrix::run(&cases, &receivers, args.rounds, &plan);
    let judgements = judge(&cases, &results);
    print(&judgements);
    if let Some(folder) = &args.out {
        let machine = report::machine();
        let story =
            Story { cases: &cases, results: &results, judgements: &judgements, rounds: args.rounds, machine };
        story.write(folder)?;
        stdio::err!("written to {}", folder.display());
    }
    let failed = results.runs.iter().any(|run| run.failure.is_some());
    let missed = judgements.iter().any(|judgement| judgement.met == Some(false));
    Ok(!failed && !missed)
}

fn chosen_cases(patterns: &[String]) -> Result<Vec<&'static Case>, CommandError> {
    let parsed: Result<Vec<_>, _> =
        patterns.iter().map(|p| glob::Pattern::new(p).map_err(|e| format!("pattern {p}: {e}"))).collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let chosen = cases::select(&parsed?, cores);
    if chosen.is_empty() {
        return Err(format!("no case is called {}; see --list", patterns.join(", ")).into());
    }
    Ok(chosen)
}

fn chosen_receivers(names: &[String], programs: &Programs) -> Result<Vec<Receiver>, CommandError> {
    if names.is_empty() {
        let absent = RECEIVERS.into_iter().filter(|&receiver| !programs.has(receiver));
        absent.for_each(|receiver| stdio::err!("{receiver} is not here and is left out"));
        return Ok(RECEIVERS.into_iter().filter(|&receiver| programs.has(receiver)).collect());
    }
    let mut chosen = Vec::new();
    for name in names {
        let known = RECEIVERS.map(Receiver::name).join(", ");
        let receiver = Receiver::from_name(name).ok_or(format!("{name} is no receiver: {known}"))?;
        if !programs.has(receiver) {
            return Err(
                format!("{receiver} is not here (scripts/peers fetches syslog-ng and rsyslog)").into()
            );
        }
        chosen.push(receiver);
    }
    Ok(chosen)
}

fn list(cases: &[&'static Case]) {
    for case in cases {
        stdio::out!("{:<28} {}", case.name, case.about);
        case.aims.iter().for_each(|aim| stdio::out!("{:<28}   aim: {}", "", aim.text()));
    }
}

/// Each case's own aims, and for every TCP case that nothing was lost, doubled or reordered.
fn judge(cases: &[&'static Case], results: &crate::results::Results) -> Vec<Judgement> {
    let mut judgements = Vec::new();
    for case in cases {
        judgements.extend(case.aims.iter().map(|aim| aim.judge(case.name, results)));
        let own = Receiver::Penstock;
        if !matches!(case.input.feed, Feed::Udp { .. }) && results.lost(case.name, own).is_some() {
            let v = results.verified(case.name, own);
            judgements.push(Judgement {
                case: case.name,
                aim: "0 lost, doubled, reordered".into(),
                measured: format!("{} lost, {} doubled, {} reordered", v.missing, v.doubled, v.reordered),
                met: Some(v.is_clean()),
            });
        }
    }
    judgements
}

fn print(judgements: &[Judgement]) {
    for judgement in judgements.iter().filter(|judgement| judgement.met.is_some()) {
        let verdict = if judgement.met == Some(true) { "met   " } else { "MISSED" };
        stdio::err!("{verdict} {:<28} {}: {}", judgement.case, judgement.aim, judgement.measured);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn lists_are_separated_by_commas() {
        let args =
            Args::try_parse_from(["bench", "--cases", "tcp-*,udp", "--receivers=floor", "--rounds", "5"])
                .unwrap();
        assert_eq!(args.cases, ["tcp-*", "udp"]);
        assert_eq!((args.receivers.len(), args.rounds), (1, 5));
        assert!(Args::try_parse_from(["bench", "--rounds", "0"]).is_err());
    }

    #[test]
    fn unknown_names_are_refused() {
        assert!(chosen_cases(&["nothing".into()]).is_err());
        assert!(chosen_cases(&["[".into()]).is_err());
        assert!(chosen_receivers(&["vector".into()], &Programs::default()).is_err());
        assert!(chosen_receivers(&["rsyslog".into()], &Programs::default()).is_err());
        assert_eq!(chosen_receivers(&[], &Programs::default()).unwrap(), [Receiver::Floor]);
    }
}
