//! Writes chunks to one file: opens it when there is something to write, closes it when it was idle for long.

mod followed;
mod pieces;
mod shelf;

use super::opening::{self, NameOrigin};
use super::rotate::Rotation;
use engine::ledger::Reason;
use engine::{Chunk, Progress, Sink, Status};
use shelf::Shelf;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use transport::{Ownership, Room, descriptors};

#[derive(Clone, Debug)]
pub struct FileOptions {
    pub ownership: Ownership,
    pub create_dirs: bool,
    /// fdatasync() after each write.
    pub fsync: bool,
    /// Start anew when the file is older than this; zero is off.
    pub overwrite_if_older: Duration,
    /// A symbolic link that is pointed at each file when it is opened.
    pub symlink_as: Option<PathBuf>,
    /// Close after this long without a message; zero is never.
    pub time_reap: Duration,
    /// Try again after a failure.
    pub time_reopen: Duration,
    /// A named pipe: made when missing, opened for reading too so that no reader is needed.
    pub is_pipe: bool,
    pub name_origin: NameOrigin,
    /// `logrotate()`
    pub rotation: Option<Rotation>,
}

/// How soon a full disk is tried again, at most.
const FULL_DISK_RETRY: Duration = Duration::from_secs(1);
/// The same of a file for which there was no descriptor.
const DESCRIPTOR_RETRY: Duration = Duration::from_millis(100);

pub struct FileSink {
    path: PathBuf,
    options: Arc<FileOptions>,
    /// While something is done with it; else it lies on the shelf.
    file: Option<Opened>,
    shelf: Arc<Shelf>,
    last_write: Instant,
    failing: bool,
    /// The destination's counters have why it is not written.
    troubled: bool,
}

struct Opened {
    file: File,
    room: Room,
    /// Whether it may be closed between two writes. Not those of other kinds: what a pipe holds may be lost
    /// with its last descriptor.
    is_regular: bool,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.room.give_back(&self.file);
    }
}

impl FileSink {
    pub fn new(path: Vec<u8>, options: Arc<FileOptions>) -> FileSink {
        let path = PathBuf::from(OsString::from_vec(path));
        let shelf = Arc::default();
        FileSink {
            path,
            options,
            file: None,
            shelf,
            last_write: Instant::now(),
            failing: false,
            troubled: false,
        }
    }

