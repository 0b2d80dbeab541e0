//! Writes frames into segments: when one is full it is closed and the next one begun; when a disk fails, what
//! was not safe yet is written again elsewhere. Only the committing thread has it.

mod rate;
mod restore;
mod room;
mod salvage;
mod waypoint;

use crate::files::{ByName, PAGE, SegmentFile, segment_name, write_all};
use crate::frame;
use crate::group::{Entry, Group};
use crate::report::Waiting;
use crate::shared::{Mark, Segment, Shared};
use crate::snapshot::{Snapshot, Table};
use crate::stage::Stage;
use rate::Rate;
use salvage::Salvage;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::ops::Range;
use std::sync::Arc;
pub use waypoint::find_waypoint;

/// A segment that is closed with more room than this behind its frames is cut.
const SLACK_MAX: u64 = 2 << 20;
/// Bytes that may be in the page cache and not on the disk.
const UNSYNCED_MAX: u64 = if cfg!(test) { 64 << 10 } else { 16 << 20 };
/// Bytes a second at which the page cache is filled for those who are behind, whoever keeps up.
const CACHED_RATE_MAX: u64 = 64 << 20;
pub const NEW: &str = "new.tmp";
/// Where cursors are written when there is no space for anything else.
pub const CURSORS: &str = "cursors";

/// Messages put in before a place, and the number after the last, by queue.
type Totals = BTreeMap<u32, (Waiting, u64)>;

pub enum Trouble {
    /// No space: nothing is wrong with what was written.
    Full(io::Error),
    /// What was written and not synced can be trusted no more.
    Io(io::Error),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        match error.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Trouble::Full(error),
            _ => Trouble::Io(error),
        }
    }
}

pub struct Writer {
    shared: Arc<Shared>,
    active: Option<Active>,
    stage: Stage,
    /// What is written now stays in the page cache.
    read_back: bool,
    rate: Rate,
    /// Everything before it is written; what there is at that place.
    pub written_seq: u64,
    written: Totals,
    /// The same for the disk.
    pub synced_seq: u64,
    synced: Totals,
    /// What has to be written again.
    salvage: Option<Salvage>,
    /// Files that may be written over.
    pub free: Vec<String>,
    /// A file failed: blocks that were used before are not trusted for now.
    fresh_only: bool,
    cursors_turn: bool,
    pub bytes_written: u64,
    pub syncs: u64,
}

struct Active {
    first: u64,
    file: Arc<dyn SegmentFile>,
    name: String,
    data_start: u64,
    at: u64,
    synced_at: u64,
    length: u64,
    /// What it may take, less than others on a disk that is nearly full.
    room: u64,
    /// Where its last waypoint is.
    waypoint: u64,
    /// At its beginning.
    start: Totals,
    /// Its name is not on the disk yet.
    folder_dirty: bool,
    /// It still has this name.
    unnamed: Option<String>,
}

impl Writer {
    /// Goes on behind `seq`, in a new segment.
    pub fn new(shared: Arc<Shared>, seq: u64, table: &Table, free: Vec<String>) -> Writer {
        let totals: Totals = table.iter().map(|(id, row)| (*id, (row.appended, row.end))).collect();
        Writer {
            shared,
            active: None,
            stage: Stage::default(),
            read_back: false,
            rate: Rate::default(),
            written_seq: seq,
            written: totals.clone(),
            synced_seq: seq,
            synced: totals,
            salvage: None,
            free,
            fresh_only: false,
            cursors_turn: false,
            bytes_written: 0,
            syncs: 0,
        }
    }

    /// Writes what of the group is not written yet.
    pub fn write(&mut self, group: &mut Group, sync: bool) -> Result<(), Trouble> {
        let salvaging = self.write_salvage(group.entries.first().map_or(u64::MAX, |e| e.first))?;
        let entries = &group.entries;
        let mut index = entries.partition_point(|e| e.next() <= self.written_seq);
        while let Some(entry) = entries.get(index) {
            let room = self.room_for(entry.length as u64, entry.first)?;
            let (start, mut length) = (index, 0);
            while let Some(next) = entries.get(index).filter(|e| index == start || length + e.length <= room)
            {
                length += next.length;
                index += 1;
            }
            self.append(&mut group.buffer, entry.at..entry.at + length)?;
            entries[start..index].iter().for_each(|e| self.count(e));
        }
        if sync && !salvaging {
            self.tell_written();
        }
        if sync || salvaging || self.cache_is_full() {
            self.sync()?;
        }
        Ok(())
    }

