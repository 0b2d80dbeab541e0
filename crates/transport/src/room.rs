//! Disk space reserved for a growing file: appending then finds its blocks allocated, which costs a third
//! less than looking for them page by page, and files that grow at the same time do not lie in pieces between
//! one another.
//!
//! The file's length is not touched: what is reserved lies behind its end and is given back when the file is
//! closed.

use rustix::fs::{FallocateFlags, fallocate, fstat, fstatfs, ftruncate};
use rustix::io::Errno;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};

/// Smaller files are left alone.
const SIZE_MIN: u64 = 4 << 20;
/// Reserved at a time: an eighth of the file's size, within these.
const STEP_MIN: u64 = 1 << 20;
const STEP_MAX: u64 = 64 << 20;
/// Left free on the file system, as a multiple of what is reserved.
const FREE_MIN: u64 = 64;
/// Writes are best begun and ended at multiples of this many bytes of the file.
const PIECE: u64 = 64 << 10;
/// The file system on which reserving pays: of the others, some have better means of their own (XFS, Btrfs),
/// some none.
const EXT4: u32 = 0xEF53;

/// The command of fcntl(2), which the library does not know; the same on all machines but MIPS, PA-RISC and
/// SPARC.
const F_SETSIG: libc::c_int = 10;

/// What is reserved behind the end of one open file.
#[derive(Default)]
pub struct Room {
    /// Where the file ends, as far as is known: others may write or truncate it too.
    end: u64,
    /// Bytes before this are reserved, or need no look.
    until: u64,
    reserved: bool,
    /// Reserving is not possible here.
    off: bool,
}

impl Room {
    /// How many of `bytes` bring the file to a border of [`PIECE`]. The page cache takes a write in as few
    /// folios as its place allows: writes from border to border cost a third less than others of their size.
    pub fn even(&mut self, file: &File, bytes: usize) -> usize {
        if self.end == 0 {
            self.end = fstat(file).map_or(0, |stat| u64::try_from(stat.st_size).unwrap_or_default());
        }
        let border = (self.end + bytes as u64) / PIECE * PIECE;
        border.saturating_sub(self.end) as usize
    }

    /// Before `bytes` are appended.
    pub fn prepare(&mut self, file: &File, bytes: usize) {
        self.end += bytes as u64;
        if self.end > self.until && !self.off {
            self.off = self.extend(file, bytes as u64).is_err();
        }
    }

    fn extend(&mut self, file: &File, bytes: u64) -> Result<(), Errno> {
        let size = u64::try_from(fstat(file)?.st_size).unwrap_or_default();
        self.end = size + bytes;
        if self.end < SIZE_MIN {
            self.until = SIZE_MIN;
            return Ok(());
        }
        let step = (self.end / 8).clamp(STEP_MIN, STEP_MAX);
        let system = fstatfs(file)?;
        if system.f_type as u32 != EXT4 {
            return Err(Errno::OPNOTSUPP);
        }
        self.until = self.end + step;
        if system.f_bavail.saturating_mul(system.f_bsize as u64) / FREE_MIN < step {
            return Ok(());
        }
        fallocate(file, FallocateFlags::KEEP_SIZE, size, self.until - size)?;
        self.reserved = true;
        Ok(())
    }

    /// Before the file is closed: gives back what is reserved and was not used. While somebody else has the
    /// file open, it is left, since cutting at an end that somebody moves would cut his bytes off.
    pub fn give_back(&mut self, file: &File) {
        if !std::mem::take(&mut self.reserved) {
            return;
        }
        let Some(_alone) = Lease::take(file) else { return };
        if let Ok(stat) = fstat(file) {
            // A failure costs some space until the file is removed, nothing else.
            let _ = ftruncate(file.as_fd(), u64::try_from(stat.st_size).unwrap_or_default());
        }
    }
}

/// Nobody else has the file open, and who opens it waits until the lease is gone.
struct Lease<'a>(&'a File);

