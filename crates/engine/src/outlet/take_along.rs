//! A destination that keeps its messages in another queue than before takes along what waits in the old one.
//! From disk to disk, piece by piece: the old queue forgets a piece once the new one has it safe, so a kill
//! in the middle costs nothing.

use super::{Form, Outlet};
use crate::chunk::Chunk;
use crate::durable::{DiskBuffer, Durable, LogFolder};
use diag::Fault;
use std::sync::Arc;
use store::{Full, Queue, Safe};

/// Bytes of one read.
const READ_BYTES: usize = 256 << 10;
/// The disk is waited for after so many.
const SYNC_BYTES: usize = 8 << 20;

/// A queue on disk.
pub(crate) struct Berth {
    pub place: Arc<LogFolder>,
    pub name: Vec<u8>,
}

impl Berth {
    pub fn is(&self, other: &Berth) -> bool {
        self.place.dir == other.place.dir && self.name == other.name
    }
}

impl Outlet {
    /// The queue in which `disk-buffer()` has its messages kept.
    pub(crate) fn berth(&self) -> Option<Berth> {
        let queue = self.queue.lock();
        let spool = queue.spool.as_ref().filter(|spool| !spool.is_draining())?;
        Some(Berth { place: Arc::clone(spool.place()), name: spool.name().to_vec() })
    }

    /// The queue that it has anything to do with: that one, or one whose rest is sent first.
    pub(crate) fn occupied(&self) -> Option<Berth> {
        let queue = self.queue.lock();
        let spool = queue.spool.as_ref()?;
        Some(Berth { place: Arc::clone(spool.place()), name: spool.name().to_vec() })
    }

    /// Whether what waits in a queue is found here by itself: it is the one that this outlet has, or one that
    /// was left at an end.
    pub(super) fn finds(&self, from: &Berth, durable: &Durable) -> bool {
        match (self.berth(), self.refuge.get()) {
            (Some(berth), _) => berth.is(from),
            (None, Some(refuge)) => refuge.name() == from.name && durable.is_state_dir(&from.place.dir),
            (None, None) => false,
        }
    }

    /// Moves what waits in another queue behind what is in the one of this outlet. To be called while it is
    /// held. Returns how many messages that were; what the disk refuses stays where it is. `form` is the one
    /// in which they stand there.
    pub(crate) fn take_along(
        &self,
        durable: &Durable,
        from: &Berth,
        form: Option<&Form>,
    ) -> Result<usize, Fault> {
        let to = match (self.berth(), self.refuge.get()) {
            (Some(berth), _) => berth,
            (None, Some(refuge)) => Berth { place: durable.state_place()?, name: refuge.name().to_vec() },
            (None, None) => return Ok(0),
        };
        if to.is(from) || from.place.is_used(&from.name) || !from.place.has(&from.name) {
            return Ok(0);
        }
        let moved = move_all(from, &to, form.copied().zip(self.form.get().copied()))?;
        self.drain_first(to.place, to.name);
        Ok(moved)
    }
}

fn move_all(from: &Berth, to: &Berth, forms: Option<(Form, Form)>) -> Result<usize, Fault> {
    // What waits had room.
    let open = |berth: &Berth| berth.place.log.queue(&berth.name, DiskBuffer::BOUNDLESS, Box::new(|| ()));
    let local = |error: std::io::Error| Fault::local(error.to_string());
    let (old, new) = (open(from).map_err(local)?, open(to).map_err(local)?);
    // What was appended a moment ago cannot be read before it is written.
    from.place.log.flush();
    let mut moved = 0;
    let (mut at, end) = (old.first_waiting(), old.end());
    while at < end {
        let next = move_piece((&old, &new), at, to, forms)?;
        if next.seq <= at {
            return Err(Fault::local("some of it cannot be read"));
        }
        (at, moved) = (next.seq, moved + next.messages);
    }
    from.place.log.remove(&from.name);
    Ok(moved)
}

/// A log that has much to write takes more once it has.
fn store(new: &Queue, chunk: &Chunk, to: &Berth) -> Result<(), Fault> {
    let bare = (chunk.tail() > 0).then(|| chunk.copy(0, chunk.ends.len()));
    let chunk = bare.as_ref().unwrap_or(chunk);
    let append = || new.append(&chunk.bytes, &chunk.ends, Safe::Synced, Box::new(())).map_err(|(why, _)| why);
    let stored =
        append().or_else(|why| if why == Full::Busy && to.place.log.flush() { append() } else { Err(why) });
    stored.map(drop).map_err(|why| Fault::local(format!("{why:?}")))
}

/// Where the next piece begins, and what is moved.
struct Moved {
    seq: u64,
    messages: usize,
}

fn move_piece(
    (old, new): (&Queue, &Queue),
    from: u64,
    to: &Berth,
    forms: Option<(Form, Form)>,
) -> Result<Moved, Fault> {
    let (mut moved, mut lost, mut bytes) = (Moved { seq: from, messages: 0 }, 0, 0);
    while bytes < SYNC_BYTES {
        let read = old.read(moved.seq, READ_BYTES).map_err(|error| Fault::local(error.to_string()))?;
        if read.seqs.end <= moved.seq {
            break;
        }
        let (messages, size) = (read.ends.len(), read.bytes.len());
        if messages > 0 {
            let chunk = Chunk::read_back(read.bytes, read.ends, 0, None);
            let chunk = match forms {
                Some((old, new)) => old.to(new, chunk),
                None => chunk,
            };
            store(new, &chunk, to)?;
        }
        (moved.seq, moved.messages) = (read.seqs.end, moved.messages + messages);
        (lost, bytes) = (lost + read.lost, bytes + size);
    }
    if !to.place.log.flush() {
        return Err(Fault::local("the disk does not take it"));
    }
    old.done(moved.seq, moved.messages as u64 + lost, bytes as u64);
    Ok(moved)
}
