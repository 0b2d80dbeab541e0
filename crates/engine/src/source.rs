//! One source driver at work: its counters, and what is done with each batch it reads. What a reload changes
//! is swapped between two batches.

mod finish;

pub use finish::{Finish, begin_numbers};

use crate::exec::{Machine, Outcome};
use crate::friction;
use crate::ledger::{Reason, SourceCounters};
use crate::outbox::Outbox;
use crate::plan_map::Entrance;
use crate::profile::{self, Doing};
use crate::program::{Program, Scratch};
use crate::watch::inquiry::{Following, Story};
use crate::watch::log::LogWatch;
use crate::watch::looks::Looks;
use crate::watch::rehearsal::Stage;
use crate::watch::{Both, Watching};
use crate::window::{Pool, Share};
use filter::Fatal;
use parking_lot::{Mutex, RwLock};
use record::Batch;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use wire::{SyslogOptions, SyslogParser};

/// The part of a source that a reload may replace.
pub struct Settings {
    pub syslog: SyslogOptions,
    pub finish: Finish,
    pub program: Arc<Program>,
    /// The source makes whole records: there is nothing to parse.
    ready_made: bool,
    /// Where the source stands in the configuration.
    pub at: Option<Entrance>,
    /// What its connections have under way together, at most.
    share: Option<Share>,
    /// Parsers keep caches, so each batch borrows one.
    parsers: Mutex<Vec<SyslogParser>>,
}

impl Settings {
    pub fn new(syslog: SyslogOptions, finish: Finish, program: Arc<Program>) -> Settings {
        let (at, share, parsers) = (None, None, Mutex::default());
        Settings { syslog, finish, program, ready_made: false, at, share, parsers }
    }

    /// With one window for all its connections.
    pub fn shared(self, share: Option<Share>) -> Settings {
        Settings { share, ..self }
    }

    pub fn is_ready_made(&self) -> bool {
        self.ready_made
    }

    /// Of a source whose batches come with their fields filled in.
    pub fn ready_made(finish: Finish, program: Arc<Program>) -> Settings {
        Settings { ready_made: true, ..Settings::new(SyslogOptions::default(), finish, program) }
    }
}

/// What brings a source its messages, where more than messages is counted of that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// Connections to an address, which is written as in syslog-ng: `AF_INET(0.0.0.0:514)`. Sources that
    /// share it are told apart by persist-name().
    Connections {
        address: String,
        persist_name: Option<String>,
    },
    Datagrams,
    Files,
    Other,
}

/// By what a source is known.
pub struct SourceName {
    /// Name of the source statement.
    pub group: Arc<str>,
    /// `<statement>#<n>` as in statistics.
    pub id: String,
    /// Driver and address, for statistics and messages.
    pub driver: &'static str,
    pub instance: String,
    pub carrier: Carrier,
}

pub struct Source {
    /// Name of the source statement.
    pub group: Arc<str>,
    /// `<statement>#<n>` as in statistics.
    pub id: String,
    /// Driver and address, for statistics and messages.
    pub driver: &'static str,
    pub instance: String,
    pub carrier: Carrier,
    pub counters: Arc<SourceCounters>,
    /// What its connections have under way together.
    pub(crate) pool: Arc<Pool>,
    settings: RwLock<Arc<Settings>>,
}

/// Messages between reading and the end of the log paths, where their destinations have counted them: hold it
/// until the outbox has ended the batch, which is when the source counts what became of them. A panic on the
/// way counts them as dropped.
#[must_use]
pub struct InWork<'a> {
    counters: &'a SourceCounters,
    messages: usize,
    outcome: Outcome,
}

impl Drop for InWork<'_> {
    fn drop(&mut self) {
        self.counters.in_work.sub(self.messages);
        if std::thread::panicking() {
            self.counters.dropped.add(Reason::Contained, self.messages);
        } else {
            self.counters.routed.add(self.outcome.routed);
            self.counters.unmatched.add(self.outcome.unmatched);
        }
    }
}

impl Source {
    pub fn new(name: SourceName, settings: Settings) -> Arc<Source> {
        let SourceName { group, id, driver, instance, carrier } = name;
        let pool: Arc<Pool> = Arc::default();
        pool.configure(settings.share);
        Arc::new(Source {
            pool,
            group,
            id,
            driver,
            instance,
            carrier,
            counters: Arc::default(),
            settings: RwLock::new(Arc::new(settings)),
        })
    }

    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    /// What this thread does for it from now on, for whoever profiles.
    pub fn does(&self, doing: Doing) {
        profile::mark(doing, self.step());
    }

    /// The number of its step in the plan; `u32::MAX` where it has none.
    pub(crate) fn step(&self) -> u32 {
        self.settings().at.as_ref().map_or(u32::MAX, |at| at.id.number())
    }

    /// Takes effect with the next batch.
    pub fn set_settings(&self, settings: Settings) {
        self.pool.configure(settings.share);
        *self.settings.write() = Arc::new(settings);
    }

    /// Counts messages as received and in work. Each must then go through [`Source::process`] once.
    pub fn received(&self, batch: &Batch, bytes: usize) {
        self.counters.received.add(batch.records.len());
        self.counters.received_bytes.add(bytes);
        self.counters.in_work.add(batch.records.len());
        self.counters.last_seen.store(batch.received.secs.max(0) as u64, Ordering::Relaxed);
    }

