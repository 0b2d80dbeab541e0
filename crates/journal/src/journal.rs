//! The files of a journal together: entries of all of them in one order, each once, from where an earlier
//! reader was; files that come and go while it is read.

use crate::error::Error;
use crate::file::{JournalFile, is_unborn};
use crate::object::EntryHead;
use crate::place::{EntryPosition, Id};
use crate::skipped::Skipped;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files that are open at once; further ones are not read, which is said.
const FILES_MAX: usize = 4096;
/// Entries that are passed over in one call because they are not wanted.
const PASSED_MAX: usize = 4096;

pub struct JournalOptions {
    /// Their files are read, not those of folders in them.
    pub folders: Vec<PathBuf>,
    pub filter: Filter,
    /// Bytes of a value; longer ones are cut.
    pub value_max: usize,
}

/// Which entries are wanted: those of one boot, and those that have for each of some names one of some
/// values.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub boot: Option<Id>,
    pub matches: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
}

/// Where to begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Begin {
    Head,
    /// With what comes from now on.
    Tail,
    /// Behind these, one a numbering; what was numbered otherwise is read from its beginning.
    After(Vec<EntryPosition>),
}

/// Something is wrong with a file; it is said once.
#[derive(Debug)]
pub struct WrongFile {
    pub path: PathBuf,
    pub error: Error,
}

/// One entry.
pub struct Entry<'a> {
    pub head: EntryHead,
    pub place: EntryPosition,
    text: &'a [u8],
    fields: &'a [(Range<usize>, Range<usize>)],
}

impl<'a> Entry<'a> {
    /// Names and values in the order of the file. A name may come more than once.
    pub fn fields(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let text = self.text;
        self.fields.iter().map(move |(name, value)| {
            (text.get(name.clone()).unwrap_or_default(), text.get(value.clone()).unwrap_or_default())
        })
    }
}

/// Which file is which, whatever its name: inodes are given out again, times of birth are not.
type Key = (u64, u64, Option<SystemTime>);

struct Open {
    file: JournalFile,
    path: PathBuf,
    key: Key,
    next: Option<(EntryHead, EntryPosition)>,
    /// At its end, until it is looked at again.
    ended: bool,
    /// Its chain of entries is damaged: nothing more comes from it.
    broken: bool,
}

pub struct Journal {
    options: JournalOptions,
    /// For files whose numbering is not known.
    begin: Begin,
    files: Vec<Open>,
    /// Files that are read to their ends and will not grow.
    done: HashSet<Key>,
    /// Files that cannot be read.
    refused: HashSet<Key>,
    /// The last entry of each numbering that was read.
    last: HashMap<Id, EntryPosition>,
    previous: Option<EntryPosition>,
    faults: Vec<WrongFile>,
    /// Entries that were left out because they are damaged.
    skipped: Skipped,
    /// The last call ended before the end.
    has_more: bool,
    text: Vec<u8>,
    fields: Vec<(Range<usize>, Range<usize>)>,
}

impl Journal {
    /// Nothing is opened before [`Journal::rescan`].
    pub fn new(options: JournalOptions, begin: Begin) -> Journal {
        let last = match &begin {
            Begin::After(places) => places.iter().map(|place| (place.seqnum_id, *place)).collect(),
            _ => HashMap::new(),
        };
        Journal {
            options,
            begin,
            files: Vec::new(),
            done: HashSet::new(),
            refused: HashSet::new(),
            last,
            previous: None,
            faults: Vec::new(),
            skipped: Skipped::default(),
            has_more: false,
            text: Vec::new(),
            fields: Vec::new(),
        }
    }

    /// Takes effect with the next [`Journal::rescan`].
    pub fn set_folders(&mut self, folders: Vec<PathBuf>) {
        self.options.folders = folders;
    }

    pub fn folders(&self) -> &[PathBuf] {
        &self.options.folders
    }

