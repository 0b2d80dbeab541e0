//! The bytes just before the place where reading goes on. They are read again with what follows: where they
//! are still the same, the file was neither truncated nor written anew since, and nobody need look at its
//! size and its beginning for that.

use super::identity::fingerprint;
use crate::input::read_spare_behind;
use std::fs::File;
use std::io;

/// Bytes that are read again: about two lines.
pub const SEAM_MAX: usize = 256;

/// The bytes that were read last, as many as there were, at most [`SEAM_MAX`].
#[derive(Default)]
pub struct Seam {
    length: usize,
    hash: u64,
}

/// What a read of a file brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Got {
    /// Bytes that are new.
    pub bytes: usize,
    pub before: Before,
}

/// What is known of the bytes before the new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Nothing was remembered.
    Unknown,
    Same,
    /// Others than before.
    Changed,
    /// Not even all of them are there any more.
    Gone,
}

impl Seam {
    /// Reads up to `max` bytes from `offset` on to the end of `into`. They are the last ones from now on.
    pub fn read(&mut self, file: &File, into: &mut Vec<u8>, max: usize, offset: u64) -> io::Result<Got> {
        let mut room = [0; SEAM_MAX];
        let (length, begin) = (self.length, into.len());
        let again = room.get_mut(..length).unwrap_or_default();
        let read = read_spare_behind(file, again, into, max, offset)?;
        let before = match again {
            _ if read < length => Before::Gone,
            [] => Before::Unknown,
            again if fingerprint(again) == self.hash => Before::Same,
            _ => Before::Changed,
        };
        let bytes = read.saturating_sub(length);
        if bytes > 0 {
            self.adopt(&mut room, into.get(begin..).unwrap_or_default());
        }
        Ok(Got { bytes, before })
    }

    /// `new` follows on the bytes in `room`.
    fn adopt(&mut self, room: &mut [u8; SEAM_MAX], new: &[u8]) {
        let new = new.get(new.len().saturating_sub(SEAM_MAX)..).unwrap_or(new);
        let kept = self.length.min(SEAM_MAX - new.len());
        room.copy_within(self.length - kept..self.length, 0);
        self.length = kept + new.len();
        if let Some(to) = room.get_mut(kept..self.length) {
            to.copy_from_slice(new);
        }
        self.hash = fingerprint(room.get(..self.length).unwrap_or_default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_was_read_last_is_known_again() {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("f");
        let all: Vec<u8> = (0..4000u32).map(|n| (n * n % 251) as u8).collect();
        std::fs::write(&path, &all[..1]).expect("write");
        let file = File::open(&path).expect("open");
        let (mut seam, mut text) = (Seam::default(), Vec::new());
        let mut read = |text: &mut Vec<u8>| {
            let got = seam.read(&file, text, 1000, text.len() as u64).expect("read");
            (got.bytes, got.before)
        };
        assert_eq!(read(&mut text), (1, Before::Unknown));
        let mut writer = File::options().append(true).open(&path).expect("open");
        // More and less than what is remembered, and as much.
        for end in [2, 100, 256, 300, 1300, 1556, 1557, 1557, 1900] {
            let bytes = end - text.len();
            writer.write_all(&all[text.len()..end]).expect("write");
            assert_eq!(read(&mut text), (bytes, Before::Same), "up to {end}");
        }
        assert_eq!(text, all[..1900]);
        let written = |bytes: &[u8]| std::fs::write(&path, bytes).expect("write");
        written(&all[..1899]);
        assert_eq!(read(&mut text), (0, Before::Gone));
        written(&all[1..1901]);
        assert_eq!(read(&mut text), (0, Before::Changed));
        written(&all[..1900]);
        assert_eq!(read(&mut text), (0, Before::Same));
        written(&all[1..2001]);
        assert_eq!(read(&mut text), (100, Before::Changed));
    }
}
