//! A program under test: its output in a file, signals, its end. Killed when dropped.

use crate::wait::wait_while_some;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

pub struct Process {
    name: String,
    child: Child,
    log: PathBuf,
    ended: Option<ExitStatus>,
}

impl Process {
    /// Starts `command` with both outputs in `log`, and no standard input unless one was set.
    pub fn spawn(name: &str, mut command: Command, stdin: Option<Stdio>, log: &Path) -> Process {
        let output = File::options().create(true).append(true).open(log).expect("a log file");
        command.stdin(stdin.unwrap_or_else(Stdio::null));
        command.stdout(output.try_clone().expect("a second handle")).stderr(output);
        let child = command.spawn().unwrap_or_else(|e| panic!("{name} does not start: {e}"));
        Process { name: name.to_owned(), child, log: log.to_owned(), ended: None }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn child(&mut self) -> &mut Child {
        &mut self.child
    }

    /// Everything it said so far.
    pub fn log(&self) -> String {
        String::from_utf8_lossy(&std::fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// Waits until `missing` finds nothing; panics at once, with the log, when the program ends before.
    #[track_caller]
    pub fn wait_for(&mut self, mut missing: impl FnMut() -> Option<String>) {
        wait_while_some(|| {
            let what = missing()?;
            if let Some(status) = self.ended() {
                panic!("{} ended ({status}) while waiting: {what}\n{}", self.name, self.log());
            }
            Some(format!("{what}\n--- log of {}:\n{}", self.name, self.log()))
        });
    }

    #[track_caller]
    pub fn wait_log(&mut self, text: &str) {
        self.wait_log_count(text, 1);
    }

    /// Waits until `text` stands in the log at least `count` times.
    #[track_caller]
    pub fn wait_log_count(&mut self, text: &str, count: usize) {
        let log = self.log.clone();
        self.wait_for(|| {
            let seen =
                String::from_utf8_lossy(&std::fs::read(&log).unwrap_or_default()).matches(text).count();
            (seen < count).then(|| format!("{text:?} in its log {count} times, is there {seen} times"))
        });
    }

    pub fn signal(&self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32)
            && self.ended.is_none()
        {
            let _ = kill_process(pid, signal);
        }
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<ExitStatus> {
        if self.ended.is_none() {
            self.ended = self.child.try_wait().ok().flatten();
        }
        self.ended
    }

    #[track_caller]
    pub fn wait_end(&mut self) -> ExitStatus {
        wait_while_some(|| match self.ended() {
            Some(_) => None,
            None => Some(format!("the end of {}\n{}", self.name, self.log())),
        });
        self.ended.expect("has ended")
    }

    /// Asks it to end and waits for it.
    #[track_caller]
    pub fn terminate(&mut self) -> ExitStatus {
        self.signal(Signal::TERM);
        self.wait_end()
    }
}

/// The processes that the first thread of a process has started.
fn started_by(pid: u32) -> Vec<Pid> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    text.split_whitespace().filter_map(|pid| Pid::from_raw(pid.parse().ok()?)).collect()
}

impl Drop for Process {
    fn drop(&mut self) {
        if self.ended().is_none() {
            // Whom a tracer started would live on without it.
            let started = started_by(self.child.id());
            let _ = self.child.kill();
            let _ = self.child.wait();
            started.into_iter().for_each(|pid| {
                let _ = kill_process(pid, Signal::KILL);
            });
        }
        if std::thread::panicking() {
            eprintln!("--- log of {}:\n{}", self.name, self.log());
        }
    }
}
