//! The files of one source: which path leads to which file, what had its place before, and how many are open. Looks at the file system when
//! told to, and opens through [`Opener`]; knows no workers and no notifications.

use super::acks::Tracker;
use super::followed::Followed;
use super::identity::{FileId, Position};
use super::saves::Saves;
use super::tail::Begin;
use super::wanted::{Listed, Wanted, regular};
use state::Store;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that no path leads to any more and whose writers may still be there.
const LET_GO_MAX: usize = 64;

/// Makes a reader of a file.
pub trait Opener {
    fn open(&mut self, file: File, path: &Arc<Path>, begin: Begin, followed: &Arc<Followed>);
}

pub struct RosterOptions {
    pub wanted: Wanted,
    /// `max-files()`
    pub files_max: usize,
    /// `read-old-records()`
    pub read_old: bool,
    /// persist-name(), or what stands for it.
    pub key: String,
}

struct Entry {
    followed: Arc<Followed>,
    path: Option<Arc<Path>>,
    /// The path it had when it was let go.
    last_path: Option<Arc<Path>>,
    /// Size and time of the last change when it was last looked at.
    seen: Seen,
}

/// Size and time of the last change.
type Seen = (u64, i64, i64);

/// A file that was opened.
struct Found<'a> {
    id: FileId,
    file: File,
    path: &'a Arc<Path>,
    seen: Seen,
}

pub struct Roster {
    options: RosterOptions,
    store: Arc<Store>,
    saves: Arc<Saves>,
    by_path: HashMap<Arc<Path>, FileId>,
    files: HashMap<FileId, Entry>,
    /// In the order in which they were let go.
    let_go: VecDeque<FileId>,
    /// What max-files() has no room for.
    waiting: BTreeSet<PathBuf>,
    /// What could not be opened: said once.
    refused: HashSet<PathBuf>,
    started: bool,
}

impl Roster {
    pub fn new(options: RosterOptions, store: &Arc<Store>) -> Roster {
        Roster {
            options,
            store: Arc::clone(store),
            saves: Arc::default(),
            by_path: HashMap::new(),
            files: HashMap::new(),
            let_go: VecDeque::new(),
            waiting: BTreeSet::new(),
            refused: HashSet::new(),
            started: false,
        }
    }

    pub fn wanted(&self) -> &Wanted {
        &self.options.wanted
    }

    pub fn saves(&self) -> &Saves {
        &self.saves
    }

    /// Stores where the files are whose positions wait for it.
    pub fn store(&self) {
        self.saves.count(self.files.len());
        self.saves.store();
    }

    /// The first look: `listed` is what is there. Files that were renamed while nobody looked are read to their ends.
    pub fn start(&mut self, listed: &[Listed], opener: &mut dyn Opener) {
        let mut lost = Vec::new();
        let prefix = format!("{}/", self.options.key);
        let stored = self.store.with_prefix(prefix.as_bytes());
        let looked_at = if stored.is_empty() { &[] } else { listed };
        let there: HashSet<FileId> =
            looked_at.iter().filter_map(|one| regular(&one.path)).map(|meta| FileId::of(&meta)).collect();
        for (name, value) in stored {
            let (Some(id), Some((position, path))) = (FileId::from_name(&name), Position::decode(&value))
            else {
                continue;
            };
            if there.contains(&id) {
                continue;
            }
            let path: Arc<Path> = Path::new(OsStr::from_bytes(path)).into();
            match renamed(id, &position, &path) {
                Some((changed, file)) => lost.push((changed, id, position, path, file)),
                // The folder is there and the file is not: nobody will ask for its position again.
                None if folder_has_files(&path) => self.store.remove(&name),
                None => {}
            }
        }
        // Of several generations the oldest is read first.
        lost.sort_by_key(|(changed, id, ..)| (*changed, *id));
        let mut before: HashMap<Arc<Path>, Arc<Followed>> = HashMap::new();
        for (_, id, position, path, file) in lost {
            let after = before.get(&path).cloned();
            let followed = self.add(
                Found { id, file, path: &path, seen: Seen::default() },
                Begin::At(position),
                after,
                opener,
            );
            self.leave(id);
            before.insert(path, followed);
        }
        for one in listed {
            match before.get(one.path.as_path()) {
                Some(after) => self.examine_after(&one.path, Some(Arc::clone(after)), opener),
                None => self.arrived(one, opener),
            }
        }
        self.started = true;
    }

