//! What tells a source that its files have changed: inotify on the folders they are in, or a timer.

use crate::timer;
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};
use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, OsStr};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

mod astray;

/// `monitor-method()`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// inotify, but a timer where a file system is shared with other machines: the kernel hears nothing of
    /// what they do.
    Auto,
    Inotify,
    Poll,
}

/// File systems whose files others change: NFS, CIFS, SMB2, FUSE, 9p, Ceph, AFS, OCFS2, GFS2.
const SHARED: [i64; 9] = [
    0x6969,
    0xff53_4d42,
    0xfe53_4d42,
    0x6573_5546,
    0x0102_1997,
    0x00c3_6400,
    0x5346_414f,
    0x7461_636f,
    0x0116_1970,
];
/// The shortest time between two looks.
const PERIOD_MIN: Duration = Duration::from_millis(10);
/// Bytes of events that are taken at once.
const EVENTS_BYTES: usize = 64 * 1024;
/// An event's own bytes; its name is filled up to a multiple of them.
const EVENT_BYTES: usize = 16;
const EVENT_BYTES_MAX: usize = EVENT_BYTES + 256;
/// Events after which a turn ends, when all that were taken with them are looked at.
const EVENTS_MIN: usize = 2048;

/// What happened to a path.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// Bytes were added, or it was truncated.
    Modified(PathBuf),
    /// A name came, went or leads elsewhere.
    Changed(PathBuf),
    /// A file in a watched folder has a new name in a watched folder.
    Renamed { from: PathBuf, to: PathBuf },
    /// A folder has come.
    Folder(PathBuf),
    /// A watched folder is gone.
    Unwatched(PathBuf),
    /// Some events were lost.
    Lost,
    /// Time to look at everything.
    Look,
}

pub struct Watch {
    inotify: Option<OwnedFd>,
    timer: Option<OwnedFd>,
    /// Path of each watched folder, and of each file that is watched itself because its name is a link.
    watched: HashMap<i32, PathBuf>,
    by_path: HashMap<PathBuf, i32>,
    /// Those of files.
    links: HashSet<PathBuf>,
    /// Links that lead nowhere now.
    dangling: HashSet<PathBuf>,
    /// Paths that are still to be looked at, see [`Watch::led_astray`].
    unseen: Vec<PathBuf>,
    /// When some were looked at last.
    seen: Instant,
    /// Which file systems count as shared with other machines is asked for each folder.
    asks: bool,
    /// Modifications of files in folders are told.
    modifications: bool,
    failed: bool,
    /// What is in the working folder is told of by its name alone, not as `./NAME`: as the configuration
    /// names it.
    bare: bool,
    /// Of events that were taken from the kernel.
    buffer: Vec<MaybeUninit<u8>>,
}

impl Watch {
    /// `base` says on which file system.
    pub fn new(method: Method, base: &Path, period: Duration) -> io::Result<Watch> {
        let poll = match method {
            Method::Poll => true,
            Method::Inotify => false,
            Method::Auto => is_shared(base),
        };
        let inotify = match poll {
            true => None,
            false => match inotify::init(CreateFlags::NONBLOCK | CreateFlags::CLOEXEC) {
                Ok(fd) => Some(fd),
                Err(error) if method == Method::Auto => {
                    oplog::warning("No inotify, files are looked at in turn", &[("error", &error)]);
                    None
                }
                Err(error) => return Err(error.into()),
            },
        };
        let timer = match inotify {
            Some(_) => None,
            None => Some(timer::every(period.max(PERIOD_MIN))?),
        };
        Ok(Watch {
            inotify,
            timer,
            watched: HashMap::new(),
            by_path: HashMap::new(),
            links: HashSet::new(),
            dangling: HashSet::new(),
            unseen: Vec::new(),
            seen: Instant::now(),
            asks: method == Method::Auto,
            modifications: true,
            failed: false,
            bare: false,
            buffer: Vec::new(),
        })
    }

    pub fn naming_bare(self, bare: bool) -> Watch {
        Watch { bare, ..self }
    }

    /// The descriptors that are readable when [`Watch::events`] has something.
    pub fn descriptors(&self) -> impl Iterator<Item = &OwnedFd> {
        self.inotify.iter().chain(&self.timer)
    }

