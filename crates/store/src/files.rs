//! The few things the store wants of a file system, as a trait: so that tests can have one that tears, loses
//! and refuses.

use crate::snapshot::NUMBER_MAX;
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// What direct writes are multiples of, in memory and in the file.
pub const PAGE: usize = 4096;
/// STATX_MNT_ID_UNIQUE, since Linux 6.8.
const MNT_ID_UNIQUE: u32 = 0x4000;
/// What cannot be read is tried again after these.
const READ_PAUSES: [Duration; 2] = match cfg!(test) {
    true => [Duration::ZERO; 2],
    false => [Duration::from_millis(10), Duration::from_millis(100)],
};

/// The files of a folder. Names are without the folder.
pub trait Files: Send + Sync {
    /// Makes the folder if it is not there, and takes it for this process alone until `Files` goes.
    fn claim(&self) -> io::Result<()>;
    /// Another process may have it from now on: nothing is written here any more.
    fn release(&self) {}
    fn list(&self) -> io::Result<Vec<String>>;
    fn open(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>>;
    /// An empty file in place of what may be there.
    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>>;
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    fn remove(&self, name: &str) -> io::Result<()>;
    /// Makes renames and removals durable.
    fn sync_folder(&self) -> io::Result<()>;
    /// Whether the next start finds the folder, and the file of this name in it, as they are open here.
    fn is_in_place(&self, _file: Option<(&str, &dyn SegmentFile)>) -> bool {
        true
    }
    /// The same for as long as nothing that was written, and not synced, can be lost. 0 when that is not
    /// known.
    fn era(&self) -> u64 {
        0
    }
    /// Bytes that can still be written.
    fn bytes_free(&self) -> io::Result<u64>;
}

/// Read and written at places.
pub trait SegmentFile: Send + Sync {
    /// May read less than asked for; nothing at the end.
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize>;
    /// May write less than asked for.
    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize>;
    /// As `write_at`, for large writes that nobody reads back soon: address, length and place are multiples
    /// of [`PAGE`], so that the page cache can be left out, which costs a third of the time. `Unsupported` or
    /// `InvalidInput` if it cannot.
    fn write_pages(&self, bytes: &[u8], at: u64) -> io::Result<usize>;
    /// As `read_at`, in the same way, unless the page cache has it: address, length and place are multiples
    /// of [`PAGE`].
    fn read_pages(&self, _bytes: &mut [u8], _at: u64) -> io::Result<usize> {
        Err(ErrorKind::Unsupported.into())
    }
    fn sync(&self) -> io::Result<()>;
    fn length(&self) -> io::Result<u64>;
    /// Makes the file so long, with blocks behind all of it where the file system can do that.
    fn allocate(&self, length: u64) -> io::Result<()>;
    fn truncate(&self, length: u64) -> io::Result<()>;
    /// Device and number of a real file.
    fn identity(&self) -> Option<(u64, u64)> {
        None
    }
    /// The same for many calls, if it would else be opened for each.
    fn held_open(&self) -> io::Result<Option<Arc<dyn SegmentFile>>> {
        Ok(None)
    }
}

/// Writes all of it; where it stopped with an error is told.
pub fn write_all(file: &dyn SegmentFile, mut bytes: &[u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write_at(bytes, at) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = bytes.get(count..).unwrap_or_default();
                at += count as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fills `bytes` as far as the file goes, or up to an error.
pub fn read_on(file: &dyn SegmentFile, bytes: &mut [u8], at: u64) -> (usize, Option<io::Error>) {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return (filled, Some(error)),
        }
    }
    (filled, None)
}

/// Fills `bytes` as far as the file goes. What cannot be read when it is tried again either is zeros, page by
/// page: a bad sector costs its frames only.
pub fn read_all(file: &dyn SegmentFile, bytes: &mut [u8], at: u64) -> usize {
    let mut pauses = READ_PAUSES.iter();
    let mut filled = 0;
    loop {
        let (count, error) = read_on(file, &mut bytes[filled..], at + filled as u64);
        filled += count;
        let Some(error) = error else { return filled };
        if let Some(pause) = pauses.next().filter(|_| error.kind() != ErrorKind::NotFound) {
            std::thread::sleep(*pause);
            continue;
        }
        let page = (PAGE - (at as usize + filled) % PAGE).min(bytes.len() - filled);
        bytes[filled..filled + page].fill(0);
        match read_on(file, &mut bytes[filled..filled + page], at + filled as u64) {
            (count, None) if count < page => return filled + count,
            _ => filled += page,
        }
    }
}

/// A file that is opened for each use: a log of a thousand closed segments holds no descriptor for them.
pub struct ByName {
    files: Arc<dyn Files>,
    name: String,
}

impl ByName {
    pub fn new(files: &Arc<dyn Files>, name: &str) -> ByName {
        ByName { files: files.clone(), name: name.to_owned() }
    }