    /// `next` is what will be written first.
    fn open(&mut self, next: Option<&Chunk>) -> std::io::Result<&mut Opened> {
        if self.file.is_none() {
            let file = shelf::below_ceiling(|| opening::open(&self.path, &self.options))?;
            oplog::verbose("Initializing destination file writer", &[("filename", &self.path.display())]);
            if let Some(link) = &self.options.symlink_as
                && let Err(error) = point(link, &self.path)
            {
                oplog::warning(
                    "Error pointing symlink-as() at the file",
                    &[("link", &link.display()), ("error", &error)],
                );
            }
            if next.is_some_and(|chunk| chunk.rest().is_empty() && chunk.pending().ends_with(b"\n")) {
                begin_line(&file, &self.path);
            }
            let is_regular = file.metadata().is_ok_and(|meta| meta.is_file());
            self.file = Some(Opened { file, room: Room::default(), is_regular });
        }
        self.file.as_mut().ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn write_chunk(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>) -> std::io::Result<()> {
        let (fsync, is_pipe) = (self.options.fsync, self.options.is_pipe);
        let path = chunk.is_followed().then(|| self.path.clone());
        let Opened { file, room, .. } = self.open(Some(chunk))?;
        room.prepare(file, chunk.pending().len());
        while !chunk.pending().is_empty() {
            let piece = if is_pipe { pieces::of_pipe(chunk) } else { chunk.pending() };
            match file.write(piece) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(n) => {
                    let whole = chunk.advance(n);
                    path.iter().for_each(|path| followed::say(file, path, (chunk, whole), 0));
                    progress.delivered(whole);
                }
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        // Messages without a byte (an empty template) are done as well.
        progress.delivered(chunk.advance(0));
        if fsync { file.sync_data() } else { Ok(()) }
    }

    fn write_pieces(
        &mut self,
        chunks: &mut VecDeque<Chunk>,
        progress: &mut Progress<'_>,
    ) -> std::io::Result<()> {
        let path = chunks.iter().any(Chunk::is_followed).then(|| self.path.clone());
        let opened = self.open(chunks.front())?;
        pieces::write(opened, chunks, progress, path.as_deref())
    }

    /// Between two messages: a file that is large enough gives its name to a new one.
    fn rotate(&mut self) {
        let Some(rotation) = &self.options.rotation else { return };
        if !self.file.as_ref().is_some_and(|opened| rotation.is_due(&opened.file)) {
            return;
        }
        self.file = None;
        if let Err(error) = rotation.rotate(&self.path) {
            oplog::limited(
                "logrotate",
                oplog::Level::Error,
                "Cannot rotate a file, it grows on",
                &[("file", &self.path.display()), ("error", &error)],
            );
        }
    }

    /// Does something with the file, which nobody can close meanwhile.
    fn with_file<T>(&mut self, work: impl FnOnce(&mut FileSink) -> T) -> T {
        self.file = self.shelf.take();
        let done = work(self);
        self.shelf.put(self.file.take());
        done
    }

    fn say(&mut self, error: &std::io::Error) {
        if descriptors::are_used_up(error) {
            oplog::limited(
                "file-descriptors",
                oplog::Level::Error,
                "No descriptor is left for a file, its messages wait: raise the limit of open files (LimitNOFILE= of the service, \
                 ulimit -n)",
                &[("file", &self.path.display()), ("limit", &descriptors::limit())],
            );
            return;
        }
        if opening::wrong_name(error).is_some_and(opening::is_link_error) {
            oplog::limited(
                "file-link",
                oplog::Level::Error,
                "A symbolic link stands in a file name that messages have a say in, the file is not written; follow-symlinks(yes) \
                 allows it",
                &[("file", &self.path.display())],
            );
            return;
        }
        if !std::mem::replace(&mut self.failing, true) {
            let opened = self.file.is_some();
            oplog::error(
                if opened { "I/O error occurred while writing" } else { "Error opening file for writing" },
                &[
                    ("file", &self.path.display()),
                    ("error", error),
                    ("time_reopen", &self.options.time_reopen.as_secs()),
                ],
            );
        }
    }

    /// Whoever goes on with the queue writes the message anew that was begun here: its beginning leaves the
    /// file again.
    fn take_back(&mut self, queue: &mut VecDeque<Chunk>) {
        let Some(chunk) = queue.front_mut().filter(|chunk| !chunk.begun().is_empty()) else { return };
        self.with_file(|sink| {
            let Some(Opened { file, is_regular: true, .. }) = &sink.file else { return };
            match cut_off(file, chunk.begun()) {
                Ok(true) => chunk.rewind(),
                Ok(false) => {}
                Err(error) => oplog::warning(
                    "The beginning of a message stays in a file",
                    &[("file", &sink.path.display()), ("error", &error)],
                ),
            }
        });
    }

    fn write_out(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        while let Some(chunk) = chunks.front_mut() {
            let in_pieces =
                progress.more && chunk.write_max == 0 && !self.options.fsync && !self.options.is_pipe;
            let in_pieces = in_pieces && self.options.rotation.is_none() && !progress.by_chunk;
            let written = match in_pieces {
                true => self.write_pieces(chunks, progress),
                false => self.write_chunk(chunk, progress),
            };
            match written {
                Ok(()) => {
                    if std::mem::take(&mut self.troubled) {
                        progress.counters.setbacks.is_over();
                    }
                    if std::mem::take(&mut self.failing) {
                        oplog::notice("Writing goes on", &[("file", &self.path.display())]);
                    }
                    if in_pieces {
                        return if chunks.is_empty() { Status::Done } else { Status::Later };
                    }
                    if let Some(chunk) = chunks.pop_front() {
                        progress.finished(chunk);
                    }
                    self.rotate();
                    if progress.by_chunk {
                        return Status::Done;
                    }
                }
                // A pipe whose reader is slow: look again soon.
                Err(e) if e.kind() == ErrorKind::WouldBlock => {
                    return Status::Retry(Duration::from_millis(20));
                }
                Err(e) if opening::wrong_name(&e).is_some() => {
                    self.say(&e);
                    if let Some(chunk) = chunks.pop_front() {
                        let why = format!("{}: {e}", self.path.display());
                        chunk.say_dropped(0..chunk.messages(), Reason::Refused, &why);
                        chunk.iter().for_each(|message| progress.refused(&why, message));
                        progress.finished(chunk);
                    }
                }
                Err(e) => {
                    self.say(&e);
                    progress.counters.setbacks.failed(format_args!("{}: {e}", self.path.display()), None);
                    self.troubled = true;
                    // A full disk needs no new descriptor, and may have room again at any moment.
                    if e.kind() == ErrorKind::StorageFull {
                        return Status::Retry(self.options.time_reopen.min(FULL_DISK_RETRY));
                    }
                    self.file = None;
                    if descriptors::are_used_up(&e) {
                        return Status::Retry(self.options.time_reopen.min(DESCRIPTOR_RETRY));
                    }
                    return Status::Retry(self.options.time_reopen);
                }
            }
        }
        Status::Done
    }
}

impl Sink for FileSink {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        self.last_write = Instant::now();
        self.with_file(|sink| sink.write_out(chunks, progress))
    }

    fn reopen(&mut self) {
        self.shelf.clear();
    }

    fn reloaded(&mut self) {
        // The reader of a pipe would see its end.
        if !self.options.is_pipe {
            self.shelf.clear();
        }
    }

    fn finish(&mut self, chunk: &mut Chunk, progress: &mut Progress<'_>, _until: Instant) {
        self.with_file(|sink| {
            if let Some(Opened { file, .. }) = &mut sink.file
                && let Ok(n) = file.write(chunk.rest())
            {
                progress.delivered(chunk.advance(n));
            }
        });
    }

    fn tick(&mut self, now: Instant) {
        // A reader may open the pipe before the first message.
        if self.options.is_pipe
            && !self.failing
            && let Err(error) = self.with_file(|sink| sink.open(None).map(|_| ()))
        {
            self.say(&error);
        }
        let reap = self.options.time_reap;
        if !reap.is_zero() && now.duration_since(self.last_write) >= reap {
            self.shelf.clear();
        }
    }

    fn part(&mut self, queue: &mut VecDeque<Chunk>) {
        self.take_back(queue);
    }

    fn close_unsettled(&mut self, queue: &mut VecDeque<Chunk>) -> VecDeque<Chunk> {
        self.close(queue);
        VecDeque::new()
    }

    fn close(&mut self, queue: &mut VecDeque<Chunk>) {
        self.take_back(queue);
        self.shelf.clear();
    }
}

impl Drop for FileSink {
    fn drop(&mut self) {
        self.shelf.clear();
    }
}

/// A process that was killed while it wrote may have left half a line: what comes now begins one of its own.
fn begin_line(mut file: &File, path: &Path) {
    let half = file.metadata().is_ok_and(|meta| meta.is_file() && meta.len() > 0)
        && last_byte(file).is_ok_and(|last| last != b'\n');
    if half && file.write(b"\n").is_ok() {
        oplog::notice(
            "The file ended in the middle of a line; a new one is begun",
            &[("file", &path.display())],
        );
    }
}

fn last_byte(file: &File) -> std::io::Result<u8> {
    let mut last = [0];
    let mut file = again(file)?;
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last[0])
}

/// Shortens the file by its last bytes, if they are these: nobody else has written behind them.
fn cut_off(file: &File, end: &[u8]) -> std::io::Result<bool> {
    let Some(start) = file.metadata()?.len().checked_sub(end.len() as u64) else { return Ok(false) };
    let mut found = vec![0; end.len()];
    again(file)?.read_exact_at(&mut found, start)?;
    if found != end {
        return Ok(false);
    }
    file.set_len(start)?;
    Ok(true)
}

/// The file is open for appending alone; this is the same one for reading, whatever has its name now.
fn again(file: &File) -> std::io::Result<File> {
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// Points a symbolic link somewhere else in one step.
fn point(link: &Path, target: &Path) -> std::io::Result<()> {
    if std::fs::read_link(link).is_ok_and(|now| now == target) {
        return Ok(());
    }
    let mut fresh = link.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = PathBuf::from(fresh);
    match std::fs::remove_file(&fresh) {
        Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    std::os::unix::fs::symlink(target, &fresh)?;
    std::fs::rename(&fresh, link)
}

#[cfg(test)]
mod tests;
