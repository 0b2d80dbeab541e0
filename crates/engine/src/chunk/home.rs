//! Where the buffers of chunks come from and go back to: each returns to whoever fills it, whichever thread
//! has emptied it.

use super::Chunk;
use crate::friction;
use parking_lot::Mutex;
use std::sync::Arc;

/// Bytes of emptied buffers that wait for their owner. What comes back beyond that is freed.
const BYTES_MAX: usize = 2 << 20;

/// The emptied buffers of one owner: a worker's outbox, or the thread that reads from a disk.
///
/// A buffer that stayed with the worker that emptied it would leave the one that filled it to make a new one,
/// again and again, as soon as several workers bring to one outlet.
#[derive(Clone, Default)]
pub struct Home(Arc<Mutex<Shelf>>);

#[derive(Default)]
struct Shelf {
    buffers: Vec<Chunk>,
    bytes: usize,
}

impl Home {
    /// An empty chunk that comes back here.
    pub fn chunk(&self) -> Chunk {
        let mut shelf = friction::lock(&self.0);
        let mut chunk = shelf.buffers.pop().unwrap_or_default();
        shelf.bytes -= chunk.bytes.capacity();
        drop(shelf);
        chunk.home = Some(self.clone());
        chunk
    }

    fn take_back(&self, chunk: Chunk) {
        let mut shelf = friction::lock(&self.0);
        let bytes = shelf.bytes + chunk.bytes.capacity();
        if bytes <= BYTES_MAX {
            shelf.bytes = bytes;
            shelf.buffers.push(chunk);
        }
    }
}

impl Chunk {
    /// Nothing of it is needed any more: its buffer goes back to whoever fills it. Its tickets have been
    /// ended before.
    pub fn go_home(mut self) {
        // A buffer on the shelf does not hold its home: the two would keep one another alive.
        if let Some(home) = self.home.take() {
            self.clear();
            home.take_back(self);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_goes_back_to_whoever_filled_it() {
        let (mine, yours) = (Home::default(), Home::default());
        let mut chunk = mine.chunk();
        chunk.bytes.extend_from_slice(b"text");
        chunk.ends.push(4);
        let room = chunk.bytes.capacity();
        chunk.go_home();
        assert_eq!(yours.chunk().bytes.capacity(), 0);
        let again = mine.chunk();
        assert_eq!((again.bytes.capacity(), again.is_empty(), again.bytes.len()), (room, true, 0));
        assert_eq!(mine.chunk().bytes.capacity(), 0, "it is out");
        Chunk::default().go_home();
    }

    #[test]
    fn no_more_lies_ready_than_stated() {
        let home = Home::default();
        let out: Vec<Chunk> = (0..3)
            .map(|_| {
                let mut chunk = home.chunk();
                chunk.bytes.reserve_exact(BYTES_MAX / 2);
                chunk
            })
            .collect();
        out.into_iter().for_each(Chunk::go_home);
        assert_eq!(home.0.lock().buffers.len(), 2);
    }
}
