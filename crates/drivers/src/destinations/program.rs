//! `program()`: starts a program and writes messages to its standard input. It is started again when it ends.

mod child;

use child::Child;
use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use delivery::finish::{Peer, finish};
use delivery::single::{SingleDestination, SinkContext};
use delivery::unreachable::Unreachable;
use delivery::writing::{self, Layout};
use diag::{Diagnostics, Reported};
use driver_options::output_groups::NO_MARKS;
use driver_options::output_groups::{DESTINATION, TEMPLATE, WRITER};
use engine::Environment;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use engine::{Chunk, Need, Privilege, Progress, Sink, Status};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&PROGRAM, build).needing(needed)];

static PROGRAM: Component = Component {
    context: Context::Destination,
    name: "program",
    aliases: &[],
    positional: &[Positional {
        name: "command",
        kind: Kind::Text,
        required: true,
        help: "the command, run by `/bin/sh -c`",
    }],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION],
    own: &[
        Opt::new("keep-alive", Kind::Bool, Preset::Bool(false), "Keep the program running over a reload."),
        Opt::new(
            "inherit-environment",
            Kind::Bool,
            Preset::Described("the variables listed in docs/files.md"),
            "Give the program the environment of this one, except for what the service manager tells this process alone; with `no`, an \
             empty one.",
        ),
    ],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Starts a program and writes messages to its standard input. It is started again when it ends, and \
              stopped with its process group.",
    example: "program(\"cat >> /tmp/out.log\" template(\"${MSG}\\n\") keep-alive(yes))",
    cost: Some(Cost::elsewhere("As `pipe()`; the command has its own cost.")),
};

fn needed(_: &Settings) -> Vec<Need<'static>> {
    vec![Need::Privilege(Privilege::Commands), Need::Connects(Vec::new())]
}

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let command = s.text("command").ok_or(Reported)?.to_owned();
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let options = Arc::new(ProgramOptions {
        command: command.clone(),
        environment: Environment::of(s.bool("inherit-environment")),
        time_reopen: writing::time_reopen(s),
        grace: GRACE,
    });
    let key = writing::key(s, &mut writer, || format!("afprogram_dd({command})"));
    let keep_alive = s.bool("keep-alive").unwrap_or(false);
    let make =
        Box::new(move |place| Box::new(ProgramSink::new(place, Arc::clone(&options))) as Box<dyn Sink>);
    let destination =
        SingleDestination::new(("program", command), writer, writing::limits(s), keep_alive, make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}

pub struct ProgramOptions {
    /// For `/bin/sh -c`.
    pub command: String,
    pub environment: Environment,
    /// From a failed start to the next attempt.
    pub time_reopen: Duration,
    /// From the end of its input to SIGTERM, and from there to SIGKILL: it gets the time to finish what it
    /// has read.
    pub grace: Duration,
}

const GRACE: Duration = Duration::from_secs(2);
/// A program that ends at once is not started more often than this.
const RESTART_MIN: Duration = Duration::from_secs(1);

enum State {
    Waiting(Instant),
    Running(Child),
}

struct ProgramSink {
    place: SinkContext,
    options: Arc<ProgramOptions>,
    state: State,
    started: Instant,
    /// The program that a message was begun for is gone.
    rewind: bool,
    unreachable: Unreachable,
}

impl ProgramSink {
    fn new(place: SinkContext, options: Arc<ProgramOptions>) -> ProgramSink {
        let now = Instant::now();
        ProgramSink {
            unreachable: Unreachable::new(&place.counters),
            place,
            options,
            state: State::Waiting(now),
            started: now,
            rewind: false,
        }
    }

    fn advance(&mut self, now: Instant) {
        match &self.state {
            State::Running(_) => {}
            State::Waiting(until) if now < *until => {}
            State::Waiting(_) => self.start(now),
        }
    }

    fn start(&mut self, now: Instant) {
        self.started = now;
        let command = &self.options.command;
        match Child::start(&self.options, &self.place) {
            Ok(child) => {
                oplog::verbose("Destination program started", &[("cmdline", command), ("pid", &child.pid())]);
                self.unreachable.reached();
                self.state = State::Running(child);
            }
            Err(error) => {
                let wait = self.options.time_reopen;
                oplog::error(
                    "Error starting the destination program",
                    &[("cmdline", command), ("error", &error), ("time_reopen", &wait.as_secs())],
                );
                self.place
                    .counters
                    .setbacks
                    .failed(format_args!("cannot start {command}: {error}"), Some(wait));
                self.unreachable.set(true);
                self.state = State::Waiting(now + wait);
            }
        }
    }

    /// Ends what is left of the program, and says when to start it again.
    fn ended(&mut self, error: Option<&io::Error>) {
        let again = (self.started + RESTART_MIN).max(Instant::now());
        let State::Running(mut child) = std::mem::replace(&mut self.state, State::Waiting(again)) else {
            return;
        };
        let status = child.status().map_or_else(|| "still running".to_owned(), |s| s.to_string());
        let command = &self.options.command;
        match error {
            Some(error) => oplog::notice(
                "Destination program does not read any more, restarting",
                &[("cmdline", command), ("status", &status), ("error", error)],
            ),
            None => {
                oplog::notice(
                    "Child program exited, restarting",
                    &[("cmdline", command), ("status", &status)],
                );
            }
        }
        self.place.counters.setbacks.failed(
            format_args!("{command} ended: {status}"),
            Some(again.saturating_duration_since(Instant::now())),
        );
        self.rewind = true;
        child.end_later();
    }

    /// Notices that the program ended.
    fn look(&mut self) {
        if let State::Running(child) = &mut self.state
            && child.status().is_some()
        {
            self.ended(None);
        }
    }
}

impl Sink for ProgramSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        let now = Instant::now();
        loop {
            self.advance(now);
            let Some(chunk) = chunks.front_mut() else { return Status::Done };
            if std::mem::take(&mut self.rewind) {
                chunk.rewind();
            }
            let child = match &mut self.state {
                State::Running(child) => child,
                State::Waiting(until) => return Status::Retry(until.saturating_duration_since(now)),
            };
            progress.delivered(chunk.advance(0));
            if chunk.pending().is_empty() {
                if let Some(chunk) = chunks.pop_front() {
                    progress.finished(chunk);
                }
                continue;
            }
            match child.write(chunk.pending()) {
                Ok(n) => progress.delivered(chunk.advance(n)),
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Status::Blocked,
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => self.ended(Some(&e)),
            }
        }
    }

    fn event(&mut self) {
        if self.place.restart.swap(false, Ordering::Relaxed)
            && let State::Running(child) = std::mem::replace(&mut self.state, State::Waiting(Instant::now()))
        {
            self.rewind = true;
            child.end_later();
        }
        self.look();
        self.advance(Instant::now());
    }

    fn tick(&mut self, now: Instant) {
        self.look();
        self.advance(now);
    }

    fn finish(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>, until: Instant) {
        // A program that does not take the rest ends with half a message: it is given its end either way.
        if !self.rewind
            && let State::Running(child) = &mut self.state
            && let Err(error) = finish(child, chunk, |_, whole| progress.delivered(whole), until)
        {
            let command = &self.options.command;
            oplog::notice(
                "The destination program does not take the end of a message",
                &[("cmdline", command), ("error", &error)],
            );
        }
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {
        if let State::Running(child) = std::mem::replace(&mut self.state, State::Waiting(Instant::now())) {
            child.end();
        }
        self.unreachable.set(false);
    }
}

#[cfg(test)]
mod tests;
