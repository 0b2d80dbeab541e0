//! Writes chunks to one store: what is in its journal is delivered.

use super::stamping::{Authority, Stamping, Wanted};
use delivery::files::FileOptions;
use delivery::files::opening::{open_for_both, wrong_name};
use engine::ledger::Reason;
use engine::{Chunk, Progress, Sink, Status};
use logstore::{Error, Settings, Time, Writer};
use rustix::fs::{FlockOperation, flock};
use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// How soon it is tried again at most, when the disk is full or another process still writes the store.
const SOON: Duration = Duration::from_secs(1);

pub struct Plan {
    pub files: FileOptions,
    /// Or why there is none: the certificate cannot be used.
    pub store: Result<Arc<Settings>, String>,
    pub chunk_time: Duration,
    pub authority: Option<Arc<Authority>>,
}

pub struct LogstoreSink {
    path: PathBuf,
    plan: Arc<Plan>,
    writer: Option<Writer>,
    stamping: Stamping,
    /// When it was last written to.
    last_write: Instant,
    /// When the oldest message came that is in no chunk.
    since: Option<Instant>,
    failing: bool,
}

impl LogstoreSink {
    pub fn new(path: Vec<u8>, plan: Arc<Plan>) -> LogstoreSink {
        let path = PathBuf::from(OsString::from_vec(path));
        let stamping = Stamping::default();
        LogstoreSink {
            path,
            plan,
            writer: None,
            stamping,
            last_write: Instant::now(),
            since: None,
            failing: false,
        }
    }

