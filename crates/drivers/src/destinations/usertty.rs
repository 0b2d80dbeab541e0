//! `usertty()`: writes messages to the terminals of users that are logged in.

mod utmp;

use conf_schema::{Component, Context, Cost, Kind, OptionSpec as Opt, Positional, Preset, Settings};
use delivery::single::SingleDestination;
use delivery::writer::Writer;
use delivery::{disk_buffer, writing};
use diag::{Diagnostics, Reported};
use driver_options::SECONDS_MAX;
use driver_options::output_groups::DESTINATION;
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use engine::{Chunk, Need, Privilege, Progress, Sink, Status, Whole};
use rustix::fs::{FileType, Mode, OFlags};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&USERTTY, build).needing(needed)];

static USERTTY: Component = Component {
    context: Context::Destination,
    name: "usertty",
    aliases: &[],
    positional: &[Positional {
        name: "user",
        kind: Kind::Text,
        required: true,
        help: "the name of a user, or `*` for everyone",
    }],
    groups: &[&DESTINATION],
    own: &[
        Opt::new(
            "time-reopen",
            Kind::Seconds { min: 0, max: SECONDS_MAX },
            Preset::Global("time-reopen"),
            "Seconds for which a terminal that could not be written to is left out.",
        ),
        Opt::no_effect("escaping", "control characters are always made harmless"),
    ],
    presets: &[],
    not_yet: &[],
    summary: "Writes messages to the terminals of logged-in users.",
    example: "usertty(\"*\")",
    cost: Some(Cost::elsewhere(
        "Each message is written to each terminal on its own: for few messages, such as emergencies.",
    )),
};

fn needed(_: &Settings) -> Vec<Need<'static>> {
    vec![Need::Privilege(Privilege::Terminals), Need::Connects(Vec::new())]
}

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let user = s.text("user").ok_or(Reported)?.to_owned();
    // Always the layout and stamp of syslogd's messages to terminals.
    let layout = template::layout::file_default(&template::TemplateOptions {
        version: cx.version,
        ..template::TemplateOptions::default()
    });
    let mut writer = Writer::new(Arc::new(layout), cx.identity);
    writer.throttle = writing::throttle(s);
    let time_reopen = writing::time_reopen(s);
    let key = writing::key(s, &mut writer, || format!("usertty({user})"));
    writer.disk_buffer = disk_buffer::read(s, cx, diags)?;
    let described = ("usertty", user.clone());
    let make = Box::new(move |_| Box::new(TtySink::new(&user, time_reopen)) as Box<dyn Sink>);
    let destination = SingleDestination::new(described, writer, writing::limits(s), true, make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}

/// How long a list of logged-in users is good for.
const LIST_AGE: Duration = Duration::from_secs(1);

struct TtySink {
    /// `None` is everybody.
    user: Option<Vec<u8>>,
    time_reopen: Duration,
    utmp: PathBuf,
    dev: PathBuf,
    lines: Vec<PathBuf>,
    listed: Option<Instant>,
    /// Terminals that could not be written to, and until when they are left out.
    left_out: HashMap<PathBuf, Instant>,
    line: Vec<u8>,
}

impl TtySink {
    fn new(user: &str, time_reopen: Duration) -> TtySink {
        TtySink {
            user: (user != "*").then(|| user.as_bytes().to_vec()),
            time_reopen,
            utmp: "/var/run/utmp".into(),
            dev: "/dev".into(),
            lines: Vec::new(),
            listed: None,
            left_out: HashMap::new(),
            line: Vec::new(),
        }
    }

    fn list(&mut self, now: Instant) {
        if self.listed.is_some_and(|at| now.saturating_duration_since(at) < LIST_AGE) {
            return;
        }
        self.listed = Some(now);
        self.left_out.retain(|_, until| *until > now);
        let found = utmp::read(&self.utmp);
        if let Err(error) = &found {
            let fields: [oplog::Field<'_>; 2] = [("file", &self.utmp.display()), ("error", error)];
            oplog::limited("utmp", oplog::Level::Warning, "Cannot read who is logged in", &fields);
        }
        let wanted = |login: &utmp::Login| self.user.as_ref().is_none_or(|user| *user == login.user);
        self.lines =
            found.unwrap_or_default().into_iter().filter(wanted).map(|l| self.dev.join(l.line)).collect();
    }

    /// Shows a line at every terminal of the user.
    fn show(&mut self, now: Instant) {
        for tty in &self.lines {
            if self.left_out.get(tty).is_some_and(|until| *until > now) {
                continue;
            }
            if let Err(error) = write_to(tty, &self.line) {
                oplog::limited(
                    "usertty",
                    oplog::Level::Notice,
                    "Cannot write to a terminal, leaving it out for a while",
                    &[
                        ("file", &tty.display()),
                        ("error", &error),
                        ("time_reopen", &self.time_reopen.as_secs()),
                    ],
                );
                self.left_out.insert(tty.clone(), now + self.time_reopen);
            }
        }
    }
}

/// Opened for each line: a terminal that is kept open cannot be hung up.
fn write_to(tty: &Path, line: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = rustix::fs::open(tty, flags, Mode::empty())?;
    if FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode) != FileType::CharacterDevice {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a terminal"));
    }
    // What a stopped terminal does not take is lost for it.
    match rustix::io::write(&fd, line)? {
        n if n == line.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Takes the power out of a line: no byte of a message may steer a terminal.
fn disarm(line: &mut [u8]) {
    let end = line.len() - usize::from(line.last() == Some(&b'\n'));
    let is_utf8 = std::str::from_utf8(line).is_ok();
    let mut before = 0;
    for byte in line.iter_mut().take(end) {
        let now = *byte;
        // 0xc2 0x80..=0x9f are the control characters beyond ASCII.
        let steers = now == 0x7f || (now < b' ' && now != b'\t') || (before == 0xc2 && now < 0xa0);
        if steers || (!is_utf8 && now >= 0x80) {
            *byte = b'?';
        }
        before = now;
    }
    // What the last loop left of such a pair.
    for at in 1..end {
        if let Some(pair @ [0xc2, b'?']) = line.get_mut(at - 1..=at) {
            pair[0] = b'?';
        }
    }
}

impl Sink for TtySink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        let now = Instant::now();
        self.list(now);
        while let Some(chunk) = chunks.front_mut() {
            while let Some(message) = chunk.front() {
                let size = message.len();
                self.line.clear();
                self.line.extend_from_slice(message);
                disarm(&mut self.line);
                self.show(now);
                chunk.skip(1);
                progress.delivered(Whole { messages: 1, bytes: size });
            }
            if let Some(chunk) = chunks.pop_front() {
                progress.finished(chunk);
            }
        }
        Status::Done
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {}
}

#[cfg(test)]
mod tests;
