//! `disk-buffer()`: the logs on disk that outlets keep their messages in, one for each folder, opened when
//! the first outlet asks for it.

mod keeper;
mod latency;
mod names;
mod stored;
mod together;

pub(crate) use keeper::{Keeper, Turn};
pub use latency::SafeLatency;
pub use names::QueueNames;
pub(crate) use stored::Stored;
pub(crate) use together::together;

use crate::chunk::Home;
use crate::dead_letters::DeadLetters;
use diag::Fault;
use parking_lot::Mutex;
use rustix::fs::{Access, AtFlags, CWD, accessat};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use store::{Log, Options, Report};

/// Bytes in memory of an outlet that keeps its messages on disk, unless `front-cache-size()` says it in
/// messages.
pub(crate) const MEMORY_BYTES: usize = 32 << 20;

/// What `disk-buffer()` says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskBuffer {
    /// What the queue is found by after a restart: of the destination, and without the part that tells its
    /// outlets apart.
    pub key: String,
    /// `None`: the state folder.
    pub dir: Option<PathBuf>,
    /// Every message is on disk before its source hears that it is safe.
    pub reliable: bool,
    /// Bytes that may wait on disk.
    pub capacity_bytes: u64,
    /// Messages in memory; `None` counts bytes.
    pub memory_messages: Option<usize>,
    /// Messages without flow-control that wait in memory when the disk part is full; only of those that are
    /// not reliable.
    pub overflow_messages: usize,
    /// With less room than this left, messages are stored and their sources hear of it only once they are
    /// delivered; only of reliable ones.
    pub reserve_bytes: u64,
    /// `flush-lines()`: the most messages in one write; 0 is no limit.
    pub write_max: usize,
    /// Emptied segments that are kept for later; `None` leaves it to the log.
    pub free_segments: Option<usize>,
}

impl DiskBuffer {
    /// Where what waits is bounded by other things than its place on disk, and all of it is to find room.
    pub const BOUNDLESS: u64 = u64::MAX / 2;

    /// The name of the queue of one of the destination's outlets; `part` is empty where there is only one.
    pub fn queue_name(&self, part: &[u8]) -> Vec<u8> {
        let mut name = self.key.clone().into_bytes();
        if !part.is_empty() {
            name.push(b' ');
            name.extend_from_slice(part);
        }
        name
    }
}

/// A log and the thread that reads from it.
pub struct LogFolder {
    pub dir: PathBuf,
    pub log: Arc<Log>,
    pub(crate) keeper: Arc<Keeper>,
    pub latency: Arc<SafeLatency>,
    /// Buffers into which is read.
    pub(crate) home: Home,
    names: Mutex<Names>,
}

/// Queues that an outlet uses, and those nobody uses that were said.
#[derive(Default)]
struct Names {
    used: BTreeSet<Vec<u8>>,
    said: BTreeSet<Vec<u8>>,
}

/// The logs of the process.
#[derive(Default)]
pub struct Durable {
    state_dir: OnceLock<PathBuf>,
    places: Mutex<Vec<Arc<LogFolder>>>,
    letters: Mutex<Option<Arc<DeadLetters>>>,
}

impl LogFolder {
    pub(crate) fn begin_use(&self, name: &[u8]) {
        let mut names = self.names.lock();
        names.said.remove(name);
        names.used.insert(name.to_vec());
    }

    pub(crate) fn is_used(&self, name: &[u8]) -> bool {
        self.names.lock().used.contains(name)
    }

    /// Whether messages wait in a queue of this name.
    pub(crate) fn has(&self, name: &[u8]) -> bool {
        self.log.queues().iter().any(|queue| queue.name == name && queue.waiting.messages > 0)
    }

    pub(crate) fn end_use(&self, name: &[u8]) {
        self.names.lock().used.remove(name);
    }

    fn say_unused(&self) {
        for queue in self.log.queues() {
            let mut names = self.names.lock();
            if queue.waiting.messages == 0
                || queue.name == crate::dead_letters::NAME.as_bytes()
                || names.used.contains(&queue.name)
                || !names.said.insert(queue.name.clone())
            {
                continue;
            }
            drop(names);
            oplog::warning(
                "Messages wait on disk for a destination that the configuration does not have",
                &[
                    ("dir", &self.dir.display()),
                    ("queue", &String::from_utf8_lossy(&queue.name)),
                    ("messages", &queue.waiting.messages),
                    ("bytes", &queue.waiting.bytes),
                ],
            );
        }
    }
}

