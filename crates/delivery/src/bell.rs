//! An eventfd that gives an outlet an event: from other threads, or later from its own.

use engine::WorkerHandle;
use mio::Interest;
use mio::unix::SourceFd;
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

pub struct Bell {
    descriptor: OwnedFd,
    home: WorkerHandle,
}

impl Bell {
    pub fn new(home: &WorkerHandle, outlet: u32) -> io::Result<Bell> {
        let descriptor = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        let token = WorkerHandle::outlet_token(outlet);
        home.registry().register(&mut SourceFd(&descriptor.as_raw_fd()), token, Interest::READABLE)?;
        Ok(Bell { descriptor, home: home.clone() })
    }

    /// Every write is an event; the counter is never read, and is not full before 2^64 of them.
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.descriptor, &1u64.to_ne_bytes());
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        let _ = self.home.registry().deregister(&mut SourceFd(&self.descriptor.as_raw_fd()));
    }
}
