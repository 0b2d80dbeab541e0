//! The map and its file: each change is appended with one write, so that a killed process loses none; when
//! the file has grown far beyond what it holds, it is written anew beside itself and renamed.

use crate::log::{self, Change, HEADER};
use crate::too_much::TooMuch;
use parking_lot::Mutex;
use rustix::fs::FlockOperation;
use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Names in the map; a further one is refused and said.
pub(crate) const ENTRIES_MAX: usize = 1 << 20;
/// A file smaller than this is never written anew.
const REWRITE_MIN: u64 = 1 << 20;
/// A file is written anew when it is so many times as large as what it holds.
const REWRITE_FACTOR: u64 = 4;
/// A larger file is not one of ours.
const FILE_BYTES_MAX: u64 = 4 << 30;

/// Damaged files that are kept.
const ASIDE_MAX: usize = 10;

/// Shared by all that have something to remember. Calls are short: they never wait for the disk, only for the
/// page cache, except when the file is written anew.
pub struct Store {
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Where the file is, also while another process has it.
    path: Option<PathBuf>,
    map: HashMap<Box<[u8]>, Box<[u8]>>,
    /// Bytes of the map as records.
    live: u64,
    disk: Option<Disk>,
    buffer: Vec<u8>,
}

struct Disk {
    path: PathBuf,
    file: File,
    /// Bytes of whole records, the header included.
    length: u64,
    /// What stands behind `length` is not known: the file has to be written anew.
    torn: bool,
}

impl Store {
    /// A store that is forgotten with the process.
    pub fn in_memory() -> Store {
        Store { inner: Mutex::default() }
    }

    /// Opens or makes the file. What a crash left half written at its end is cut off; a file of another
    /// format is an error.
    pub fn open(path: &Path) -> io::Result<Store> {
        Ok(Store { inner: Mutex::new(Inner::open(path)?) })
    }

    /// As [`Store::open`]; what is there and is no state file of this version, such as one with a damaged
    /// beginning, is moved aside with a warning and a new one begun. What was remembered is lost with it, so
    /// files may be read again; not to start would lose more.
    pub fn open_or_begin(path: &Path) -> io::Result<Store> {
        match Store::open(path) {
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::IsADirectory
                ) =>
            {
                let aside = move_aside(path)?;
                oplog::error(
                    "The state file cannot be read and was moved aside; a new one is begun, files may be read again",
                    &[("file", &path.display()), ("moved_to", &aside.display()), ("error", &error)],
                );
                Store::open(path)
            }
            opened => opened,
        }
    }

    /// What is in a file, which another process may have open.
    pub fn look(path: &Path) -> io::Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut inner = Inner::default();
        inner.fill(path, &regular::read(path, FILE_BYTES_MAX)?)?;
        Ok(inner.with_prefix(b""))
    }

    /// Lets go of the file: another process is to open it. From now on changes are remembered in memory only.
    pub fn release(&self) -> io::Result<()> {
        let disk = self.inner.lock().disk.take();
        disk.map_or(Ok(()), |disk| disk.file.sync_data())
    }

    /// Opens the file again, with what another process has written meanwhile. Fails while that has it open.
    pub fn resume(&self) -> io::Result<()> {
        let mut inner = self.inner.lock();
        if let Some(path) = inner.path.clone().filter(|_| inner.disk.is_none()) {
            *inner = Inner::open(&path)?;
        }
        Ok(())
    }

    /// The file; `None` of one that is forgotten with the process.
    pub fn path(&self) -> Option<PathBuf> {
        self.inner.lock().path.clone()
    }

    pub fn get(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.inner.lock().map.get(name).map(|value| value.to_vec())
    }

    /// All names that begin with `prefix`, in order, with their values.
    pub fn with_prefix(&self, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        self.inner.lock().with_prefix(prefix)
    }

    /// Remembers a value. What cannot be remembered (too long, too many, disk full) is said; the map in
    /// memory goes on.
    pub fn put(&self, name: &[u8], value: &[u8]) {
        if let Err(too_much) = self.try_put(name, value) {
            too_much.say();
        }
    }

    /// The same, where the caller says what is too long or too many.
    pub fn try_put(&self, name: &[u8], value: &[u8]) -> Result<(), TooMuch> {
        let mut inner = self.inner.lock();
        TooMuch::of(name, value, inner.map.len() < ENTRIES_MAX || inner.map.contains_key(name))?;
        inner.change([Change { name, value: Some(value) }]);
        Ok(())
    }

    /// The same for many names in one write.
    pub fn put_all<'a>(&self, changes: impl Iterator<Item = (&'a [u8], &'a [u8])>) {
        let mut inner = self.inner.lock();
        let mut room = ENTRIES_MAX.saturating_sub(inner.map.len());
        let mut left_out = None;
        let fits = changes.filter(|(name, value)| {
            let too_much = TooMuch::of(name, value, room > 0).err();
            room = room.saturating_sub(1);
            left_out = left_out.or(too_much);
            too_much.is_none()
        });
        inner.change(fits.map(|(name, value)| Change { name, value: Some(value) }));
        drop(inner);
        if let Some(too_much) = left_out {
            too_much.say();
        }
    }

    pub fn remove(&self, name: &[u8]) {
        let mut inner = self.inner.lock();
        if inner.map.contains_key(name) {
            inner.change([Change { name, value: None }]);
        }
    }

    /// Writes the file anew when it is not where the next start would look for it: somebody has removed it,
    /// or its folder.
    pub fn look_after(&self) {
        let mut inner = self.inner.lock();
        let Inner { map, live, disk, .. } = &mut *inner;
        let Some(disk) = disk else { return };
        if disk.is_in_place() {
            return;
        }
        let make = |folder| DirBuilder::new().recursive(true).mode(0o750).create(folder);
        let restored = disk.folder().map_or(Ok(()), make).and_then(|()| disk.rewrite(map, *live));
        let file = disk.path.display();
        match restored {
            Ok(()) => oplog::error(
                "The state file was removed while it is in use; it is written anew",
                &[("file", &file)],
            ),
            Err(error) => oplog::limited(
                "state-removed",
                oplog::Level::Error,
                "The state file was removed while it is in use, and cannot be written anew",
                &[("file", &file), ("error", &error)],
            ),
        }
    }

    /// Waits until the disk has it all.
    pub fn sync(&self) -> io::Result<()> {
        let file = self.inner.lock().disk.as_ref().map(|disk| disk.file.try_clone()).transpose()?;
        file.map_or(Ok(()), |file| file.sync_data())
    }
}

