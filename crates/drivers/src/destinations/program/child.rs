//! The process behind a `program()` destination: its own process group, its standard input, and its end.

use super::ProgramOptions;
use delivery::finish::Peer;
use delivery::single::SinkContext;
use engine::WorkerHandle;
use mio::Interest;
use mio::unix::SourceFd;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

const LOOK: Duration = Duration::from_millis(5);

pub struct Child {
    process: std::process::Child,
    input: Option<ChildStdin>,
    home: WorkerHandle,
    grace: Duration,
}

impl Child {
    pub fn start(options: &ProgramOptions, place: &SinkContext) -> io::Result<Child> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", &options.command]).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        options.environment.give(&mut command);
        let mut process = command.spawn()?;
        let input = process.stdin.take();
        let child = Child { process, input, home: place.home.clone(), grace: options.grace };
        match child.watch(place) {
            Ok(()) => Ok(child),
            Err(error) => {
                child.end_later();
                Err(error)
            }
        }
    }

    fn watch(&self, place: &SinkContext) -> io::Result<()> {
        let Some(input) = &self.input else { return Ok(()) };
        rustix::io::ioctl_fionbio(input, true)?;
        let token = WorkerHandle::outlet_token(place.id);
        place.home.registry().register(&mut SourceFd(&input.as_raw_fd()), token, Interest::WRITABLE)
    }

    pub fn pid(&self) -> u32 {
        self.process.id()
    }

    /// How it ended; `None` while it runs.
    pub fn status(&mut self) -> Option<ExitStatus> {
        self.process.try_wait().ok().flatten()
    }

    /// Ends it without waiting for it here.
    pub fn end_later(mut self) {
        self.hang_up();
        // Without a thread to be had, the group is told at once.
        let group = self.group();
        if std::thread::Builder::new().name("program-end".into()).spawn(move || self.end()).is_err() {
            signal(group, Signal::SIGTERM);
        }
    }

    /// Closes its input, waits, and makes sure that nothing of its process group is left.
    pub fn end(mut self) {
        self.hang_up();
        let group = self.group();
        if !self.wait(self.grace) {
            signal(group, Signal::SIGTERM);
            if !self.wait(self.grace) {
                signal(group, Signal::SIGKILL);
                let _ = self.process.wait();
            }
        }
        // What it left running in the background.
        signal(group, Signal::SIGTERM);
    }

    fn hang_up(&mut self) {
        if let Some(input) = self.input.take() {
            let _ = self.home.registry().deregister(&mut SourceFd(&input.as_raw_fd()));
        }
    }

    fn group(&self) -> Pid {
        Pid::from_raw(i32::try_from(self.process.id()).unwrap_or(i32::MAX))
    }

    fn wait(&mut self, patience: Duration) -> bool {
        let until = Instant::now() + patience;
        while self.status().is_none() {
            if Instant::now() >= until {
                return false;
            }
            std::thread::park_timeout(LOOK);
        }
        true
    }
}

impl Peer for Child {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.input.as_mut().map(|input| input.write(bytes)) {
            Some(Ok(0)) | None => Err(io::ErrorKind::WriteZero.into()),
            Some(result) => result,
        }
    }

    fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.input.as_ref().map(AsFd::as_fd)
    }
}

/// A group that is gone already is fine.
fn signal(group: Pid, signal: Signal) {
    let _ = killpg(group, signal);
}
