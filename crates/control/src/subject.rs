//! What the running program answers to the control socket.

use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use oplog::Verbosity;

use crate::capture::{CaptureRequest, ReplayRequest};
use crate::counters::Counter;
use crate::explain::ExplainRequest;
use crate::ledger::Ledger;
use crate::look::LookRequest;
use crate::queues::QueueRequest;
use crate::refusal::Refusal;
use crate::request::Reload;
use crate::tap::TapRequest;

/// Which text `config` prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfigView {
    /// The main file as it was read.
    Original,
    /// After includes, blocks and variables.
    Preprocessed,
    /// Whether the file on disk is still the running one, as a sentence.
    Verify,
    /// What the file on disk means differently, in lines.
    Difference,
    /// The identity of the running configuration.
    Id,
}

/// The state of health at one moment.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Health {
    /// Why the program is not healthy; empty means healthy. Sentences for a person.
    pub complaints: Vec<String>,
    /// Full metric names and values, as `syslogng_io_worker_latency_seconds`.
    pub metrics: Vec<(String, f64)>,
    /// A worker does not answer: the program does not work at all.
    pub is_stuck: bool,
}

impl Health {
    pub fn is_healthy(&self) -> bool {
        self.complaints.is_empty()
    }
}

/// An option of a driver as it is in effect. Secrets are blotted out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InEffect {
    /// `network()`
    pub driver: String,
    pub name: String,
    pub value: String,
    pub set_by: SetBy,
}

/// What gives an option its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SetBy {
    /// The driver itself: `relay.conf:12`.
    Driver {
        at: String,
    },
    /// A global option.
    Global {
        at: String,
    },
    Preset,
}

/// The running program. Called from the control thread, so answers must come promptly; [`Subject::reload`],
/// [`Subject::roll_back`], [`Subject::queue`], [`Subject::explain`], [`Subject::replay`],
/// [`Subject::healthcheck`], [`ConfigView::Verify`] and [`ConfigView::Difference`] are called from a thread
/// of their own and may take their time.
pub trait Subject: Send + Sync {
    /// All counters to show at the configured level, in a stable order.
    fn counters(&self) -> Vec<Counter>;

    /// Sets to zero every counter that counts events and is selected. Gauges (`queued`, `memory_usage`,
    /// `connections`) keep their value.
    fn reset_counters(&self, selected: &dyn Fn(&Counter) -> bool);

    /// Forgets counters whose object is gone.
    fn remove_orphans(&self);

    /// Reads the configuration again and waits for the outcome, for a configuration on trial also for that of
    /// the trial. Both texts go to the caller.
    fn reload(&self, asked: &Reload) -> Result<String, Refusal>;

    /// Puts what ran before the last reload into effect again, or ends the trial that is under way. Both
    /// texts go to the caller.
    fn roll_back(&self) -> Result<String, Refusal>;

    /// Begins the shutdown and returns at once.
    fn stop(&self);

    /// Reopens destination files.
    fn reopen(&self);

    fn config(&self, view: ConfigView) -> Result<String, Refusal>;

    /// Files named in the configuration.
    fn list_files(&self) -> Vec<String>;

    /// The pipe graph as JSON with `nodes` and `arcs`.
    fn graph(&self) -> String;

    /// The text of a statement, as it is written, by its node in the graph. Secrets are blotted out.
    fn statement(&self, node: &str) -> Option<String>;

    /// The options of its drivers that are in effect, by its node in the graph. From a thread of its own.
    fn options(&self, node: &str) -> Vec<InEffect>;

    /// What the configuration in the file would do with a line that comes to a source, as JSON that begins
    /// with its brace. From a thread of its own, takes its time.
    fn rehearse(&self, source: Option<&str>, line: &str) -> Result<String, Refusal>;

    fn healthcheck(&self) -> Health;

    fn ledger(&self) -> Ledger;

    /// Another process takes the place of this one: speaks [`crate::take_over`] with it, from a thread of its
    /// own.
    fn take_over(&self, stream: UnixStream, linger: Duration);

    /// Queues on disk. From a thread of its own, may take its time.
    fn queue(&self, request: &QueueRequest) -> Result<String, Refusal>;

    /// The oldest dead letters, at most so many, as JSON that begins with its brace. From a thread of its
    /// own, reads the disk.
    fn dead_letters(&self, count_max: usize) -> Result<String, Refusal>;

    /// What happens to messages that come from now on. From a thread of its own, waits for them.
    fn explain(&self, request: &ExplainRequest) -> Result<String, Refusal>;

    /// The last messages that were dropped, as JSON that begins with its brace.
    fn tap(&self, request: &TapRequest) -> Result<String, Refusal>;

    /// Messages that come by a place from now on, as JSON that begins with its brace. From a thread of its
    /// own.
    fn look(&self, request: &LookRequest) -> Result<String, Refusal>;

    /// Begins to record what comes, gives what has come, ends. From a thread of its own.
    fn capture(&self, request: &CaptureRequest) -> Result<String, Refusal>;

    /// Gives messages to their sources again; answers how many were taken. From a thread of its own, waits
    /// for destinations.
    fn replay(&self, request: &ReplayRequest) -> Result<String, Refusal>;

    /// What the workers do and what is waited for, for so long, as JSON that begins with its brace. From a
    /// thread of its own.
    fn profile(&self, duration: Duration) -> Result<String, Refusal>;

    /// The licence text, one line.
    fn license(&self) -> String;

    /// Takes the passphrase of a private key's file.
    fn add_credential(&self, file: &str, secret: &str) -> Result<String, Refusal> {
        Ok(tls::unlock(Path::new(file), secret.as_bytes())?)
    }

    /// Files with a passphrase, and what is known of it.
    fn credentials(&self) -> Vec<(String, String)> {
        let states = tls::states().into_iter();
        states.map(|(path, state)| (path.display().to_string(), state.to_string())).collect()
    }

    fn log_level(&self) -> Verbosity {
        oplog::verbosity()
    }

    fn set_log_level(&self, level: Verbosity) {
        oplog::set_verbosity(level);
    }
}

#[cfg(test)]
pub(crate) mod fake;
