//! The socket file: made with its permissions before anybody can connect, replaced only when it is stale.

use std::fs;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use transport::unix_path;

use super::{ServerError, ServerOptions};

/// Device and inode of our socket file, so that another's is never removed.
pub type Identity = Option<(u64, u64)>;

pub fn bind(options: &ServerOptions) -> Result<(UnixListener, Identity), ServerError> {
    let path = options.path.as_path();
    let failed = |what: &'static str| move |error: io::Error| ServerError::Io(what, path.to_owned(), error);
    let beside = beside(path);
    let path = if options.replaces { beside.as_path() } else { path };
    remove_stale(path)?;
    let listener = listen(path, options.mode).map_err(failed("create"))?;
    listener.set_nonblocking(true).map_err(failed("set up"))?;
    Ok((listener, identity(path)))
}

/// Where a socket is made that is to replace another.
pub fn beside(path: &Path) -> PathBuf {
    path.with_added_extension("new")
}

/// Nobody can connect between `bind` and `listen`, so the permissions are right from the first client on.
fn listen(path: &Path, mode: u32) -> io::Result<UnixListener> {
    let flags = SocketFlags::CLOEXEC;
    let socket: OwnedFd = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    unix_path::bind(&socket, path, Some(mode))?;
    fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    rustix::net::listen(&socket, 128)?;
    Ok(UnixListener::from(socket))
}

fn remove_stale(path: &Path) -> Result<(), ServerError> {
    let failed = |what: &'static str| move |error: io::Error| ServerError::Io(what, path.to_owned(), error);
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("look at")(error)),
        Ok(found) if !found.file_type().is_socket() => return Err(ServerError::NotASocket(path.to_owned())),
        Ok(_) => {}
    }
    match knock(path) {
        // So many knock already that nobody is let in: somebody is there, stuck perhaps.
        Ok(()) | Err(Errno::AGAIN) => Err(ServerError::InUse(path.to_owned())),
        Err(Errno::CONNREFUSED) => fs::remove_file(path).map_err(failed("replace")),
        // Without the permission we cannot know.
        Err(errno) => Err(failed("replace")(errno.into())),
    }
}

/// Whether somebody listens, found out without waiting.
fn knock(path: &Path) -> Result<(), Errno> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
    unix_path::connect(&socket, path).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
}

fn identity(path: &Path) -> Identity {
    fs::symlink_metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

/// Removes the file if it is still the one that was made.
pub fn unlink(path: &Path, made: Identity) {
    if made.is_some() && identity(path) == made {
        let _ = fs::remove_file(path);
    }
}
