//! How many bytes may be printed for one message. A template that prints more is given up: it prints nothing,
//! and its user counts the message as an error. So no message, whatever is configured to be done with it, can
//! use up the memory.

use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of one text that is printed for one message.
pub const RENDERED_BYTES_MAX: usize = 64 << 20;
/// Bytes of all texts that are printed on the way to it: arguments of functions, items of lists, templates in
/// templates.
const WORK_BYTES_MAX: usize = 2 * RENDERED_BYTES_MAX;
/// From this many bytes in the buffer of a batch on, no message of it may print more than the fair part
/// below.
const BATCH_BYTES: usize = 512 << 20;
/// What a message may print however much others of its batch have printed.
pub(crate) const FAIR_BYTES: usize = 1 << 20;

static REFUSED: AtomicU64 = AtomicU64::new(0);

/// Texts that were given up since the start of the program.
pub fn oversized() -> u64 {
    REFUSED.load(Ordering::Relaxed)
}

/// Counts a text that was given up, and says so.
#[cold]
pub fn note_oversized(what: &str) {
    REFUSED.fetch_add(1, Ordering::Relaxed);
    oplog::limited(
        "oversized-text",
        oplog::Level::Error,
        "A text made of a message is larger than the limit, given up",
        &[("limit_bytes", &RENDERED_BYTES_MAX), ("text", &what)],
    );
}

/// What is left for the message that is printed.
#[derive(Debug, Default)]
pub(crate) struct Budget {
    /// Templates that are being printed, one inside the other.
    depth: u32,
    left: usize,
    /// The largest text of this message.
    text_max: usize,
    refused: bool,
}

impl Budget {
    /// A template begins to print; the outermost begins a message.
    #[inline]
    pub fn begin(&mut self, written: usize) {
        if self.depth == 0 {
            let crowded = written > BATCH_BYTES;
            self.text_max = if crowded { FAIR_BYTES } else { RENDERED_BYTES_MAX };
            self.left = WORK_BYTES_MAX;
            self.refused = false;
        }
        self.depth += 1;
    }

    /// It is done. Takes back what it has printed when that is too much; `text` is the template's.
    #[inline]
    pub fn end(&mut self, out: &mut Vec<u8>, start: usize, text: &str) {
        self.depth = self.depth.saturating_sub(1);
        let made = out.len().saturating_sub(start);
        match self.left.checked_sub(made) {
            Some(left) if made <= self.text_max && !self.refused => self.left = left,
            _ => self.refuse(out, start, text),
        }
    }

    #[cold]
    fn refuse(&mut self, out: &mut Vec<u8>, start: usize, text: &str) {
        self.refused = true;
        out.truncate(start);
        // The memory is given back too.
        if out.capacity() - out.len() > RENDERED_BYTES_MAX {
            out.shrink_to(start + FAIR_BYTES);
        }
        if self.depth == 0 {
            note_oversized(text);
        }
    }

    /// Whether the text that is printed, or that was printed last, was given up.
    #[inline]
    pub fn is_refused(&self) -> bool {
        self.refused
    }

    /// Gives the text up that is being printed.
    pub fn give_up(&mut self) {
        self.refused = true;
    }

    /// After a panic that was contained.
    pub fn reset(&mut self) {
        *self = Budget::default();
    }
}

/// Whether a text that is put together piece by piece is already larger than any that is printed; then the
/// rest can be left out, as the whole will be given up.
#[inline]
pub(crate) fn is_too_much(out: &[u8], start: usize) -> bool {
    out.len().saturating_sub(start) > RENDERED_BYTES_MAX
}