impl Inner {
    fn open(path: &Path) -> io::Result<Inner> {
        let mut inner = Inner { path: Some(path.to_owned()), ..Inner::default() };
        let file = own(path)?;
        let bytes = regular::read(path, FILE_BYTES_MAX).map_err(|error| match error.kind() {
            ErrorKind::FileTooLarge => foreign("is too large"),
            _ => error,
        })?;
        let length = inner.fill(path, &bytes)?;
        file.set_len(length as u64)?;
        let mut disk = Disk { path: path.to_owned(), file, length: length as u64, torn: false };
        if length == 0
            && let Err(error) = disk.append(&HEADER)
        {
            if !matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded) {
                return Err(error);
            }
            // It is written as a whole once there is room.
            disk.torn = true;
        }
        inner.disk = Some(disk);
        Ok(inner)
    }

    /// Takes in the records of a file; how many bytes of it are good.
    fn fill(&mut self, path: &Path, bytes: &[u8]) -> io::Result<usize> {
        let Some(mut rest) = bytes.strip_prefix(&HEADER) else {
            // Nothing, or a header that was never finished.
            let unfinished = bytes.len() < HEADER.len() && HEADER.starts_with(bytes);
            return if unfinished { Ok(0) } else { Err(foreign("is no state file of this version")) };
        };
        while let Some((change, after)) = log::next(rest) {
            self.note(&change);
            rest = after;
        }
        if !rest.is_empty() {
            let dropped = rest.len();
            oplog::warning(
                "The state file ends in a damaged record, which is left out",
                &[("file", &path.display()), ("bytes", &dropped)],
            );
        }
        Ok(bytes.len() - rest.len())
    }

    fn with_prefix(&self, prefix: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
        let matching = self.map.iter().filter(|(name, _)| name.starts_with(prefix));
        let mut found: Vec<_> = matching.map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
        found.sort_unstable();
        found
    }

    fn note(&mut self, change: &Change<'_>) {
        let old = match change.value {
            Some(value) => {
                self.live += log::size(change.name, value) as u64;
                match self.map.get_mut(change.name) {
                    // Most changes are of positions, which are as long as before.
                    Some(place) if place.len() == value.len() => {
                        place.copy_from_slice(value);
                        self.live -= log::size(change.name, value) as u64;
                        return;
                    }
                    Some(place) => Some(std::mem::replace(place, value.into())),
                    None => self.map.insert(change.name.into(), value.into()),
                }
            }
            None => self.map.remove(change.name),
        };
        if let Some(old) = old {
            self.live -= log::size(change.name, &old) as u64;
        }
    }

    fn change<'a>(&mut self, changes: impl IntoIterator<Item = Change<'a>>) {
        self.buffer.clear();
        for change in changes {
            self.note(&change);
            if self.disk.is_some() {
                log::append(&mut self.buffer, &change);
            }
        }
        let Inner { map, live, disk, buffer, .. } = self;
        let Some(disk) = disk else { return };
        let grown = disk.length > REWRITE_MIN && disk.length / REWRITE_FACTOR > *live;
        let outcome = match disk.torn || grown {
            true => disk.rewrite(map, *live),
            false => disk.append(buffer),
        };
        if let Err(error) = outcome {
            oplog::limited(
                "state-write",
                oplog::Level::Error,
                "Cannot write the state file, positions may be old after a restart",
                &[("file", &disk.path.display()), ("error", &error)],
            );
        }
    }
}

