//! `bench looking`: what questions about a busy program cost it. Windows with a question and without take
//! turns on the same program, so that what else the machine does falls on both.

mod bed;
mod question;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::command;
use crate::ratio::Ratio;
use crate::results::median;
use bed::{Bed, Window};
use question::{Cost, KINDS, Kind, Question};
use stdio::CommandError;

/// The aim: from a message to the explanation of its way.
const ANSWER_MAX: Duration = Duration::from_millis(100);

/// What it costs to look: `explain --next`, `tap` of 1,000 messages a second, the console's stream and
/// `profile`, each beside a program under load. `--rate 0` is all that it takes: 4 GB a window.
#[derive(Debug, Parser)]
#[command(name = "bench looking", disable_version_flag = true)]
struct Args {
    /// Pairs of windows of each question, with it and without
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..))]
    rounds: u32,
    /// Seconds of a window
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,
    /// Only these questions: explain, tap, console, profile
    #[arg(long, value_delimiter = ',')]
    only: Vec<Kind>,
    /// Messages a second that all connections send together; 0: as fast as they are taken
    #[arg(long, default_value_t = 0)]
    rate: u32,
    /// The filter of `explain --next`, with WORD for what stands in one message only
    #[arg(long, default_value = "program(\"WORD\")")]
    filter: String,
    /// Connections that send
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Folder to work in [default: the system's folder for temporary files]
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// Keep what was written
    #[arg(long)]
    keep: bool,
}

/// Runs the command; `args` are those after its name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    command::run("bench looking", args, measure)
}

fn measure(args: &Args) -> Result<bool, CommandError> {
    let kinds = if args.only.is_empty() { KINDS.to_vec() } else { args.only.clone() };
    let windows = u64::from(args.rounds) * 2 * kinds.len() as u64;
    let mut bed = Bed::start(args, args.seconds * windows)?;
    stdio::out!("{:<9}{:>12}{:>10}{:>10}   difference", "", "messages/s", "us/msg", "with it");
    let mut good = true;
    for kind in kinds {
        good &= of(kind, args, &mut bed)?;
    }
    bed.stop();
    Ok(good)
}

/// Measures one question, prints what it costs, and judges it.
fn of(kind: Kind, args: &Args, bed: &mut Bed) -> Result<bool, CommandError> {
    let length = Duration::from_secs(args.seconds);
    let (mut without, mut with): (Vec<Window>, Vec<Window>) = Default::default();
    let mut answers = Vec::new();
    for round in 0..args.rounds {
        // Whoever is second finds the caches warm, or the machine hot: by turns it is the one and the other.
        for asks in [round % 2 == 0, round % 2 == 1] {
            let question = if asks { Some(Question::ask(kind, bed, length, &args.filter)?) } else { None };
            let window = bed.window(length)?;
            match question {
                Some(question) => {
                    answers.extend(question.end()?);
                    with.push(window);
                }
                None => without.push(window),
            }
        }
    }
    let middle = |windows: &[Window], value: fn(&Window) -> f64| {
        median(windows.iter().map(value).collect()).unwrap_or_default()
    };
    let pairs = || without.iter().zip(&with);
    let none = "no message came";
    let worked =
        Ratio::of(pairs().map(|(without, with)| with.worked_us() / without.worked_us())).ok_or(none)?;
    // Time is what a message takes, as CPU is.
    let time =
        Ratio::of(pairs().map(|(without, with)| without.per_second() / with.per_second())).ok_or(none)?;
    stdio::out!(
        "{:<9}{:>12.0}{:>10.3}{:>10.3}   {:+.1} % ± {:.1} % CPU of the workers a message, {:+.1} % ± {:.1} % time, over {} pairs",
        kind.name(),
        middle(&without, Window::per_second),
        middle(&without, Window::worked_us),
        middle(&with, Window::worked_us),
        worked.share() * 100.0,
        worked.error * 100.0,
        time.share() * 100.0,
        time.error * 100.0,
        worked.rounds
    );
    let beside = middle(&with, Window::beside) - middle(&without, Window::beside);
    stdio::out!("{:<9}threads beside the workers: {:+.2} % of a core", "", beside * 100.0);
    let mut good = judge(kind, worked, time, beside);
    if !answers.is_empty() {
        good &= judge_answers(answers);
    }
    Ok(good)
}

/// The aims: what a question may cost a message, and beside the workers.
fn judge(kind: Kind, worked: Ratio, time: Ratio, beside: f64) -> bool {
    let aims = kind.aims();
    let (cost, name) = match aims.of {
        Cost::Cpu => (worked, "CPU"),
        Cost::Time => (time, "time"),
    };
    let is_cheap = cost.is_at_most(1.0 + aims.message_most);
    let verdict = match is_cheap {
        Some(is_met) => command::verdict(is_met),
        None => "not to be told: more rounds, or a quieter machine",
    };
    stdio::out!("{:<9}at most {:.1} % {name} a message: {verdict}", "", aims.message_most * 100.0);
    let is_light = beside <= aims.beside_most;
    let verdict = command::verdict(is_light);
    stdio::out!("{:<9}at most {:.1} % of a core beside: {verdict}", "", aims.beside_most * 100.0);
    is_cheap != Some(false) && is_light
}

fn judge_answers(mut answers: Vec<Duration>) -> bool {
    answers.sort();
    let longest = answers.last().copied().unwrap_or_default();
    let half = answers.get(answers.len() / 2).copied().unwrap_or_default();
    let met = longest <= ANSWER_MAX;
    stdio::out!(
        "{:<9}from a message to its explanation: half within {} ms, longest {} ms, at most {} ms: {}",
        "",
        half.as_millis(),
        longest.as_millis(),
        ANSWER_MAX.as_millis(),
        command::verdict(met)
    );
    met
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn definition_is_sound() {
        Args::command().debug_assert();
        let args = Args::try_parse_from(["looking", "--only", "tap,console"]).unwrap();
        assert_eq!(args.only, [Kind::Tap, Kind::Console]);
    }
}