impl Durable {
    /// Where logs are whose `dir()` is not given. Called once, before anything is opened.
    pub fn set_state_dir(&self, dir: PathBuf) {
        let _ = self.state_dir.set(dir);
    }

    /// The log in the folder that `disk-buffer()` says, opened if nobody has yet.
    pub fn place(&self, options: &DiskBuffer) -> Result<Arc<LogFolder>, Fault> {
        let dir = match (&options.dir, self.state_dir.get()) {
            (Some(dir), _) => dir.clone(),
            (None, Some(dir)) => dir.clone(),
            (None, None) => {
                return Err(Fault::misconfigured("disk-buffer() needs a dir(): there is no state folder"));
            }
        };
        self.place_in(dir, options.free_segments).map_err(|fault| fault.at("disk-buffer()"))
    }

    /// Whether a log could be opened in a folder, as far as it can be known without opening or making one:
    /// what `place_in` needs of it.
    pub fn look(dir: &Path) -> Result<(), String> {
        let wrong = |error: std::io::Error| format!("cannot use {}: {error}", dir.display());
        let above = dir.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // It is made where its parent exists.
        let there = if dir.exists() { dir } else { above };
        let there = there.canonicalize().map_err(wrong)?;
        if !there.is_dir() {
            return Err(wrong(std::io::ErrorKind::NotADirectory.into()));
        }
        let access = Access::READ_OK | Access::WRITE_OK | Access::EXEC_OK;
        accessat(CWD, &there, access, AtFlags::EACCESS).map_err(|error| wrong(error.into()))
    }

    fn place_in(&self, dir: PathBuf, free_segments: Option<usize>) -> Result<Arc<LogFolder>, Fault> {
        let wrong = |error: &std::io::Error| Fault::local(format!("cannot use {}: {error}", dir.display()));
        make_folder(&dir).map_err(|error| wrong(&error))?;
        let dir = dir.canonicalize().map_err(|error| wrong(&error))?;
        let mut places = self.places.lock();
        if let Some(place) = places.iter().find(|place| place.dir == dir) {
            return Ok(Arc::clone(place));
        }
        let place = Arc::new(open(&dir, free_segments).map_err(|error| wrong(&error))?);
        places.push(Arc::clone(&place));
        Ok(place)
    }

    /// The log in a folder that had one before.
    pub(crate) fn place_at(&self, dir: &Path) -> Result<Arc<LogFolder>, Fault> {
        self.place_in(dir.to_owned(), None)
    }

    /// Whether this is the folder of the state, both without links in them.
    pub(crate) fn is_state_dir(&self, dir: &Path) -> bool {
        self.state_dir.get().and_then(|state| state.canonicalize().ok()).is_some_and(|state| state == dir)
    }

    /// The log in the state folder, opened if nobody has yet.
    pub fn state_place(&self) -> Result<Arc<LogFolder>, Fault> {
        let dir = self.state_dir.get().ok_or_else(|| Fault::misconfigured("there is no state folder"))?;
        self.place_in(dir.clone(), None)
    }

    /// The log of the state folder, when it has messages in a queue of this name. Nothing is made there to
    /// find that out.
    pub(crate) fn kept_in(&self, name: &[u8]) -> Option<Arc<LogFolder>> {
        let dir = self.state_dir.get()?.canonicalize().ok()?;
        let is_open = self.places.lock().iter().any(|place| place.dir == dir);
        if !is_open && !store::Log::exists(&dir) {
            return None;
        }
        let place = self.state_place().inspect_err(|error| {
            oplog::error("What was left at the last end cannot be looked for", &[("error", error)])
        });
        place.ok().filter(|place| place.has(name))
    }

    /// From now on, dead letters are kept or not.
    pub(crate) fn keep_letters(&self, wanted: bool) -> Result<Option<Arc<DeadLetters>>, Fault> {
        wanted.then(|| self.letters()).transpose()
    }

    /// The dead letters, also when they are not kept any more.
    pub fn letters(&self) -> Result<Arc<DeadLetters>, Fault> {
        let mut letters = self.letters.lock();
        if let Some(letters) = &*letters {
            return Ok(Arc::clone(letters));
        }
        let opened = DeadLetters::open(self)?;
        *letters = Some(Arc::clone(&opened));
        Ok(opened)
    }