    /// Looks at what a listing has found.
    pub fn arrive(&mut self, listed: &[Listed], opener: &mut dyn Opener) {
        self.by_path.reserve(listed.len());
        self.files.reserve(listed.len());
        listed.iter().for_each(|one| self.arrived(one, opener));
    }

    /// A file that is not known is opened without a look before: of thousands most are new.
    fn arrived(&mut self, one: &Listed, opener: &mut dyn Opener) {
        let path = one.path.as_path();
        if !one.is_file
            || !self.has_room()
            || self.by_path.contains_key(path)
            || !self.open(path, None, opener)
        {
            self.examine(path, opener);
        }
    }

    fn has_room(&self) -> bool {
        self.files.len() - self.let_go.len() < self.options.files_max
    }

    /// Looks at what a path leads to.
    pub fn examine(&mut self, path: &Path, opener: &mut dyn Opener) {
        self.examine_after(path, None, opener);
    }

    fn examine_after(&mut self, path: &Path, after: Option<Arc<Followed>>, opener: &mut dyn Opener) {
        let Some(meta) = regular(path) else {
            self.waiting.remove(path);
            self.refused.remove(path);
            self.path_gone(path);
            return;
        };
        let id = FileId::of(&meta);
        let seen = seen(&meta);
        let known = self.by_path.get(path).copied();
        if known == Some(id)
            && let Some(entry) = self.files.get_mut(&id)
            && entry.path.is_some()
        {
            if entry.seen != seen {
                entry.seen = seen;
                entry.followed.wake();
            }
            return;
        }
        self.path_gone(path);
        if let Some(entry) = self.files.get_mut(&id) {
            // Renamed, or a second name of the same file.
            let shared: Arc<Path> = path.into();
            let replaced = entry.path.replace(Arc::clone(&shared));
            entry.seen = seen;
            entry.followed.keep();
            entry.followed.tracker.moved(path);
            entry.followed.wake();
            self.let_go.retain(|other| *other != id);
            if let Some(other) = replaced.filter(|other| regular(other).is_some_and(|m| FileId::of(&m) == id))
            {
                // The first name stays the one it is known by.
                entry.path = Some(other);
            }
            self.by_path.insert(shared, id);
            return;
        }
        if !self.has_room() {
            if self.waiting.is_empty() {
                oplog::warning(
                    "There are more files than max-files() allows, further ones wait until another one is gone",
                    &[
                        ("source", &self.options.key),
                        ("max_files", &self.options.files_max),
                        ("file", &path.display()),
                    ],
                );
            }
            self.waiting.insert(path.to_owned());
            return;
        }
        self.open(path, after, opener);
    }

    /// Opens what no reader has. `false` when one has it, under another name.
    fn open(&mut self, path: &Path, after: Option<Arc<Followed>>, opener: &mut dyn Opener) -> bool {
        match open(path) {
            Ok((file, meta)) => {
                let (id, seen) = (FileId::of(&meta), seen(&meta));
                if self.files.contains_key(&id) {
                    return false;
                }
                self.waiting.remove(path);
                if !self.refused.is_empty() {
                    self.refused.remove(path);
                }
                let begin = if self.started || self.options.read_old { Begin::Start } else { Begin::End };
                let after = self.formerly(path).or(after);
                let path: Arc<Path> = path.into();
                self.add(Found { id, file, path: &path, seen }, begin, after, opener);
                self.by_path.insert(path, id);
            }
            Err(error) => {
                if self.refused.len() < self.options.files_max && self.refused.insert(path.to_owned()) {
                    oplog::error(
                        "Cannot open a file for reading",
                        &[("filename", &path.display()), ("error", &error)],
                    );
                }
            }
        }
        true
    }

    /// A file that had a wanted path was renamed to a path that is not: should it not be known, it is read to its end nevertheless.
    pub fn moved_away(&mut self, from: &Path, to: &Path, opener: &mut dyn Opener) {
        let Some(meta) = regular(to) else { return };
        if self.files.contains_key(&FileId::of(&meta)) {
            return;
        }
        let Ok((file, meta)) = open(to) else { return };
        let id = FileId::of(&meta);
        self.path_gone(from);
        let before = self.formerly(from);
        let from: Arc<Path> = from.into();
        self.add(Found { id, file, path: &from, seen: seen(&meta) }, Begin::Start, before, opener);
        // The next file at the path comes after this one.
        self.by_path.insert(from, id);
    }

