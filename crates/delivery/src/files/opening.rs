//! Opens a file for writing. Of a name that messages have a say in, nothing below the literal beginning is
//! reached through a symbolic link, unless follow-symlinks() allows it: whoever may make links there must not
//! choose which file the program writes to.
//!
//! The folders are opened one after the other, each from the one before, so that nobody can put a link in the
//! place of one that was looked at already. That is what openat2() does with RESOLVE_NO_SYMLINKS; this way it
//! holds on every kernel, and for the folders that are made.

use super::sink::FileOptions;
use nix::libc;
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawMode, fchmod, mkdirat, mknodat, openat, statat, unlinkat,
};
use rustix::io::Errno;
use sandbox::Access;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::fchown;
use std::path::Path;
use std::time::{Duration, SystemTime};

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Opens the file, makes it when it is missing, and the folders above it when the options say so.
pub fn open(path: &Path, options: &FileOptions) -> io::Result<File> {
    open_for_writing(path, options).map_err(|error| sandbox::explained(error, path, Access::Write))
}

fn open_for_writing(path: &Path, options: &FileOptions) -> io::Result<File> {
    let place = Place::of(path, options)?;
    // To open a pipe for writing only would wait for its reader.
    if options.is_pipe || place.is_fifo() {
        return place.pipe(options);
    }
    if !options.overwrite_if_older.is_zero() && place.is_older(options.overwrite_if_older) {
        unlinkat(&place.folder, place.name, AtFlags::empty())?;
    }
    open_or_make(&place, OFlags::WRONLY | OFlags::APPEND, options)
}

/// The same for a file that is read, and written anywhere in it.
pub fn open_for_both(path: &Path, options: &FileOptions) -> io::Result<File> {
    let place = Place::of(path, options)?;
    if place.is_fifo() {
        return Err(Errno::SPIPE.into());
    }
    let opened = open_or_make(&place, OFlags::RDWR, options);
    opened.map_err(|error| sandbox::explained(error, path, Access::Write))
}

fn open_or_make(place: &Place<'_>, how: OFlags, options: &FileOptions) -> io::Result<File> {
    loop {
        match place.open(how, Mode::empty()) {
            Err(Errno::NOENT) => {}
            opened => return Ok(File::from(opened?)),
        }
        let mode = options.ownership.perm.unwrap_or(0o600);
        match place.open(how | OFlags::CREATE | OFlags::EXCL, Mode::from_raw_mode(mode as RawMode)) {
            // It came in between, or is a link that leads nowhere yet: without EXCL, the file it names is
            // made.
            Err(Errno::EXIST) if place.follows => {
                return Ok(File::from(
                    place.open(how | OFlags::CREATE, Mode::from_raw_mode(mode as RawMode))?,
                ));
            }
            Err(Errno::EXIST) => {}
            made => {
                let file = File::from(made?);
                own(&file, options)?;
                return Ok(file);
            }
        }
    }
}

/// Gives what was just made its owner, group and permissions, whatever the umask.
fn own(file: &File, options: &FileOptions) -> io::Result<()> {
    let ownership = &options.ownership;
    if ownership.owner.is_some() || ownership.group.is_some() {
        fchown(file, ownership.owner, ownership.group)?;
    }
    if let Some(perm) = ownership.perm {
        fchmod(file, Mode::from_raw_mode(perm as RawMode))?;
    }
    Ok(())
}

/// A name in an open folder.
struct Place<'a> {
    folder: OwnedFd,
    name: &'a OsStr,
    /// Whether the name may be a link.
    follows: bool,
}