    /// The dead letters, where there are any, or may be. Nothing is made to find that out.
    pub fn known_letters(&self) -> Option<Arc<DeadLetters>> {
        let open = self.letters.lock().clone();
        open.or_else(|| self.kept_in(crate::dead_letters::NAME.as_bytes()).and_then(|_| self.letters().ok()))
    }

    /// What is open.
    pub fn places(&self) -> Vec<Arc<LogFolder>> {
        self.places.lock().clone()
    }

    /// The folder of logs whose `dir()` is not given.
    pub fn state_dir(&self) -> Option<&Path> {
        self.state_dir.get().map(PathBuf::as_path)
    }

    /// Notes beside each log whose its queues are: destinations, `<statement>#<n>`, each with what the names
    /// of its queues begin with.
    pub(crate) fn note_names<'n>(&self, destinations: impl Iterator<Item = (&'n str, &'n str)>) {
        let places = self.places();
        if places.is_empty() {
            return;
        }
        let names = QueueNames::new(destinations);
        for place in places {
            if let Err(error) = names.write(&place.dir) {
                let fields: [oplog::Field<'_>; 2] = [("dir", &place.dir.display()), ("error", &error)];
                oplog::warning("Cannot note which destinations the queues on disk are of", &fields);
            }
        }
    }

    /// Says which queues hold something and belong to no destination any more. Each is said once.
    pub(crate) fn say_unused(&self) {
        self.places().iter().for_each(|place| place.say_unused());
    }

    /// The parts of the queue names of a destination for which something waits.
    pub fn waiting_parts(&self, options: &DiskBuffer) -> Vec<Vec<u8>> {
        // Nothing is made to find out.
        let dir = options.dir.as_deref().or(self.state_dir());
        if !dir.is_some_and(store::Log::exists) {
            return Vec::new();
        }
        let Ok(place) = self.place(options) else { return Vec::new() };
        let prefix = options.queue_name(b"");
        let mut parts = Vec::new();
        for queue in place.log.queues() {
            if let Some([b' ', part @ ..]) = queue.name.strip_prefix(prefix.as_slice())
                && queue.waiting.messages > 0
            {
                parts.push(part.to_vec());
            }
        }
        parts
    }

    /// Has logs made anew whose files somebody removed. To be called now and then.
    pub fn look_after(&self) {
        self.places().iter().for_each(|place| place.log.look_after());
    }

    /// Waits until everything that was given to the logs is as safe as was asked for.
    pub(crate) fn settle(&self) {
        for place in self.places() {
            // What the disk refuses is said by the log.
            place.log.flush();
        }
    }

    /// The end: everything is written, and nothing is read any more.
    pub(crate) fn close(&self) {
        if let Some(letters) = self.letters.lock().take() {
            letters.close();
        }
        for place in self.places.lock().drain(..) {
            place.keeper.end();
            place.log.close();
        }
    }
}

/// Makes the folder, for the program alone, where only it is missing. A parent that is missing is rather a
/// mistake in the name.
fn make_folder(dir: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    match std::fs::DirBuilder::new().mode(0o750).create(dir) {
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

/// Says what was found, and what was lost.
fn report(dir: &Path, report: &Report) {
    for damaged in &report.damaged {
        oplog::error(
            "A part of the messages on disk is damaged",
            &[
                ("dir", &dir.display()),
                ("file", &damaged.file),
                ("what", &damaged.what),
                ("frames_lost", &damaged.frames_lost),
            ],
        );
    }
    if report.bytes > 0 {
        oplog::notice(
            "Messages on disk opened",
            &[
                ("dir", &dir.display()),
                ("segments", &report.segments),
                ("bytes", &report.bytes),
                ("milliseconds", &report.took.as_millis()),
            ],
        );
    }
}

fn open(dir: &Path, free_segments: Option<usize>) -> std::io::Result<LogFolder> {
    let mut wanted = Options::new(dir);
    if let Some(segments) = free_segments {
        wanted.free_segments = segments;
    }
    let opened = Log::open(wanted)?;
    report(dir, &opened.report);
    let keeper = Keeper::start()?;
    Ok(LogFolder {
        dir: dir.to_owned(),
        log: opened.log,
        keeper,
        latency: Arc::default(),
        home: Home::default(),
        names: Mutex::default(),
    })
}
