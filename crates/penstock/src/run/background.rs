//! Detaching: the starter waits until everything is open and ends with its outcome; the program goes on
//! without a terminal.
//!
//! `fork` is unsafe because in a process with threads the child may find locks held by threads it does not
//! have. It is called here only before the first thread is started.
#![allow(unsafe_code)]

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use nix::sys::signal::Signal;
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, pipe, setsid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1};

use super::{Failed, failed};
use crate::EXIT_INIT;

/// Pause before a crashed program is started again.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

/// The supervised process, 0 in itself.
static CHILD: AtomicI32 = AtomicI32::new(0);

/// Whoever waits for the outcome of the start.
pub struct Starter {
    waiting: Option<File>,
    detached: bool,
}

impl Starter {
    /// Nobody: the program stays in the foreground.
    pub fn none() -> Starter {
        Starter { waiting: None, detached: false }
    }

    /// Everything is open: the starter may end. Standard input and output are closed, standard error unless
    /// it is wanted.
    pub fn succeeded(&mut self, keep_stderr: bool) {
        self.tell(0);
        if self.detached {
            leave_terminal(keep_stderr);
        }
    }

    /// The starter ends with this code.
    pub fn failed(&mut self, code: u8) {
        self.tell(code);
    }

    fn tell(&mut self, code: u8) {
        if let Some(mut waiting) = self.waiting.take() {
            // A starter that was killed meanwhile does not wait.
            let _ = waiting.write_all(&[code]);
        }
    }
}

/// Goes on in a new process without a terminal; the caller's process ends when the start has succeeded or
/// failed. Supervised, a process that crashes is started again.
pub fn detach(supervised: bool) -> Result<Starter, Failed> {
    let broken = |error: nix::Error| failed(EXIT_INIT, &format!("cannot go to the background: {error}"));
    let (outcome, waiting) = pipe().map_err(broken)?;
    // SAFETY: no thread has been started yet.
    if let ForkResult::Parent { .. } = unsafe { fork() }.map_err(broken)? {
        drop(waiting);
        std::process::exit(await_outcome(outcome));
    }
    drop(outcome);
    setsid().map_err(broken)?;
    // Relative paths have been made absolute; no file system is to be kept busy.
    nix::unistd::chdir("/").map_err(broken)?;
    let mut waiting = Some(File::from(waiting));
    match supervised {
        true => supervise(&mut waiting).map_err(broken)?,
        false => give_up_leadership().map_err(broken)?,
    }
    Ok(Starter { waiting, detached: true })
}

/// What the starter ends with.
fn await_outcome(outcome: OwnedFd) -> i32 {
    let mut code = [0];
    match File::from(outcome).read(&mut code) {
        Ok(1) => i32::from(code[0]),
        // It ended without a word.
        _ => i32::from(EXIT_INIT),
    }
}

/// A process that leads no session cannot get a terminal by opening one, as `usertty()` does.
fn give_up_leadership() -> nix::Result<()> {
    // SAFETY: no thread has been started yet.
    if let ForkResult::Parent { .. } = unsafe { fork() }? {
        std::process::exit(0);
    }
    Ok(())
}

/// Starts the program in a child, again after a crash. Returns in the child only.
fn supervise(waiting: &mut Option<File>) -> nix::Result<()> {
    pass_signals_on();
    loop {
        // SAFETY: the supervisor has no threads.
        let ForkResult::Parent { child } = (unsafe { fork() })? else {
            CHILD.store(0, Ordering::SeqCst);
            return Ok(());
        };
        CHILD.store(child.as_raw(), Ordering::SeqCst);
        // Only the first start is waited for.
        waiting.take();
        let ended = loop {
            match waitpid(child, None) {
                Err(nix::Error::EINTR) => {}
                ended => break ended,
            }
        };
        CHILD.store(0, Ordering::SeqCst);
        match ended {
            Ok(WaitStatus::Signaled(_, signal, _))
                if signal != Signal::SIGTERM && signal != Signal::SIGINT =>
            {
                oplog::critical("Crashed, starting again", &[("signal", &signal)]);
                std::thread::sleep(RESTART_PAUSE);
            }
            Ok(WaitStatus::Exited(_, code)) => std::process::exit(code),
            _ => std::process::exit(i32::from(EXIT_INIT)),
        }
    }
}

/// Signals to the supervisor are meant for the program.
fn pass_signals_on() {
    for number in [SIGHUP, SIGTERM, SIGINT, SIGUSR1] {
        let Ok(signal) = Signal::try_from(number) else { continue };
        let pass = move || match CHILD.load(Ordering::SeqCst) {
            0 => {}
            child => drop(nix::sys::signal::kill(Pid::from_raw(child), signal)),
        };
        // SAFETY: an atomic load and kill(2) are async-signal-safe, and the action does nothing else.
        // Where it fails, the signal has its usual effect on the supervisor.
        let _ = unsafe { signal_hook::low_level::register(number, pass) };
    }
}

fn leave_terminal(keep_stderr: bool) {
    let Ok(null) = File::options().read(true).write(true).open("/dev/null") else { return };
    // They stay open where that fails, which harms nobody.
    let _ = rustix::stdio::dup2_stdin(&null);
    let _ = rustix::stdio::dup2_stdout(&null);
    if !keep_stderr {
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}