    fn open(&self) -> io::Result<Arc<dyn SegmentFile>> {
        self.files.open(&self.name)
    }
}

impl SegmentFile for ByName {
    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.open()?.read_at(bytes, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.open()?.write_at(bytes, at)
    }

    fn write_pages(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.open()?.write_pages(bytes, at)
    }

    fn read_pages(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.open()?.read_pages(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.open()?.sync()
    }

    fn length(&self) -> io::Result<u64> {
        self.open()?.length()
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        self.open()?.allocate(length)
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.open()?.truncate(length)
    }

    fn held_open(&self) -> io::Result<Option<Arc<dyn SegmentFile>>> {
        self.open().map(Some)
    }
}

/// A folder of the real file system.
pub struct Folder {
    path: std::path::PathBuf,
    lock: parking_lot::Mutex<Option<fs::File>>,
}

const LOCK: &str = "lock";

fn is_at(file: &fs::File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}

impl Folder {
    pub fn new(path: &Path) -> Folder {
        Folder { path: path.to_owned(), lock: parking_lot::Mutex::new(None) }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        self.release();
    }
}

impl Files for Folder {
    fn claim(&self) -> io::Result<()> {
        if self.lock.lock().as_ref().is_some_and(|lock| is_at(lock, &self.path.join(LOCK))) {
            return Ok(());
        }
        DirBuilder::new().recursive(true).mode(0o750).create(&self.path)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).mode(0o600);
        let file = file.open(self.path.join(LOCK))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let what = format!("{} is in use by another process", self.path.display());
                return Err(io::Error::new(ErrorKind::ResourceBusy, what));
            }
            Err(fs::TryLockError::Error(error)) => return Err(error),
        }
        *self.lock.lock() = Some(file);
        Ok(())
    }

    fn release(&self) {
        if let Some(file) = self.lock.lock().take() {
            // Closing it is not enough while a process that is just being started has a copy.
            let _ = file.unlock();
        }
    }

    fn list(&self) -> io::Result<Vec<String>> {
        let names = fs::read_dir(&self.path)?.map(|entry| Ok(entry?.file_name().into_string().ok()));
        let names: io::Result<Vec<Option<String>>> = names.collect();
        Ok(names?.into_iter().flatten().collect())
    }

    fn open(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let file = OpenOptions::new().read(true).write(true).open(self.path.join(name))?;
        Ok(Arc::new(Opened { file, direct: OnceLock::new(), cached: OnceLock::new() }))
    }

    fn create(&self, name: &str) -> io::Result<Arc<dyn SegmentFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(true).mode(0o600);
        let file = options.open(self.path.join(name))?;
        Ok(Arc::new(Opened { file, direct: OnceLock::new(), cached: OnceLock::new() }))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.path.join(from), self.path.join(to))
    }

    fn remove(&self, name: &str) -> io::Result<()> {
        fs::remove_file(self.path.join(name))
    }

    fn sync_folder(&self) -> io::Result<()> {
        fs::File::open(&self.path)?.sync_all()
    }

    fn is_in_place(&self, file: Option<(&str, &dyn SegmentFile)>) -> bool {
        let own = self.lock.lock().as_ref().is_none_or(|lock| is_at(lock, &self.path.join(LOCK)));
        own && file.is_none_or(|(name, file)| {
            file.identity().is_none_or(|open| {
                fs::metadata(self.path.join(name)).is_ok_and(|there| (there.dev(), there.ino()) == open)
            })
        })
    }

    /// The machine was not started anew, and the file system not mounted anew.
    fn era(&self) -> u64 {
        let boot = fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        // Newer kernels have numbers that are never given twice.
        let flags = StatxFlags::MNT_ID | StatxFlags::from_bits_retain(MNT_ID_UNIQUE);
        let mount = statx(CWD, &self.path, AtFlags::empty(), flags);
        match mount {
            Ok(mount) if !boot.is_empty() => {
                u64::from(crc32c::crc32c(&boot)) << 32
                    | u64::from(crc32c::crc32c(&mount.stx_mnt_id.to_le_bytes()))
            }
            _ => 0,
        }
    }

    fn bytes_free(&self) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(&self.path)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