    pub fn polls(&self) -> bool {
        self.inotify.is_none()
    }

    pub fn tells_modifications(&self) -> bool {
        self.modifications
    }

    /// Whether modifications of files in watched folders are to be told from now on.
    pub fn tell_modifications(&mut self, tell: bool) {
        self.modifications = tell;
        let folders: Vec<PathBuf> =
            self.by_path.keys().filter(|path| !self.links.contains(*path)).cloned().collect();
        // One that is gone is told of as such.
        for folder in folders {
            self.folder(&folder);
        }
    }

    /// Watches a folder. `false` when it is not there, or cannot be watched: then it has to be looked at. So
    /// it is with one that others change, unseen by the kernel.
    pub fn folder(&mut self, path: &Path) -> bool {
        let modify = if self.modifications { WatchFlags::MODIFY } else { WatchFlags::empty() };
        let flags = modify
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        self.add(path, flags) && !(self.asks && !self.polls() && is_shared(path))
    }

    /// Watches the file that a link leads to: its folder is another one. `false` when there is no such link,
    /// or it leads nowhere.
    pub fn link(&mut self, path: &Path) -> bool {
        self.dangling.remove(path);
        if !std::fs::symlink_metadata(path).is_ok_and(|meta| meta.is_symlink()) {
            if self.links.remove(path) {
                self.unwatch(path);
            }
            return false;
        }
        self.links.insert(path.to_owned());
        let leads = self.add(path, WatchFlags::MODIFY | WatchFlags::MOVE_SELF | WatchFlags::DELETE_SELF);
        if !leads {
            self.dangling.insert(path.to_owned());
        }
        leads
    }

    fn add(&mut self, path: &Path, flags: WatchFlags) -> bool {
        let Some(fd) = &self.inotify else { return true };
        match inotify::add_watch(fd, path, flags) {
            Ok(number) => {
                if self.by_path.get(path).is_some_and(|before| *before != number) {
                    self.unwatch(path);
                }
                self.watched.insert(number, self.told_as(path));
                self.by_path.insert(path.to_owned(), number);
                true
            }
            Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => {
                self.unwatch(path);
                false
            }
            Err(error) => {
                if !std::mem::replace(&mut self.failed, true) {
                    oplog::error(
                        "Cannot watch a folder, it is looked at once a second (fs.inotify.max_user_watches says how many can be watched)",
                        &[("folder", &path.display()), ("error", &error)],
                    );
                }
                false
            }
        }
    }

    /// What the path led to is not watched any more, unless under another path.
    fn unwatch(&mut self, path: &Path) {
        let Some(number) = self.by_path.remove(path) else { return };
        if self.watched.get(&number) != Some(&self.told_as(path)) {
            return;
        }
        self.watched.remove(&number);
        if let Some(fd) = &self.inotify {
            // One that is gone is not watched anyway.
            let _ = inotify::remove_watch(fd, number);
        }
    }

    /// How events name a watched path.
    fn told_as(&self, path: &Path) -> PathBuf {
        if self.bare && path == Path::new(".") { PathBuf::new() } else { path.to_owned() }
    }

    /// What has happened since the last call, and whether there may be more.
    pub fn events(&mut self) -> (Vec<Event>, bool) {
        self.events_unless(&mut |_| false)
    }

    /// The same without the modifications that `taken` takes. It is asked before what came earlier is handed
    /// out: whoever is told of a change of a name has to look at what is there himself.
    pub fn events_unless(&mut self, taken: &mut dyn FnMut(&Path) -> bool) -> (Vec<Event>, bool) {
        let mut events = Vec::new();
        if let Some(timer) = &self.timer {
            let mut count = [0u8; 8];
            if rustix::io::read(timer, &mut count[..]).is_ok() {
                events.push(Event::Look);
            }
        }
        let more = self.notified(&mut events, taken);
        (events, more)
    }

