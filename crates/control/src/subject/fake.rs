//! A running program made of plain values, for the tests of this crate.

use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use oplog::Verbosity;
use parking_lot::Mutex;

use super::{ConfigView, Health, Subject};
use crate::counters::{Counter, State};
use crate::ledger::Ledger;
use crate::refusal::Refusal;
use crate::request::Reload;

pub(crate) struct Fake {
    pub counters: Mutex<Vec<Counter>>,
    pub level: Mutex<Verbosity>,
    pub health: Health,
    pub ledger: Ledger,
    pub stopped: AtomicBool,
    /// Profiles that were made.
    pub profiled: AtomicUsize,
    /// When set, a reload waits until the test sends its outcome.
    pub reload_gate: Mutex<Option<Receiver<Result<String, Refusal>>>>,
    pub panic_on_graph: bool,
}

impl Default for Fake {
    fn default() -> Self {
        let mut orphan = Counter::new("src.network", "s_old#0", "tcp,127.0.0.1", "processed", 3);
        orphan.state = State::Orphaned;
        let labels = vec![("id", "d_f#0".to_owned()), ("result", "delivered".to_owned())];
        let counters = vec![
            Counter::new("center", "", "received", "processed", 5),
            Counter::new("dst.file", "d_f#0", "/l/x", "written", 7).with_prom("output_events_total", labels),
            orphan,
        ];
        Fake {
            counters: Mutex::new(counters),
            level: Mutex::default(),
            health: Health::default(),
            ledger: Ledger::default(),
            stopped: AtomicBool::new(false),
            profiled: AtomicUsize::new(0),
            reload_gate: Mutex::new(None),
            panic_on_graph: false,
        }
    }
}

impl Fake {
    pub fn gate(&self) -> Sender<Result<String, Refusal>> {
        let (open, gate) = channel();
        *self.reload_gate.lock() = Some(gate);
        open
    }
}

impl Subject for Fake {
    fn counters(&self) -> Vec<Counter> {
        self.counters.lock().clone()
    }

    fn reset_counters(&self, selected: &dyn Fn(&Counter) -> bool) {
        self.counters.lock().iter_mut().filter(|c| selected(c)).for_each(|c| c.value = 0);
    }

    fn remove_orphans(&self) {
        self.counters.lock().retain(|c| c.state != State::Orphaned);
    }

    fn reload(&self, _asked: &Reload) -> Result<String, Refusal> {
        match &*self.reload_gate.lock() {
            Some(gate) => gate.recv().unwrap_or_else(|_| Err("gate closed".into())),
            None => Ok("Config reload successful".into()),
        }
    }

    fn roll_back(&self) -> Result<String, Refusal> {
        Err("nothing ran before".into())
    }

    fn stop(&self) {
        self.stopped.store(true, Ordering::SeqCst);
    }

    fn reopen(&self) {}

    fn config(&self, view: ConfigView) -> Result<String, Refusal> {
        match view {
            ConfigView::Original => Ok("@version: 4.11\n.\nlog {};\n".into()),
            ConfigView::Preprocessed => Err("not kept".into()),
            ConfigView::Verify => Ok("matches".into()),
            ConfigView::Difference => Ok("1 difference".into()),
            ConfigView::Id => Ok("abc123".into()),
        }
    }

    fn list_files(&self) -> Vec<String> {
        Vec::new()
    }

    fn graph(&self) -> String {
        assert!(!self.panic_on_graph, "the test asked for it");
        "{\"nodes\":[],\"arcs\":[]}".into()
    }

    fn statement(&self, _node: &str) -> Option<String> {
        None
    }

    fn options(&self, _node: &str) -> Vec<super::InEffect> {
        Vec::new()
    }

    fn rehearse(&self, _source: Option<&str>, _line: &str) -> Result<String, Refusal> {
        Err("nothing runs here".into())
    }

    fn healthcheck(&self) -> Health {
        self.health.clone()
    }

    fn ledger(&self) -> Ledger {
        self.ledger.clone()
    }

    fn add_credential(&self, file: &str, secret: &str) -> Result<String, Refusal> {
        Ok(format!("{file} {secret}"))
    }

    fn credentials(&self) -> Vec<(String, String)> {
        vec![("/key.pem".into(), "PENDING".into())]
    }

    fn take_over(&self, stream: UnixStream, linger: Duration) {
        let body = crate::take_over::Writer::new().number(linger.as_secs()).done();
        let _ = crate::take_over::send(&stream, crate::take_over::Kind::Hello, None, &body);
    }

    fn queue(&self, request: &crate::queues::QueueRequest) -> Result<String, Refusal> {
        Err(format!("{request:?}").into())
    }

    fn dead_letters(&self, count_max: usize) -> Result<String, Refusal> {
        Err(format!("there are no {count_max}").into())
    }

    fn explain(&self, request: &crate::explain::ExplainRequest) -> Result<String, Refusal> {
        Err(format!("{request:?}").into())
    }

    fn look(&self, request: &crate::look::LookRequest) -> Result<String, Refusal> {
        Err(format!("nothing comes by {}", request.place).into())
    }

    fn capture(&self, request: &crate::capture::CaptureRequest) -> Result<String, Refusal> {
        Err(format!("{request:?}").into())
    }

    fn replay(&self, request: &crate::capture::ReplayRequest) -> Result<String, Refusal> {
        Err(format!("{request:?}").into())
    }

    /// An hour lasts until whoever asked has left.
    fn profile(&self, duration: Duration) -> Result<String, Refusal> {
        while duration >= Duration::from_secs(3600) && !crate::asker::is_gone() {
            std::thread::yield_now();
        }
        self.profiled.fetch_add(1, Ordering::SeqCst);
        Err(format!("{duration:?}").into())
    }

    fn tap(&self, request: &crate::tap::TapRequest) -> Result<String, Refusal> {
        Err(format!("{request:?}").into())
    }

    fn license(&self) -> String {
        "Apache-2.0".into()
    }

    fn log_level(&self) -> Verbosity {
        *self.level.lock()
    }

    fn set_log_level(&self, level: Verbosity) {
        *self.level.lock() = level;
    }
}
