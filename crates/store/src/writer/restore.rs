//! The folder was removed, or the file that is written to, while both are in use: what is open still has its
//! bytes, and goes to a new file, so that nothing counts as safe that the next start would not find.

use super::{CURSORS, NEW, Trouble, Writer};
use crate::files::{SegmentFile, read_on, write_all};
use crate::snapshot::ASIDE_BYTES;
use std::io;

/// Bytes that are copied at once.
const PIECE_BYTES: usize = 1 << 20;

impl Writer {
    /// Whether the next start finds what is written here.
    pub fn is_in_place(&self) -> bool {
        let active = self.active.as_ref();
        let file =
            active.map(|active| (active.unnamed.as_ref().unwrap_or(&active.name).as_str(), &*active.file));
        self.shared.files.is_in_place(file)
    }

    /// Makes the folder anew, and in it the active segment, which is closed then. Closed segments are gone
    /// with the folder: what waits in them counts as damaged when it is due.
    pub fn restore(&mut self) -> Result<(), Trouble> {
        let files = self.shared.files.clone();
        files.claim().map_err(Trouble::Io)?;
        self.free.clear();
        if files.open(CURSORS).is_err() {
            let made = files.create(CURSORS);
            made.and_then(|file| file.allocate(ASIDE_BYTES).and_then(|()| file.sync()))?;
        }
        let Some(active) = &mut self.active else { return Ok(files.sync_folder()?) };
        let fresh = files.create(NEW)?;
        fresh.allocate(active.length)?;
        copy(&*active.file, &*fresh, active.at)?;
        fresh.sync()?;
        files.rename(NEW, &active.name)?;
        files.sync_folder()?;
        (active.file, active.unnamed, active.folder_dirty) = (fresh, None, false);
        // Whoever reads the file of before finds all in it that is in this segment.
        self.seal(false)
    }
}

fn copy(from: &dyn SegmentFile, to: &dyn SegmentFile, length: u64) -> io::Result<()> {
    let mut piece = vec![0; PIECE_BYTES];
    let mut at = 0;
    while at < length {
        let count = PIECE_BYTES.min((length - at) as usize);
        let (filled, error) = read_on(from, &mut piece[..count], at);
        if let Some(error) = error {
            return Err(error);
        }
        if filled < count {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        write_all(to, &piece[..count], at)?;
        at += count as u64;
    }
    Ok(())
}
