//! Where a message goes: standard error, the sink behind `internal()`, or a backlog until there is a sink.

use std::cell::Cell;
use std::collections::VecDeque;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Instant;

use parking_lot::Mutex;

use crate::limit::{Limiter, OFTEN_COUNT_MAX, PER_WINDOW_COUNT_MAX, WINDOW};
use crate::{Field, Level, Verbosity, secrets, text};

/// Messages kept from the start of the program until a sink is set; the oldest go first.
pub const BACKLOG_COUNT_MAX: usize = 1000;

/// Messages kept for whoever asks what was said lately; the oldest go first.
pub const RECENT_COUNT_MAX: usize = 500;

/// One message, as `internal()` gets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub time: jiff::Timestamp,
    pub level: Level,
    /// `Text; name='value'`, one line, escaped.
    pub message: String,
}

/// Takes messages. Must not block. What it logs itself does not come back to it.
pub type Sink = Arc<dyn Fn(&Entry) + Send + Sync>;

enum Outlet {
    /// Nobody has asked yet.
    Backlog(VecDeque<Entry>),
    Sink(Sink),
    Closed,
}

/// The log of a program: one global, own ones in tests.
pub struct Logger {
    verbosity: AtomicU8,
    stderr: AtomicBool,
    lost: AtomicU64,
    outlet: Mutex<Outlet>,
    limiter: Mutex<Option<Limiter>>,
    recent: Mutex<VecDeque<Entry>>,
}

thread_local! {
    static IN_SINK: Cell<bool> = const { Cell::new(false) };
}

impl Default for Logger {
    fn default() -> Self {
        Self::new()
    }
}

impl Logger {
    pub const fn new() -> Self {
        Logger {
            verbosity: AtomicU8::new(0),
            stderr: AtomicBool::new(true),
            lost: AtomicU64::new(0),
            outlet: Mutex::new(Outlet::Backlog(VecDeque::new())),
            limiter: Mutex::new(None),
            recent: Mutex::new(VecDeque::new()),
        }
    }

    pub fn verbosity(&self) -> Verbosity {
        let index = usize::from(self.verbosity.load(Ordering::Relaxed));
        Verbosity::ALL.get(index).copied().unwrap_or_default()
    }

    pub fn set_verbosity(&self, verbosity: Verbosity) {
        self.verbosity.store(verbosity as u8, Ordering::Relaxed);
    }

    pub fn set_stderr(&self, on: bool) {
        self.stderr.store(on, Ordering::Relaxed);
    }

    /// Messages that reached neither sink nor backlog although somebody listens: pushed out of the backlog,
    /// or said by the sink itself.
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    pub fn recent(&self) -> Vec<Entry> {
        self.recent.lock().iter().cloned().collect()
    }

    /// What is said of each message would leave room for nothing else.
    fn keep(&self, entry: &Entry) {
        if matches!(entry.level, Level::Verbose | Level::Debug | Level::Trace) {
            return;
        }
        let mut recent = self.recent.lock();
        if recent.len() >= RECENT_COUNT_MAX {
            recent.pop_front();
        }
        recent.push_back(entry.clone());
    }

    pub fn enabled(&self, level: Level) -> bool {
        self.verbosity().admits(level)
    }

    /// See [`crate::set_sink`]. The backlog is handed over on the caller's thread, before anything newer.
    pub fn set_sink(&self, sink: Option<Sink>) {
        let mut outlet = self.outlet.lock();
        let Some(sink) = sink else {
            *outlet = Outlet::Closed;
            return;
        };
        if let Outlet::Backlog(backlog) = &mut *outlet {
            for entry in std::mem::take(backlog) {
                feed(&sink, &entry);
            }
        }
        *outlet = Outlet::Sink(sink);
    }

