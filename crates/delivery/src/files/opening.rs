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
use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::fchown;
use std::path::Path;
use std::time::{Duration, SystemTime};

const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Who has a say in the name of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameOrigin {
    /// The configuration alone.
    Fixed,
    /// Messages, behind the first `folder_bytes`, which are the name of a folder. `follows`: what they name
    /// may be reached through symbolic links.
    Messages { folder_bytes: usize, follows: bool },
}

impl NameOrigin {
    /// Bytes of the name that may be reached through symbolic links; `None`: all of it.
    fn links_below(self) -> Option<usize> {
        match self {
            NameOrigin::Messages { folder_bytes, follows: false } => Some(folder_bytes),
            _ => None,
        }
    }

    /// An error of the part that messages have a say in, where they have one.
    fn judged(self, error: impl Into<io::Error>) -> io::Error {
        let error = error.into();
        let can_never_be = is_link_error(&error)
            || matches!(
                error.kind(),
                ErrorKind::InvalidFilename
                    | ErrorKind::IsADirectory
                    | ErrorKind::NotADirectory
                    | ErrorKind::NotSeekable
            );
        match can_never_be && self != NameOrigin::Fixed {
            true => io::Error::new(error.kind(), WrongName(error)),
            false => error,
        }
    }
}

/// A message has made a name that no file can have here.
#[derive(Debug)]
struct WrongName(io::Error);

impl fmt::Display for WrongName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for WrongName {}

/// What is wrong with the name that a message has made. `None`: the name is not at fault, and the file can
/// be opened once somebody has mended what is.
pub fn wrong_name(error: &io::Error) -> Option<&io::Error> {
    let wrong = error.get_ref()?.downcast_ref::<WrongName>()?;
    Some(&wrong.0)
}

/// Opens the file, makes it when it is missing, and the folders above it when the options say so.
pub fn open(path: &Path, options: &FileOptions) -> io::Result<File> {
    let opened = Place::of(path, options).and_then(|place| {
        open_for_writing(&place, options).map_err(|error| options.name_origin.judged(error))
    });
    opened.map_err(|error| sandbox::explained(error, path, Access::Write))
}

fn open_for_writing(place: &Place<'_>, options: &FileOptions) -> io::Result<File> {
    // To open a pipe for writing only would wait for its reader.
    if options.is_pipe || place.is_fifo() {
        return place.pipe(options);
    }
    if !options.overwrite_if_older.is_zero() && place.is_older(options.overwrite_if_older) {
        unlinkat(&place.folder, place.name, AtFlags::empty())?;
    }
    open_or_make(place, OFlags::WRONLY | OFlags::APPEND, options)
}

/// The same for a file that is read, and written anywhere in it.
pub fn open_for_both(path: &Path, options: &FileOptions) -> io::Result<File> {
    let opened = Place::of(path, options).and_then(|place| {
        let opened = match place.is_fifo() {
            true => Err(Errno::SPIPE.into()),
            false => open_or_make(&place, OFlags::RDWR, options),
        };
        opened.map_err(|error| options.name_origin.judged(error))
    });
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
        let origin = options.name_origin;
        let fixed = match origin {
            NameOrigin::Fixed => last,
            NameOrigin::Messages { folder_bytes, .. } => folder_bytes.min(last),
        };
        let mut folder = open_folder(bytes.get(..fixed).unwrap_or_default(), options)?;
        let (above, name) = bytes.split_at(last);
        if fixed < last {
            folder = made_folder(folder, above, options).map_err(|error| origin.judged(error))?;
        }
        if name.is_empty() {
            return Err(origin.judged(ErrorKind::IsADirectory));
        }
        Ok(Place { folder, name: OsStr::from_bytes(name), follows: origin.links_below().is_none() })
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

/// A folder that may be reached through links, made when it is missing and the options say so.
fn open_folder(name: &[u8], options: &FileOptions) -> io::Result<OwnedFd> {
    if options.create_dirs {
        let below = Path::new(OsStr::from_bytes(name)).join("x");
        transport::create_parents(&below, &options.ownership)?;
    }
    let name = if name.is_empty() { b"." } else { name };
    Ok(openat(CWD, OsStr::from_bytes(name), FOLDER, Mode::empty())?)
}

/// The folder `above` a file, with the part of it that messages have a say in, which begins in `folder`.
fn made_folder(mut folder: OwnedFd, above: &[u8], options: &FileOptions) -> io::Result<OwnedFd> {
    let Some(fixed) = options.name_origin.links_below() else { return open_folder(above, options) };
    let parts = above.get(fixed..).unwrap_or_default().split(|b| *b == b'/');
    for part in parts.filter(|part| !part.is_empty() && *part != b".") {
        folder = step(&folder, OsStr::from_bytes(part), options)?;
    }
    Ok(folder)
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
pub(super) fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::ELOOP)
}

/// Bytes of a name's literal beginning, up to its last slash, in the text of a name with macros.
pub fn literal_folder(text: &str) -> usize {
    let literal = text.split('$').next().unwrap_or_default();
    literal.rfind('/').map_or(0, |at| at + 1)
}
