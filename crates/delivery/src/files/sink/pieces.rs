//! Writes that end on borders of the file while more follows: the page cache then takes them in large folios.
//! And writes that a pipe takes as a whole or not at all.

use super::{Opened, followed};
use engine::{Chunk, Progress};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, IoSlice, Write};
use std::path::Path;

/// Buffers of one call.
const SLICES_MAX: usize = 64;
/// PIPE_BUF: so many bytes get into a pipe at once, or none of them.
const PIPE_BYTES: usize = 4096;

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

/// What is written to a pipe next: whole messages, of which none is left half in it when its reader is slow
/// and a reload or a stop comes. A larger one may be.
pub(super) fn of_pipe(chunk: &Chunk) -> &[u8] {
    let pending = chunk.pending();
    let begun = chunk.rest().len();
    if begun > 0 {
        return pending.get(..begun).unwrap_or(pending);
    }
    let mut bytes = 0;
    for message in chunk.iter() {
        if bytes > 0 && bytes + message.len() > PIPE_BYTES {
            break;
        }
        bytes += message.len();
    }
    pending.get(..bytes).unwrap_or(pending)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_gets_whole_messages() {
        let lengths: [usize; 8] = [0, 3000, 1000, 96, 1, 5000, 0, 10];
        let bytes = vec![b'x'; lengths.iter().sum()];
        let ends = lengths.iter().scan(0, |end, length| {
            *end += *length as u32;
            Some(*end)
        });
        let mut chunk = Chunk::of(bytes, ends.collect()).expect("a chunk");
        let mut written = Vec::new();
        while !chunk.pending().is_empty() {
            written.push(of_pipe(&chunk).len());
            let n = written.len();
            // Of the large one only a part is taken.
            chunk.advance(if n == 3 { 4000 } else { written[n - 1] });
        }
        assert_eq!(written, [4096, 1, 5000, 1000, 10]);
    }
}
