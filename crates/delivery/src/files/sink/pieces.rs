//! Writes that end on borders of the file while more follows: the page cache then takes them in large folios.

use super::{Opened, followed};
use engine::{Chunk, Progress};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, IoSlice, Write};
use std::path::Path;

/// Buffers of one call.
const SLICES_MAX: usize = 64;

/// Writes what reaches the last border; the rest, which may begin in the middle of a message, stays in
/// `chunks`. `path` is for those who follow messages.
pub(super) fn write(
    opened: &mut Opened,
    chunks: &mut VecDeque<Chunk>,
    progress: &mut Progress<'_>,
    path: Option<&Path>,
) -> std::io::Result<()> {
    let waiting = chunks.iter().map(Chunk::bytes_left).sum();
    let mut left = opened.room.even(&opened.file, waiting);
    opened.room.prepare(&opened.file, left);
    while left > 0 {
        let n = match opened.file.write_vectored(&slices(chunks, left)) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => n,
            Err(e) if e.kind() == ErrorKind::Interrupted => continue,
            Err(e) => return Err(e),
        };
        left = left.saturating_sub(n);
        advance(chunks, n, progress, path.map(|path| (&opened.file, path)));
    }
    Ok(())
}

/// The next `bytes` of what waits.
fn slices(chunks: &VecDeque<Chunk>, mut bytes: usize) -> Vec<IoSlice<'_>> {
    let mut slices = Vec::with_capacity(chunks.len().min(SLICES_MAX));
    for chunk in chunks.iter().take(SLICES_MAX) {
        let pending = chunk.pending();
        let part = pending.get(..bytes).unwrap_or(pending);
        slices.push(IoSlice::new(part));
        bytes -= part.len();
        if bytes == 0 {
            break;
        }
    }
    slices
}

fn advance(
    chunks: &mut VecDeque<Chunk>,
    mut bytes: usize,
    progress: &mut Progress<'_>,
    file: Option<(&File, &Path)>,
) {
    while let Some(chunk) = chunks.front_mut() {
        let n = chunk.pending().len().min(bytes);
        let whole = chunk.advance(n);
        bytes -= n;
        file.iter().for_each(|(file, path)| followed::say(file, path, (chunk, whole), bytes));
        progress.delivered(whole);
        if !chunk.pending().is_empty() {
            return;
        }
        if let Some(chunk) = chunks.pop_front() {
            progress.finished(chunk);
        }
    }
}