    fn journal(&self) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".jor");
        path.into()
    }

    fn open(&mut self) -> Result<&mut Writer, Error> {
        if self.writer.is_none() {
            let settings = self.plan.store.as_ref().map_err(|error| Error::Key(error.clone()))?;
            let store = open_for_both(&self.path, &self.plan.files)?;
            flock(&store, FlockOperation::NonBlockingLockExclusive)
                .map_err(|_| Error::File(ErrorKind::ResourceBusy.into()))?;
            let journal = open_for_both(&self.journal(), &self.plan.files)?;
            let (writer, opened) = Writer::open(store, journal, settings)?;
            let path = self.path.display();
            if opened.recovered > 0 || opened.repair.cut > 0 {
                let fields: [oplog::Field<'_>; 3] = [
                    ("store", &path),
                    ("messages_from_journal", &opened.recovered),
                    ("bytes_cut_off", &opened.repair.cut),
                ];
                oplog::notice("A log store was not closed; what waited in its journal is in it now", &fields);
            }
            oplog::verbose("Initializing log store", &[("store", &path)]);
            self.stamping = Stamping::default();
            self.writer = Some(writer);
        }
        self.writer.as_mut().ok_or(Error::File(ErrorKind::NotFound.into()))
    }

    /// Puts a chunk into the journal or the store. What of it is safe is reported, whatever comes.
    fn take(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>) -> Result<(), Error> {
        let writer = self.open()?;
        let now = Time::from(SystemTime::now());
        let count = chunk.messages();
        let first = writer.next_number();
        for message in chunk.iter() {
            writer.add(message, now);
        }
        let result = writer.keep();
        let safe = count.saturating_sub(writer.forget() as usize);
        let is_empty = writer.since().is_none();
        let bytes = chunk.iter().take(safe).map(<[u8]>::len).sum();
        for (place, receipt) in chunk.receipts(0..safe) {
            let number = u64::from(first.wrapping_add(place as u32));
            receipt.at([("store", self.path.display().to_string().into()), ("message", number.into())]);
            receipt.delivered();
        }
        progress.delivered(chunk.advance(bytes));
        self.since = if is_empty { None } else { self.since.or(Some(Instant::now())) };
        result
    }

    fn write_out(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        while let Some(chunk) = chunks.front_mut() {
            match self.take(chunk, progress) {
                Ok(()) => {
                    if std::mem::take(&mut self.failing) {
                        progress.counters.setbacks.is_over();
                        oplog::notice("Writing goes on", &[("store", &self.path.display())]);
                    }
                    if let Some(chunk) = chunks.pop_front() {
                        progress.finished(chunk);
                    }
                    if progress.by_chunk {
                        return Status::Done;
                    }
                }
                Err(Error::File(error)) if wrong_name(&error).is_some() => {
                    self.say(&error);
                    if let Some(chunk) = chunks.pop_front() {
                        let why = format!("{}: {error}", self.path.display());
                        chunk.say_dropped(0..chunk.messages(), Reason::Refused, &why);
                        chunk.iter().for_each(|message| progress.refused(&why, message));
                        progress.finished(chunk);
                    }
                }
                Err(error) => {
                    let (path, reopen) = (self.path.display(), self.plan.files.time_reopen);
                    progress.counters.setbacks.failed(format_args!("{path}: {error}"), None);
                    self.say(&error);
                    let soon = match &error {
                        Error::File(error) => {
                            matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::ResourceBusy)
                        }
                        _ => false,
                    };
                    return Status::Retry(if soon { reopen.min(SOON) } else { reopen });
                }
            }
        }
        Status::Done
    }

    fn say(&mut self, error: &dyn std::fmt::Display) {
        if !std::mem::replace(&mut self.failing, true) {
            let reopen = self.plan.files.time_reopen.as_secs();
            let fields: [oplog::Field<'_>; 3] =
                [("store", &self.path.display()), ("error", &error), ("time_reopen", &reopen)];
            oplog::error("A log store cannot be written, its messages wait", &fields);
        }
    }

    /// Makes a chunk of what is in the journal.
    fn flush(&mut self) {
        let Some(writer) = &mut self.writer else { return };
        match writer.flush(true) {
            Ok(()) => self.since = None,
            // It stays in the journal.
            Err(error) => self.say(&error),
        }
    }

    fn stamp(&mut self, now: Instant) {
        let (Some(writer), Some(authority)) = (&mut self.writer, &self.plan.authority) else { return };
        if let Some((chunk, answer)) = self.stamping.heard(&authority.url)
            && let Err(error) = writer.stamp(chunk, &answer)
        {
            let fields: [oplog::Field<'_>; 2] = [("store", &self.path.display()), ("error", &error)];
            oplog::error("A time stamp cannot be put into a log store", &fields);
        }
        let header = writer.store().header();
        if let (Some(chunk), Some(digest)) = (header.chunks.checked_sub(1), header.digest()) {
            let wanted = Wanted { chunk, digest, mac: header.file_mac.clone() };
            self.stamping.ask(authority, wanted, now);
        }
    }

    /// Whether a stamp for the last chunk is still to come.
    fn is_awaited(&self) -> bool {
        let last = self.writer.as_ref().and_then(|writer| writer.store().header().chunks.checked_sub(1));
        self.plan.authority.is_some() && self.stamping.is_awaited(last)
    }

    fn leave(&mut self) {
        self.flush();
        let Some(writer) = self.writer.take() else { return };
        if writer.since().is_none()
            && let Err(error) = std::fs::remove_file(self.journal())
        {
            oplog::warning(
                "The journal of a log store stays",
                &[("store", &self.path.display()), ("error", &error)],
            );
        }
    }
}

impl Sink for LogstoreSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        self.last_write = Instant::now();
        self.write_out(chunks, progress)
    }

    fn reopen(&mut self) {
        self.leave();
    }

    fn reloaded(&mut self) {
        self.leave();
    }

    fn tick(&mut self, now: Instant) {
        if self.since.is_some_and(|since| now.saturating_duration_since(since) >= self.plan.chunk_time) {
            self.flush();
        }
        self.stamp(now);
        let reap = self.plan.files.time_reap;
        let is_idle = now.saturating_duration_since(self.last_write) >= reap;
        if !reap.is_zero() && is_idle && self.writer.is_some() {
            self.flush();
            if !self.is_awaited() {
                self.leave();
            }
        }
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {
        self.leave();
    }
}

impl Drop for LogstoreSink {
    fn drop(&mut self) {
        self.leave();
    }
}