    /// What is written through the page cache goes to the disk piece by piece, not all at once when its
    /// segment is closed.
    fn cache_is_full(&self) -> bool {
        let unsynced = self.active.as_ref().map_or(0, |active| active.at - active.synced_at);
        self.read_back && unsynced > UNSYNCED_MAX
    }

    /// Those who wait for no more than this need not wait for the sync.
    fn tell_written(&self) {
        if !self.shared.lock().is_writing_awaited() {
            return;
        }
        self.publish();
        let tell = self.shared.lock().moved_on(false);
        tell.iter().for_each(|on_move| on_move());
    }

    /// How far into a page the file will be when the group is written, if no other segment is begun.
    pub fn begun_page(&self, group: &Group) -> usize {
        let at = self.active.as_ref().map_or(0, |active| active.at);
        (at as usize + group.bytes()) % PAGE
    }

    fn append(&mut self, buffer: &mut Vec<u8>, run: Range<usize>) -> Result<(), Trouble> {
        let length = run.len() as u64;
        self.write_waypoint(self.active.as_ref().map_or(0, |active| active.at) + length);
        self.read_back = self.is_read_back(length);
        let Some(active) = &mut self.active else { return Err(Trouble::Io(ErrorKind::NotFound.into())) };
        self.stage.append(&*active.file, active.at, buffer, run, self.read_back)?;
        active.at += length;
        active.length = active.length.max(active.at.next_multiple_of(PAGE as u64));
        self.bytes_written += length;
        Ok(())
    }

    /// Whether `length` bytes more are better kept in the page cache. That costs a sixth of what a message
    /// does: at a high rate it is not taken from those who keep up.
    fn is_read_back(&mut self, length: u64) -> bool {
        let first = self.active.as_ref().map_or(0, |active| active.first);
        let is_slow = self.rate.of(length) < CACHED_RATE_MAX;
        let state = self.shared.lock();
        state.is_behind() && (is_slow || !state.keeps_up(first))
    }

    fn count(&mut self, entry: &Entry) {
        for id in frame::ids(entry.queues) {
            let (appended, end) = self.written.entry(id).or_default();
            appended.messages += entry.messages;
            appended.bytes += entry.payload;
            *end = entry.next();
        }
        self.written_seq = entry.next();
    }

    /// Sees to it that the active segment takes `length` bytes, beginning with number `first`; returns what
    /// it takes.
    fn room_for(&mut self, length: u64, first: u64) -> Result<usize, Trouble> {
        let footer = self.footer_bytes();
        let left = |active: &Active| active.room.saturating_sub(footer).saturating_sub(active.at);
        if let Some(active) = &self.active
            && (length <= left(active) || active.at == active.data_start)
        {
            return Ok(left(active) as usize);
        }
        self.seal(false)?;
        self.begin(first)?;
        Ok(self.active.as_ref().map_or(0, left) as usize)
    }

    /// Writes the footer and syncs; `cut` gives back what is behind.
    pub fn seal(&mut self, cut: bool) -> Result<(), Trouble> {
        let Some(active) = &self.active else { return Ok(()) };
        let mut table = self.table(&self.written);
        let marks = marks(&active.start, &self.written);
        for (id, row) in &mut table {
            row.here = marks.get(id).map(|mark| mark.here).unwrap_or_default();
        }
        let snapshot = Snapshot {
            key: self.shared.key,
            first: active.first,
            next: self.written_seq,
            data_start: active.data_start,
            data_end: active.at,
            sparse: false,
            table,
        };
        let footer = snapshot.footer();
        let behind = active.at + footer.len() as u64;
        let cut = cut || behind > active.length || active.length - behind > SLACK_MAX;
        let length = if cut { behind } else { active.length };
        if cut {
            active.file.truncate(length).map_err(Trouble::Io)?;
        }
        write_all(&*active.file, &footer, length - footer.len() as u64)?;
        self.bytes_written += footer.len() as u64;
        self.sync()?;
        let Some(active) = self.active.take() else { return Ok(()) };
        if let Some(segment) = self.shared.lock().segments.get_mut(&active.first) {
            segment.next = self.written_seq;
            segment.data_end = active.at;
            segment.length = length;
            segment.marks = marks;
            segment.sealed = true;
            segment.file = Arc::new(ByName::new(&self.shared.files, &active.name));
        }
        Ok(())
    }

    /// The queues as they are in the log at the place of these totals; cursors as of now.
    fn table(&self, totals: &Totals) -> Table {
        let mut table = self.shared.lock().table();
        for (id, row) in &mut table {
            (row.appended, row.end) = totals.get(id).copied().unwrap_or_default();
        }
        table
    }

