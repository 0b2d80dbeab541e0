//! What an outlet without `disk-buffer()` has on disk all the same: messages that were left at the end of the
//! program, or by a predecessor with a queue there. They go before everything that comes, and nothing is
//! added to them before the end.

use super::{Outlet, Spool};
use crate::chunk::Chunk;
use crate::durable::{DiskBuffer, Durable, LogFolder, Stored};
use diag::Fault;
use std::collections::VecDeque;
use std::sync::Arc;
use store::Safe;

/// Under which name they lie in the state folder.
pub(super) struct Refuge {
    options: Arc<DiskBuffer>,
    name: Vec<u8>,
}

impl Outlet {
    /// What is left at the end of the program goes to this queue of the state folder, and what lies there is
    /// delivered first. Called before there are messages, and only where there is no `disk-buffer()`.
    pub fn keep_at_end(&self, durable: &Durable, options: &Arc<DiskBuffer>, part: &[u8]) {
        let name = options.queue_name(part);
        let found = durable.kept_in(&name);
        let _ = self.refuge.set(Refuge { options: Arc::clone(options), name: name.clone() });
        if let Some(place) = found {
            self.drain_first(place, name);
        }
    }

    /// What lies in a queue on disk is delivered first, unless it keeps its messages on disk anyway.
    pub(super) fn drain_first(&self, place: Arc<LogFolder>, name: Vec<u8>) {
        // One of another name is for another destination.
        let Some(refuge) = self.refuge.get().filter(|refuge| refuge.name == name) else { return };
        let mut queue = self.queue.lock();
        if queue.spool.is_none() {
            let _ = self.place.set(Arc::clone(&place));
            queue.spool =
                Some(Box::new(Spool::new(Arc::clone(&refuge.options), name, place, false).draining()));
        }
    }

    /// The queue there, once something is in it that is to be found at the next start.
    pub(crate) fn left_in_refuge(&self) -> Option<Vec<u8>> {
        let refuge = self.refuge.get()?;
        let queue = self.queue.lock();
        let on_disk = queue.spool.as_ref()?.queue()?.waiting().messages;
        (on_disk > 0).then(|| refuge.name.clone())
    }

    /// The program ends: what waits here is to be found at its next start. The error says why it cannot be
    /// kept.
    pub(crate) fn take_refuge(self: &Arc<Outlet>, durable: &Durable) -> Result<(), Fault> {
        let Some(refuge) = self.refuge.get() else { return Ok(()) };
        {
            let mut queue = self.queue.lock();
            if let Some(spool) = &mut queue.spool {
                spool.take_all();
                return Ok(());
            }
        }
        let mut chunks = self.retire(false);
        // What it has sent and nobody got comes back.
        self.sink.lock().close(&mut chunks);
        let outcome = match chunks.is_empty() {
            true => Ok(None),
            false => durable.state_place().map(Some),
        };
        let mut queue = self.queue.lock();
        // Its sink is closed, and would open again.
        queue.service.park();
        queue.messages += chunks.iter().map(Chunk::messages).sum::<usize>();
        chunks.iter_mut().for_each(Chunk::rewind);
        put_first(&mut queue.chunks, chunks);
        if let Some(place) = outcome? {
            let _ = self.place.set(Arc::clone(&place));
            let spool = Spool::new(Arc::clone(&refuge.options), refuge.name.clone(), place, false).for_good();
            queue.spool = Some(Box::new(spool));
            // Whatever it was held for does not come any more.
            queue.held = 0;
            self.attach_to(queue);
        }
        Ok(())
    }
}

impl Outlet {
    /// Another process takes the place of this one: what waits here is put where that one finds it, and its
    /// sources hear of it once it is safe there, so that no kill of either process can lose it. Returns what
    /// cannot be kept so, as [`Outlet::export`] does, and the queue that something was put into.
    pub(crate) fn leave_behind(&self, durable: &Durable) -> (Vec<Chunk>, Option<&[u8]>) {
        let Some(refuge) = self.refuge.get() else { return (self.export(), None) };
        let mut chunks = self.export_unsettled();
        let before = chunks.len();
        if before > 0
            && let Err(error) = refuge.take(durable, &mut chunks)
        {
            oplog::warning(
                "What waits for a destination cannot be put on disk, the process that takes over gets it in memory",
                &[("location", &self.name), ("error", &error)],
            );
        }
        chunks.iter_mut().for_each(|chunk| chunk.tickets.settle());
        let queue = (chunks.len() < before).then_some(refuge.name.as_slice());
        (chunks, queue)
    }
}

impl Refuge {
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// Puts chunks on disk, in order, and leaves those there that find no room.
    fn take(&self, durable: &Durable, chunks: &mut Vec<Chunk>) -> Result<(), Fault> {
        let place = durable.state_place()?;
        let queue = place
            .log
            .queue(&self.name, self.options.capacity_bytes, Box::new(|| ()))
            .map_err(|error| Fault::local(error.to_string()))?;
        while let Some(chunk) = chunks.first_mut() {
            let held = Box::new(Stored::of(std::mem::take(&mut chunk.tickets)));
            let rest = chunk.copy(chunk.done(), chunk.ends.len());
            if let Err((why, held)) = queue.append(&rest.bytes, &rest.ends, Safe::Synced, held) {
                chunk.tickets = Stored::tickets_of(held);
                return Err(Fault::local(format!("{why:?}")));
            }
            chunks.remove(0).go_home();
        }
        Ok(())
    }
}

fn put_first(queue: &mut VecDeque<Chunk>, mut chunks: VecDeque<Chunk>) {
    chunks.append(queue);
    *queue = chunks;
}
