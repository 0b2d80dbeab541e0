//! Opening files: how, and how many at most, so that descriptors are left for connections and destinations.

use super::start::Stored;
use crate::files::identity::FileId;
use record::Seed;
use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirEntryExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use transport::descriptors;

/// Of the descriptors below the ceiling, one in so many is not for files that are read ...
const SPARE_SHARE: u64 = 8;
/// ... but no more than this.
const SPARE_MAX: u64 = 256;

/// Why a file is not open.
pub enum Refused {
    /// There are no descriptors left for it now.
    Descriptors,
    Other(io::Error),
}

impl From<io::Error> for Refused {
    fn from(error: io::Error) -> Refused {
        if descriptors::are_used_up(&error) { Refused::Descriptors } else { Refused::Other(error) }
    }
}

/// Descriptors from this number on are left to connections and destinations, and above the ceiling to
/// everything else.
pub fn descriptors_max() -> u64 {
    without_spare(descriptors::ceiling())
}

fn without_spare(ceiling: u64) -> u64 {
    ceiling - (ceiling / SPARE_SHARE).min(SPARE_MAX)
}

/// Files of a source wait for descriptors, this one first.
pub fn say_starved(source: &str, first: &Path) {
    oplog::warning(
        "No more files can be open at once, further ones wait until others are gone: raise the limit of open files (LimitNOFILE= of the \
         service, ulimit -n)",
        &[("source", &source), ("limit", &descriptors::limit()), ("file", &first.display())],
    );
}

/// Opens a regular file, if its descriptor is below `descriptors_max`.
pub fn open(path: &Path, descriptors_max: u64) -> Result<(File, Metadata), Refused> {
    // Without waiting for a writer, should it have become a pipe meanwhile.
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
    let open = |flags| File::options().read(true).custom_flags(flags).open(path);
    // Each read of what was just written would write the time of reading to the disk; only the owner and root
    // may say that it need not.
    let file = match open(flags | nix::libc::O_NOATIME) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => open(flags),
        opened => opened,
    };
    let file = file.map_err(|error| sandbox::explained(error, path, sandbox::Access::Read))?;
    if u64::try_from(file.as_raw_fd()).is_ok_and(|number| number >= descriptors_max) {
        return Err(Refused::Descriptors);
    }
    let meta = file.metadata()?;
    match meta.is_file() {
        true => Ok((file, meta)),
        false => Err(Refused::Other(io::Error::other("it is no regular file"))),
    }
}

/// The time of a file's last change: seconds and nanoseconds.
type Changed = (i64, i64);

/// What is in folders, each listed once: thousands of files may have been renamed in one.
#[derive(Default)]
pub struct Folders(HashMap<PathBuf, HashMap<u64, PathBuf, Seed>>);

impl Folders {
    /// The file of a stored position under another name in the same folder, with the time of its last change.
    pub fn renamed(
        &mut self,
        stored: &Stored,
        descriptors_max: u64,
    ) -> Result<Option<(Changed, File)>, Refused> {
        let Stored { id, position, path, .. } = stored;
        let Some(found) = self.of(path).and_then(|files| files.get(&id.ino)) else { return Ok(None) };
        let (file, meta) = match open(found, descriptors_max) {
            Err(Refused::Other(_)) => return Ok(None),
            opened => opened?,
        };
        let same = FileId::of(&meta) == *id && position.is_in(&file)?;
        Ok(same.then_some(((meta.mtime(), meta.mtime_nsec()), file)))
    }

    /// Whether anything is in the folder of this path.
    pub fn has_files(&mut self, path: &Path) -> bool {
        self.of(path).is_some_and(|files| !files.is_empty())
    }

    fn of(&mut self, path: &Path) -> Option<&HashMap<u64, PathBuf, Seed>> {
        let folder = match path.parent()? {
            folder if folder.as_os_str().is_empty() => Path::new("."),
            folder => folder,
        };
        if !self.0.contains_key(folder) {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            self.0.insert(folder.to_owned(), entries.map(|entry| (entry.ino(), entry.path())).collect());
        }
        self.0.get(folder)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptors_are_left_for_others() {
        assert_eq!([48, 1024, 20_000, u64::MAX].map(|n| n - without_spare(n)), [6, 128, 256, 256]);
        let file = tempfile::NamedTempFile::new().expect("file");
        assert!(open(file.path(), u64::MAX).is_ok());
        assert!(matches!(open(file.path(), 0), Err(Refused::Descriptors)));
        assert!(matches!(open(Path::new("/"), u64::MAX), Err(Refused::Other(_))));
        assert!(matches!(
            Refused::from(io::Error::from_raw_os_error(nix::libc::EMFILE)),
            Refused::Descriptors
        ));
    }
}
