//! The program that is asked, and what it does in a window of time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Args;
use crate::control::ask;
use crate::place::Place;
use crate::process::Process;
use crate::receiver::{Command, Programs};
use crate::sender::{Sender, lasting};
use stdio::CommandError;

/// Log paths in which nothing passes, so that the console has a graph of 300 nodes.
const IDLE_PATHS: usize = 100;
/// How long a window may wait for its beginning: rates settle.
const SETTLE: Duration = Duration::from_millis(200);
/// Starting, ending and the time between windows.
const SPARE_SECONDS: u64 = 600;

/// A penstock under all the load that it takes.
pub struct Bed {
    pub place: Place,
    pub program: PathBuf,
    pub state: PathBuf,
    process: Process,
    sender: Sender,
}

/// What the program did in a window.
pub struct Window {
    seconds: f64,
    messages: u64,
    workers_ns: u64,
    beside_ns: u64,
}

impl Window {
    /// CPU of the workers, us a message.
    pub fn worked_us(&self) -> f64 {
        self.workers_ns as f64 / 1000.0 / self.messages as f64
    }

    /// CPU of all other threads, in cores.
    pub fn beside(&self) -> f64 {
        self.beside_ns as f64 / 1e9 / self.seconds
    }

    pub fn per_second(&self) -> f64 {
        self.messages as f64 / self.seconds
    }
}

/// A look at the meters.
struct Meters {
    at: Instant,
    messages: u64,
    workers_ns: u64,
    beside_ns: u64,
}

impl Bed {
    /// `seconds`: how long windows take together.
    pub fn start(args: &Args, seconds: u64) -> Result<Bed, CommandError> {
        let parent = args.work_dir.clone().unwrap_or_else(std::env::temp_dir);
        let place = Place::new(&parent, "looking", args.keep)?;
        let program = Programs::find().penstock.ok_or("penstock is not here")?;
        let state = place.root.join("state");
        std::fs::create_dir_all(&state).map_err(|e| format!("{}: {e}", state.display()))?;
        let config = place.write("looking.conf", &text(args.connections, &place))?;
        let words: [OsString; 5] =
            ["run".into(), "--config".into(), config.into(), "--state-dir".into(), state.clone().into()];
        let command = Command { program: program.clone(), args: words.to_vec() };
        let mut process = Process::start(&command, place.root.join("receiver.log"))?;
        process.wait_answering(&control(&state))?;
        let rate = (args.rate > 0).then(|| args.rate.div_ceil(args.connections));
        let sender = Sender::spawn(lasting(place.port, args.connections, seconds + SPARE_SECONDS, rate))?;
        Ok(Bed { place, program, state, process, sender })
    }

    fn meters(&self) -> Result<Meters, CommandError> {
        let stats = ask(&control(&self.state), "STATS")?;
        let messages = stats
            .lines()
            .find_map(|line| line.strip_prefix("source;s_in;;a;processed;")?.trim().parse().ok())
            .ok_or("the statistics do not count s_in")?;
        let is_worker = |name: &str| name.starts_with("worker-");
        Ok(Meters {
            at: Instant::now(),
            messages,
            workers_ns: self.process.threads_ns(is_worker),
            beside_ns: self.process.threads_ns(|name| !is_worker(name)),
        })
    }

    /// What the program does for so long.
    pub fn window(&mut self, length: Duration) -> Result<Window, CommandError> {
        self.empty()?;
        std::thread::sleep(SETTLE);
        let before = self.meters()?;
        std::thread::sleep(length);
        let after = self.meters()?;
        if !self.process.alive() || !self.sender.running() {
            return Err(format!("the load does not go on: {}", self.process.words()).into());
        }
        Ok(Window {
            seconds: (after.at - before.at).as_secs_f64(),
            messages: after.messages - before.messages,
            workers_ns: after.workers_ns.saturating_sub(before.workers_ns),
            beside_ns: after.beside_ns.saturating_sub(before.beside_ns),
        })
    }

    /// What was written would fill the disk.
    fn empty(&self) -> Result<(), CommandError> {
        match std::fs::remove_file(output(&self.place)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error.to_string().into());
            }
            _ => {}
        }
        ask(&control(&self.state), "REOPEN").map(|_| ())
    }

    pub fn stop(self) {
        drop(self.sender);
        self.process.stop();
    }
}

fn control(state: &Path) -> PathBuf {
    state.join("penstock.ctl")
}

fn output(place: &Place) -> PathBuf {
    place.output.join("all.log")
}

fn text(connections: u32, place: &Place) -> String {
    let idle: String = (0..IDLE_PATHS)
        .map(|n| {
            format!(
                "source s_{n} {{ unix-dgram(\"{}\"); }};\n\
                 filter f_{n} {{ program(\"p{n}\"); }};\n\
                 destination d_{n} {{ file(\"/dev/null\" persist-name(\"d{n}\")); }};\n\
                 log {{ source(s_{n}); filter(f_{n}); destination(d_{n}); }};\n",
                place.root.join(format!("s{n}")).display()
            )
        })
        .collect();
    format!(
        "@version: 4.11\n\
         options {{ keep-hostname(yes); use-dns(no); stats-freq(0); console(ip(127.0.0.1) port({})); }};\n\
         source s_in {{ network(ip(127.0.0.1) port({}) max-connections({})); }};\n\
         destination d_out {{ file(\"{}\"); }};\n\
         log {{ source(s_in); destination(d_out); flags(flow-control); }};\n\
         {idle}",
        place.sink_port,
        place.port,
        // Those of messages that are waited for, and of the last one while it ends.
        connections + 10,
        output(place).display(),
    )
}
