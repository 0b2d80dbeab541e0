//! One measurement: this program runs a configuration in a folder of its own, messages are sent to it as fast
//! as it takes them, and what it has taken in a time is counted by its own ledger.

use super::copy::{Copy, Variant};
use super::folder::Folder;
use super::load::Load;
use control::cli::CONTROL_FILE_NAME;
use control::client::{Status, request};
use control::ledger::Ledger;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Time given to the copy to begin, and to answer.
const BEGIN_MAX: Duration = Duration::from_secs(30);
const ANSWER_MAX: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);
/// Before it is measured it runs for so long: caches are warm then, files are open.
const WARM: Duration = Duration::from_millis(300);
/// What was seen of a copy.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    /// A second, that all destinations have got.
    pub messages: f64,
    /// Of what came in, a second.
    pub bytes: f64,
    /// Of the program, for a message.
    pub cpu_us: f64,
    /// At the most, of the program.
    pub memory: u64,
}

/// What a copy has done so far.
#[derive(Clone, Copy)]
struct Done {
    messages: u64,
    bytes: u64,
    cpu_ns: u64,
}

/// A copy that runs.
pub struct Bed {
    child: Child,
    socket: PathBuf,
    folder: Folder,
}

impl Bed {
    /// What a configuration does with what it gets in this time.
    pub fn measure(
        copy: &Copy,
        variant: &Variant,
        load: &Load,
        duration: Duration,
    ) -> Result<Measured, CommandError> {
        let bed = Bed::begin(copy, variant)?;
        let sending = load.begin(copy.port())?;
        bed.wait_for_messages()?;
        std::thread::sleep(WARM);
        let (before, began) = (bed.done()?, Instant::now());
        std::thread::sleep(duration);
        let (after, seconds) = (bed.done()?, began.elapsed().as_secs_f64());
        drop(sending);
        let messages = after.messages.saturating_sub(before.messages) as f64;
        if messages == 0.0 {
            return Err("the copy of the configuration takes no messages".into());
        }
        Ok(Measured {
            messages: messages / seconds,
            bytes: after.bytes.saturating_sub(before.bytes) as f64 / seconds,
            cpu_us: after.cpu_ns.saturating_sub(before.cpu_ns) as f64 / 1000.0 / messages,
            memory: peak(bed.child.id()),
        })
    }

    /// Many connections, and their handshakes, take their time.
    fn wait_for_messages(&self) -> Result<(), CommandError> {
        let until = Instant::now() + BEGIN_MAX;
        while self.done()?.messages == 0 {
            if Instant::now() > until {
                return Err(format!(
                    "the copy of the configuration takes no messages:\n{}",
                    said(&self.log())
                )
                .into());
            }
            std::thread::sleep(LOOK);
        }
        Ok(())
    }

    fn log(&self) -> PathBuf {
        self.folder.path().join("log")
    }

    fn begin(copy: &Copy, variant: &Variant) -> Result<Bed, CommandError> {
        let cannot = |error: std::io::Error| format!("cannot run a copy of the configuration: {error}");
        let folder = Folder::below(copy.folder())?;
        let (path, log) = (folder.path().join("copy.conf"), folder.path().join("log"));
        std::fs::write(&path, copy.text(variant)).map_err(cannot)?;
        let program = std::env::current_exe().map_err(cannot)?;
        let output = std::fs::File::create(&log).map_err(cannot)?;
        let mut command = Command::new(program);
        command.arg("run").arg("--config").arg(&path).arg("--state-dir").arg(folder.path());
        if let Some(count) = variant.workers {
            command.arg("--worker-threads").arg(count.to_string());
        }
        let child =
            command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(output).spawn().map_err(cannot)?;
        let mut bed = Bed { child, socket: folder.path().join(CONTROL_FILE_NAME), folder };
        let until = Instant::now() + BEGIN_MAX;
        while bed.done().is_err() {
            let has_ended = bed.child.try_wait().map_err(cannot)?.is_some();
            if has_ended || Instant::now() > until {
                return Err(format!("the copy of the configuration does not run:\n{}", said(&log)).into());
            }
            std::thread::sleep(LOOK);
        }
        Ok(bed)
    }

    /// What no destination has lost counts.
    fn done(&self) -> Result<Done, CommandError> {
        let reply =
            request(&self.socket, "LEDGER JSON", Some(ANSWER_MAX)).map_err(|error| error.to_string())?;
        if reply.status != Status::Ok {
            return Err(reply.text.into());
        }
        let ledger = Ledger::from_json(&reply.text)?;
        let through: u64 = ledger.sources.iter().map(|row| row.flow.delivered + row.flow.filtered).sum();
        let lost = ledger.destinations.iter().map(|row| row.flow.dropped.total()).max().unwrap_or(0);
        Ok(Done {
            messages: through.saturating_sub(lost),
            bytes: ledger.sources.iter().map(|row| row.flow.received_bytes).sum(),
            cpu_ns: bench::cpu_ns(self.child.id()),
        })
    }
}

/// The most memory that a process had.
fn peak(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or(0) << 10
}

impl Drop for Bed {
    fn drop(&mut self) {
        // What it has not written goes to nobody.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last lines of the log of a copy.
fn said(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    lines.iter().skip(lines.len().saturating_sub(5)).copied().collect::<Vec<&str>>().join("\n")
}
