//! Input that lies in files: written beforehand, moved below the folder the receiver reads when that is
//! ready, so that neither writing nor starting is measured; or written line by line while the receiver
//! follows them.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use loggen::message::{Message, Moment, Style, Syntax, build_all};

use crate::cases::Case;
use crate::place::Place;
use stdio::CommandError;

/// Different messages, repeated with other numbers.
const VARIETY: usize = 192;
/// Lines after which the writer looks at the clock.
const LOOK_LINES: u64 = 32;
/// What the writer does not wait for.
const AHEAD_MAX: Duration = Duration::from_millis(1);

/// How the input is spread out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub folders: usize,
    /// In each folder.
    pub files: usize,
    pub lines: Lines,
}

/// How long each file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// The run's messages, divided among the files, but so many in each at least.
    AtLeast(u64),
    /// So many, whatever the run says.
    Just(u64),
    /// As [`Lines::AtLeast`], written while the receiver follows the files: one line a write, to each file in
    /// turn. The first is there before.
    Written { at_least: u64, pace: Pace },
}

/// How fast lines are written to all files together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// As fast as one core writes them.
    Full,
    PerSecond(u64),
}

impl Layout {
    pub const fn count(self) -> usize {
        self.folders * self.files
    }

    /// Messages in all files together when a run has so many for a case.
    pub const fn messages(self, of_run: u64) -> u64 {
        let count = self.count() as u64;
        match self.lines {
            Lines::Just(lines) => count * lines,
            Lines::AtLeast(lines) | Lines::Written { at_least: lines, .. } if of_run < count * lines => {
                count * lines
            }
            _ => of_run,
        }
    }

    /// Those of all `messages` that are in the files before the measurement begins, when others are written
    /// meanwhile.
    pub const fn known(self) -> Option<u64> {
        match self.lines {
            Lines::Written { .. } => Some(self.count() as u64),
            _ => None,
        }
    }

    /// The messages of the file with this number.
    fn of_file(self, id: usize, messages: u64) -> u64 {
        let count = self.count() as u64;
        messages / count + u64::from((id as u64) < messages % count)
    }
}

/// Makes the messages of a case; the number of a file is what a connection's is elsewhere.
struct Maker {
    ring: Vec<Message>,
    buffer: Vec<u8>,
}

impl Maker {
    fn new(case: &Case) -> Maker {
        let syntax = if case.input.ietf { Syntax::Rfc5424 } else { Syntax::Rfc3164 };
        let mut style = Style::new(syntax, case.input.body, case.input.size);
        style.hosts = case.input.hosts;
        Maker { ring: build_all(&style, VARIETY, &Moment::now()), buffer: Vec::new() }
    }

    fn make(&mut self, id: usize, seq: u64) -> &[u8] {
        self.buffer.clear();
        if let Some(message) = self.ring.get((id + seq as usize) % self.ring.len().max(1)) {
            self.buffer.extend_from_slice(&message.bytes);
            patch(&mut self.buffer, message.conn4_at, &format!("{id:04}"));
            patch(&mut self.buffer, message.seq9_at, &format!("{seq:09}"));
        }
        &self.buffer
    }
}

fn path_of(parent: &Path, layout: Layout, id: usize) -> PathBuf {
    parent.join(format!("{:04}", id / layout.files)).join(format!("{:04}.log", id % layout.files))
}

/// Writes `messages` messages of the case, file by file, or as many as are known before. Then there is memory
/// at hand for what the receiver writes: the input has taken that of [`Place::warm`].
pub fn prepare(case: &Case, layout: Layout, place: &Place, messages: u64) -> Result<(), CommandError> {
    let mut maker = Maker::new(case);
    for id in 0..layout.count() {
        let path = path_of(&place.prepared, layout, id);
        let failed = |e| format!("cannot write {}: {e}", path.display());
        if let Some(folder) = path.parent().filter(|_| id % layout.files == 0) {
            fs::create_dir_all(folder).map_err(failed)?;
        }
        let mut out = BufWriter::with_capacity(1 << 20, fs::File::create(&path).map_err(failed)?);
        for seq in 0..layout.of_file(id, layout.known().unwrap_or(messages)) {
            out.write_all(maker.make(id, seq)).map_err(failed)?;
        }
        out.flush().map_err(failed)?;
    }
    place.warm(messages * case.input.size as u64)
}

