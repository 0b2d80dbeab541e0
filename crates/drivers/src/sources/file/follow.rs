//! The watcher of one source: hears what happens to its files, keeps the roster, and gives each file a reader on one of the workers.

use super::followed::{Ended, Followed};
use super::identity::FileId;
use super::port::{FilePort, Parts, PortOptions};
use super::roster::{Opener, Roster, RosterOptions};
use super::tail::{Begin, Tail, TailOptions};
use super::wanted::{Listed, Wanted};
use super::watch::{Event, Method, Watch};
use crate::sources::listener::register;
use engine::source::Source;
use engine::worker::{After, MakePort, Port, PortContext};
use engine::{Shared, Wake, WorkerHandle};
use mio::unix::SourceFd;
use parking_lot::Mutex;
use record::{Context, NameId, Peer, Seed, Transport};
use std::fs::File;
use std::hash::BuildHasher;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Readers a worker is given at once: waking it for each would cost more than the small files among them.
const OPENED_MAX: usize = 64;

/// Everything the files of a source have in common.
pub struct Following {
    pub wanted: Wanted,
    pub files_max: usize,
    pub read_old: bool,
    pub key: String,
    pub method: Method,
    /// `follow-freq()`
    pub period: Duration,
    /// `monitor-freq()`: how often folders are listed where there are no notifications.
    pub list_period: Duration,
    pub tail: Arc<TailOptions>,
    pub port: Arc<PortOptions>,
    /// Of messages, without FILE_NAME.
    pub group: Arc<str>,
    pub local_name: Arc<str>,
}

impl Following {
    /// Adds the watcher to a worker; files are opened from there.
    pub fn start(self: &Arc<Following>, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), String> {
        let base = self.wanted.base();
        let watch = Watch::new(self.method, base, self.period)
            .map_err(|e| format!("cannot watch {}: {e}", base.display()))?;
        let worker = shared.any_worker().ok_or("there are no workers")?;
        let options = RosterOptions {
            wanted: self.wanted.clone(),
            files_max: self.files_max,
            read_old: self.read_old,
            key: self.key.clone(),
        };
        let roster = Roster::new(options, shared.state());
        let readers = Readers {
            following: Arc::clone(self),
            workers: shared.workers().to_vec(),
            source: Arc::clone(source),
            ended: Arc::default(),
            spread: Seed::default(),
            opened: shared.workers().iter().map(|_| Vec::new()).collect(),
        };
        worker.add(move |token, cx| {
            for fd in watch.descriptors() {
                register(&fd.as_raw_fd(), cx.handle.registry(), token)?;
            }
            let waker = cx.handle.waker(token);
            *readers.ended.watcher.lock() = Some(Arc::clone(&waker));
            roster.saves().open(waker);
            let port = FollowPort {
                roster,
                watch,
                readers,
                started: false,
                incomplete: false,
                listed: Instant::now(),
                queued: false,
            };
            Ok(Box::new(port))
        });
        Ok(())
    }
}

/// Makes readers.
struct Readers {
    following: Arc<Following>,
    workers: Vec<WorkerHandle>,
    source: Arc<Source>,
    ended: Arc<EndedReaders>,
    /// Which worker gets which file.
    spread: Seed,
    /// For each worker the readers it is given next.
    opened: Vec<Vec<MakePort>>,
}

impl Readers {
    fn begin(&mut self) {
        for (worker, opened) in self.workers.iter().zip(&mut self.opened) {
            worker.add_all(opened.drain(..));
        }
    }
}

/// Readers that have ended since the watcher looked.
#[derive(Default)]
struct EndedReaders {
    ids: Mutex<Vec<FileId>>,
    watcher: Mutex<Option<Arc<dyn Wake>>>,
}

impl Ended for EndedReaders {
    fn ended(&self, id: FileId) {
        self.ids.lock().push(id);
        let watcher = self.watcher.lock().clone();
        if let Some(watcher) = watcher {
            watcher.wake();
        }
    }
}

impl Opener for Readers {
    fn open(&mut self, file: File, path: &Arc<Path>, begin: Begin, followed: &Arc<Followed>) {
        let following = &self.following;
        let at = self.spread.hash_one(followed.id) as usize % self.workers.len().max(1);
        let (Some(opened), Ok(tail)) = (self.opened.get_mut(at), Tail::new(file, begin, &following.tail))
        else {
            return self.ended.ended(followed.id);
        };
        let context = Context {
            source: Arc::clone(&following.group),
            peer: Peer::Local,
            host_from: Arc::clone(&following.local_name),
            transport: Transport("local+file"),
            ip_protocol: 0,
            values: vec![(NameId::FILE_NAME, path.as_os_str().as_bytes().into())],
        };
        // From now on a restart finds the file, under whatever name; written with those of the other files of this turn.
        followed.tracker.note(tail.position());
        let parts = Parts {
            tail,
            path: Arc::clone(path),
            followed: Arc::clone(followed),
            context: Arc::new(context),
            source: Arc::clone(&self.source),
            options: Arc::clone(&following.port),
            ended: Arc::clone(&self.ended) as Arc<dyn Ended>,
        };
        oplog::verbose("Following a file", &[("filename", &path.display())]);
        opened.push(Box::new(move |token, cx| Ok(Box::new(FilePort::new(parts, cx, token)))));
        if opened.len() >= OPENED_MAX {
            self.begin();
        }
    }
}

