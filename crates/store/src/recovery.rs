//! Opening a folder: which segments are there, what is in them, what is missing. Reads headers and footers;
//! frames only of segments that were never closed.

mod skipped;

use crate::compact;
use crate::damage::Hole;
use crate::files::{self, ByName, Files, SegmentFile, write_all};
use crate::free;
use crate::key::{self, NamedFile};
use crate::origin;
use crate::progress::Progress;
use crate::read::{StartPatience, damage_frames};
use crate::report::{Damaged, Report, Waiting};
use crate::scan::{Scan, scan};
use crate::shared::{Mark, QueueState, Segment, State};
use crate::snapshot::{self, ASIDE_BYTES, Row, Snapshot, Table};
use crate::walk::Walk;
use crate::writer;
use skipped::{Appended, Skipped, appended};
use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Numbers left out at a start: more than a segment has, and not the same as at a start nothing is left of.
fn skipped() -> u64 {
    (1 + (key::random() & 0xf_ffff)) << 22
}

pub struct Recovered {
    pub key: u64,
    pub state: State,
    pub table: Table,
    pub free: Vec<String>,
    pub noted: Progress,
    pub report: Report,
}

/// A file that is called a segment.
struct Found {
    first: u64,
    name: String,
    file: Arc<dyn SegmentFile>,
    length: u64,
    header: Option<Snapshot>,
    footer: Option<Snapshot>,
}

impl Found {
    /// What was put in before it, by header or footer.
    fn appended_at_start(&self) -> Option<Appended> {
        if let Some(header) = &self.header {
            return Some(appended(&header.table));
        }
        let footer = self.footer.as_ref().filter(|footer| !footer.sparse)?;
        let before = |row: &Row| row.appended.messages.saturating_sub(row.here.messages);
        Some(footer.table.iter().map(|(id, row)| (*id, before(row))).collect())
    }
}

struct Recovery<'a> {
    files: &'a Arc<dyn Files>,
    patience: StartPatience,
    key: u64,
    table: Table,
    state: State,
    report: Report,
    holes: Vec<Skipped>,
}

/// What cannot be read is tried again for `patience`, over all; then it counts as damage.
pub fn recover(files: &Arc<dyn Files>, free_segments: usize, patience: Duration) -> io::Result<Recovered> {
    let patience = StartPatience::new(patience);
    files.claim()?;
    let mut names = files.list()?;
    names.sort();
    for name in [writer::NEW, compact::NEW] {
        if names.iter().any(|n| n == name) {
            let _ = files.remove(name);
        }
    }
    let (mut free, names): (Vec<String>, Vec<String>) = names.into_iter().partition(|name| free::is(name));
    let mut opened = Vec::new();
    let mut report = Report::default();
    for name in names {
        let Some(named) = files::segment_first(&name) else { continue };
        let file: Arc<dyn SegmentFile> = Arc::new(ByName::new(files, &name));
        match file.length() {
            Ok(length) => opened.push((named, name, file, length)),
            Err(error) => {
                report.damaged.push(Damaged { file: name, what: error.to_string(), frames_lost: 0 })
            }
        }
    }
    opened.iter().for_each(|(_, name, file, length)| patience.wait_for(name, &**file, *length));
    let key = key::find(&**files, &opened)?;
    free::keep(&**files, key, free_segments, &mut free);
    let (table, state) = (Table::new(), State::default());
    let mut recovery = Recovery { files, patience, key, table, state, report, holes: Vec::new() };
    let found = recovery.identify(opened);
    recovery.report.segments = found.len();
    if found.is_empty() {
        // Without a segment it is not known which numbers are in them.
        free.drain(..).for_each(|name| drop(files.remove(&name)));
    }
    recovery.go_over(found);
    recovery.read_cursors();
    // Where something is missing, what was done of it cannot be told from what was not.
    let whole = recovery.report.damaged.is_empty() && recovery.is_explained();
    let noted = Progress::open(&**files, key);
    let on_disk = recovery.table.clone();
    let taken = noted.follow(&mut recovery.table, whole);
    recovery.state.next_seq = recovery.state.next_seq.max(taken);
    recovery.finish();
    recovery.state.went_on_from(&on_disk);
    // What was not taken is not to be taken at a later start.
    recovery.state.queues.iter().for_each(|(id, queue)| noted.note(*id, &queue.row));
    // What was found is as good as what will be written: names too.
    if let Err(error) = files.sync_folder() {
        oplog::warning("Cannot sync the folder of the store", &[("error", &error)]);
    }
    let Recovery { table, state, report, .. } = recovery;
    Ok(Recovered { key, state, table, free, noted, report })
}

