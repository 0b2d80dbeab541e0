//! Which lines of their files messages are, counted by whoever answers, never by whoever delivers.

use engine::watch::inquiry::Text;
use engine::{Detail, Receipt};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// Bytes of a file that are counted; what lies further behind has an offset only.
const COUNTED_BYTES_MAX: u64 = 256 << 20;
const PIECE_BYTES: usize = 1 << 20;

/// Adds the line to the places that are files and offsets.
pub fn count<'s>(outputs: impl Iterator<Item = (&'s Text, &'s Receipt)>) {
    let mut all: Vec<(String, u64, &Text, &Receipt)> = outputs.filter_map(placed).collect();
    all.sort_by(|a, b| (&a.0, a.1).cmp(&(&b.0, b.1)));
    for of_file in all.chunk_by(|a, b| a.0 == b.0) {
        let Some((path, ..)) = of_file.first() else { continue };
        // What cannot be read has no lines.
        let Ok(file) = regular::open(Path::new(path)) else { continue };
        let mut counter = Counter { file, at: 0, lines: 0 };
        for (_, offset, output, receipt) in of_file {
            match counter.line(*offset, output) {
                Ok(Some(line)) => receipt.also([("line", line.into())]),
                Ok(None) => {}
                Err(_) => break,
            }
        }
    }
}

fn placed<'s>((output, receipt): (&'s Text, &'s Receipt)) -> Option<(String, u64, &'s Text, &'s Receipt)> {
    let place = receipt.said()?.place;
    let detail = |name| place.iter().find(|(known, _)| *known == name).map(|(_, detail)| detail.clone());
    match (detail("file")?, detail("offset")?, detail("line")) {
        (Detail::Text(path), Detail::Number(offset), None) if offset <= COUNTED_BYTES_MAX => {
            Some((path, offset, output, receipt))
        }
        _ => None,
    }
}

/// Counts lines of a file from its beginning on.
struct Counter {
    file: File,
    at: u64,
    /// Line ends before `at`.
    lines: u64,
}

impl Counter {
    /// The line, from 1 on, that begins or goes on there; `None` where other bytes are: another file has the
    /// name now. To be asked in ascending order.
    fn line(&mut self, offset: u64, output: &Text) -> io::Result<Option<u64>> {
        let mut found = vec![0; output.kept.len()];
        self.file.seek(SeekFrom::Start(offset))?;
        if self.file.read_exact(&mut found).is_err() || found != output.kept {
            return Ok(None);
        }
        self.file.seek(SeekFrom::Start(self.at))?;
        let mut piece = vec![0; PIECE_BYTES];
        while self.at < offset {
            let most = PIECE_BYTES.min(usize::try_from(offset - self.at).unwrap_or(PIECE_BYTES));
            let read = self.file.read(piece.get_mut(..most).unwrap_or_default())?;
            let Some(some) = piece.get(..read).filter(|some| !some.is_empty()) else { return Ok(None) };
            self.lines += some.iter().filter(|byte| **byte == b'\n').count() as u64;
            self.at += some.len() as u64;
        }
        Ok(Some(self.lines + 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_on_and_other_bytes_have_none() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("f");
        std::fs::write(&path, "one\ntwo\nthree\nthree\n").expect("a file");
        let mut counter = Counter { file: File::open(&path).expect("a file"), at: 0, lines: 0 };
        let mut line = |offset, text: &str| counter.line(offset, &Text::from(text)).ok().flatten();
        assert_eq!([line(0, "one"), line(8, "three\n"), line(14, "three\n")], [Some(1), Some(3), Some(4)]);
        assert_eq!([line(15, "three"), line(99, "x"), line(14, "three\nfour")], [None; 3]);
    }
}
