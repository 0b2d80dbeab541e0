//! Files that are followed as they are written, over rotation and restarts, from where the last reader was.

mod acks;
mod beginning;
mod encoded;
mod follow;
mod followed;
mod identity;
mod pace;
mod port;
mod readers;
mod roster;
mod saves;
mod seam;
mod settings;
mod tail;
mod text;
mod wanted;

pub use follow::Following;
pub use port::Records;
pub use settings::{FileVariant, RecordFile, matching, record_source, source};
pub use tail::TailOptions;
pub use text::Text;
pub use wanted::Wanted;

use crate::lines::{Lines, PolledInput, serve};
use crate::reading::Reading;
use diag::Fault;
use engine::driver::Start;
use engine::source::Source;
use engine::{Need, Shared};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};
use std::path::Path;
use std::sync::Arc;

/// The kernel's messages as lines.
pub const KERNEL: &str = "/proc/kmsg";

/// Opens a source of files, or the device that stands where a file was expected.
pub struct FileStart {
    pub following: Arc<Following>,
    /// How a device is read; `None` where only a file can be.
    pub reading: Option<Reading>,
}

impl Start for FileStart {
    fn start(&self, shared: &Arc<Shared>, source: &Arc<Source>) -> Result<(), Fault> {
        match self.found()? {
            Some((device, reading)) => self.device(device, reading, shared, source),
            None => self.following.start(shared, source),
        }
    }

    fn needs(&self) -> Vec<Need<'_>> {
        vec![Need::Trial(Box::new(|| self.found()?.map_or(Ok(()), |(path, _)| open_device(path).map(drop))))]
    }
}

/// Opening it reads nothing of it.
fn open_device(path: &Path) -> Result<File, Fault> {
    let flags = nix::libc::O_NONBLOCK | nix::libc::O_NOCTTY;
    let file = File::options().read(true).custom_flags(flags).open(path);
    file.map_err(|e| Fault::local(format!("cannot open {}: {e}", path.display())))
}

impl FileStart {
    /// What stands where a file is expected: the path of a device, or nothing to speak of. The error says why
    /// it cannot be followed.
    fn found(&self) -> Result<Option<(&Path, &Reading)>, Fault> {
        let Wanted::One(path) = &self.following.wanted else { return Ok(None) };
        let Ok(meta) = std::fs::metadata(path) else { return Ok(None) };
        let kind = meta.file_type();
        let refused =
            |why: &str| Err(Fault::misconfigured(format!("cannot follow {}: {why}", path.display())));
        if kind.is_fifo() {
            return refused("it is a named pipe; write `pipe()`");
        }
        if kind.is_dir() {
            return refused("it is a folder; write `wildcard-file(base-dir(...) filename-pattern(...))`");
        }
        if kind.is_socket() {
            return refused("it is a socket; write `unix-dgram()` or `unix-stream()`");
        }
        if path == Path::new("/dev/kmsg") {
            return refused("its records are not known; write `file(\"/proc/kmsg\")`");
        }
        match &self.reading {
            _ if !kind.is_char_device() && path != Path::new(KERNEL) => Ok(None),
            Some(reading) => Ok(Some((path, reading))),
            None => refused("it is a device"),
        }
    }

    fn device(
        &self,
        path: &Path,
        reading: &Reading,
        shared: &Arc<Shared>,
        source: &Arc<Source>,
    ) -> Result<(), Fault> {
        let file = open_device(path)?;
        let transport = if path == Path::new(KERNEL) { "local+prockmsg" } else { "local+device" };
        let input = PolledInput { fd: file, at_end: || {} };
        let multi_line = self.following.tail.multi_line.as_ref();
        let lines = Lines { reading, multi_line, file_name: path.as_os_str().as_bytes() };
        serve(input, &lines, transport, shared, source)
    }
}