    fn add(
        &mut self,
        found: Found<'_>,
        begin: Begin,
        after: Option<Arc<Followed>>,
        opener: &mut dyn Opener,
    ) -> Arc<Followed> {
        let Found { id, file, path, seen } = found;
        let name = id.name(&self.options.key);
        let (tracker, known) = Tracker::open(&self.store, name, path, &file, &self.saves);
        let followed = Followed::new(id, tracker, after);
        let begin = known.map_or(begin, Begin::At);
        opener.open(file, path, begin, &followed);
        let entry =
            Entry { followed: Arc::clone(&followed), path: Some(Arc::clone(path)), last_path: None, seen };
        self.files.insert(id, entry);
        followed
    }

    /// No file is at this path any more, or another one.
    fn path_gone(&mut self, path: &Path) {
        let Some(id) = self.by_path.remove(path) else { return };
        if self.files.get(&id).is_some_and(|entry| entry.path.as_deref() == Some(path)) {
            self.leave(id);
        }
    }

    /// The file that was at this path last, if it is still being read.
    fn formerly(&self, path: &Path) -> Option<Arc<Followed>> {
        let mut entries = self.let_go.iter().rev().filter_map(|id| self.files.get(id));
        entries
            .find(|entry| entry.last_path.as_deref() == Some(path))
            .map(|entry| Arc::clone(&entry.followed))
    }

    fn leave(&mut self, id: FileId) {
        let Some(entry) = self.files.get_mut(&id) else { return };
        entry.last_path = entry.path.take();
        entry.followed.let_go();
        self.let_go.push_back(id);
        if self.let_go.len() > LET_GO_MAX
            && let Some(oldest) = self.let_go.pop_front()
            && let Some(entry) = self.files.get(&oldest)
        {
            entry.followed.hurry();
            self.let_go.push_back(oldest);
        }
    }

    /// The reader of a file has ended: there is room for one that waits.
    pub fn ended(&mut self, id: FileId, opener: &mut dyn Opener) {
        let Some(entry) = self.files.remove(&id) else { return };
        self.let_go.retain(|other| *other != id);
        if let Some(path) = entry.path {
            self.by_path.remove(&path);
        }
        if let Some(path) = self.waiting.pop_first() {
            self.examine(&path, opener);
        }
    }

    /// Everything that is known or waits, for a look at each.
    pub fn paths(&self) -> Vec<Arc<Path>> {
        match &self.options.wanted {
            Wanted::One(path) => vec![path.as_path().into()],
            Wanted::Matching(_) => self.by_path.keys().cloned().collect(),
        }
    }

    /// The reader of a path, if it has one.
    pub fn wake(&self, path: &Path) -> bool {
        let entry = self.by_path.get(path).and_then(|id| self.files.get(id));
        if let Some(entry) = entry {
            entry.followed.wake();
        }
        entry.is_some()
    }

    /// Notifications were lost: everybody looks.
    pub fn wake_all(&self) {
        self.files.values().for_each(|entry| entry.followed.wake());
    }
}

fn seen(meta: &Metadata) -> Seen {
    (meta.len(), meta.mtime(), meta.mtime_nsec())
}

fn open(path: &Path) -> std::io::Result<(File, Metadata)> {
    // Without waiting for a writer, should it have become a pipe meanwhile.
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
    let open = |flags| std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path);
    // Each read of what was just written would write the time of reading to the disk; only the owner and root may say that it need not.
    let file = match open(flags | nix::libc::O_NOATIME) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => open(flags)?,
        opened => opened?,
    };
    let meta = file.metadata()?;
    match meta.is_file() {
        true => Ok((file, meta)),
        false => Err(std::io::Error::other("it is no regular file")),
    }
}

/// The file of a stored position under another name in the same folder, with the time of its last change.
fn renamed(id: FileId, position: &Position, path: &Path) -> Option<((i64, i64), File)> {
    let entries = std::fs::read_dir(path.parent()?).ok()?;
    let found = entries.flatten().find(|entry| {
        entry.ino() == id.ino && entry.metadata().is_ok_and(|meta| meta.is_file() && FileId::of(&meta) == id)
    })?;
    let (file, meta) = open(&found.path()).ok()?;
    let same = FileId::of(&meta) == id && position.is_in(&file).ok()?;
    same.then_some(((meta.mtime(), meta.mtime_nsec()), file))
}

fn folder_has_files(path: &Path) -> bool {
    path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).is_some_and(|mut it| it.next().is_some())
}

#[cfg(test)]
mod tests;
