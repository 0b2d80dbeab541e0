//! Gives each file a reader on a worker.

use super::follow::Following;
use super::followed::{Ended, Followed};
use super::identity::FileId;
use super::port::{FilePort, Parts};
use super::roster::Opener;
use super::tail::{Begin, Tail};
use engine::source::Source;
use engine::worker::MakePort;
use engine::{Shared, Wake, WorkerHandle};
use parking_lot::Mutex;
use record::{Context, NameId, Peer, Seed, Transport};
use std::fs::File;
use std::hash::BuildHasher;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Readers a worker is given at once: waking it for each would cost more than the small files among them.
const OPENED_MAX: usize = 64;

/// The allocator of a thread that is not the first takes memory from the system page by page, a call for
/// each, unless it is asked for more at once: before so many readers it is, for as much as they need.
const ROOM_READERS: u64 = 24;
const ROOM_BYTES: usize = 96 * 1024;

/// Makes readers.
pub struct Readers {
    pub following: Arc<Following>,
    workers: Vec<WorkerHandle>,
    pub source: Arc<Source>,
    pub ended: Arc<EndedReaders>,
    /// Which worker gets which file.
    spread: Seed,
    /// For each worker the readers it is given next.
    opened: Vec<Vec<MakePort>>,
    /// Readers that were made.
    count: u64,
}

impl Readers {
    pub fn new(following: Arc<Following>, shared: &Arc<Shared>, source: &Arc<Source>) -> Readers {
        Readers {
            following,
            workers: shared.workers().to_vec(),
            source: Arc::clone(source),
            ended: Arc::default(),
            spread: Seed::default(),
            opened: shared.workers().iter().map(|_| Vec::new()).collect(),
            count: 0,
        }
    }

    pub fn begin(&mut self) {
        for (worker, opened) in self.workers.iter().zip(&mut self.opened) {
            worker.add_all(opened.drain(..));
        }
    }
}

/// Readers that have ended since the watcher looked.
#[derive(Default)]
pub struct EndedReaders {
    pub ids: Mutex<Vec<FileId>>,
    pub watcher: Mutex<Option<Arc<dyn Wake>>>,
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
        self.count += 1;
        // The first ones may be all there are.
        if self.count.is_multiple_of(ROOM_READERS) {
            drop(std::hint::black_box(Vec::<u8>::with_capacity(ROOM_BYTES)));
        }
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
        // From now on a restart finds the file, under whatever name; written with the others of this turn.
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
