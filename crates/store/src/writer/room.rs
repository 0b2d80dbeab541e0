//! How large a new segment is.

use super::{Trouble, Writer};
use crate::files::PAGE;
use std::io::ErrorKind;

/// No segment is smaller.
const SMALL_MIN: u64 = 1 << 20;

impl Writer {
    /// What is kept free in a segment for its footer.
    pub(super) fn footer_bytes(&self) -> u64 {
        4096 + 1200 * self.written.len() as u64
    }

    /// How large a new segment is to be: on a disk that has no room for a whole one, half of what is free.
    pub(super) fn room_of_new(&self) -> Result<u64, Trouble> {
        let whole = self.shared.segment_bytes;
        let Some(free) = self.shared.files.bytes_free().ok().filter(|free| *free < whole) else {
            return Ok(whole);
        };
        let half = free / 2 / PAGE as u64 * PAGE as u64;
        let is_enough = half >= SMALL_MIN + self.footer_bytes();
        if is_enough { Ok(half) } else { Err(Trouble::Full(ErrorKind::StorageFull.into())) }
    }
}