    /// Parses a framed batch, unless it is ready-made, and runs the log paths on it; the output is in `out`
    /// afterwards.
    pub fn process(
        &self,
        batch: &mut Batch,
        machine: &mut Machine,
        scratch: &mut Scratch,
        out: &mut Outbox,
    ) -> InWork<'_> {
        let settings = self.settings();
        let step = settings.at.as_ref().map_or(u32::MAX, |at| at.id.number());
        profile::mark(Doing::Parses, step);
        let mut in_work = self.prepare(&settings, batch, scratch);
        let makes = settings.program.is_stateful();
        let following = Following::of(self, batch, makes, &mut scratch.filter);
        let mut watchers = Both(LogWatch::of(batch), following);
        in_work.outcome = match &watchers {
            Both(None, None) => machine.run(&settings.program, batch, scratch, out),
            Both(log, following) => {
                let is_late = log.is_none() && following.as_ref().is_some_and(Following::is_empty);
                let asks_made = makes && following.is_some();
                let watch = Watching::new(self, settings.at.clone(), &mut watchers);
                let watch = if asks_made { watch.of_made(is_late) } else { watch };
                machine.run_watched(&settings.program, batch, scratch, out, watch)
            }
        };
        parsers::say_left_out(batch);
        self.bury(batch, scratch);
        profile::mark(Doing::Reads, step);
        in_work
    }

    /// Messages that ended a process beside the program are kept among the dead letters, as they came in.
    #[inline]
    fn bury(&self, batch: &Batch, scratch: &mut Scratch) {
        for Fatal { index, reason } in scratch.filter.work.fatal.drain(..) {
            if let Some(record) = batch.records.get(index as usize) {
                let line = [batch.as_received(record), b"\n"].concat();
                self.counters.dead_letters.put(&reason, &line);
            }
        }
    }

    /// [`Source::process`] panicked: its messages are counted as dropped, and can be looked at afterwards.
    pub(crate) fn contained(&self, batch: &Batch) {
        let frames = batch.records.iter().map(|record| batch.as_received(record));
        self.counters.remains.keep_all(Reason::Contained, batch.records.len(), frames);
    }

    /// The way of each message of the batch, and of those made on it, with nothing delivered at its end.
    pub(crate) fn rehearse(&self, batch: &mut Batch, stage: &mut Stage, looks: &Looks) -> Vec<Story> {
        let settings = self.settings();
        let Stage { machine, scratch, out } = stage;
        let mut in_work = self.prepare(&settings, batch, scratch);
        let mut following = Following::all(self, batch, looks);
        let watch = Watching::new(self, settings.at.clone(), &mut following).rehearsing();
        in_work.outcome = machine.run_watched(&settings.program, batch, scratch, out, watch);
        following.stories()
    }

    /// A tick with nothing to be delivered at its end, for an empty batch: what contexts make.
    pub(crate) fn rehearse_tick(&self, batch: &mut Batch, stage: &mut Stage, looks: &Looks) -> Vec<Story> {
        let settings = self.settings();
        let Stage { machine, scratch, out } = stage;
        scratch.begin_batch(batch.received);
        scratch.prepare(&settings.program);
        let mut following = Following::all(self, batch, looks);
        let watch = Watching::new(self, settings.at.clone(), &mut following).rehearsing();
        machine.tick(&settings.program, batch, scratch, out, Some(watch));
        following.stories()
    }

    /// Parses a batch, unless it is ready-made.
    fn prepare(&self, settings: &Settings, batch: &mut Batch, scratch: &mut Scratch) -> InWork<'_> {
        let messages = batch.records.len();
        let in_work = InWork { counters: &self.counters, messages, outcome: Outcome::default() };
        for (index, record) in batch.records.iter_mut().enumerate() {
            record.origin = index as u32;
        }
        if !settings.ready_made {
            let parser = friction::lock(&settings.parsers).pop();
            let mut parser = parser.unwrap_or_else(|| SyslogParser::new(settings.syslog.clone()));
            parser.parse_batch(batch, 0);
            friction::lock(&settings.parsers).push(parser);
        }
        settings.finish.apply(batch);
        scratch.begin_batch(batch.received);
        scratch.prepare(&settings.program);
        // A rehearsal, or a batch that panicked, has left what was its own.
        scratch.filter.work.fatal.clear();
        in_work
    }

    /// Runs a program that the source has or had on an empty batch, for what its contexts have to say.
    pub fn tick(
        &self,
        settings: &Settings,
        batch: &mut Batch,
        machine: &mut Machine,
        scratch: &mut Scratch,
        out: &mut Outbox,
    ) {
        scratch.begin_batch(batch.received);
        scratch.prepare(&settings.program);
        let following = Following::of(self, batch, true, &mut scratch.filter);
        let mut watchers = Both(LogWatch::of(batch), following);
        let watch = match &watchers {
            Both(None, None) => None,
            Both(log, following) => {
                let (is_late, asks_made) = (log.is_none(), following.is_some());
                let watch = Watching::new(self, settings.at.clone(), &mut watchers);
                Some(if asks_made { watch.of_made(is_late) } else { watch })
            }
        };
        machine.tick(&settings.program, batch, scratch, out, watch);
    }
}
