//! Looks at the ledger once a second while somebody watches, and now and then otherwise: what has changed
//! goes to whoever watches.

use crate::data::{self, Rows};
use crate::history::{History, STEP};
use crate::looks::said;
use control::{ConfigView, Subject};
use http_server::Bytes;
use parking_lot::Mutex;
use serde_json::Value;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{Receiver, Sender, channel};

/// Streams at one time.
pub const WATCHERS_MAX: usize = 16;
/// Changes that a watcher may be behind; one that is further behind is sent away.
const BEHIND_MAX: usize = 8;
/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Without changes, watchers get a sign of life after this time.
const QUIET: Duration = Duration::from_secs(15);

struct Inner {
    subject: Arc<dyn Subject>,
    watchers: Mutex<Vec<Sender<Bytes>>>,
    seen: Mutex<Seen>,
    history: Mutex<History>,
}

#[derive(Default)]
struct Seen {
    rows: Rows,
    configuration: String,
    said: Option<Instant>,
}

pub struct Sampler {
    inner: Arc<Inner>,
    /// Dropped, it ends the thread.
    stop: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    pub fn start(subject: Arc<dyn Subject>) -> std::io::Result<Sampler> {
        let inner = Arc::new(Inner {
            subject,
            watchers: Mutex::default(),
            seen: Mutex::default(),
            history: Mutex::default(),
        });
        let (stop, stopped) = sync_channel::<()>(0);
        let own = Arc::clone(&inner);
        let thread = std::thread::Builder::new().name("console-look".to_owned()).spawn(move || {
            let mut next = Instant::now();
            while matches!(stopped.recv_timeout(LOOK), Err(RecvTimeoutError::Timeout)) {
                let is_step = Instant::now() >= next;
                next = if is_step { Instant::now() + STEP } else { next };
                own.look(is_step);
            }
        })?;
        Ok(Sampler { inner, stop: Some(stop), thread: Some(thread) })
    }

    /// The last hour of a row.
    pub fn history(&self, kind: &str, name: &str) -> Value {
        self.inner.history.lock().of(kind, name)
    }

    /// A new stream: the state, then what changes. `None` when there are too many.
    pub fn watch(&self) -> Option<Receiver<Bytes>> {
        let mut watchers = self.inner.watchers.lock();
        watchers.retain(|watcher| !watcher.is_closed());
        if watchers.len() >= WATCHERS_MAX {
            return None;
        }
        let (sender, receiver) = channel(BEHIND_MAX);
        let subject = &*self.inner.subject;
        let ledger = subject.ledger();
        let configuration = subject.config(ConfigView::Id).unwrap_or_default();
        // Nothing that changes between this and the next look is lost: changes are told against what was
        // seen last, and say how much it is, not how much more.
        let state = data::state(&Rows::of(&ledger), &ledger, &configuration);
        sender.try_send(event("state", &state)).ok()?;
        watchers.push(sender);
        Some(receiver)
    }
}

impl Inner {
    fn look(&self, is_step: bool) {
        let is_watched = !self.watchers.lock().is_empty();
        if !is_watched && !is_step {
            return;
        }
        let ledger = self.subject.ledger();
        if is_step {
            self.history.lock().add(&Rows::of(&ledger));
        }
        if !is_watched {
            return;
        }
        let configuration = self.subject.config(ConfigView::Id).unwrap_or_default();
        let rows = Rows::of(&ledger);
        let mut seen = self.seen.lock();
        let change = data::change(&seen.rows, &rows, &ledger, &configuration);
        let has = |name: &str| match &change[name] {
            Value::Array(list) => !list.is_empty(),
            Value::Object(map) => !map.is_empty(),
            _ => false,
        };
        let is_news = ["rows", "gone", "waits", "held", "disks"].into_iter().any(has)
            || seen.configuration != configuration;
        let is_late = seen.said.is_none_or(|said| said.elapsed() >= QUIET);
        (seen.rows, seen.configuration) = (rows, configuration);
        if !is_news && !is_late {
            return;
        }
        seen.said = Some(Instant::now());
        drop(seen);
        let bytes = event("change", &change);
        self.watchers.lock().retain(|watcher| watcher.try_send(bytes.clone()).is_ok());
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            // It never waits for long.
            let _ = thread.join();
        }
    }
}

/// As `text/event-stream` has it: JSON has no line ends of its own.
fn event(name: &str, value: &Value) -> Bytes {
    format!("event: {name}\ndata: {}\n\n", said(&value.to_string())).into()
}
