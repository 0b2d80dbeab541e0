//! How to run, whichever command line it came from.

use std::path::PathBuf;
use std::time::Duration;

use clap::ValueEnum;
use oplog::Verbosity;

/// Largest number of workers, as in syslog-ng.
pub const WORKER_THREADS_COUNT_MAX: usize = 256;

/// How the process relates to its starter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProcessMode {
    Foreground,
    /// Detached; the starter returns when initialisation has succeeded.
    Background,
    /// Detached, and a supervisor starts it again after a crash.
    SafeBackground,
}

/// What `sandbox()` is where a configuration does not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum SandboxUnsaid {
    #[default]
    No,
    Yes,
    /// As `yes`, but it starts where the kernel cannot.
    IfPossible,
}

/// Everything `run` needs to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOptions {
    pub config: PathBuf,
    pub state_dir: PathBuf,
    pub control: PathBuf,
    pub pid_file: Option<PathBuf>,
    /// `None`: as many as there are processors.
    pub worker_threads: Option<usize>,
    pub process_mode: ProcessMode,
    /// Own messages to standard error, beside `internal()`.
    pub stderr: bool,
    pub verbosity: Verbosity,
    /// [`Verbosity::Debug`] until everything is open, then `verbosity`.
    pub startup_debug: bool,
    pub user: Option<String>,
    pub group: Option<String>,
    pub chroot: Option<PathBuf>,
    /// Limit of open files to ask for; `None`: the hard limit.
    pub fd_limit: Option<u64>,
    pub enable_core: bool,
    /// The capabilities that are kept, as cap_from_text(3) reads them; `None`: those that are needed.
    pub caps: Option<String>,
    /// Capabilities are left alone; more than `caps`.
    pub no_caps: bool,
    /// Take the place of the program behind `control`; it may go on for so long for connections that only it
    /// can read.
    pub take_over: Option<Duration>,
    /// How long a configuration is on trial after a reload.
    pub reload_health_time: Duration,
    /// Where the console is, whatever the configuration says.
    pub console: Option<String>,
    pub sandbox: SandboxUnsaid,
}

/// A number of threads on a command line.
pub(super) fn worker_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=WORKER_THREADS_COUNT_MAX) => Ok(count),
        _ => Err(format!("expected a number from 1 to {WORKER_THREADS_COUNT_MAX}")),
    }
}
