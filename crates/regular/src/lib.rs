//! Regular files that are read whole: opening one never waits. A FIFO in the place of a certificate or of an
//! include would otherwise hold up `check`, a reload and the end of the program until somebody writes to it.

use rustix::fs::OFlags;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

/// The device number of /dev/null, which is read as the empty file it is known to be.
const NULL_DEVICE: u64 = 0x103;

/// Opens a regular file for reading. Anything else but /dev/null is an error that names what it is.
pub fn open(path: &Path) -> io::Result<File> {
    // Before opening: to open a device may already do something.
    must_be_regular(&std::fs::metadata(path)?)?;
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)?;
    // After opening: something else may have taken its place.
    must_be_regular(&file.metadata()?)?;
    Ok(file)
}

/// The bytes of a regular file. One with more than `bytes_max` of them is an error.
pub fn read(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= bytes_max {
        bytes.reserve_exact(usize::try_from(length).unwrap_or(0).saturating_add(1));
        file.take(bytes_max.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= bytes_max {
            return Ok(bytes);
        }
    }
    Err(io::Error::new(ErrorKind::FileTooLarge, format!("it is larger than {bytes_max} bytes")))
}

/// The same of a file that holds UTF-8.
pub fn read_to_string(path: &Path, bytes_max: u64) -> io::Result<String> {
    let wrong = |_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(read(path, bytes_max)?).map_err(wrong)
}

fn must_be_regular(about: &Metadata) -> io::Result<()> {
    let kind = about.file_type();
    if kind.is_file() || (kind.is_char_device() && about.rdev() == NULL_DEVICE) {
        return Ok(());
    }
    let error = if kind.is_dir() { ErrorKind::IsADirectory } else { ErrorKind::InvalidInput };
    Err(io::Error::new(error, format!("it is {}, not a regular file", described(kind))))
}

fn described(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a FIFO",
        _ if kind.is_socket() => "a socket",
        _ if kind.is_char_device() || kind.is_block_device() => "a device",
        _ => "something else",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &Path, expected: Result<&[u8], &str>) {
        let read = read(path, 10).map_err(|error| error.to_string());
        assert_eq!(read.as_deref(), expected.map_err(str::to_owned).as_ref().copied(), "{}", path.display());
    }

    #[test]
    fn only_regular_files_are_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("file"), "1234567890").expect("a file");
        check(&path("file"), Ok(b"1234567890"));
        std::fs::write(path("large"), "12345678901").expect("a file");
        check(&path("large"), Err("it is larger than 10 bytes"));
        rustix::fs::mkfifoat(rustix::fs::CWD, path("fifo"), 0o600.into()).expect("a FIFO");
        check(&path("fifo"), Err("it is a FIFO, not a regular file"));
        std::os::unix::fs::symlink(path("fifo"), path("link")).expect("a link");
        check(&path("link"), Err("it is a FIFO, not a regular file"));
        let _listener = std::os::unix::net::UnixListener::bind(path("socket")).expect("a socket");
        check(&path("socket"), Err("it is a socket, not a regular file"));
        check(folder.path(), Err("it is a folder, not a regular file"));
        check(Path::new("/dev/zero"), Err("it is a device, not a regular file"));
        check(Path::new("/dev/null"), Ok(b""));
        check(Path::new("/proc/sys/kernel/ostype"), Ok(b"Linux\n"));
    }
}