impl<'a> Place<'a> {
    fn of(path: &'a Path, options: &FileOptions) -> io::Result<Place<'a>> {
        let bytes = path.as_os_str().as_bytes();
        let last = bytes.iter().rposition(|b| *b == b'/').map_or(0, |at| at + 1);
        // Everything up to here may be reached through links.
        let trusted = options.links_below.map_or(last, |at| at.min(last));
        let (beginning, rest) = bytes.split_at(trusted);
        if options.create_dirs {
            let below = Path::new(OsStr::from_bytes(beginning)).join("x");
            transport::create_parents(&below, &options.ownership)?;
        }
        let beginning = if beginning.is_empty() { b"." } else { beginning };
        let mut folder = openat(CWD, OsStr::from_bytes(beginning), FOLDER, Mode::empty())?;
        let (folders, name) = rest.split_at(last - trusted);
        for part in folders.split(|b| *b == b'/').filter(|part| !part.is_empty() && *part != b".") {
            folder = step(&folder, OsStr::from_bytes(part), options)?;
        }
        if name.is_empty() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        Ok(Place { folder, name: OsStr::from_bytes(name), follows: options.links_below.is_none() })
    }

    fn open(&self, how: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let links = if self.follows { OFlags::empty() } else { OFlags::NOFOLLOW };
        openat(&self.folder, self.name, how | links | OFlags::NOCTTY | OFlags::CLOEXEC, mode)
    }

    /// A named pipe, made when missing.
    fn pipe(&self, options: &FileOptions) -> io::Result<File> {
        let mode = options.ownership.perm.unwrap_or(0o600);
        let made = mknodat(&self.folder, self.name, FileType::Fifo, Mode::from_raw_mode(mode as RawMode), 0);
        let is_new = match made {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(error) => return Err(error.into()),
        };
        let file = File::from(self.open(OFlags::RDWR | OFlags::NONBLOCK, Mode::empty())?);
        if is_new {
            own(&file, options)?;
        }
        Ok(file)
    }

    fn is_fifo(&self) -> bool {
        let how = if self.follows { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        statat(&self.folder, self.name, how)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Fifo)
    }

    fn is_older(&self, than: Duration) -> bool {
        let Ok(found) = statat(&self.folder, self.name, AtFlags::empty()) else { return false };
        let modified = u64::try_from(found.st_mtime).map(Duration::from_secs).unwrap_or_default();
        SystemTime::now().duration_since(SystemTime::UNIX_EPOCH + modified).is_ok_and(|age| age > than)
    }
}

/// The folder below another one, made when it is missing and the options say so; not through a link.
fn step(above: &OwnedFd, name: &OsStr, options: &FileOptions) -> io::Result<OwnedFd> {
    match openat(above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty()) {
        Err(Errno::NOENT) if options.create_dirs => {}
        Err(Errno::NOTDIR) if is_link(above, name) => return Err(Errno::LOOP.into()),
        opened => return Ok(opened?),
    }
    let ownership = &options.ownership;
    let mode = Mode::from_raw_mode(ownership.dir_perm.unwrap_or(0o700) as RawMode);
    let made = match mkdirat(above, name, mode) {
        Ok(()) => true,
        Err(Errno::EXIST) => false,
        Err(error) => return Err(error.into()),
    };
    if made {
        let readable = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = File::from(openat(above, name, readable, Mode::empty())?);
        fchmod(&folder, mode)?;
        if ownership.dir_owner.is_some() || ownership.dir_group.is_some() {
            fchown(&folder, ownership.dir_owner, ownership.dir_group)?;
        }
    }
    Ok(openat(above, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?)
}

fn is_link(above: &OwnedFd, name: &OsStr) -> bool {
    statat(above, name, AtFlags::SYMLINK_NOFOLLOW)
        .is_ok_and(|found| FileType::from_raw_mode(found.st_mode) == FileType::Symlink)
}

/// Whether this error says that a link stood in the way.
pub fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

/// Bytes of a name's literal beginning, up to its last slash, in the text of a name with macros.
pub fn literal_folder(text: &str) -> usize {
    let literal = text.split('$').next().unwrap_or_default();
    literal.rfind('/').map_or(0, |at| at + 1)
}