    /// Makes the next segment.
    fn begin(&mut self, first: u64) -> Result<(), Trouble> {
        let reused = if self.fresh_only { None } else { self.free.pop() };
        let bytes = match reused {
            Some(_) => self.shared.segment_bytes,
            None => self.room_of_new()?,
        };
        let files = &self.shared.files;
        let made = match &reused {
            Some(name) => files.open(name).and_then(|file| {
                // One that was begun with a larger message keeps its length no longer than this.
                if file.length()? > bytes {
                    file.truncate(bytes)?;
                }
                Ok(file)
            }),
            None => files.create(NEW),
        };
        let file = made?;
        let from = reused.as_deref().unwrap_or(NEW);
        // What is written again may still be found under the old name after a crash: that name is taken over
        // when the disk has it.
        let salvaging = self.salvage.is_some();
        let name = segment_name(first);
        let mut header = Snapshot {
            key: self.shared.key,
            first,
            next: first,
            data_start: 0,
            data_end: 0,
            sparse: false,
            table: self.table(&self.written),
        };
        let outcome = file
            .allocate(bytes)
            .and_then(|()| header.write_header(&*file))
            .and_then(|()| if salvaging { Ok(()) } else { files.rename(from, &name) });
        if let Err(error) = outcome {
            // Whatever it was, this file is not tried again.
            let _ = files.remove(from);
            return Err(error.into());
        }
        self.bytes_written += header.data_start;
        let data = header.data_start..header.data_start;
        let mut segment = Segment::closed(file.clone(), name.clone(), first, data, bytes);
        segment.sealed = false;
        self.shared.lock().segments.insert(first, segment);
        self.stage.restart();
        self.active = Some(Active {
            first,
            file,
            name,
            data_start: header.data_start,
            at: header.data_start,
            synced_at: header.data_start,
            length: bytes,
            room: bytes,
            waypoint: 0,
            start: self.written.clone(),
            folder_dirty: true,
            unnamed: salvaging.then(|| from.to_owned()),
        });
        Ok(())
    }

    pub fn sync(&mut self) -> Result<(), Trouble> {
        if let Some(active) = &mut self.active {
            self.syncs += 1;
            // Even a full disk says here that data are lost.
            active.file.sync().map_err(Trouble::Io)?;
            if let Some(from) = &active.unnamed {
                self.shared.files.rename(from, &active.name).map_err(Trouble::Io)?;
                active.unnamed = None;
            }
            if active.folder_dirty {
                self.shared.files.sync_folder().map_err(Trouble::Io)?;
                active.folder_dirty = false;
            }
            active.synced_at = active.at;
        }
        self.synced_seq = self.written_seq;
        self.synced.clone_from(&self.written);
        if let Some(salvage) = self.salvage.take() {
            let mut state = self.shared.lock();
            state.segments.get_mut(&salvage.first).into_iter().for_each(|segment| segment.busy = false);
        }
        self.fresh_only = false;
        Ok(())
    }

    /// Makes it known to the next start what is done, without taking space.
    pub fn save_cursors(&mut self) -> io::Result<()> {
        let mut table = self.table(&self.written);
        table.values_mut().for_each(|row| row.here = Waiting::default());
        let (key, seq) = (self.shared.key, self.written_seq);
        let snapshot =
            Snapshot { key, first: seq, next: seq, data_start: 0, data_end: 0, sparse: false, table };
        self.cursors_turn = !self.cursors_turn;
        snapshot.write_aside(&*self.shared.files.open(CURSORS)?, self.cursors_turn)
    }

    /// Shows readers what was written.
    pub fn publish(&self) {
        let mut state = self.shared.lock();
        state.written = self.written_seq;
        state.synced = self.synced_seq;
        if let Some(active) = &self.active
            && let Some(segment) = state.segments.get_mut(&active.first)
        {
            segment.next = self.written_seq;
            segment.data_end = active.at;
            segment.length = active.length;
        }
    }
}

/// Each queue's part of what lies between two places.
fn marks(start: &Totals, end: &Totals) -> BTreeMap<u32, Mark> {
    let mark = |(id, (appended, end)): (&u32, &(Waiting, u64))| {
        let (before, _) = start.get(id).copied().unwrap_or_default();
        let here = appended.less(before);
        (*id, Mark { appended: *appended, here, end: *end })
    };
    end.iter().map(mark).filter(|(_, mark)| mark.here.messages > 0).collect()
}
