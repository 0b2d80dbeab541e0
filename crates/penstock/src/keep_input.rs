//! `keep-input(SIZE)`: the last of what came to all sources, as it came, in the state folder, so that it can
//! be sent again: recordings of equal size, the oldest of which goes.

use crate::program::Daemon;
use engine::capture::{Capture, Caught};
use recording::HEAD;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The folder in the state folder.
pub const FOLDER: &str = "keep-input";
const ENDING: &str = "recording";
/// Recordings that what is kept is divided into: so much of it goes at once.
const PARTS: u64 = 8;
/// Bytes in memory until they are written.
const BYTES_MAX: usize = 16 << 20;
const EVERY: Duration = Duration::from_millis(500);

/// Records until the program ends, whenever the configuration says so.
pub fn start(program: &Arc<Daemon>, state_dir: &Path) {
    let (program, folder) = (Arc::downgrade(program), state_dir.join(FOLDER));
    let started = std::thread::Builder::new().name("keep-input".into()).spawn(move || {
        let mut keeper: Option<Keeper> = None;
        while let Some(program) = program.upgrade().filter(|program| !program.is_given()) {
            let size = program.keep_input();
            drop(program);
            if size == 0 {
                keeper = None;
                std::thread::sleep(EVERY);
                continue;
            }
            keeper.get_or_insert_with(|| Keeper::begin(&folder)).round(size);
        }
    });
    if let Err(error) = started {
        oplog::error("Cannot start the thread that keeps input", &[("error", &error)]);
    }
}

/// What is kept, the oldest first.
pub fn recordings(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == ENDING) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// Those of the recordings that may have something since then, in microseconds since 1970: not those before
/// one that began earlier.
pub fn since(found: Vec<PathBuf>, since: i64) -> Vec<PathBuf> {
    let began = |path: &PathBuf| path.file_stem()?.to_str()?.parse::<i64>().ok();
    let first = found.iter().rposition(|path| began(path).is_some_and(|began| began <= since));
    found.into_iter().skip(first.unwrap_or(0)).collect()
}

struct Keeper {
    folder: PathBuf,
    capture: Capture,
    /// The recording at work, and its length.
    open: Option<(File, u64)>,
    is_failing: bool,
}

impl Keeper {
    fn begin(folder: &Path) -> Keeper {
        let capture = Capture::begin(None, BYTES_MAX);
        Keeper { folder: folder.to_owned(), capture, open: None, is_failing: false }
    }

    fn round(&mut self, size: u64) {
        // Few large writes instead of many small ones.
        std::thread::sleep(EVERY);
        let caught = self.capture.take(Duration::ZERO);
        if caught.missed > 0 {
            oplog::limited(
                "keep-input",
                oplog::Level::Warning,
                "More comes in than keep-input() can write",
                &[("missed", &caught.missed)],
            );
        }
        let written = self.write(&caught, size);
        match (&written, std::mem::replace(&mut self.is_failing, written.is_err())) {
            (Err(error), false) => {
                let folder = self.folder.display();
                oplog::error("Input cannot be kept", &[("folder", &folder), ("error", error)]);
            }
            (Ok(()), true) => oplog::notice("Input is kept again", &[("folder", &self.folder.display())]),
            _ => {}
        }
    }

    fn write(&mut self, caught: &Caught, size: u64) -> io::Result<()> {
        if caught.bytes.is_empty() {
            return Ok(());
        }
        let bytes = caught.bytes.len() as u64;
        let full = self.open.as_ref().is_none_or(|(_, length)| length + bytes > size / PARTS);
        if full {
            self.open = None;
            self.make_room(size, bytes.max(size / PARTS))?;
            self.open = Some((self.next()?, HEAD.len() as u64));
        }
        let Some((file, length)) = &mut self.open else { return Ok(()) };
        let written = file.write_all(&caught.bytes);
        *length += bytes;
        if written.is_err() {
            // What is half there ends its recording.
            self.open = None;
        }
        written
    }

    /// Removes the oldest until one more of `wanted` bytes has room, or nothing is left.
    fn make_room(&self, size: u64, wanted: u64) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o750).create(&self.folder)?;
        let found = recordings(&self.folder)?;
        let length = |path: &PathBuf| std::fs::metadata(path).map_or(0, |found| found.len());
        let mut sum: u64 = found.iter().map(length).sum();
        for oldest in found {
            if sum + wanted <= size {
                break;
            }
            sum -= length(&oldest);
            std::fs::remove_file(&oldest)?;
        }
        Ok(())
    }

    /// A new recording. Names sort by time.
    fn next(&self) -> io::Result<File> {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let path = self.folder.join(format!("{:016}.{ENDING}", since.as_micros()));
        let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        file.write_all(&HEAD)?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use recording::{Entry, append};

    #[test]
    fn what_is_older_is_not_read() {
        let found: Vec<PathBuf> =
            ["10", "20", "30"].iter().map(|name| format!("/k/{name}.recording").into()).collect();
        let check = |moment: i64, expected: usize| {
            assert_eq!(since(found.clone(), moment).len(), expected, "{moment}");
        };
        check(i64::MIN, 3);
        check(10, 3);
        check(19, 3);
        check(20, 2);
        check(99, 1);
    }

    #[test]
    fn the_oldest_goes() {
        let dir = tempfile::tempdir().expect("a folder");
        let mut keeper = Keeper::begin(dir.path());
        let mut caught = Caught::default();
        let text = [b'x'; 1000];
        append(&mut caught.bytes, &Entry { time: 1, source: "s", peer: None, text: &text });
        let sum = || -> u64 {
            let found = recordings(dir.path()).expect("a list");
            found.iter().map(|path| std::fs::metadata(path).expect("a file").len()).sum()
        };
        for _ in 0..100 {
            keeper.write(&caught, 16_000).expect("written");
        }
        assert!((12_000..=16_000).contains(&sum()), "{}", sum());
        // Much at once takes the room of as much, though it is more than a part.
        caught.bytes = caught.bytes.repeat(8);
        for _ in 0..3 {
            keeper.write(&caught, 16_000).expect("written");
            assert!((8_000..=16_000).contains(&sum()), "{}", sum());
        }
        for path in recordings(dir.path()).expect("a list") {
            let bytes = std::fs::read(path).expect("a file");
            assert!(recording::entries(&bytes).expect("a head").all(|entry| entry.is_ok()));
        }
    }
}
