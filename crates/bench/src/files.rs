//! Input that lies in files: written beforehand, moved below the folder the receiver reads when that is ready, so that neither
//! writing nor starting is measured.

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;

use loggen::message::{Moment, Style, Syntax, build_all};

use crate::cases::Case;
use crate::place::Place;

/// Different messages, repeated with other numbers.
const VARIETY: usize = 192;

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
}

impl Layout {
    pub const fn count(self) -> usize {
        self.folders * self.files
    }

    /// Messages in all files together when a run has so many for a case.
    pub const fn messages(self, of_run: u64) -> u64 {
        let count = self.count() as u64;
        match self.lines {
            Lines::AtLeast(lines) if of_run > count * lines => of_run,
            Lines::AtLeast(lines) | Lines::Just(lines) => count * lines,
        }
    }
}

/// Writes `messages` messages of the case, file by file; the number of a file is what a connection's is elsewhere.
pub fn prepare(case: &Case, layout: Layout, place: &Place, messages: u64) -> Result<(), String> {
    let syntax = if case.input.ietf { Syntax::Rfc5424 } else { Syntax::Rfc3164 };
    let mut style = Style::new(syntax, case.input.body, case.input.size);
    style.hosts = case.input.hosts;
    let ring = build_all(&style, VARIETY, &Moment::now());
    let count = layout.count() as u64;
    let mut buffer = Vec::new();
    for folder in 0..layout.folders {
        let below = place.prepared.join(format!("{folder:04}"));
        fs::create_dir_all(&below).map_err(|e| format!("cannot make {}: {e}", below.display()))?;
        for file in 0..layout.files {
            let id = folder * layout.files + file;
            let number = messages / count + u64::from((id as u64) < messages % count);
            let path = below.join(format!("{file:04}.log"));
            let failed = |e| format!("cannot write {}: {e}", path.display());
            let mut out = BufWriter::with_capacity(1 << 20, fs::File::create(&path).map_err(failed)?);
            for seq in 0..number {
                let Some(message) = ring.get((id + seq as usize) % ring.len().max(1)) else { break };
                buffer.clear();
                buffer.extend_from_slice(&message.bytes);
                patch(&mut buffer, message.conn4_at, &format!("{id:04}"));
                patch(&mut buffer, message.seq9_at, &format!("{seq:09}"));
                out.write_all(&buffer).map_err(failed)?;
            }
            out.flush().map_err(failed)?;
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
pub fn show(layout: Layout, place: &Place) -> Result<(), String> {
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
}
