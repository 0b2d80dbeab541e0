//! The process behind a `program()` source: its own process group, its output, and its end.

use engine::Environment;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdout, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// From SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(2);
const LOOK: Duration = Duration::from_millis(5);

pub struct Child {
    process: std::process::Child,
}

impl Child {
    /// Starts a command; its output does not block.
    pub fn start(command: &str, environment: Environment) -> io::Result<(Child, ChildStdout)> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).process_group(0);
        shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        environment.give(&mut shell);
        let mut process = shell.spawn()?;
        let output = process.stdout.take();
        let child = Child { process };
        let output = output.ok_or_else(|| io::Error::other("it has no output"))?;
        match rustix::io::ioctl_fionbio(&output, true) {
            Ok(()) => Ok((child, output)),
            Err(error) => {
                child.end_later();
                Err(error.into())
            }
        }
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// How it ended; `None` while it runs.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// Tells the process group to end, and makes sure that it does without waiting for it here.
    pub fn end_later(mut self) {
        let group = Pid::from_raw(i32::try_from(self.process.id()).unwrap_or(i32::MAX));
        signal(group, Signal::SIGTERM);
        // Without a thread to be had, being told has to be enough.
        let _ = std::thread::Builder::new().name("program-end".into()).spawn(move || {
            let until = Instant::now() + GRACE;
            while self.status().is_none() && Instant::now() < until {
                std::thread::park_timeout(LOOK);
            }
            signal(group, Signal::SIGKILL);
            let _ = self.process.wait();
        });
    }
}

/// A group that is gone already is fine.
fn signal(group: Pid, signal: Signal) {
    let _ = killpg(group, signal);
}