/// A file, and the same opened in other ways: from the first use so, where the file system has that.
struct Opened {
    file: fs::File,
    /// Past the page cache.
    direct: OnceLock<Option<fs::File>>,
    /// Through the page cache, where nothing is read ahead: to ask for a page does not bring those behind it.
    cached: OnceLock<Option<fs::File>>,
}

impl Opened {
    fn direct(&self) -> io::Result<&fs::File> {
        let open = || self.once_more(rustix::fs::OFlags::DIRECT);
        self.direct.get_or_init(open).as_ref().ok_or_else(|| ErrorKind::Unsupported.into())
    }

    /// Fills all of `bytes` through the page cache. `false` if their last page is not in it, or the file
    /// system cannot tell: what is written through it, and read in order, is there as a whole or not at all
    /// but for some page in the middle.
    fn read_cached(&self, bytes: &mut [u8], at: u64) -> bool {
        let open = || {
            let file = self.once_more(rustix::fs::OFlags::empty())?;
            rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::Random).ok()?;
            Some(file)
        };
        let Some(file) = self.cached.get_or_init(open) else { return false };
        let last = bytes.len().saturating_sub(PAGE);
        let (flags, page) = (rustix::io::ReadWriteFlags::NOWAIT, &mut bytes[last..]);
        let page = &mut [io::IoSliceMut::new(page)];
        rustix::io::preadv2(file, page, at + last as u64, flags).is_ok_and(|count| count > 0)
            && file.read_exact_at(bytes, at).is_ok()
    }

    /// Its name may be another one by now.
    fn once_more(&self, flags: rustix::fs::OFlags) -> Option<fs::File> {
        let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
        OpenOptions::new().read(true).write(true).custom_flags(flags.bits() as i32).open(path).ok()
    }
}

impl SegmentFile for Opened {
    fn identity(&self) -> Option<(u64, u64)> {
        self.file.metadata().ok().map(|about| (about.dev(), about.ino()))
    }

    fn read_at(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        self.file.read_at(bytes, at)
    }

    fn write_at(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.file.write_at(bytes, at)
    }

    fn write_pages(&self, bytes: &[u8], at: u64) -> io::Result<usize> {
        self.direct()?.write_at(bytes, at)
    }

    fn read_pages(&self, bytes: &mut [u8], at: u64) -> io::Result<usize> {
        if self.read_cached(bytes, at) {
            return Ok(bytes.len());
        }
        self.direct()?.read_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn length(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn allocate(&self, length: u64) -> io::Result<()> {
        match rustix::fs::fallocate(&self.file, rustix::fs::FallocateFlags::empty(), 0, length) {
            // The file system cannot: blocks come as they are written.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => self.file.set_len(length),
            outcome => Ok(outcome?),
        }
    }

    fn truncate(&self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }
}

/// The name of the segment that begins with a number.
pub fn segment_name(first: u64) -> String {
    format!("{first:020}.log")
}

/// The number that such a name tells.
pub fn segment_first(name: &str) -> Option<u64> {
    name.strip_suffix(".log")?.parse().ok().filter(|first| *first < NUMBER_MAX)
}
