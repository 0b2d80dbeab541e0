//! A log looked at beside the process that has it open: files are opened for reading only, nothing is locked
//! or changed.
//!
//! What it shows is a moment ago: what is appended and not yet written is not seen, what is done meanwhile
//! still is.

mod files;
mod messages;
mod verify;

use crate::files::{SegmentFile, segment_first};
use crate::frame;
use crate::key;
use crate::report::{QueueInfo, Waiting};
use crate::scan::scan;
use crate::shared::Mark;
use crate::snapshot::{Row, Snapshot, Table, follow};
use crate::walk::Walk;
use files::OpenedForReading;
pub use messages::{Border, Message, Position};
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
pub use verify::Checked;

/// The files of a log as they were when it was opened.
pub struct View {
    folder: PathBuf,
    key: u64,
    /// From the oldest to the newest.
    segments: Vec<Segment>,
    table: Table,
    free: u64,
    others: Vec<String>,
}

struct Segment {
    name: String,
    file: OpenedForReading,
    first: u64,
    next: u64,
    data: Range<u64>,
    length: u64,
    /// It has a footer: nothing is added any more.
    sealed: bool,
    sparse: bool,
    has_header: bool,
    /// When it was last written to.
    modified: SystemTime,
    marks: BTreeMap<u32, Mark>,
}

/// What a log takes on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Space {
    pub segments: usize,
    /// Of all files of the log.
    pub bytes: u64,
    /// Of these, those that are kept to be written over.
    pub bytes_free: u64,
}

impl View {
    /// Opens the log of a folder; fails with `NotFound` when there is none.
    pub fn open(dir: &Path) -> io::Result<View> {
        let folder = dir.join(crate::log::FOLDER);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&folder)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        names.sort();
        let mut view =
            View { folder, key: 0, segments: Vec::new(), table: Table::new(), free: 0, others: Vec::new() };
        let mut found = Vec::new();
        for name in names {
            let path = view.folder.join(&name);
            if name.ends_with(".free") {
                view.free += path.metadata().map_or(0, |m| m.len());
            } else if name.ends_with(".damaged") {
                view.others.push(name);
            } else if let Some(first) = segment_first(&name) {
                match OpenedForReading::open(&path) {
                    Ok(file) => found.push((first, name, file)),
                    // It is through since the folder was listed.
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let of_segments = || key::of_segments(found.iter().map(|(.., file)| file as &dyn SegmentFile));
        view.key = files::key(&view.folder).or_else(of_segments).unwrap_or(0);
        let bounds: Vec<u64> = found.iter().skip(1).map(|(first, ..)| *first).collect();
        for (index, (first, name, file)) in found.into_iter().enumerate() {
            view.add(first, name, file, bounds.get(index).copied().unwrap_or(u64::MAX))?;
        }
        Ok(view)
    }

    /// Takes the next segment; the table follows.
    fn add(&mut self, first: u64, name: String, file: OpenedForReading, bound: u64) -> io::Result<()> {
        let (length, modified) = (file.length()?, file.modified()?);
        let ours = |snapshot: &Snapshot| snapshot.key == self.key && snapshot.first == first;
        let header = file.header();
        if header.as_ref().is_some_and(|header| !ours(header)) {
            // Being made, or written over for something newer.
            return Ok(());
        }
        let footer = file.footer().filter(ours).filter(|footer| footer.next <= bound);
        if let Some(header) = &header {
            follow(&mut self.table, &header.table);
        }
        let mut segment = Segment {
            name,
            first,
            next: first,
            data: header.as_ref().map_or(0, |h| h.data_start)..length,
            length,
            sealed: footer.is_some(),
            sparse: header.as_ref().or(footer.as_ref()).is_some_and(|h| h.sparse),
            has_header: header.is_some(),
            modified,
            marks: BTreeMap::new(),
            file,
        };
        if let Some(footer) = footer {
            follow(&mut self.table, &footer.table);
            segment.next = footer.next;
            segment.data = footer.data_start..footer.data_end;
            segment.marks = footer.table.iter().map(|(id, row)| (*id, row.mark())).collect();
        } else {
            let most = first.saturating_add(length / frame::HEAD as u64 + 1);
            let seqs = first..bound.min(most);
            let mut walk = Walk::new(&segment.file, segment.data.clone(), self.key, seqs);
            let found = scan(&mut walk, &mut self.table);
            segment.next = found.next;
            segment.data.end = found.end;
            for (id, here) in found.intact {
                let row = self.table.get(&id).cloned().unwrap_or_default();
                segment.marks.insert(id, Mark { here, ..row.mark() });
            }
        }
        self.segments.push(segment);
        Ok(())
    }

    /// The folder of its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn queues(&self) -> Vec<QueueInfo> {
        let info = |(id, row): (&u32, &Row)| {
            let waits = row.cursor < row.end;
            QueueInfo {
                id: *id,
                name: row.name.clone(),
                waiting: if waits { row.waiting() } else { Waiting::default() },
                capacity: 0,
                opened: false,
                first_waiting: row.cursor,
                end: row.end,
                appended: row.appended,
                done: if waits { row.done } else { row.appended },
            }
        };
        self.table.iter().map(info).collect()
    }

    pub fn space(&self) -> Space {
        Space {
            segments: self.segments.len(),
            bytes: self.segments.iter().map(|s| s.length).sum::<u64>() + self.free,
            bytes_free: self.free,
        }
    }

    /// Files that were set aside because of damage.
    pub fn set_aside(&self) -> &[String] {
        &self.others
    }

    /// Bytes that [`View::messages`] has to go over.
    pub fn bytes_from(&self, queue: u32, from: u64) -> u64 {
        self.with(queue, from).map(|segment| segment.data.end - segment.data.start).sum()
    }

    /// Segments in which something of the queue may be, from a number on.
    fn with(&self, queue: u32, from: u64) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(move |segment| {
            let mark = segment.marks.get(&queue);
            segment.next > from && mark.is_some_and(|mark| mark.here.messages > 0 && mark.end > from)
        })
    }
}

#[cfg(test)]
mod tests;
