//! Sockets that systemd has opened for us (socket activation): `LISTEN_FDS` says how many, from descriptor 3
//! on.
//!
//! Making an owner out of a number is unsafe because somebody else could own it. Here nobody does: the
//! numbers are those the process was started with, and this is called once, before it opens anything.
#![allow(unsafe_code)]

use std::os::fd::{FromRawFd, OwnedFd, RawFd};

use transport::inherited::Inherited;

/// The first of them.
const FIRST: RawFd = 3;
/// More is a mistake.
const COUNT_MAX: RawFd = 1024;

/// What this process was given. Called once, first of all.
pub fn sockets() -> Vec<Inherited> {
    let number = |name: &str| std::env::var(name).ok()?.parse().ok();
    let ours = number("LISTEN_PID") == Some(i64::from(std::process::id()));
    let count = number("LISTEN_FDS").and_then(|count| RawFd::try_from(count).ok()).filter(|_| ours);
    let numbers = FIRST..FIRST + count.unwrap_or(0).clamp(0, COUNT_MAX);
    let open = numbers.filter(|fd| rustix::io::fcntl_getfd(borrowed(fd)).is_ok());
    // SAFETY: it is open, was so before the program began, and nobody has been told of it.
    open.map(|fd| Inherited { fd: unsafe { OwnedFd::from_raw_fd(fd) }, managed: true }).collect()
}

fn borrowed(fd: &RawFd) -> std::os::fd::BorrowedFd<'_> {
    // SAFETY: it is asked only whether this is open, which is harmless for any number.
    unsafe { std::os::fd::BorrowedFd::borrow_raw(*fd) }
}
