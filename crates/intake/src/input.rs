//! Byte streams with a descriptor: TCP and unix connections, pipes, standard input.

use engine::reader::Input;
use mio::Registry;
use mio::unix::SourceFd;
use nix::libc;
use rustix::net::{SendFlags, Shutdown};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

/// Reads any descriptor that the readiness loop can watch.
pub struct FdInput<F>(pub F);

impl<F: AsFd + AsRawFd + Send> Input for FdInput<F> {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        read_spare(&self.0, into, max)
    }

    fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        Ok(rustix::net::send(&self.0, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)?)
    }

    fn shut(&mut self) {
        // A peer that has gone needs no end.
        let _ = rustix::net::shutdown(&self.0, Shutdown::Write);
    }

    fn give(&mut self, registry: &Registry) -> Option<OwnedFd> {
        let fd = rustix::io::fcntl_dupfd_cloexec(&self.0, 0).ok()?;
        self.deregister(registry);
        Some(fd)
    }

    fn deregister(&mut self, registry: &Registry) {
        // Fails only for a descriptor that was never registered.
        let _ = registry.deregister(&mut SourceFd(&self.0.as_raw_fd()));
    }
}

/// Reads up to `max` bytes to the end of a vector, without clearing the room first.
pub fn read_spare(fd: &impl AsFd, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
    fill(into, max, |room| Ok(rustix::io::read(fd, room)?.0.len()))
}

/// The same from a place in a file.
pub fn read_spare_at(fd: &impl AsFd, into: &mut Vec<u8>, max: usize, offset: u64) -> io::Result<usize> {
    fill(into, max, |room| Ok(rustix::io::pread(fd, room, offset)?.0.len()))
}

/// The same, with the bytes just before that place: they fill `before`. Returns how many were read of both
/// together.
#[allow(unsafe_code)]
pub fn read_spare_behind(
    fd: &impl AsFd,
    before: &mut [u8],
    into: &mut Vec<u8>,
    max: usize,
    offset: u64,
) -> io::Result<usize> {
    if before.is_empty() {
        return read_spare_at(fd, into, max, offset);
    }
    let from = libc::off_t::try_from(offset.saturating_sub(before.len() as u64)).map_err(io::Error::other)?;
    let mut both = 0;
    fill(into, max, |room| {
        let parts = [
            libc::iovec { iov_base: before.as_mut_ptr().cast(), iov_len: before.len() },
            libc::iovec { iov_base: room.as_mut_ptr().cast(), iov_len: room.len() },
        ];
        // SAFETY: the descriptor is open, and both parts are memory of these lengths that nobody else has;
        // bytes are all that the kernel writes into it.
        let read = unsafe { libc::preadv(fd.as_fd().as_raw_fd(), parts.as_ptr(), 2, from) };
        both = usize::try_from(read).map_err(|_| io::Error::last_os_error())?;
        Ok(both.saturating_sub(before.len()))
    })?;
    Ok(both)
}

#[allow(unsafe_code)]
fn fill(
    into: &mut Vec<u8>,
    max: usize,
    read: impl FnOnce(&mut [MaybeUninit<u8>]) -> io::Result<usize>,
) -> io::Result<usize> {
    into.reserve(max);
    let length = into.len();
    let room = into.spare_capacity_mut();
    let max = max.min(room.len());
    let read = read(&mut room[..max])?;
    // SAFETY: all callers pass what the kernel said: it initialised the first `read` bytes of the spare
    // capacity, which begins at `length`; `read <= max <= room`.
    unsafe { into.set_len(length + read) };
    Ok(read)
}
