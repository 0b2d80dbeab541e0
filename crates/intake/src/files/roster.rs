//! The files of one source: which path leads to which file, what had its place before, and how many are open.
//! Looks at the file system when told to, and opens through [`Opener`]; knows no workers and no
//! notifications.

mod left;
mod open;
mod start;
mod turns;

use super::acks::Tracker;
use super::followed::Followed;
use super::identity::FileId;
use super::saves::Saves;
use super::tail::Begin;
use super::wanted::{Listed, Wanted, regular};
use left::Left;
use open::Refused;
use record::Seed;
use start::Stored;
use state::Store;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use turns::Turns;

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
    /// Size and time of the last change when it was last looked at.
    seen: Seen,
    /// Its place in [`Turns`].
    number: u64,
}

/// Size and time of the last change.
type Seen = (u64, i64, i64);

/// A file that was opened.
struct Opened<'a> {
    id: FileId,
    file: File,
    path: &'a Arc<Path>,
    seen: Seen,
}

pub struct Roster {
    options: RosterOptions,
    store: Arc<Store>,
    saves: Arc<Saves>,
    by_path: HashMap<Arc<Path>, FileId, Seed>,
    files: HashMap<FileId, Entry, Seed>,
    turns: Turns,
    /// The highest number that a file has in the state file.
    numbered: u64,
    /// Those of the files that no path leads to.
    left: Left,
    /// What max-files() or the system has no room for.
    waiting: BTreeSet<PathBuf>,
    /// Renamed files of an earlier run that there were no descriptors for.
    renamed: Vec<Stored>,
    /// Descriptors of files are below this.
    descriptors_max: u64,
    /// There were no descriptors for the last one.
    starved: bool,
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
            by_path: HashMap::default(),
            files: HashMap::default(),
            turns: Turns::default(),
            numbered: 0,
            left: Left::default(),
            waiting: BTreeSet::new(),
            renamed: Vec::new(),
            descriptors_max: open::descriptors_max(),
            starved: false,
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

    /// Looks at what a listing has found.
    pub fn arrive(&mut self, listed: &[Listed], opener: &mut dyn Opener) {
        self.by_path.reserve(listed.len());
        self.files.reserve(listed.len());
        listed.iter().for_each(|one| self.arrived(one, opener));
    }

    /// The same where all readers are given a turn: files that are known need no look.
    pub fn arrive_anew(&mut self, listed: &[Listed], opener: &mut dyn Opener) {
        for one in listed {
            if !self.is_known(one) {
                self.arrived(one, opener);
            }
        }
        self.turns.begin();
    }

    fn is_known(&self, one: &Listed) -> bool {
        let known = self.by_path.get(one.path.as_path()).filter(|id| one.is_file && id.ino == one.ino);
        known.and_then(|id| self.files.get(id)).is_some_and(|entry| entry.path.as_deref() == Some(&one.path))
    }

    /// Looks at the paths of files that are not in a listing of everything.
    pub fn examine_others(&mut self, listed: &[Listed], opener: &mut dyn Opener) {
        let listed: HashSet<&Path, Seed> = listed.iter().map(|one| one.path.as_path()).collect();
        let others = self.by_path.keys().filter(|path| !listed.contains(&***path));
        let others: Vec<Arc<Path>> = others.cloned().collect();
        others.iter().for_each(|path| self.examine(path, opener));
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
        !self.starved && self.files.len() - self.left.count() < self.options.files_max
    }

    /// A file is left for later.
    fn wait(&mut self, path: &Path) {
        if self.waiting.is_empty() {
            let key: &str = &self.options.key;
            match self.starved {
                true => open::say_starved(key, path),
                false => oplog::warning(
                    "There are more files than max-files() allows, further ones wait until another one is gone",
                    &[("source", &key), ("max_files", &self.options.files_max), ("file", &path.display())],
                ),
            }
        }
        self.waiting.insert(path.to_owned());
    }

    /// Whether files wait for descriptors, of which others may give some back.
    pub fn is_starved(&self) -> bool {
        self.starved
    }

    /// There may be descriptors again.
    pub fn retry(&mut self, opener: &mut dyn Opener) {
        self.starved = false;
        let renamed = std::mem::take(&mut self.renamed);
        if !renamed.is_empty() {
            self.find_renamed(renamed, opener);
        }
        while self.begin_waiting(opener) {}
    }