impl Lease<'_> {
    #[allow(unsafe_code)]
    fn take(file: &File) -> Option<Lease<'_>> {
        let fd = file.as_raw_fd();
        // SAFETY: plain numbers go in, the descriptor is open. Somebody who waits is announced by a signal:
        // one that is ignored unless it is handled, where the usual one would end the process.
        let taken = unsafe {
            libc::fcntl(fd, F_SETSIG, libc::SIGURG) == 0
                && libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK) == 0
        };
        taken.then_some(Lease(file))
    }
}

impl Drop for Lease<'_> {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { libc::fcntl(self.0.as_raw_fd(), libc::F_SETLEASE, libc::F_UNLCK) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    const LINE: &[u8] = &[b'x'; 1 << 16];

    fn append(path: &Path, bytes: u64, room: &mut Room) -> File {
        let mut file = File::options().append(true).create(true).open(path).expect("open");
        for _ in 0..bytes / LINE.len() as u64 {
            room.prepare(&file, LINE.len());
            file.write_all(LINE).expect("write");
        }
        file
    }

    /// Bytes the file takes on the disk beyond its length, after everything was written there.
    fn beyond(file: &File) -> i64 {
        file.sync_all().expect("sync");
        let stat = file.metadata().expect("metadata");
        stat.blocks() as i64 * 512 - stat.size() as i64
    }

    #[test]
    fn what_is_reserved_is_used_or_given_back() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("log");
        let mut room = Room::default();
        let file = append(&path, 20 << 20, &mut room);
        assert_eq!(file.metadata().expect("metadata").len(), 20 << 20);
        let is_ext4 = fstatfs(&file).expect("fstatfs").f_type as u32 == EXT4;
        assert_eq!((room.reserved, room.off), (is_ext4, !is_ext4));
        let before = beyond(&file);
        assert!(!is_ext4 || (1..=STEP_MAX as i64).contains(&before), "{before}");
        room.give_back(&file);
        assert!(beyond(&file) <= 64 << 10, "{}", beyond(&file));
        assert_eq!(file.metadata().expect("metadata").len(), 20 << 20);
    }

    #[test]
    fn writes_end_on_borders() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("log");
        std::fs::write(&path, [b'x'; 1000]).expect("write");
        let mut room = Room::default();
        let file = File::options().append(true).open(&path).expect("open");
        assert_eq!(room.even(&file, 5000), 0);
        assert_eq!(room.even(&file, 200_000), 3 * (64 << 10) - 1000);
        room.prepare(&file, 3 * (64 << 10) - 1000);
        assert_eq!(room.even(&file, (64 << 10) + 7), 64 << 10);
    }

    #[test]
    fn small_files_are_left_alone() {
        let folder = tempfile::tempdir().expect("folder");
        let mut room = Room::default();
        append(&folder.path().join("log"), SIZE_MIN - (1 << 20), &mut room);
        assert!(!room.reserved);
    }

    #[test]
    fn a_file_that_others_write_is_not_cut() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("log");
        let mut room = Room::default();
        let file = append(&path, 20 << 20, &mut room);
        let other = File::options().append(true).open(&path).expect("open");
        let reserved = room.reserved;
        let before = beyond(&file);
        room.give_back(&file);
        assert_eq!(beyond(&file), before, "somebody has it open");
        drop(other);
        room.reserved = reserved;
        room.give_back(&file);
        assert!(beyond(&file) <= 64 << 10);
    }

    #[test]
    fn a_file_cut_by_others_goes_on() {
        let folder = tempfile::tempdir().expect("folder");
        let path = folder.path().join("log");
        let mut room = Room::default();
        let file = append(&path, 20 << 20, &mut room);
        file.set_len(0).expect("cut");
        append(&path, 30 << 20, &mut room);
        assert_eq!(file.metadata().expect("metadata").len(), 30 << 20);
        room.give_back(&file);
        assert!(beyond(&file) <= 64 << 10);
    }
}