    /// The last entry that was read of each numbering; with [`Begin::Tail`], those that were passed over too.
    pub fn places(&self) -> impl Iterator<Item = &EntryPosition> {
        self.last.values()
    }

    /// What went wrong since the last call.
    pub fn take_faults(&mut self) -> Vec<WrongFile> {
        std::mem::take(&mut self.faults)
    }

    /// Entries that were left out since the last call because they are damaged.
    pub fn take_skipped(&mut self) -> Skipped {
        let mut skipped = std::mem::take(&mut self.skipped);
        self.files.iter_mut().for_each(|open| skipped.join(open.file.take_skipped()));
        skipped
    }

    /// Looks which files there are. `false` when a folder cannot be read.
    pub fn rescan(&mut self) -> bool {
        let mut listed = HashSet::new();
        let mut complete = true;
        for folder in self.options.folders.clone() {
            let Ok(entries) = std::fs::read_dir(&folder) else {
                complete = false;
                continue;
            };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.retain(|path| is_journal(path));
            paths.sort();
            for path in paths {
                if let Some(key) = self.found(path) {
                    listed.insert(key);
                }
            }
        }
        self.done.retain(|key| listed.contains(key));
        self.refused.retain(|key| listed.contains(key));
        // What is deleted is read to its end.
        self.files.retain(|open| listed.contains(&open.key) || !(open.ended || open.broken));
        // From now on, what is new is read from its beginning.
        if self.begin == Begin::Tail {
            self.begin = Begin::Head;
        }
        self.refresh();
        complete
    }

    fn found(&mut self, path: PathBuf) -> Option<Key> {
        let meta = std::fs::metadata(&path).ok().filter(|meta| meta.is_file())?;
        let key = (meta.dev(), meta.ino(), meta.created().ok());
        if let Some(open) = self.files.iter_mut().find(|open| open.key == key) {
            open.path = path;
            return Some(key);
        }
        let known = self.done.contains(&key) || self.refused.contains(&key);
        if known || is_unborn(meta.len()) || self.files.len() >= FILES_MAX {
            return Some(key);
        }
        let opened = File::open(&path).map_err(Error::from).and_then(JournalFile::open);
        match opened.and_then(|file| self.begin_in(file)) {
            Ok(Some(file)) => {
                self.files.push(Open { file, path, key, next: None, ended: false, broken: false });
            }
            Ok(None) => {
                self.done.insert(key);
            }
            Err(error) => {
                self.refused.insert(key);
                self.faults.push(WrongFile { path, error });
            }
        }
        Some(key)
    }

    /// Goes to where reading begins in a new file; `None` when nothing more will come from it.
    fn begin_in(&mut self, mut file: JournalFile) -> Result<Option<JournalFile>, Error> {
        let id = file.header().seqnum_id;
        match self.last.get(&id) {
            Some(place) => {
                if file.is_archived() && file.header().tail_seqnum <= place.seqnum {
                    return Ok(None);
                }
                // Should the search fail in a damaged file, its entries are gone through from the first.
                let place = *place;
                if file.seek_after(&place).is_err() {
                    file = reopened(file)?;
                }
            }
            None if self.begin == Begin::Tail => {
                let last = file.seek_end()?;
                self.last.extend(last.map(|place| (id, place)));
            }
            None => {}
        }
        Ok(Some(file))
    }

    /// Looks whether files have grown.
    pub fn refresh(&mut self) {
        for open in &mut self.files {
            if open.broken || (open.file.is_archived() && !open.ended) {
                continue;
            }
            if let Err(error) = open.file.refresh() {
                open.broken = true;
                self.faults.push(WrongFile { path: open.path.clone(), error });
            }
            open.ended = false;
        }
    }

