//! The reader of a journal: woken when its files change, it makes batches of what is new.

use super::folders::Namespaces;
use super::message::{MessageOptions, Messages};
use super::places::Places;
use engine::ledger::Reason;
use engine::source::Source;
use engine::worker::{After, Port, PortContext};
use engine::{Feed, Read};
use intake::inotify::{Event, Watch};
use intake::listener::register;
use journal::{Begin, EntryPosition, Filter, Journal, JournalOptions};
use mio::unix::SourceFd;
use record::Context;
use state::Store;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::time::Instant;

/// Messages in one batch, and bytes after which it is full.
const BATCH_MESSAGES: usize = 512;
const BATCH_BYTES: usize = 256 * 1024;

/// What a reader is made of.
pub struct Parts {
    pub namespaces: Namespaces,
    pub filter: Filter,
    pub value_max: usize,
    pub read_old: bool,
    pub key: String,
    pub store: Arc<Store>,
    pub message: MessageOptions,
    pub fetch_limit: Option<usize>,
    pub window_messages: Option<usize>,
    pub context: Arc<Context>,
    pub source: Arc<Source>,
}

pub struct JournalPort {
    parts: Parts,
    watch: Watch,
    messages: Messages,
    reading: Option<Reading>,
    feed: Feed,
    /// A folder is not there or cannot be watched: it is looked for with every tick.
    incomplete: bool,
    queued: bool,
}

/// From the first turn on.
struct Reading {
    journal: Journal,
    places: Arc<Places>,
    reader: u64,
}

impl JournalPort {
    pub fn new(
        parts: Parts,
        watch: Watch,
        cx: &PortContext,
        token: mio::Token,
    ) -> std::io::Result<JournalPort> {
        for fd in watch.descriptors() {
            register(&fd.as_raw_fd(), cx.handle.registry(), token)?;
        }
        let feed = Feed::new(Arc::clone(&parts.source), parts.window_messages, cx, token);
        Ok(JournalPort {
            messages: Messages::new(parts.message.clone()),
            parts,
            watch,
            reading: None,
            feed,
            incomplete: true,
            queued: false,
        })
    }

    /// Goes to where the last reader was.
    fn begin(&mut self) {
        let parts = &self.parts;
        let (places, reader, read) = Places::open(&parts.store, &parts.key);
        let begin = match read.is_empty() {
            false => Begin::After(read),
            true if parts.read_old => Begin::Head,
            true => Begin::Tail,
        };
        let is_tail = begin == Begin::Tail;
        let options = JournalOptions {
            folders: parts.namespaces.folders().unwrap_or_default(),
            filter: parts.filter.clone(),
            value_max: parts.value_max,
        };
        let mut journal = Journal::new(options, begin);
        self.incomplete = !look(&mut self.watch, &mut journal, &parts.namespaces);
        if is_tail {
            // What is there now is never read, after a restart neither.
            places.mark(journal.places().copied().collect()).done();
        }
        self.reading = Some(Reading { journal, places, reader });
    }

    fn events(&mut self) -> bool {
        let Some(reading) = &mut self.reading else { return false };
        let (events, more) = self.watch.events();
        let moved = |event: &Event| !matches!(event, Event::Modified(_));
        let astray = self.watch.led_astray(Instant::now());
        if self.incomplete || astray || events.iter().any(moved) {
            self.incomplete = !look(&mut self.watch, &mut reading.journal, &self.parts.namespaces);
        } else if !events.is_empty() {
            reading.journal.refresh();
        }
        more
    }

    /// Makes one batch. Whether there may be more.
    fn step(&mut self, cx: &mut PortContext) -> bool {
        let began = Instant::now();
        let Some(reading) = &mut self.reading else { return false };
        let mut batch = cx.batch();
        batch.contexts.push(Arc::clone(&self.parts.context));
        self.messages.begin_batch(&self.parts.source);
        let messages_max = self.parts.fetch_limit.unwrap_or(BATCH_MESSAGES).min(BATCH_MESSAGES);
        let mut ends: Vec<EntryPosition> = Vec::new();
        let mut more = true;
        while batch.records.len() < messages_max && batch.text.len() < BATCH_BYTES {
            let Some(entry) = reading.journal.next_entry() else {
                more = reading.journal.has_more();
                break;
            };
            self.messages.append(&mut batch, &entry);
            match ends.iter_mut().find(|end| end.seqnum_id == entry.place.seqnum_id) {
                Some(end) => *end = entry.place,
                None => ends.push(entry.place),
            }
        }
        report(&mut reading.journal, &self.parts.source);
        let bytes = batch.text.len();
        let mark = (!ends.is_empty()).then(|| reading.places.mark(ends));
        self.feed.run_marked(batch, Read { bytes, busy: more, began, mark }, cx);
        more
    }
}

/// Lists the folders and watches them. `false` when one is missing.
fn look(watch: &mut Watch, journal: &mut Journal, namespaces: &Namespaces) -> bool {
    if *namespaces == Namespaces::All {
        journal.set_folders(namespaces.folders().unwrap_or_default());
    }
    // Watched before they are listed: what comes in between is seen twice rather than never.
    let missing = journal.folders().iter().filter(|folder| !watch.folder(folder)).count();
    journal.rescan() && missing == 0
}

/// Says what is wrong with files, and counts the entries that were lost to it.
fn report(journal: &mut Journal, source: &Source) {
    for fault in journal.take_faults() {
        oplog::error(
            "Error reading a journal file",
            &[("filename", &fault.path.display()), ("error", &fault.error)],
        );
    }
    let all = journal.take_skipped();
    let skipped = all.count;
    if skipped > 0 {
        source.counters.received.add(skipped);
        source.counters.dropped.add(Reason::Framing, skipped);
        source.counters.remains.keep(Reason::Framing, skipped, all.last.iter().map(Vec::as_slice));
        oplog::limited(
            "journal-skipped",
            oplog::Level::Error,
            "Damaged entries of the journal were left out",
            &[("entries", &skipped)],
        );
    }
}

impl Port for JournalPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        if self.reading.is_none() {
            self.begin();
        }
        let Some(reading) = &self.reading else { return After::Close };
        if !reading.places.is_last(reading.reader) {
            // A reload has made another reader, which goes on where this one is.
            return After::Idle;
        }
        let more_events = self.events();
        if !self.feed.may_read() {
            return After::Idle;
        }
        if self.step(cx) || more_events { After::Again } else { After::Idle }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn retry(&self) -> bool {
        // It is looked where the folders are.
        self.incomplete || !self.watch.polls()
    }

    fn closed(&mut self, cx: &mut PortContext) {
        for fd in self.watch.descriptors() {
            // Fails only for a descriptor that was never registered.
            let _ = cx.handle.registry().deregister(&mut SourceFd(&fd.as_raw_fd()));
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.parts.source)
    }
}
