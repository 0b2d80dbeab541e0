//! What the program answers to the control socket.

pub mod balance;
mod dead_letters;
mod explain;
pub mod graph;
pub mod health;
mod look;
mod options;
mod queues;
pub mod recording;
pub mod secrets;
pub mod statistics;
mod tap;

use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use control::capture::{CaptureRequest, ReplayRequest};
use control::catalog;
use control::explain::ExplainRequest;
use control::look::LookRequest;
use control::queues::QueueRequest;
use control::request::Reload;
use control::tap::TapRequest;
use control::{ConfigView, Counter, Health, InEffect, Ledger, Refusal, Subject};

use crate::lookout::Observed;
use crate::program::Daemon;
use crate::take_over;
use crate::version;

/// The running program as the control socket sees it.
pub struct Served {
    program: Arc<Daemon>,
}

impl Served {
    pub fn new(program: Arc<Daemon>) -> Served {
        Served { program }
    }

    /// Counters as the engine has them, of what exists.
    fn raw(&self) -> Vec<Counter> {
        let running = self.program.running();
        let mut counters =
            statistics::of_program(&running.view, self.program.history.gone(), &self.program.shared);
        counters.extend(statistics::of_view(&running.view));
        let moments = [
            ("last_config_file_modification_timestamp_seconds", running.modified),
            ("last_config_reload_timestamp_seconds", self.program.reloaded.load(Ordering::Relaxed)),
            (
                "last_successful_config_reload_timestamp_seconds",
                self.program.reloaded_well.load(Ordering::Relaxed),
            ),
        ];
        counters.extend(moments.map(|(name, seconds)| catalog::moment(name, seconds)));
        counters.extend(catalog::certificates());
        counters.extend(catalog::ledger(&self.ledger()));
        counters
    }
}

impl Subject for Served {
    fn counters(&self) -> Vec<Counter> {
        self.program.history.complete(self.raw())
    }

    fn reset_counters(&self, selected: &dyn Fn(&Counter) -> bool) {
        let counters = self.raw().into_iter().chain(self.program.history.orphans());
        self.program.history.reset(counters.filter(|c| selected(c)));
    }

    fn remove_orphans(&self) {
        self.program.history.remove_orphans();
    }

    fn reload(&self, asked: &Reload) -> Result<String, Refusal> {
        self.program.reload(asked)
    }

    fn roll_back(&self) -> Result<String, Refusal> {
        self.program.roll_back()
    }

    fn take_over(&self, stream: UnixStream, linger: Duration) {
        take_over::giver::serve(&self.program, stream, linger);
    }

    fn stop(&self) {
        // The way every end takes. It can fail only for a signal that does not exist.
        let _ = signal_hook::low_level::raise(signal_hook::consts::SIGTERM);
    }

    fn reopen(&self) {
        // Not here: a reload that is under way would be waited for.
        let _ = signal_hook::low_level::raise(signal_hook::consts::SIGUSR1);
    }

    fn config(&self, view: ConfigView) -> Result<String, Refusal> {
        let running = self.program.running();
        match view {
            ConfigView::Original => Ok(running.original.clone()),
            ConfigView::Preprocessed => Ok(running.preprocessed.clone()),
            ConfigView::Id => Ok(running.id.clone()),
            ConfigView::Verify => self.program.verify(),
            ConfigView::Difference => self.program.difference(),
        }
    }

    fn list_files(&self) -> Vec<String> {
        self.program.running().files.clone()
    }

    fn graph(&self) -> String {
        self.program.running().graph.clone()
    }

    fn statement(&self, node: &str) -> Option<String> {
        self.program.running().statements.get(node).cloned()
    }

    fn options(&self, node: &str) -> Vec<InEffect> {
        self.program.with_configuration(|configuration| options::of(configuration, node))
    }

    fn rehearse(&self, source: Option<&str>, line: &str) -> Result<String, Refusal> {
        // What the file has now may have other secrets than what runs.
        let veil = &self.program.running().veil;
        crate::explain::rehearse::of_line(self.program.path(), source, line, veil)
    }

    fn healthcheck(&self) -> Health {
        let mut health = health::of(&self.program.shared);
        let (view, bounds) = (&self.program.running().view, self.program.bounds());
        health.complaints.extend(health::complaints(view, &self.program.observed(), &bounds));
        health
    }

    fn ledger(&self) -> Ledger {
        let ledger = balance::of(&self.program.running().view, &self.program.history);
        let Observed { waits, held, disks, .. } = self.program.observed();
        Ledger { waits, held, disks, ..ledger }
    }

    fn queue(&self, request: &QueueRequest) -> Result<String, Refusal> {
        queues::answer(&self.program, request)
    }

    fn dead_letters(&self, count_max: usize) -> Result<String, Refusal> {
        let veil = &self.program.running().veil;
        veil.over_answer(dead_letters::answer(&self.program.shared, count_max, veil))
    }

    fn explain(&self, request: &ExplainRequest) -> Result<String, Refusal> {
        self.program.running().veil.over_answer(explain::answer(&self.program, request))
    }

    fn tap(&self, request: &TapRequest) -> Result<String, Refusal> {
        self.program.running().veil.over_answer(tap::answer(&self.program, request))
    }

    fn look(&self, request: &LookRequest) -> Result<String, Refusal> {
        self.program.running().veil.over_answer(look::answer(&self.program, request))
    }

    fn capture(&self, request: &CaptureRequest) -> Result<String, Refusal> {
        self.program.captures.answer(&self.program.running().view, request)
    }

    fn replay(&self, request: &ReplayRequest) -> Result<String, Refusal> {
        recording::replay(&self.program, request)
    }

    fn profile(&self, duration: Duration) -> Result<String, Refusal> {
        crate::profile::sample(&self.program, duration)
    }

    fn license(&self) -> String {
        version::LICENSE.to_owned()
    }
}
