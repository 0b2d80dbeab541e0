//! `program()`: starts a command and reads what it prints. It is started again when it ends.

mod child;

use child::Child;
use conf_schema::{Component, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use diag::{Diagnostics, Fault, Reported};
use driver_options::source_groups::{MULTILINE_STREAM, NO_CONNECTIONS, READER, READER_FLAGS, SOURCE};
use engine::driver::{BuildContext, SourceDriver, SourcePart, Start};
use engine::reader::StreamPort;
use engine::source::{Carrier, Settings as SourceSettings, Source};
use engine::worker::{After, Port, PortContext};
use engine::{Environment, Need, Privilege, Shared, Wake};
use intake::input::FdInput;
use intake::listener::register;
use intake::multi_line::{Mode, multi_line};
use intake::reading::{Defaults, Reading};
use intake::unnamed::Unnamed;
use record::Context;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::Framing;

pub const PARTS: &[SourcePart] = &[SourcePart::new(&PROGRAM, build).needing(needed)];

static PROGRAM: Component = Component {
    context: conf_schema::Context::Source,
    name: "program",
    aliases: &[],
    positional: &[Positional {
        name: "command",
        kind: Kind::Text,
        required: true,
        help: "the command, for `/bin/sh -c`",
    }],
    groups: &[&READER_FLAGS, &READER, &SOURCE, &MULTILINE_STREAM, &NO_CONNECTIONS],
    own: &[Opt::new(
        "inherit-environment",
        Kind::Bool,
        Preset::Described("the variables listed in docs/files.md"),
        "Give the command the environment of this program, except for what the service manager tells this process alone; with `no`, an \
         empty one.",
    )],
    presets: &[],
    not_yet: &[],
    summary: "Starts a command and reads what it prints, line by line. It is started again when it ends, at most once a second, keeps \
              running over reloads, and is ended with its process group when the source goes. Its standard input and error lead \
              nowhere.",
    example: "program(\"journalctl -f -o short\" flags(no-hostname))",
    cost: Some(Cost::elsewhere("As a connection of `network()`, besides what the command costs.")),
};

/// A program that ends at once is not started more often than this.
const RESTART_MIN: Duration = Duration::from_secs(1);

fn needed(_: &Settings) -> Vec<Need<'static>> {
    vec![Need::Privilege(Privilege::Commands)]
}

fn build(s: &Settings, cx: &BuildContext<'_>, diags: &mut Diagnostics) -> Result<SourceDriver, Reported> {
    let command = s.text("command").ok_or(Reported)?.to_owned();
    let defaults =
        Defaults { framing: Framing::Lines, syslog_protocol: false, expect_hostname: true, local: true };
    let reading = Reading::new(s, cx, &defaults, diags);
    let multi_line = multi_line(s, diags)?;
    let environment = Environment::of(s.bool("inherit-environment"));
    let key = reading.persist_name.clone().unwrap_or_else(|| format!("afprogram_sd({command})"));
    let lines = multi_line.as_ref().map(|(_, text)| text.as_str()).unwrap_or_default();
    let opened_with = format!("{command} {environment:?} {lines} {}", reading.fixed());
    let (parsing, finish) = (reading.syslog.clone(), reading.finish.clone());
    let program = SourceCommand {
        command: command.clone(),
        environment,
        reading,
        multi_line: multi_line.map(|(mode, _)| mode),
    };
    Ok(SourceDriver {
        key,
        opened_with,
        driver: "program",
        instance: command,
        carrier: Carrier::Other,
        settings: Box::new(move |program| SourceSettings::new(parsing.clone(), finish.clone(), program)),
        start: Box::new(ProgramStart { program: Arc::new(program) }),
    })
}

struct SourceCommand {
    /// For `/bin/sh -c`.
    command: String,
    environment: Environment,
    reading: Reading,
    multi_line: Option<Mode>,
}

struct ProgramStart {
    program: Arc<SourceCommand>,
}

impl Start for ProgramStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        let worker = shared.any_worker()?;
        let (program, source) = (Arc::clone(&self.program), Arc::clone(source));
        worker.add(move |token, cx| {
            let hung_up = Arc::new(HungUp { is: AtomicBool::new(false), waker: cx.handle.waker(token) });
            let now = Instant::now();
            Ok(Box::new(ProgramPort {
                program,
                source,
                hung_up,
                child: None,
                started: now,
                start_at: now,
                queued: false,
            }))
        });
        Ok(())
    }

    fn needs(&self) -> Vec<Need<'_>> {
        Vec::new()
    }
}

/// The reader of a program's output has come to the end of it.
struct HungUp {
    is: AtomicBool,
    waker: Arc<dyn Wake>,
}

/// Starts the program, and starts it again; its output has a port of its own.
struct ProgramPort {
    program: Arc<SourceCommand>,
    source: Arc<Source>,
    hung_up: Arc<HungUp>,
    child: Option<Child>,
    started: Instant,
    /// Not before this time.
    start_at: Instant,
    queued: bool,
}

impl ProgramPort {
    fn start(&mut self, cx: &mut PortContext) {
        self.started = Instant::now();
        self.start_at = self.started + RESTART_MIN;
        let SourceCommand { command, environment, reading, multi_line } = &*self.program;
        let (child, output) = match Child::start(command, *environment) {
            Ok(started) => started,
            Err(error) => {
                oplog::error("Error starting the source program", &[("cmdline", command), ("error", &error)]);
                return;
            }
        };
        oplog::verbose("Source program started", &[("cmdline", command), ("pid", &child.pid())]);
        self.child = Some(child);
        self.hung_up =
            Arc::new(HungUp { is: AtomicBool::new(false), waker: Arc::clone(&self.hung_up.waker) });
        let hung_up = Arc::clone(&self.hung_up);
        let context = Arc::new(Context::local(&reading.group, &reading.local_name, "local+program"));
        let source = Arc::clone(&self.source);
        let unnamed = Unnamed::new(reading, multi_line.as_ref());
        cx.handle.add(move |token, cx| {
            register(&output.as_raw_fd(), cx.handle.registry(), token)?;
            let (input, mut options) = unnamed.wrap(Box::new(FdInput(output)));
            options.on_close = Some(Box::new(move || {
                hung_up.is.store(true, Ordering::SeqCst);
                hung_up.waker.wake();
            }));
            Ok(Box::new(StreamPort::new(input, source, context, options, cx, token)))
        });
    }

    /// Ends what is left of a program that has ended, or has closed its output.
    fn look(&mut self) {
        let Some(child) = &mut self.child else { return };
        let status = child.status();
        if status.is_none() && !self.hung_up.is.load(Ordering::SeqCst) {
            return;
        }
        let status = status.map_or_else(|| "still running".to_owned(), |status| status.to_string());
        oplog::notice(
            "Child program exited, restarting",
            &[("cmdline", &self.program.command), ("status", &status)],
        );
        if let Some(child) = self.child.take() {
            child.end_later();
        }
    }
}

impl Port for ProgramPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        self.look();
        if self.child.is_none() && Instant::now() >= self.start_at {
            self.start(cx);
        }
        After::Idle
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    /// Once a second: has it ended, is it time to start it again?
    fn retry(&self) -> bool {
        true
    }

    fn closed(&mut self, _cx: &mut PortContext) {
        if let Some(child) = self.child.take() {
            child.end_later();
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.source)
    }
}

#[cfg(test)]
mod tests;