    /// The next entry that is wanted; `None` when there is none now, or when [`Journal::has_more`].
    pub fn next_entry(&mut self) -> Option<Entry<'_>> {
        self.has_more = false;
        for _ in 0..PASSED_MAX {
            let at = self.first()?;
            if let Some((head, place)) = self.take(at) {
                return Some(Entry { head, place, text: &self.text, fields: &self.fields });
            }
        }
        self.has_more = true;
        None
    }

    /// Whether the last call gave nothing only because it had passed over so many.
    pub fn has_more(&self) -> bool {
        self.has_more
    }

    /// Which file has the entry that comes first.
    fn first(&mut self) -> Option<usize> {
        let mut first: Option<(usize, EntryPosition)> = None;
        let mut at = 0;
        while let Some(open) = self.files.get_mut(at) {
            if open.next.is_none() && !open.ended && !open.broken {
                match open.file.peek() {
                    Ok(head) => {
                        open.next = head.map(|head| (head, open.file.place(&head)));
                        open.ended = head.is_none();
                    }
                    Err(error) => {
                        open.broken = true;
                        self.faults.push(WrongFile { path: open.path.clone(), error });
                    }
                }
                if open.ended {
                    open.file.rest();
                }
                if (open.ended && open.file.is_archived()) || open.broken {
                    // A damaged file stays closed as long as it is there.
                    let mut closed = self.files.swap_remove(at);
                    self.skipped.join(closed.file.take_skipped());
                    if closed.broken {
                        self.refused.insert(closed.key)
                    } else {
                        self.done.insert(closed.key)
                    };
                    continue;
                }
            }
            if let Some((_, place)) = &open.next
                && first.as_ref().is_none_or(|(_, least)| place.before(least) == Ordering::Less)
            {
                first = Some((at, *place));
            }
            at += 1;
        }
        first.map(|(at, _)| at)
    }

    /// Reads the next entry of a file, if it is wanted.
    fn take(&mut self, at: usize) -> Option<(EntryHead, EntryPosition)> {
        let open = self.files.get_mut(at)?;
        let (head, place) = open.next.take()?;
        open.file.advance();
        // A copy of what another file had.
        let is_old = self.last.get(&place.seqnum_id).is_some_and(|last| place.seqnum <= last.seqnum)
            || self.previous.is_some_and(|previous| previous.is_same(&place));
        if is_old {
            return None;
        }
        self.last.insert(place.seqnum_id, place);
        self.previous = Some(place);
        if self.options.filter.boot.is_some_and(|boot| boot != head.boot) {
            return None;
        }
        let (text, fields) = (&mut self.text, &mut self.fields);
        text.clear();
        fields.clear();
        let outcome = open.file.fields(&head, self.options.value_max, |name, value| {
            let start = text.len();
            text.extend_from_slice(name);
            text.extend_from_slice(value);
            let middle = start + name.len();
            fields.push((start..middle, middle..text.len()));
        });
        if let Err(error) = outcome {
            let fields =
                fields.iter().filter_map(|(name, value)| text.get(name.clone()).zip(text.get(value.clone())));
            self.skipped.add(fields.flat_map(|(name, value)| [name, b"=", value, b"\n"].concat()).collect());
            if self.skipped.count == 1 {
                self.faults.push(WrongFile { path: open.path.clone(), error });
            }
            return None;
        }
        self.options.filter.wants(text, fields).then_some((head, place))
    }
}

impl Filter {
    fn wants(&self, text: &[u8], fields: &[(Range<usize>, Range<usize>)]) -> bool {
        self.matches.iter().all(|(wanted, values)| {
            fields.iter().any(|(name, value)| {
                text.get(name.clone()) == Some(wanted.as_slice())
                    && text.get(value.clone()).is_some_and(|value| values.iter().any(|v| v == value))
            })
        })
    }
}

fn reopened(file: JournalFile) -> Result<JournalFile, Error> {
    JournalFile::open(file.into_inner())
}

/// `system.journal`, `user-1000@....journal`, and `....journal~`, which was not closed well.
fn is_journal(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.as_bytes()).unwrap_or_default();
    name.ends_with(b".journal") || name.ends_with(b".journal~")
}

#[cfg(test)]
mod tests;