impl Disk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.file.write_all(bytes) {
            // Half a record would hide all that come after it.
            self.torn = self.file.set_len(self.length).is_err();
            return Err(error);
        }
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn is_in_place(&self) -> bool {
        let (Ok(open), Ok(there)) = (self.file.metadata(), std::fs::metadata(&self.path)) else {
            return false;
        };
        (open.dev(), open.ino()) == (there.dev(), there.ino())
    }

    fn folder(&self) -> Option<&Path> {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty())
    }

    /// Writes everything to a new file, which then takes the place of the old one.
    fn rewrite(&mut self, map: &HashMap<Box<[u8]>, Box<[u8]>>, live: u64) -> io::Result<()> {
        let mut bytes = Vec::with_capacity(HEADER.len() + live as usize);
        bytes.extend_from_slice(&HEADER);
        for (name, value) in map {
            log::append(&mut bytes, &Change { name, value: Some(value) });
        }
        let mut fresh = self.path.clone().into_os_string();
        fresh.push(".new");
        let fresh = PathBuf::from(fresh);
        let mut file = append_to(&fresh)?;
        // Whoever opens it under its new name finds it taken.
        lock(&file)?;
        file.set_len(0)?;
        file.write_all(&bytes)?;
        file.sync_data()?;
        std::fs::rename(&fresh, &self.path)?;
        self.file = file;
        self.length = bytes.len() as u64;
        self.torn = false;
        if let Some(folder) = self.folder() {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    match regular::open(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => OpenOptions::new().append(true).create(true).mode(0o600).open(path),
    }
}

/// Gives what is there a name that says that it is damaged, and is not taken. Where it is now.
fn move_aside(path: &Path) -> io::Result<PathBuf> {
    let name = |number: usize| {
        let mut name = path.to_owned().into_os_string();
        name.push(".damaged");
        if number > 1 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    // With so many there already, the last one is replaced.
    let free = (1..ASIDE_MAX).map(name).find(|name| name.symlink_metadata().is_err());
    let aside = free.unwrap_or_else(|| name(ASIDE_MAX));
    std::fs::rename(path, &aside)?;
    Ok(aside)
}

/// Opens the file for this process alone. Of a process that was killed nothing is left that would hinder.
fn own(path: &Path) -> io::Result<File> {
    loop {
        let file = append_to(path)?;
        lock(&file)?;
        // Another process may have put a new one in its place, between opening and locking.
        let (ours, there) = (file.metadata()?, std::fs::metadata(path)?);
        if (ours.dev(), ours.ino()) == (there.dev(), there.ino()) {
            return Ok(file);
        }
    }
}

fn lock(file: &File) -> io::Result<()> {
    rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive).map_err(|error| match error {
        rustix::io::Errno::WOULDBLOCK => {
            let text = "another running program has it; stop that one, or give another state folder";
            io::Error::new(ErrorKind::WouldBlock, text)
        }
        error => error.into(),
    })
}

fn foreign(what: &str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("it {what}; move it away, and a new one will be made"))
}

#[cfg(test)]
mod tests;