struct FollowPort {
    roster: Roster,
    watch: Watch,
    readers: Readers,
    started: bool,
    /// A folder is missing or cannot be watched: look again with every tick.
    incomplete: bool,
    /// When folders were listed last.
    listed: Instant,
    queued: bool,
}

impl FollowPort {
    /// What is there below a folder, all folders watched.
    fn list(&mut self, below: &Path) -> Vec<Listed> {
        let mut found = Vec::new();
        let (watch, incomplete) = (&mut self.watch, &mut self.incomplete);
        let mut folder = |path: &Path| *incomplete |= !watch.folder(path);
        self.roster.wanted().list(below, &mut |listed| found.push(listed), &mut folder);
        if !self.watch.polls() {
            found.iter().filter(|listed| !listed.is_file).for_each(|listed| self.watch.link(&listed.path));
        }
        found
    }

    /// Looks at everything. When notifications were lost, readers look for themselves whether their files have changed.
    fn look(&mut self, lost: bool) {
        self.incomplete = false;
        self.listed = Instant::now();
        let base = self.roster.wanted().base().to_owned();
        let listed = self.list(&base);
        if !self.started
            && let Wanted::One(path) = self.roster.wanted()
            && std::fs::symlink_metadata(path).is_err()
        {
            oplog::info(
                "Follow-mode file source not found, deferring open",
                &[("filename", &path.display())],
            );
        }
        if !std::mem::replace(&mut self.started, true) {
            return self.roster.start(&listed, &mut self.readers);
        }
        match lost {
            true => self.roster.arrive_anew(&listed, &mut self.readers),
            false => self.roster.arrive(&listed, &mut self.readers),
        }
        self.roster.examine_others(&listed, &mut self.readers);
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::Modified(path) => {
                if !self.roster.wake(&path) && self.roster.wanted().has(&path) {
                    self.roster.examine(&path, &mut self.readers);
                }
            }
            Event::Changed(path) => {
                if self.roster.wanted().has(&path) {
                    self.watch.link(&path);
                    self.roster.examine(&path, &mut self.readers);
                }
            }
            Event::Renamed { from, to } => {
                if self.roster.wanted().has(&from) && !self.roster.wanted().has(&to) {
                    self.roster.moved_away(&from, &to, &mut self.readers);
                }
            }
            Event::Folder(path) => {
                if self.roster.wanted().is_recursive() {
                    let listed = self.list(&path);
                    self.roster.arrive(&listed, &mut self.readers);
                }
            }
            Event::Unwatched(_) => self.incomplete = true,
            Event::Lost => self.look(true),
            // Known files each time, folders more rarely when told so.
            Event::Look if self.listed.elapsed() >= self.readers.following.list_period => self.look(false),
            Event::Look => {
                for path in self.roster.paths() {
                    self.roster.examine(&path, &mut self.readers);
                }
            }
        }
    }
}

impl Port for FollowPort {
    fn turn(&mut self, _cx: &mut PortContext) -> After {
        let ended = std::mem::take(&mut *self.readers.ended.ids.lock());
        for id in ended {
            self.roster.ended(id, &mut self.readers);
        }
        if !self.started {
            self.look(false);
        }
        let (events, more) = self.watch.events();
        for event in events {
            self.event(event);
        }
        if self.incomplete {
            self.look(false);
        }
        if self.roster.is_starved() {
            self.roster.retry(&mut self.readers);
        }
        self.readers.begin();
        self.roster.store();
        if more { After::Again } else { After::Idle }
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    fn retry(&self) -> bool {
        self.incomplete || self.roster.is_starved()
    }

    fn closed(&mut self, cx: &mut PortContext) {
        *self.readers.ended.watcher.lock() = None;
        self.roster.saves().close();
        for fd in self.watch.descriptors() {
            // Fails only for a descriptor that was never registered.
            let _ = cx.handle.registry().deregister(&mut SourceFd(&fd.as_raw_fd()));
        }
    }

    fn source(&self) -> Option<&Arc<Source>> {
        Some(&self.readers.source)
    }
}
