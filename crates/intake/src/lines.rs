//! Lines from a descriptor that may block: standard input, a device.

use crate::input::read_spare;
use crate::listener::register;
use crate::multi_line::Mode;
use crate::reading::Reading;
use crate::unnamed::Unnamed;
use diag::Fault;
use engine::Shared;
use engine::reader::{Input, StreamPort};
use engine::source::Source;
use mio::Registry;
use mio::unix::SourceFd;
use record::{Context, NameId};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::Arc;

/// How an input becomes messages.
pub struct Lines<'a> {
    pub reading: &'a Reading,
    pub multi_line: Option<&'a Mode>,
    pub file_name: &'a [u8],
}

/// Adds a port that reads lines from an input.
pub fn serve<F: AsFd + AsRawFd + Send + 'static>(
    input: PolledInput<F>,
    lines: &Lines<'_>,
    transport: &'static str,
    shared: &Arc<Shared>,
    source: &Arc<Source>,
) -> Result<(), Fault> {
    let Lines { reading, multi_line, file_name } = *lines;
    let worker = shared.any_worker()?;
    let mut context = Context::local(&reading.group, &reading.local_name, transport);
    context.values.push((NameId::FILE_NAME, file_name.into()));
    let (source, context) = (Arc::clone(source), Arc::new(context));
    let unnamed = Unnamed::new(reading, multi_line);
    worker.add(move |token, cx| {
        match register(&input.fd.as_raw_fd(), cx.handle.registry(), token) {
            Ok(()) => {}
            // Regular files and /dev/null cannot be watched, and need not be.
            Err(e) if e.kind() == ErrorKind::PermissionDenied => {}
            Err(e) => return Err(e),
        }
        let (input, options) = unnamed.wrap(Box::new(input));
        Ok(Box::new(StreamPort::new(input, source, context, options, cx, token)))
    });
    Ok(())
}

/// A descriptor that may block, because it is shared with other processes: asked before each read. A short
/// read says nothing about what is left, as a terminal gives one line at a time.
pub struct PolledInput<F> {
    pub fd: F,
    /// Called once when the input has ended.
    pub at_end: fn(),
}

impl<F: AsFd + AsRawFd + Send> Input for PolledInput<F> {
    fn read(&mut self, into: &mut Vec<u8>, max: usize) -> io::Result<usize> {
        let mut ready = [PollFd::new(&self.fd, PollFlags::IN)];
        match poll(&mut ready, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }))? {
            0 => Err(ErrorKind::WouldBlock.into()),
            _ => read_spare(&self.fd, into, max),
        }
    }

    fn always_ready(&self) -> bool {
        true
    }

    fn deregister(&mut self, registry: &Registry) {
        // Fails only for a descriptor that was never registered.
        let _ = registry.deregister(&mut SourceFd(&self.fd.as_raw_fd()));
    }

    fn at_end(&mut self) -> bool {
        (self.at_end)();
        false
    }
}