    pub fn log(&self, level: Level, text: &'static str, fields: &[Field<'_>]) {
        if !self.enabled(level) {
            return;
        }
        let message = text::render(text, fields);
        let message = secrets::hidden(&message).into_owned();
        let entry = Entry { time: jiff::Timestamp::now(), level, message };
        self.keep(&entry);
        if self.stderr.load(Ordering::Relaxed) {
            let line = text::stderr_line(entry.time, &entry.message);
            // Nobody is left to tell when standard error itself fails.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
        self.deliver(entry);
    }

    pub fn limited(&self, key: &'static str, level: Level, text: &'static str, fields: &[Field<'_>]) {
        self.at_most(PER_WINDOW_COUNT_MAX, key, level, text, fields);
    }

    pub fn often(&self, key: &'static str, level: Level, text: &'static str, fields: &[Field<'_>]) {
        self.at_most(OFTEN_COUNT_MAX, key, level, text, fields);
    }

    fn at_most(&self, max: u32, key: &'static str, level: Level, text: &'static str, fields: &[Field<'_>]) {
        if !self.enabled(level) {
            return;
        }
        let now = Instant::now();
        let verdict = self.limiter.lock().get_or_insert_default().admit(key, max, level, text, now);
        if let Some(ended) = verdict.ended {
            self.say_withheld(ended.level, ended.text, ended.count);
        }
        if verdict.pass {
            self.log(level, text, fields);
        }
    }

    pub fn tick(&self, now: Instant) {
        let ended = match self.limiter.lock().as_mut() {
            Some(limiter) => limiter.expire(now),
            None => return,
        };
        for withheld in ended {
            self.say_withheld(withheld.level, withheld.text, withheld.count);
        }
    }

    fn say_withheld(&self, level: Level, text: &'static str, count: u64) {
        let seconds = WINDOW.as_secs();
        self.log(
            level,
            "Messages suppressed",
            &[("message", &text), ("count", &count), ("within_seconds", &seconds)],
        );
    }

    fn deliver(&self, entry: Entry) {
        if IN_SINK.get() {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let sink = match &mut *self.outlet.lock() {
            Outlet::Closed => return,
            Outlet::Sink(sink) => Arc::clone(sink),
            Outlet::Backlog(backlog) => {
                if backlog.len() >= BACKLOG_COUNT_MAX {
                    backlog.pop_front();
                    self.lost.fetch_add(1, Ordering::Relaxed);
                }
                backlog.push_back(entry);
                return;
            }
        };
        feed(&sink, &entry);
    }
}

/// Calls the sink; what it logs meanwhile on this thread is kept from it, or the log would feed itself.
fn feed(sink: &Sink, entry: &Entry) {
    apart(|| sink(entry));
}

/// See [`crate::apart`].
pub fn apart<R>(work: impl FnOnce() -> R) -> R {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            IN_SINK.set(self.0);
        }
    }
    let _reset = Reset(IN_SINK.replace(true));
    work()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quiet() -> Arc<Logger> {
        let logger = Arc::new(Logger::new());
        logger.set_stderr(false);
        logger
    }

    fn collector() -> (Sink, Arc<Mutex<Vec<String>>>) {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let into = Arc::clone(&seen);
        (Arc::new(move |entry: &Entry| into.lock().push(entry.message.clone())), seen)
    }

    #[test]
    fn what_was_said_before_the_sink_comes_first() {
        let logger = quiet();
        logger.log(Level::Notice, "one", &[]);
        logger.log(Level::Debug, "not shown", &[]);
        let (sink, seen) = collector();
        logger.set_sink(Some(sink));
        logger.log(Level::Error, "two", &[("n", &2)]);
        assert_eq!(*seen.lock(), ["one;", "two; n='2'"]);
    }

    #[test]
    fn the_backlog_is_bounded_and_keeps_the_newest() {
        let logger = quiet();
        for n in 0..BACKLOG_COUNT_MAX + 3 {
            logger.log(Level::Info, "m", &[("n", &n)]);
        }
        let (sink, seen) = collector();
        logger.set_sink(Some(sink));
        assert_eq!(seen.lock().len(), BACKLOG_COUNT_MAX);
        assert_eq!(seen.lock().first().map(String::as_str), Some("m; n='3'"));
        assert_eq!(logger.lost(), 3);
    }

    #[test]
    fn a_sink_that_logs_does_not_feed_itself() {
        let logger = quiet();
        let inner = Arc::clone(&logger);
        let count = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&count);
        logger.set_sink(Some(Arc::new(move |_: &Entry| {
            counted.fetch_add(1, Ordering::Relaxed);
            inner.log(Level::Error, "from inside", &[]);
        })));
        logger.log(Level::Error, "outside", &[]);
        logger.log(Level::Error, "outside", &[]);
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert_eq!(logger.lost(), 2);
    }

    #[test]
    fn what_work_for_the_log_says_stays_apart() {
        let logger = quiet();
        let (sink, seen) = collector();
        logger.set_sink(Some(sink));
        apart(|| {
            apart(|| logger.log(Level::Error, "inner", &[]));
            logger.log(Level::Error, "outer", &[]);
        });
        logger.log(Level::Error, "after", &[]);
        assert_eq!(*seen.lock(), ["after;"]);
        assert_eq!(logger.lost(), 2);
    }

    #[test]
    fn a_flood_is_a_few_lines_and_an_account() {
        let logger = quiet();
        let (sink, seen) = collector();
        logger.set_sink(Some(sink));
        for _ in 0..1000 {
            logger.limited("k", Level::Warning, "refused", &[]);
        }
        logger.tick(Instant::now() + WINDOW);
        let lines = seen.lock();
        let refused = lines.iter().filter(|l| *l == "refused;").count();
        assert!((1..1000).contains(&refused));
        let expected = format!(
            "Messages suppressed; message='refused', count='{}', within_seconds='10'",
            1000 - refused
        );
        assert_eq!(lines.last(), Some(&expected));
    }

    #[test]
    fn without_a_listener_nothing_is_kept() {
        let logger = quiet();
        logger.set_sink(None);
        logger.log(Level::Error, "m", &[]);
        let (sink, seen) = collector();
        logger.set_sink(Some(sink));
        assert!(seen.lock().is_empty());
    }
}
