//! Unix sockets at paths of any length. The kernel takes addresses of up to 107 bytes; a longer path is
//! reached through a descriptor: of the socket's file to connect to it, of its folder to make it.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, open, renameat_with, unlinkat};
use rustix::io::Errno;
use rustix::net::SocketAddrUnix;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};

/// Bytes of a path that fit an address, whose last byte is a NUL.
const ADDRESS_BYTES: usize = 107;

fn fits(path: &Path) -> bool {
    path.as_os_str().len() <= ADDRESS_BYTES
}

/// Connects a socket, a stream or one of datagrams.
pub fn connect(socket: &impl AsFd, path: &Path) -> io::Result<()> {
    if fits(path) {
        return Ok(rustix::net::connect(socket, &SocketAddrUnix::new(path)?)?);
    }
    let file = open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
    let through = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
    Ok(rustix::net::connect(socket, &SocketAddrUnix::new(through)?)?)
}

/// Gives a socket its path, where nothing is yet. The file is born with the permissions `mode`, less the
/// umask: nobody comes in before they are set.
pub fn bind(socket: &impl AsFd, path: &Path, mode: Option<u32>) -> io::Result<()> {
    if let Some(mode) = mode {
        rustix::fs::fchmod(socket, Mode::from_raw_mode(mode))?;
    }
    if fits(path) {
        return Ok(rustix::net::bind(socket, &SocketAddrUnix::new(path)?)?);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let folder = open(folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    // The socket keeps the name it is made with, which tells another process that takes it over what it was
    // made for.
    let first = first_name(path);
    match unlinkat(&folder, &first, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let through: PathBuf = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd()).into();
    rustix::net::bind(socket, &SocketAddrUnix::new(through.join(&first))?)?;
    renameat_with(&folder, &first, CWD, path, RenameFlags::NOREPLACE).map_err(|error| {
        let _ = unlinkat(&folder, &first, AtFlags::empty());
        match error {
            Errno::EXIST => io::ErrorKind::AddrInUse.into(),
            error => error.into(),
        }
    })
}

/// Whether the address of a socket is the one [`bind`] gives it for this path.
pub fn is_address_of(address: &Path, path: &Path) -> bool {
    match fits(path) {
        true => address == path,
        false => {
            address.file_name().is_some_and(|name| name.as_encoded_bytes() == first_name(path).as_bytes())
        }
    }
}

/// A short name that no other path has.
fn first_name(path: &Path) -> String {
    // FNV-1a, 64 bits: the same in every version of this program.
    let hash = path.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    format!(".{hash:016x}.socket")
}

#[cfg(test)]
mod tests {
    use super::*;
    use socket2::{Domain, Socket, Type};

    #[test]
    fn paths_of_any_length() {
        let dir = tempfile::tempdir().expect("folder");
        let deep = dir.path().join("d".repeat(200)).join("e".repeat(200));
        std::fs::create_dir_all(&deep).expect("folders");
        for path in [
            dir.path().join("s"),
            deep.join("s"),
            deep.join("n".repeat(255)),
            dir.path().join("n".repeat(255)),
        ] {
            let [stream, datagram] = [Type::STREAM, Type::DGRAM]
                .map(|kind| move || Socket::new(Domain::UNIX, kind, None).expect("socket"));
            let listener = stream();
            bind(&listener, &path, None).expect("bind");
            assert_eq!(bind(&stream(), &path, None).map_err(|e| e.kind()), Err(io::ErrorKind::AddrInUse));
            listener.listen(1).expect("listen");
            let address = listener.local_addr().expect("address");
            let address = address.as_pathname().expect("a path");
            assert!(is_address_of(address, &path) && !is_address_of(address, &path.with_extension("x")));
            connect(&stream(), &path).expect("connect");
            drop(listener);
            assert_eq!(
                connect(&stream(), &path).map_err(|e| e.kind()),
                Err(io::ErrorKind::ConnectionRefused)
            );
            std::fs::remove_file(&path).expect("remove");
            assert_eq!(connect(&stream(), &path).map_err(|e| e.kind()), Err(io::ErrorKind::NotFound));
            let receiver = datagram();
            bind(&receiver, &path, None).expect("bind");
            connect(&datagram(), &path).expect("connect");
            let count = std::fs::read_dir(path.parent().expect("folder")).expect("list").count();
            assert!(count <= 2, "nothing else is left there");
            std::fs::remove_file(&path).expect("remove");
        }
    }
}
