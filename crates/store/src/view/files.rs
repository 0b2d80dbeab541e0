//! Files of a log, opened for reading only.

use crate::files::{SegmentFile, read_all};
use crate::snapshot::Snapshot;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::SystemTime;

pub struct OpenedForReading(File);

impl OpenedForReading {
    pub fn open(path: &Path) -> io::Result<OpenedForReading> {
        Ok(OpenedForReading(File::open(path)?))
    }

    pub fn header(&self) -> Option<Snapshot> {
        Snapshot::read_header(self, self.length().ok()?)
    }

    pub fn footer(&self) -> Option<Snapshot> {
        Snapshot::read_footer(self, self.length().ok()?)
    }

    pub fn modified(&self) -> io::Result<SystemTime> {
        self.0.metadata()?.modified()
    }

    /// Whether the file is still the one of this name.
    pub fn is_at(&self, path: &Path) -> bool {
        use std::os::unix::fs::MetadataExt;
        let (Ok(here), Ok(there)) = (self.0.metadata(), path.metadata()) else { return false };
        (here.dev(), here.ino()) == (there.dev(), there.ino())
    }
}

/// The log's key, if its file can be read.
pub fn key(folder: &Path) -> Option<u64> {
    let file = OpenedForReading::open(&folder.join(crate::key::KEY)).ok()?;
    let mut bytes = [0; 20];
    (read_all(&file, &mut bytes, 0) == bytes.len()).then_some(())?;
    crate::key::key_in(&bytes)
}

impl SegmentFile for OpenedForReading {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.0.read_at(bytes, at)
    }

    fn write_at(&self, _bytes: &[u8], _at: u64) -> io::Result<usize> {
        Err(ErrorKind::PermissionDenied.into())
    }

    fn write_pages(&self, _bytes: &[u8], _at: u64) -> io::Result<usize> {
        Err(ErrorKind::PermissionDenied.into())
    }

    fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn allocate(&self, _length: u64) -> io::Result<()> {
        Err(ErrorKind::PermissionDenied.into())
    }

    fn truncate(&self, _length: u64) -> io::Result<()> {
        Err(ErrorKind::PermissionDenied.into())
    }
}