    /// Looks at a path that waits; `false` when there is none or no room.
    fn begin_waiting(&mut self, opener: &mut dyn Opener) -> bool {
        let Some(path) = self.waiting.first().filter(|_| self.has_room()).cloned() else { return false };
        self.examine(&path, opener);
        if !self.starved {
            self.waiting.remove(&path);
        }
        !self.starved
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
            entry.followed.tracker.moved(&shared);
            entry.followed.wake();
            self.left.remove(id);
            if let Some(other) = replaced.filter(|other| regular(other).is_some_and(|m| FileId::of(&m) == id))
            {
                // The first name stays the one it is known by.
                entry.path = Some(other);
            }
            self.by_path.insert(shared, id);
            return;
        }
        if !self.has_room() {
            return self.wait(path);
        }
        self.open(path, after, opener);
    }

    /// Opens what no reader has. `false` when one has it, under another name.
    fn open(&mut self, path: &Path, after: Option<Arc<Followed>>, opener: &mut dyn Opener) -> bool {
        match open::open(path, self.descriptors_max) {
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
                self.add(Opened { id, file, path: &path, seen }, begin, after, opener);
                self.by_path.insert(path, id);
            }
            Err(Refused::Descriptors) => {
                self.starved = true;
                self.wait(path);
            }
            Err(Refused::Other(error)) => {
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

    /// A file that had a wanted path was renamed to a path that is not: should it not be known, it is read to
    /// its end nevertheless.
    pub fn moved_away(&mut self, from: &Path, to: &Path, opener: &mut dyn Opener) {
        let Some(meta) = regular(to) else { return };
        if self.files.contains_key(&FileId::of(&meta)) {
            return;
        }
        // It is not left for later: nobody would find it again.
        let Ok((file, meta)) = open::open(to, u64::MAX) else {
            let text = "Cannot open a file that was renamed before it was read";
            return oplog::error(text, &[("filename", &from.display()), ("now", &to.display())]);
        };
        let id = FileId::of(&meta);
        self.path_gone(from);
        let before = self.formerly(from);
        let from: Arc<Path> = from.into();
        self.add(Opened { id, file, path: &from, seen: seen(&meta) }, Begin::Start, before, opener);
        // The next file at the path comes after this one.
        self.by_path.insert(from, id);
    }

    fn add(
        &mut self,
        found: Opened<'_>,
        begin: Begin,
        after: Option<Arc<Followed>>,
        opener: &mut dyn Opener,
    ) -> Arc<Followed> {
        let Opened { id, file, path, seen } = found;
        let name = id.name(&self.options.key);
        let (tracker, known) = Tracker::open(&self.store, name, path, &file, &self.saves);
        let before = after.as_ref().map_or(0, |after| after.tracker.number());
        tracker.count(known.is_some(), before, &mut self.numbered);
        let followed = Followed::new(id, tracker, after);
        let begin = known.map_or(begin, Begin::At);
        opener.open(file, path, begin, &followed);
        let (number, path) = (self.turns.add(&followed), Some(Arc::clone(path)));
        let entry = Entry { followed: Arc::clone(&followed), path, seen, number };
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
        let entry = self.left.last_at(path).and_then(|id| self.files.get(&id));
        entry.map(|entry| Arc::clone(&entry.followed))
    }

    fn leave(&mut self, id: FileId) {
        let Some(entry) = self.files.get_mut(&id) else { return };
        let Some(path) = entry.path.take() else { return };
        entry.followed.let_go();
        let too_many = self.left.push(id, path);
        // While others wait for descriptors nobody waits for late writers.
        let hurried = if self.starved { Some(id) } else { too_many };
        if let Some(entry) = hurried.and_then(|id| self.files.get(&id)) {
            entry.followed.hurry();
        }
    }

    /// The reader of a file has ended: there is room for one that waits.
    pub fn ended(&mut self, id: FileId, opener: &mut dyn Opener) {
        let Some(entry) = self.files.remove(&id) else { return };
        self.left.remove(id);
        self.turns.remove(entry.number);
        if let Some(path) = entry.path {
            self.by_path.remove(&path);
        }
        self.retry(opener);
    }

    /// Everything that is known or waits, for a look at each.
    pub fn paths(&self) -> Vec<Arc<Path>> {
        match &self.options.wanted {
            Wanted::One(path) => vec![path.as_path().into()],
            Wanted::Matching(_) => self.by_path.keys().cloned().collect(),
        }
    }

    /// What is read at a path, if anything is.
    pub fn followed(&self, path: &Path) -> Option<&Arc<Followed>> {
        let entry = self.by_path.get(path).and_then(|id| self.files.get(id));
        entry.map(|entry| &entry.followed)
    }

    /// Files that are read.
    pub fn count(&self) -> usize {
        self.files.len()
    }

    /// Everybody's turns.
    pub fn turns(&mut self) -> &mut Turns {
        &mut self.turns
    }
}

fn seen(meta: &Metadata) -> Seen {
    (meta.len(), meta.mtime(), meta.mtime_nsec())
}

#[cfg(test)]
mod tests;
