//! How far queues are, outside the log: written with each chunk that is done, never synced. The cursors in
//! the log come by groups; those here outlive the process up to the last moment, so that a kill doubles no
//! more than what was being sent just then.

use crate::files::{Files, SegmentFile, read_on, write_all};
use crate::snapshot::{Row, Table};
use std::io;
use std::sync::Arc;

const NAME: &str = "progress";
/// One place for each queue; those with larger ids have none.
const PLACE_BYTES: usize = 64;
const PLACES: u32 = 1024;
/// Key, era, id, cursor, messages and bytes that are done.
const WORDS: usize = 6;

pub struct Progress {
    file: Option<Arc<dyn SegmentFile>>,
    key: u64,
    /// What was noted in another era, and never synced, says nothing of what is done.
    era: u64,
}

impl Progress {
    /// Without it the cursors of the log are all there is.
    pub fn open(files: &dyn Files, key: u64) -> Progress {
        let outcome = files.open(NAME).or_else(|_| made(files));
        if let Err(error) = &outcome {
            oplog::warning("Cannot make the store's file of progress", &[("error", error)]);
        }
        Progress { file: outcome.ok(), key, era: files.era() }
    }

    /// The queue is so far now. That it cannot be written is no error: the log says it a little later.
    pub fn note(&self, id: u32, row: &Row) {
        let Some(file) = self.file.as_ref().filter(|_| id < PLACES) else { return };
        let words = [self.key, self.era, u64::from(id), row.cursor, row.done.messages, row.done.bytes];
        let mut place = [0; PLACE_BYTES];
        place.iter_mut().zip(words.map(u64::to_le_bytes).as_flattened()).for_each(|(to, from)| *to = *from);
        let (said, sum) = place.split_at_mut(WORDS * 8);
        sum.iter_mut().zip(crc32c::crc32c(said).to_le_bytes()).for_each(|(to, from)| *to = from);
        let _ = write_all(&**file, &place, u64::from(id) * PLACE_BYTES as u64);
    }

    /// Brings the table up to what was noted, if it may. Returns a number that no message may have from now
    /// on, nor any before it: it would count as done.
    pub fn follow(&self, table: &mut Table, may_follow: bool) -> u64 {
        let Some(file) = &self.file else { return 0 };
        let mut bytes = vec![0; PLACES as usize * PLACE_BYTES];
        if let (_, Some(error)) = read_on(&**file, &mut bytes, 0) {
            // It must not say later what was not known now.
            let emptied = file.truncate(0).and_then(|()| file.sync());
            oplog::warning("Cannot read the store's file of progress", &[("error", &error)]);
            if let Err(error) = emptied {
                oplog::warning("Cannot empty the store's file of progress", &[("error", &error)]);
            }
            return 0;
        }
        let (mut moved, mut highest) = (false, 0);
        for place in bytes.as_chunks::<PLACE_BYTES>().0 {
            let (said, sum) = place.split_at(WORDS * 8);
            let (words, _) = said.as_chunks::<8>();
            let Ok(words) = <&[[u8; 8]; WORDS]>::try_from(words) else {
                continue;
            };
            let [key, era, id, cursor, messages, bytes] = words.map(u64::from_le_bytes);
            let intact = sum.starts_with(&crc32c::crc32c(said).to_le_bytes()) || cfg!(feature = "unchecked");
            if key != self.key || !intact {
                continue;
            }
            highest = highest.max(cursor);
            let row = u32::try_from(id).ok().and_then(|id| table.get_mut(&id));
            if let Some(row) = row.filter(|_| may_follow && era == self.era && era != 0) {
                // After a power loss it may be ahead of the log: what is not there cannot be done.
                let mut done = Row { cursor: cursor.min(row.end), ..Row::default() };
                (done.done.messages, done.done.bytes) = (messages, bytes);
                moved |= done.cursor > row.cursor;
                row.take_done(&done);
            }
        }
        // What is done at the start stays done.
        if let Some(error) = moved.then(|| file.sync().err()).flatten() {
            oplog::warning("Cannot sync the store's file of progress", &[("error", &error)]);
        }
        highest
    }
}

fn made(files: &dyn Files) -> io::Result<Arc<dyn SegmentFile>> {
    let file = files.create(NAME)?;
    file.allocate(u64::from(PLACES) * PLACE_BYTES as u64)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commit::Step;
    use crate::files::Folder;
    use crate::model::disk::Handle;
    use crate::report::Waiting;
    use crate::{Log, Options, Safe};

    fn row(cursor: u64, end: u64, messages: u64) -> Row {
        let done = Waiting { messages, bytes: messages * 10 };
        Row { cursor, end, done, appended: Waiting { messages: 100, bytes: 1000 }, ..Row::default() }
    }

    #[test]
    fn what_was_noted_last_is_known_and_what_is_damaged_is_not() {
        let dir = tempfile::tempdir().expect("a folder");
        let folder = Folder::new(dir.path());
        let progress = Progress::open(&folder, 7);
        for (id, cursor) in [(0, 5), (0, 9), (3, 4), (5000, 8), (4, 90)] {
            progress.note(id, &row(cursor, 50, cursor));
        }
        let table = || Table::from([(0, row(6, 50, 6)), (3, row(6, 50, 6)), (4, row(6, 50, 6))]);
        let cursors = |progress: &Progress| {
            let mut table = table();
            progress.follow(&mut table, true);
            table.values().map(|row| (row.cursor, row.done.messages)).collect::<Vec<_>>()
        };
        assert_eq!(cursors(&Progress::open(&folder, 7)), [(9, 9), (6, 6), (50, 90)]);
        assert_eq!(cursors(&Progress::open(&folder, 8)), [(6, 6); 3], "of another log");
        for at in 0..(WORDS * 8 + 4) as u64 {
            let file = folder.open(NAME).expect("a file");
            let mut byte = [0];
            read_on(&*file, &mut byte, at);
            write_all(&*file, &[byte[0] ^ 4], at).expect("written");
            assert_eq!(cursors(&progress)[0], (6, 6), "byte {at}");
            write_all(&*file, &byte, at).expect("written");
        }
    }

    #[test]
    fn what_was_noted_is_known_after_each_of_several_kills() {
        let disk = Handle::new(1);
        let mut done = 0;
        for round in 0..5 {
            let options = Options { files: Some(Box::new(disk.clone())), ..Options::new("".as_ref()) };
            let (log, mut committer, _) = Log::prepare(options).expect("a log");
            let queue = log.queue(b"q", 1 << 30, Box::new(|| ())).expect("a queue");
            assert_eq!(queue.waiting().messages, round * 10 - done, "after {round} kills");
            let ends: Vec<u32> = (1..=10).map(|i| i * 100).collect();
            assert!(queue.append(&[b'x'; 1000], &ends, Safe::Synced, Box::new(())).is_ok());
            assert_eq!(committer.step(), Step::Wrote);
            let read = queue.read(queue.first_waiting(), 700).expect("messages");
            queue.done(read.seqs.end, read.ends.len() as u64, read.bytes.len() as u64);
            done += read.ends.len() as u64;
            // No step any more.
        }
        assert!(done > 20);
    }
}
