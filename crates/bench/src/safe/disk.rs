//! What the disk takes alone: writing so many bytes into a file that has its blocks, and fdatasync, again and
//! again. No program that keeps its word is faster.

use std::fmt;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};
use stdio::CommandError;

/// Of the file, which is written over from its beginning.
const FILE_BYTES: u64 = 64 << 20;
const TAKES_MAX: Duration = Duration::from_secs(5);

pub struct Alone {
    took: Vec<Duration>,
}

pub fn alone(folder: &Path, bytes: u64, rounds: usize) -> Result<Alone, CommandError> {
    let path = folder.join("alone");
    let failed = |e: std::io::Error| format!("{}: {e}", path.display());
    let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path).map_err(failed)?;
    let block = vec![b'x'; 1 << 20];
    for at in (0..FILE_BYTES).step_by(block.len()) {
        file.write_all_at(&block, at).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    let group = vec![b'y'; bytes.clamp(1, FILE_BYTES) as usize];
    let (began, mut at, mut took) = (Instant::now(), 0, Vec::new());
    while took.len() < rounds && began.elapsed() < TAKES_MAX {
        if at + group.len() as u64 > FILE_BYTES {
            at = 0;
        }
        let start = Instant::now();
        file.write_all_at(&group, at).and_then(|()| file.sync_data()).map_err(failed)?;
        took.push(start.elapsed());
        at += group.len() as u64;
    }
    std::fs::remove_file(&path).map_err(failed)?;
    took.sort_unstable();
    Ok(Alone { took })
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |percent: usize| {
            let rank = (self.took.len() * percent).div_ceil(100).max(1);
            self.took.get(rank - 1).map_or(0.0, |took| took.as_secs_f64() * 1000.0)
        };
        write!(f, "{:.1}, {:.1}, {:.1}", at(50), at(99), at(100))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_goes_again() {
        let dir = tempfile::tempdir().unwrap();
        let alone = Alone { took: (1..=100).map(Duration::from_millis).collect() };
        assert_eq!(alone.to_string(), "50.0, 99.0, 100.0");
        assert!(!super::alone(dir.path(), 4096, 3).unwrap().took.is_empty());
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}