impl Recovery<'_> {
    /// Which segment each file is: by its header, by its name where that does not tell.
    fn identify(&mut self, opened: Vec<NamedFile>) -> Vec<Found> {
        let mut found: BTreeMap<u64, Found> = BTreeMap::new();
        let mut strays = Vec::new();
        for (named, name, file, length) in opened {
            let ours = |snapshot: &Snapshot| snapshot.key == self.key;
            let mut header = Snapshot::read_header(&*file, length).filter(ours);
            let mut first = named;
            if let Some(other) = header.as_ref().map(|h| h.first).filter(|first| *first != named) {
                // Its header was never written over, which then is of an older one; or it has the name of
                // another one.
                let scanned = (other < named)
                    .then(|| self.scan(&*file, 0..length, named, None, &mut Table::new()).first)
                    .flatten();
                match scanned {
                    Some(_) => header = None,
                    None => first = other,
                }
            }
            let footer = Snapshot::read_footer(&*file, length).filter(ours).filter(|f| f.first == first);
            let one = Found { first, name, file, length, header, footer };
            match found.entry(first) {
                std::collections::btree_map::Entry::Vacant(place) => {
                    place.insert(one);
                }
                std::collections::btree_map::Entry::Occupied(mut place) if first == named => {
                    strays.push(place.insert(one));
                }
                _ => strays.push(one),
            }
        }
        for stray in strays {
            self.set_aside(&stray.name, "another file has the same frames");
        }
        found.into_values().collect()
    }

    fn scan(
        &self,
        file: &dyn SegmentFile,
        range: Range<u64>,
        first: u64,
        bound: Option<u64>,
        table: &mut Table,
    ) -> Scan {
        let most = first.saturating_add(range.end / crate::frame::HEAD as u64 + 1);
        let seqs = first..bound.unwrap_or(u64::MAX).min(most);
        let range = range.start.min(range.end)..range.end;
        let walk = || Walk::new(file, range.clone(), self.key, seqs.clone());
        let before = table.clone();
        loop {
            let strict = self.patience.is_left();
            let mut walk = walk().strict(strict);
            let found = scan(&mut walk, table);
            let Some(error) = walk.error() else { return found };
            table.clone_from(&before);
            self.patience.pause(&files::segment_name(first), &error);
        }
    }

    fn set_aside(&mut self, name: &str, what: &str) {
        let _ = self.files.rename(name, &format!("{name}.damaged"));
        let damaged = Damaged { file: name.to_owned(), what: what.to_owned(), frames_lost: 0 };
        self.report.damaged.push(damaged);
    }

    /// From the oldest to the newest; the table follows.
    fn go_over(&mut self, found: Vec<Found>) {
        let bounds: Vec<u64> = found.iter().skip(1).map(|f| f.first).collect();
        let mut next = None;
        for (index, one) in found.into_iter().enumerate() {
            let bound = bounds.get(index).copied();
            if next.is_none_or(|next| one.first > next)
                && let Some(after) = one.appended_at_start()
            {
                let before = if next.is_none() { Appended::new() } else { appended(&self.table) };
                self.holes.push(Skipped { end: one.first, before, after });
            }
            if let Some(header) = &one.header {
                snapshot::follow(&mut self.table, &header.table);
            }
            self.report.bytes += one.length;
            next = Some(match &one.footer {
                Some(footer) if bound.is_none_or(|bound| footer.next <= bound) => {
                    let footer = footer.clone();
                    self.closed(one, footer)
                }
                _ => self.unclosed(one, bound),
            });
        }
        self.state.next_seq = next.unwrap_or(1);
    }

    fn closed(&mut self, one: Found, footer: Snapshot) -> u64 {
        let headerless = one.header.is_none();
        snapshot::follow(&mut self.table, &footer.table);
        let here = footer.table.iter().filter(|(_, row)| row.here.messages > 0);
        let marks = here.map(|(id, row)| (*id, row.mark())).collect();
        if headerless {
            let what = "its header is damaged".to_owned();
            self.report.damaged.push(Damaged { file: one.name.clone(), what, frames_lost: 0 });
        }
        let data = footer.data_start..footer.data_end;
        let mut segment = Segment::closed(one.file, one.name, footer.next, data, one.length);
        (segment.sparse, segment.marks) = (footer.sparse, marks);
        self.state.segments.insert(one.first, segment);
        footer.next
    }

    /// A segment without footer: the newest after a crash, or one that failed.
    fn unclosed(&mut self, one: Found, bound: Option<u64>) -> u64 {
        // What is known now may stand in a place that goes: it is written anew.
        self.state.moved = true;
        let start = one.header.as_ref().map_or(0, |h| h.data_start);
        let waypoint =
            one.header.as_ref().and_then(|h| writer::find_waypoint(&*one.file, one.length, h, bound));
        let mut before: BTreeMap<u32, Waiting> =
            self.table.iter().map(|(id, row)| (*id, row.appended)).collect();
        let mut table = std::mem::take(&mut self.table);
        let found = match waypoint {
            None => self.scan(&*one.file, start..one.length, one.first, bound, &mut table),
            Some((known, rest)) => {
                snapshot::follow(&mut table, &known.table);
                let mut found = self.scan(&*one.file, rest, known.next, bound, &mut table);
                found.first = found.first.or((known.next > one.first).then_some(one.first));
                found
            }
        };
        self.table = table;
        if !found.unexplained.is_empty() {
            let (mut known, mut said) = (Appended::new(), Appended::new());
            for (id, (from, to)) in &found.unexplained {
                known.insert(*id, *from);
                said.insert(*id, *to);
                before.entry(*id).or_default().messages += to - from;
            }
            self.holes.push(Skipped { end: one.first, before: known, after: said });
        }
        if found.first.is_none() && one.header.is_none() {
            self.set_aside(&one.name, "nothing in it can be read");
            return one.first;
        }
        if found.first.is_none() {
            // Its header may be all that tells what is done: it stays until that is written elsewhere.
            let segment = Segment::closed(one.file, one.name, one.first + 1, start..start, one.length);
            self.state.segments.insert(one.first, segment);
            return one.first + 1;
        }
        let sparse = one.header.as_ref().is_some_and(|h| h.sparse);
        let frames = if found.skipped > 0 { damage_frames(&found.damage, sparse) } else { 0 };
        let hurt = frames > 0 || one.header.is_none();
        if hurt {
            let what = format!("{} bytes in it cannot be read", found.skipped);
            self.report.damaged.push(Damaged { file: one.name.clone(), what, frames_lost: frames });
            self.report.frames_lost += frames;
        }
        let marks = self.table.iter().filter_map(|(id, row)| {
            let before = before.get(id).copied().unwrap_or_default();
            let here = row.appended.less(before);
            (here.messages > 0).then_some((*id, Mark { here, ..row.mark() }))
        });
        let mut segment = Segment::closed(one.file, one.name, found.next, start..found.end, one.length);
        (segment.sparse, segment.marks) = (sparse, marks.collect());
        segment.damage = hurt.then(|| Arc::new(found.damage));
        if let Err(error) = self.close(one.first, &mut segment) {
            oplog::warning("Cannot close a file of the store", &[("file", &segment.name), ("error", &error)]);
        }
        self.state.segments.insert(one.first, segment);
        found.next
    }

    /// Gives the segment its footer, so that it is not read as a whole at the next start.
    fn close(&self, first: u64, segment: &mut Segment) -> io::Result<()> {
        let mut table = self.table.clone();
        for (id, row) in &mut table {
            row.here = segment.marks.get(id).map(|mark| mark.here).unwrap_or_default();
        }
        let footer = Snapshot {
            key: self.key,
            first,
            next: segment.next,
            data_start: segment.data_start,
            data_end: segment.data_end,
            sparse: segment.sparse,
            table,
        };
        let footer = footer.footer();
        // What is damaged is kept as it is.
        let at = if segment.damage.is_some() { segment.length } else { segment.data_end };
        if segment.damage.is_none() {
            segment.file.truncate(at)?;
        }
        let written = write_all(&*segment.file, &footer, at);
        segment.length = segment.file.length()?;
        segment.file.sync().and(written)
    }

    /// Cursors that were saved when there was no space for them in the log.
    fn read_cursors(&mut self) {
        let Ok(file) = self.files.open(writer::CURSORS) else {
            // It takes its space now: later there may be none.
            let made = self.files.create(writer::CURSORS);
            if let Err(error) = made.and_then(|file| file.allocate(ASIDE_BYTES).and_then(|()| file.sync())) {
                oplog::warning("Cannot make the store's file of cursors", &[("error", &error)]);
            }
            return;
        };
        for saved in Snapshot::read_aside(&*file).into_iter().filter(|saved| saved.key == self.key) {
            // Numbers are never given twice, even when no segment is left.
            self.state.next_seq = self.state.next_seq.max(saved.next);
            if self.state.segments.is_empty() && self.table.is_empty() {
                self.table = saved.table.clone();
            }
            for (id, saved) in saved.table {
                if let Some(row) = self.table.get_mut(&id).filter(|row| row.name == saved.name) {
                    // The disk may not have it, if it failed then.
                    self.state.moved |= saved.cursor > row.cursor;
                    row.take_done(&saved);
                }
            }
        }
    }

    /// Whether no message is missing where numbers are: each start skips some.
    fn is_explained(&self) -> bool {
        self.holes.iter().all(|hole| hole.lost(&self.table).is_empty())
    }

    fn finish(&mut self) {
        let Recovery { table, state, report, holes, .. } = self;
        for row in table.values_mut() {
            state.next_seq = state.next_seq.max(row.cursor).max(row.end);
            if row.cursor >= row.end {
                row.done = row.appended;
            }
            row.done.messages = row.done.messages.min(row.appended.messages);
            row.done.bytes = row.done.bytes.min(row.appended.bytes);
        }
        for hole in holes.drain(..) {
            let (end, lost) = (hole.end, hole.lost(table));
            let frames: u64 = lost.values().sum();
            if frames > 0 {
                let file = format!("{} and before", files::segment_name(end));
                report.frames_lost += frames;
                let what = "frames in front of it are missing".to_owned();
                report.damaged.push(Damaged { file, what, frames_lost: frames });
                state.holes.push(Hole { end, lost });
            }
        }
        // What was numbered before and never became safe may still lie in a file: those numbers are not used
        // again.
        if state.next_seq > 1 {
            state.next_seq = state.next_seq.saturating_add(skipped());
        }
        state.written = state.next_seq;
        state.synced = state.next_seq;
        state.queues = table.iter().map(|(id, row)| (*id, QueueState::new(row.clone()))).collect();
        state.queues.values_mut().for_each(|queue| queue.moved = state.moved);
        let known = origin::recover(&state.segments, self.key);
        state.has_origins = !known.is_empty();
        for (id, known) in known {
            if let Some(queue) = state.queues.get_mut(&id) {
                queue.known = known;
            }
        }
    }
}

#[cfg(test)]
mod tests;