    fn notified(&mut self, events: &mut Vec<Event>, taken: &mut dyn FnMut(&Path) -> bool) -> bool {
        let Some(fd) = self.inotify.take() else { return false };
        self.buffer.resize(EVENTS_BYTES, MaybeUninit::uninit());
        let mut reader = inotify::Reader::new(&fd, &mut self.buffer);
        let mut modified = PathBuf::new();
        let mut moved: Option<(u32, PathBuf)> = None;
        // What was taken from the kernel is not there a second time: a turn ends with an empty buffer, and
        // not between the two halves of a renaming.
        let mut count = 0;
        let mut is_half = false;
        let mut bytes = 0;
        let more = loop {
            if reader.is_buffer_empty() && !is_half && count > 0 {
                // Nothing was left in the kernel then; who asks once more finds what was written meanwhile,
                // again and again.
                let more = bytes + EVENT_BYTES_MAX > EVENTS_BYTES;
                if !more || count >= EVENTS_MIN {
                    break more;
                }
                bytes = 0;
            }
            let Ok(event) = reader.next() else { break false };
            count += 1;
            bytes += event_bytes(event.file_name());
            is_half = event.events().contains(ReadFlags::MOVED_FROM);
            let kind = event.events();
            if kind.contains(ReadFlags::QUEUE_OVERFLOW) {
                events.push(Event::Lost);
                continue;
            }
            let number = event.wd();
            let Some(base) = self.watched.get(&number) else { continue };
            if is_modification(kind) {
                // Not a path for each: files are written to all the time.
                modified.as_mut_os_string().clear();
                modified.push(base);
                if let Some(name) = event.file_name() {
                    modified.push(OsStr::from_bytes(name.to_bytes()));
                }
                if !taken(&modified)
                    && !matches!(events.last(), Some(Event::Modified(last)) if *last == modified)
                {
                    events.push(Event::Modified(modified.clone()));
                }
                continue;
            }
            let path = match event.file_name() {
                Some(name) => base.join(OsStr::from_bytes(name.to_bytes())),
                None => base.clone(),
            };
            if kind.intersects(ReadFlags::IGNORED | ReadFlags::UNMOUNT) {
                if let Some(mut path) = self.watched.remove(&number) {
                    if path.as_os_str().is_empty() {
                        path.push(".");
                    }
                    self.by_path.remove(&path);
                    self.links.remove(&path);
                    events.push(Event::Unwatched(path));
                }
            } else if kind.intersects(ReadFlags::DELETE_SELF | ReadFlags::MOVE_SELF) {
                events.push(Event::Changed(path));
            } else if kind.contains(ReadFlags::ISDIR) {
                if kind.intersects(ReadFlags::CREATE | ReadFlags::MOVED_TO) {
                    events.push(Event::Folder(path));
                }
            } else if kind.contains(ReadFlags::MOVED_FROM) {
                moved = Some((event.cookie(), path.clone()));
                events.push(Event::Changed(path));
            } else {
                if kind.contains(ReadFlags::MOVED_TO)
                    && let Some((_, from)) = moved.take_if(|(cookie, _)| *cookie == event.cookie())
                {
                    // Before the look at the old name: what comes there comes after this file.
                    let at = events
                        .iter()
                        .rposition(|e| *e == Event::Changed(from.clone()))
                        .unwrap_or(events.len());
                    events.insert(at, Event::Renamed { from, to: path.clone() });
                }
                events.push(Event::Changed(path));
            }
        };
        self.inotify = Some(fd);
        more
    }
}

/// Whether others may change what is there, unseen by the kernel.
fn is_shared(path: &Path) -> bool {
    rustix::fs::statfs(path).is_ok_and(|fs| SHARED.contains(&fs.f_type))
}

fn event_bytes(name: Option<&CStr>) -> usize {
    EVENT_BYTES + name.map_or(0, |name| (name.count_bytes() + 1).next_multiple_of(EVENT_BYTES))
}

/// Nothing but bytes have changed.
fn is_modification(kind: ReadFlags) -> bool {
    let others = ReadFlags::IGNORED
        | ReadFlags::UNMOUNT
        | ReadFlags::DELETE_SELF
        | ReadFlags::MOVE_SELF
        | ReadFlags::ISDIR;
    kind.contains(ReadFlags::MODIFY) && !kind.intersects(others)
}

#[cfg(test)]
mod tests;
