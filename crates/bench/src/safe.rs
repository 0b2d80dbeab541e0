//! `bench safe`: how long messages of `disk-buffer(reliable(yes))` are under way from being received to being
//! safe on disk, under as much load as is taken and at one message a second; beside it what the disk takes
//! alone for the same bytes.

mod disk;
mod times;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use crate::command;
use crate::control::ask;
use crate::place::Place;
use crate::process::Process;
use crate::receiver::{Command, OwnProgram, Programs};
use crate::sender::{Sender, lasting};
use stdio::CommandError;
use times::Times;

/// The aims, at the 99th percentile.
const BUSY_MAX: Duration = Duration::from_millis(25);
const IDLE_MAX: Duration = Duration::from_millis(15);
/// What is on its way when the senders have ended is safe by then.
const SETTLE_MAX: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
/// Groups of the disk alone.
const FLOOR_ROUNDS: usize = 2000;

/// From received to safe on disk, as penstock measures it: under full load and at one message a second.
#[derive(Debug, Parser)]
#[command(name = "bench safe", disable_version_flag = true)]
struct Args {
    /// Seconds of full load
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
    /// Connections that send as fast as they can
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    connections: u32,
    /// Seconds of one message a second
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    idle_seconds: u64,
    /// Folder to work in, on the disk that is meant [default: the system's folder for temporary files]
    #[arg(long)]
    work_dir: Option<PathBuf>,
    /// Keep what was written
    #[arg(long)]
    keep: bool,
}

/// Runs the command; `args` are those after its name.
pub fn run(args: Vec<OsString>) -> ExitCode {
    command::run("bench safe", args, measure)
}

/// The receiver under test and what stands behind it.
struct Relay {
    place: Place,
    process: Process,
    sink: Process,
    control: PathBuf,
}

impl Relay {
    fn start(args: &Args) -> Result<Relay, CommandError> {
        let parent = args.work_dir.clone().unwrap_or_else(std::env::temp_dir);
        let place = Place::new(&parent, "safe", args.keep)?;
        let program = Programs::find().penstock.ok_or("penstock is not here")?;
        let (state, buffer) = (place.root.join("state"), place.root.join("buffer"));
        for folder in [&state, &buffer] {
            std::fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        }
        let words: [OsString; 3] =
            ["floor-receiver".into(), place.sink_port.to_string().into(), "/dev/null".into()];
        let command = OwnProgram::here()?.command(words.to_vec());
        let mut sink = Process::start(&command, place.root.join("sink.log"))?;
        sink.wait_listening(place.sink_port, false)?;
        let config = place.write("safe.conf", &text(args, &place))?;
        let words =
            ["run".into(), "--config".into(), config.into(), "--state-dir".into(), state.clone().into()];
        let command = Command { program, args: words.to_vec() };
        let mut process = Process::start(&command, place.root.join("receiver.log"))?;
        process.wait_listening(place.port, false)?;
        Ok(Relay { place, process, sink, control: state.join("penstock.ctl") })
    }

    fn times(&self) -> Result<Times, CommandError> {
        Ok(Times::read(&ask(&self.control, "STATS PROMETHEUS")?))
    }

    /// What came of a load: how it was for its messages, and how many there were.
    fn load(&mut self, words: Vec<OsString>, seconds: u64) -> Result<(Times, u64), CommandError> {
        let before = self.times()?;
        let mut sender = Sender::spawn(words)?;
        if !sender.wait(SETTLE_MAX + Duration::from_secs(seconds)) {
            return Err("the sender does not end".into());
        }
        let sent = sender.sent()?;
        let until = std::time::Instant::now() + SETTLE_MAX;
        loop {
            let times = self.times()?.since(&before);
            if times.messages() >= sent {
                return Ok((times, sent));
            }
            if std::time::Instant::now() > until || !self.process.alive() {
                let safe = times.messages();
                return Err(format!("{safe} of {sent} messages are safe: {}", self.process.words()).into());
            }
            std::thread::sleep(LOOK);
        }
    }

    fn stop(self) {
        self.process.stop();
        self.sink.stop();
    }
}

fn text(args: &Args, place: &Place) -> String {
    format!(
        "@version: 4.11\noptions {{ keep-hostname(yes); use-dns(no); }};\n\
         source s_in {{ network(ip(127.0.0.1) port({}) max-connections({})); }};\n\
         destination d_out {{ network(127.0.0.1 port({}) disk-buffer(reliable(yes) disk-buf-size({}) dir(\"{}\"))); }};\n\
         log {{ source(s_in); destination(d_out); flags(flow-control); }};\n",
        place.port,
        args.connections,
        place.sink_port,
        64_u64 << 30,
        place.root.join("buffer").display()
    )
}

fn measure(args: &Args) -> Result<bool, CommandError> {
    let mut relay = Relay::start(args)?;
    let port = relay.place.port;
    // First, because the longest time is one since the start.
    let (idle, _) = relay.load(lasting(port, 1, args.idle_seconds, Some(1)), args.idle_seconds)?;
    let (busy, sent) = relay.load(lasting(port, args.connections, args.seconds, None), args.seconds)?;
    let place = relay.place.root.clone();
    let floor = |group: u64| disk::alone(&place, group, FLOOR_ROUNDS);
    let (busy_floor, idle_floor) = (floor(busy.group_bytes())?, floor(idle.group_bytes())?);
    stdio::out!(
        "{:<22}{:>10}{:>9}{:>12}{:>9}{:>9}{:>9}   the disk alone: median, 99th, longest",
        "",
        "messages",
        "groups",
        "bytes each",
        "median",
        "99th",
        "longest"
    );
    let row = |name: &str, times: &Times, floor: &disk::Alone| {
        stdio::out!(
            "{name:<22}{:>10}{:>9}{:>12}{:>9}{:>9}{:>9}   {floor}",
            times.messages(),
            times.groups(),
            times.group_bytes(),
            ms(times.percentile(50)),
            ms(times.percentile(99)),
            ms(times.longest()),
        );
    };
    row("full load", &busy, &busy_floor);
    row("one message a second", &idle, &idle_floor);
    stdio::out!("milliseconds; {} messages a second under full load", sent / args.seconds);
    let good = judge("full load", busy.percentile(99), BUSY_MAX)
        & judge("one message a second", idle.percentile(99), IDLE_MAX);
    relay.stop();
    Ok(good)
}

fn ms(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1000.0)
}

fn judge(name: &str, found: Duration, most: Duration) -> bool {
    let met = found <= most;
    stdio::out!(
        "{name}: at most {} ms from received to on disk at the 99th percentile: {}, {}",
        most.as_millis(),
        ms(found),
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
    }
}
