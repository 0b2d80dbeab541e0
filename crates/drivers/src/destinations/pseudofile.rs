//! `pseudofile()`: one message, one write to a file that is no file: a switch of the kernel below
//! /proc or /sys.

use conf_schema::{Component, Context, Cost, Kind, Positional, Settings};
use delivery::single::SingleDestination;
use delivery::writing::{self, Layout};
use diag::{Diagnostics, Reported};
use driver_options::needs;
use driver_options::output_groups::{DESTINATION, NO_MARKS, TEMPLATE, WRITER};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use engine::{Chunk, Progress, Sink, Status, Whole};
use rustix::fs::{Mode, OFlags};
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&PSEUDOFILE, build).needing(needs::of_output)];

static PSEUDOFILE: Component = Component {
    context: Context::Destination,
    name: "pseudofile",
    aliases: &[],
    positional: &[Positional {
        name: "path",
        kind: Kind::Template,
        required: true,
        help: "the path of the file, which is never made",
    }],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION],
    own: &[],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Writes each message to a file of the kernel, below /proc or /sys: opened, written with one write from its \
              beginning, closed. A message that cannot be written waits, and is tried again after time-reopen().",
    example: "pseudofile(\"/dev/kmsg\" template(\"penstock: ${MSG}\\n\"))",
    cost: Some(Cost::elsewhere("Three system calls a message: for few messages.")),
};

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let path = s.template("path").ok_or(Reported)?;
    if path.text.contains('$') {
        let text = "pseudofile() has one file, and its name is no template";
        diags.push(diag::Diagnostic::error("D0103", text, path.span).help("write the name as it is"));
        return Err(Reported);
    }
    let path = PathBuf::from(&path.text);
    let name = path.display().to_string();
    let time_reopen = writing::time_reopen(s);
    let key = writing::key(s, &mut writer, || format!("pseudofile({name})"));
    let make = Box::new(move |_| Box::new(Pseudofile { path: path.clone(), time_reopen }) as Box<dyn Sink>);
    let destination = SingleDestination::new(("pseudofile", name), writer, writing::limits(s), true, make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}

struct Pseudofile {
    path: PathBuf,
    time_reopen: Duration,
}

/// What the kernel takes of one write is one message to it: half of one would be another.
fn write_whole(path: &Path, message: &[u8]) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    loop {
        match rustix::io::write(&file, message) {
            Ok(written) if written == message.len() => return Ok(()),
            Ok(_) => return Err(ErrorKind::WriteZero.into()),
            Err(error) if error == rustix::io::Errno::INTR => {}
            Err(error) => return Err(error.into()),
        }
    }
}

impl Sink for Pseudofile {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        while let Some(chunk) = chunks.front_mut() {
            while let Some(message) = chunk.front() {
                let bytes = message.len();
                if let Err(error) = write_whole(&self.path, message) {
                    oplog::limited(
                        "pseudofile",
                        oplog::Level::Error,
                        "Error writing pseudofile",
                        &[
                            ("pseudofile", &self.path.display()),
                            ("error", &error),
                            ("time_reopen", &self.time_reopen.as_secs()),
                        ],
                    );
                    return Status::Retry(self.time_reopen);
                }
                chunk.skip(1);
                progress.delivered(Whole { messages: 1, bytes });
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
mod tests {
    use super::*;
    use delivery::testing::{Rig, wait_until};
    use std::fs;

    #[test]
    fn each_message_is_a_write_of_its_own_and_waits_for_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("switch");
        let sink = path.clone();
        let rig = Rig::new(Box::new(move |_| {
            Box::new(Pseudofile { path: sink.clone(), time_reopen: Duration::from_millis(10) })
        }));
        rig.send(&["first\n", "2\n"]);
        fs::write(&path, "").expect("the file appears");
        wait_until("both", || rig.counters().delivered.value() == 2);
        // The second began where the first had.
        assert_eq!(fs::read_to_string(&path).expect("read"), "2\nrst\n");
        rig.wait_balanced();
    }
}