/// Writes all but the known messages: a line a write, to each file in turn, as programs do.
pub fn write(case: &Case, layout: Layout, place: &Place, messages: u64) -> Result<(), CommandError> {
    let mut maker = Maker::new(case);
    let mut open = Vec::with_capacity(layout.count());
    for id in 0..layout.count() {
        let path = path_of(&place.input, layout, id);
        let failed = |e| format!("cannot write {}: {e}", path.display());
        open.push(fs::File::options().append(true).open(&path).map_err(failed)?);
    }
    let pace = match layout.lines {
        Lines::Written { pace: Pace::PerSecond(pace), .. } => Some(pace),
        _ => None,
    };
    let (start, mut written) = (Instant::now(), 0);
    for seq in 1..layout.of_file(0, messages) {
        for (id, file) in open.iter_mut().enumerate().filter(|(id, _)| seq < layout.of_file(*id, messages)) {
            file.write_all(maker.make(id, seq)).map_err(|e| format!("cannot write to file {id}: {e}"))?;
            written += 1;
            if let Some(pace) = pace.filter(|_| written % LOOK_LINES == 0) {
                let due = Duration::from_micros(written * 1_000_000 / pace);
                let ahead = due.saturating_sub(start.elapsed());
                if ahead > AHEAD_MAX {
                    std::thread::sleep(ahead);
                }
            }
        }
    }
    Ok(())
}

fn patch(message: &mut [u8], at: Option<usize>, digits: &str) {
    if let Some(room) = at.and_then(|at| message.get_mut(at..at + digits.len())) {
        room.copy_from_slice(digits.as_bytes());
    }
}

/// Lets the receiver see the files, a folder at a time.
pub fn show(layout: Layout, place: &Place) -> Result<(), CommandError> {
    for folder in 0..layout.folders {
        let name = format!("{folder:04}");
        let (from, to) = (place.prepared.join(&name), place.input.join(&name));
        fs::rename(&from, &to).map_err(|e| format!("cannot move {}: {e}", from.display()))?;
    }
    Ok(())
}

/// The files below `folder`, as the floor reads them.
pub fn below(folder: &Path) -> Vec<std::path::PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cases::CASES;
    use loggen::verify::{Expected, verify_files};

    #[test]
    fn files_are_as_long_as_the_case_says() {
        let layout = |lines| Layout { folders: 10, files: 10, lines };
        assert_eq!(layout(Lines::AtLeast(5)).messages(600), 600);
        assert_eq!(layout(Lines::AtLeast(5)).messages(400), 500);
        assert_eq!(layout(Lines::Just(1)).messages(400), 100);
        assert_eq!(
            (
                layout(Lines::Just(1)).known(),
                layout(Lines::Written { at_least: 5, pace: Pace::Full }).known()
            ),
            (None, Some(100))
        );
    }

    #[test]
    fn all_messages_are_there_once_and_only_when_shown() {
        let case = CASES.iter().find(|case| case.name == "files-10x10").unwrap();
        let layout = case.layout().unwrap();
        let parent = tempfile::tempdir().unwrap();
        let place = Place::new(parent.path(), "case", false).unwrap();
        prepare(case, layout, &place, 1005).unwrap();
        assert!(below(&place.input).is_empty());
        show(layout, &place).unwrap();
        let files: Vec<_> = below(&place.input).iter().flat_map(|folder| below(folder)).collect();
        assert_eq!(files.len(), 100);
        let expected = Expected { connections: Some(100), number: Some(1005), ..Expected::default() };
        let report = verify_files(&files, &expected).unwrap();
        assert!(report.ok(), "{report}");
    }
    #[test]
    fn what_is_written_later_goes_on_where_the_known_part_ends() {
        let case = CASES.iter().find(|case| case.name == "files-written-10x10").unwrap();
        let layout = case.layout().unwrap();
        let parent = tempfile::tempdir().unwrap();
        let place = Place::new(parent.path(), "case", false).unwrap();
        prepare(case, layout, &place, 1005).unwrap();
        show(layout, &place).unwrap();
        let files = || -> Vec<_> { below(&place.input).iter().flat_map(|folder| below(folder)).collect() };
        let count = |number| {
            let expected = Expected { connections: Some(100), number: Some(number), ..Expected::default() };
            verify_files(&files(), &expected).unwrap()
        };
        assert!(count(100).ok());
        write(case, layout, &place, 1005).unwrap();
        let report = count(1005);
        assert!(report.ok(), "{report}");
    }
}
