//! `stdout()`: writes messages to standard output, whatever it is: a terminal, a pipe, a socket, a file.

use conf_schema::{Component, Context, Cost, Settings};
use delivery::single::{SingleDestination, SinkContext};
use delivery::writing::{self, Layout};
use diag::{Diagnostics, Reported};
use driver_options::needs;
use driver_options::output_groups::NO_MARKS;
use driver_options::output_groups::{DESTINATION, TEMPLATE, WRITER};
use engine::driver::{BuildContext, DestinationDriver, DestinationPart};
use engine::{Chunk, Progress, Sink, Status, WorkerHandle};
use mio::Interest;
use mio::unix::SourceFd;
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fs::{FileType, Mode, OFlags};
use rustix::net::SendFlags;
use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

pub const PARTS: &[DestinationPart] = &[DestinationPart::new(&STDOUT, build).needing(needs::of_staying)];

static STDOUT: Component = Component {
    context: Context::Destination,
    name: "stdout",
    aliases: &[],
    positional: &[],
    groups: &[&WRITER, &TEMPLATE, &DESTINATION],
    own: &[],
    presets: &[NO_MARKS],
    not_yet: &[],
    summary: "Writes messages to standard output.",
    example: "stdout(template(\"${ISODATE} ${HOST} ${MSGHDR}${MSG}\\n\"))",
    cost: Some(Cost::elsewhere("As `file()`, `pipe()` or a connection, whichever it is.")),
};

fn build(
    s: &Settings,
    cx: &BuildContext<'_>,
    diags: &mut Diagnostics,
) -> Result<DestinationDriver, Reported> {
    let mut writer = writing::writer(s, cx, Layout::File, diags)?;
    let time_reopen = writing::time_reopen(s);
    let key = writing::key(s, &mut writer, || "stdout_dd".to_owned());
    let make =
        Box::new(move |place| Box::new(StdoutSink { place, time_reopen, output: None }) as Box<dyn Sink>);
    let described = ("stdout", "stdout".to_owned());
    let destination = SingleDestination::new(described, writer, writing::limits(s), true, make);
    Ok(DestinationDriver { key, destination: Arc::new(destination) })
}

struct StdoutSink {
    place: SinkContext,
    time_reopen: Duration,
    output: Option<Output>,
}

/// How to write without waiting. The descriptor itself is shared with other programs, so it must not be made
/// non-blocking.
enum Output {
    /// A terminal or pipe, opened a second time as non-blocking.
    Own(OwnedFd),
    Socket(OwnedFd),
    /// Files are always ready.
    Plain(OwnedFd),
    /// A terminal or pipe that cannot be opened a second time: asked each time, and written in pieces that
    /// fit when it says yes.
    Asked(OwnedFd),
}

/// A pipe that is ready takes this much without waiting: PIPE_BUF.
const PIECE_BYTES: usize = 4096;
/// Nothing tells when such an output is ready again.
const ASK_AGAIN: Duration = Duration::from_millis(20);

impl Output {
    fn open(place: &SinkContext) -> io::Result<Output> {
        let fd = rustix::io::fcntl_dupfd_cloexec(std::io::stdout(), 3)?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        let output = match kind {
            FileType::Socket => Output::Socket(fd),
            FileType::Fifo | FileType::CharacterDevice => {
                let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
                match rustix::fs::open(format!("/proc/self/fd/{}", fd.as_raw_fd()), flags, Mode::empty()) {
                    Ok(own) => Output::Own(own),
                    Err(_) => Output::Asked(fd),
                }
            }
            _ => Output::Plain(fd),
        };
        if let Output::Own(fd) | Output::Socket(fd) = &output {
            let token = WorkerHandle::outlet_token(place.id);
            let registered =
                place.home.registry().register(&mut SourceFd(&fd.as_raw_fd()), token, Interest::WRITABLE);
            // /dev/null and its like are always ready and cannot be watched.
            if let Err(error) = registered
                && error.kind() != ErrorKind::PermissionDenied
            {
                return Err(error);
            }
        }
        Ok(output)
    }

    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(match self {
            Output::Own(fd) | Output::Plain(fd) => rustix::io::write(fd, bytes)?,
            Output::Socket(fd) => rustix::net::send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)?,
            Output::Asked(fd) => {
                let mut asked = [PollFd::new(fd, PollFlags::OUT)];
                if rustix::event::poll(&mut asked, Some(&Timespec::default()))? == 0 {
                    return Err(ErrorKind::WouldBlock.into());
                }
                rustix::io::write(fd, bytes.get(..PIECE_BYTES).unwrap_or(bytes))?
            }
        })
    }
}

impl StdoutSink {
    fn write_chunk(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>) -> io::Result<()> {
        if self.output.is_none() {
            self.output = Some(Output::open(&self.place)?);
        }
        let Some(output) = &self.output else { return Err(ErrorKind::NotFound.into()) };
        progress.delivered(chunk.advance(0));
        while !chunk.pending().is_empty() {
            match output.write(chunk.pending()) {
                Ok(n) => progress.delivered(chunk.advance(n)),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }

    fn shut(&mut self) {
        if let Some(Output::Own(fd) | Output::Socket(fd)) = self.output.take() {
            let _ = self.place.home.registry().deregister(&mut SourceFd(&fd.as_raw_fd()));
        }
    }
}

impl Sink for StdoutSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        while let Some(chunk) = chunks.front_mut() {
            match self.write_chunk(chunk, progress) {
                Ok(()) => {
                    if let Some(chunk) = chunks.pop_front() {
                        progress.finished(chunk);
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    let is_asked = matches!(self.output, Some(Output::Asked(_)));
                    return if is_asked { Status::Retry(ASK_AGAIN) } else { Status::Blocked };
                }
                Err(error) => {
                    oplog::limited(
                        "stdout",
                        oplog::Level::Error,
                        "I/O error occurred while writing",
                        &[
                            ("file", &"stdout"),
                            ("error", &error),
                            ("time_reopen", &self.time_reopen.as_secs()),
                        ],
                    );
                    self.shut();
                    return Status::Retry(self.time_reopen);
                }
            }
        }
        Status::Done
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {
        self.shut();
    }
}
