//! The beginning of an outlet that has predecessors: what waits there comes first, here and, when one takes
//! over from several, also before what its neighbours have got meanwhile.

use super::{Berth, Form, Outlet};
use crate::chunk::Chunk;
use crate::durable::Durable;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What is left of the queues of several predecessors, and who waits for it.
#[derive(Default)]
pub(super) struct Heritage {
    messages: usize,
    followers: Vec<Arc<Outlet>>,
}

impl Heritage {
    /// `n` messages have left the front of the queue.
    pub(super) fn passed(&mut self, n: usize) {
        self.messages = self.messages.saturating_sub(n);
    }
}

impl Outlet {
    /// Nothing is written until [`Outlet::release`], called as often: a predecessor is still to hand over
    /// what came before.
    pub fn hold(&self) {
        self.queue.lock().held += 1;
    }

    pub fn release(self: &Arc<Outlet>) {
        let mut queue = self.queue.lock();
        queue.held = queue.held.saturating_sub(1);
        let is_free = queue.held == 0;
        // Nobody may begin to write in between: what is on disk comes first.
        self.attach_to(queue);
        match is_free {
            // Opens what there is to open, so that trouble shows before the first message. Not before: a
            // server may end the predecessor's connection when somebody of the same name comes.
            true => self.event(),
            false => self.pump(),
        }
    }

    /// Ends the outlet of a predecessor and takes over what waits there, before what waits here already. It
    /// was held, so nothing was begun here. What is on disk there is found again, goes along, or stays; what
    /// found no room there comes behind that. Returns how many messages were taken over.
    pub fn inherit(self: &Arc<Outlet>, from: &Arc<Outlet>, durable: &Durable) -> usize {
        let (berth, stays) = (from.queue_on_disk(), from.stays_on_disk());
        let mut chunks = Vec::from(from.end());
        let mut along = 0;
        if let Some(berth) = berth {
            if self.finds(&berth, durable) {
                self.drain_first(berth.place, berth.name);
            } else if !stays {
                along = self.take_up(&berth, from.form.get(), durable);
            }
        }
        chunks.iter_mut().for_each(Chunk::rewind);
        chunks.iter_mut().for_each(Chunk::forget_numbers);
        if let (Some(old), Some(new)) = (from.form.get(), self.form.get()) {
            chunks = chunks.into_iter().map(|chunk| old.to(*new, chunk)).collect();
        }
        let messages: usize = chunks.iter().map(Chunk::messages).sum();
        self.counters.accepted.add(messages);
        self.counters.accepted_bytes.add(chunks.iter().map(Chunk::waiting_bytes).sum());
        self.put_before(chunks);
        messages + along
    }

    /// What waits in the queue of a predecessor goes along. Returns how many messages that are.
    fn take_up(&self, from: &Berth, form: Option<&Form>, durable: &Durable) -> usize {
        self.take_along(durable, from, form).unwrap_or_else(|error| {
            oplog::error(
                "What waits for a destination stays in the queue that it had",
                &[("location", &self.name), ("dir", &from.place.dir.display()), ("error", &error)],
            );
            0
        })
    }

    /// The first `messages` here may be older than any at `followers`, which begin when those are gone.
    pub fn lead(&self, followers: &[Arc<Outlet>], messages: usize) {
        if messages == 0 || followers.is_empty() {
            return;
        }
        followers.iter().for_each(|follower| follower.hold());
        let mut queue = self.queue.lock();
        queue.heritage = Heritage { messages, followers: followers.to_vec() };
        self.leads.store(true, Ordering::Relaxed);
    }

    /// Whether others wait for what was inherited here.
    pub fn leads(&self) -> bool {
        self.leads.load(Ordering::Relaxed)
    }

    /// Lets the followers begin, when nothing is left that they wait for.
    pub(super) fn free_followers(&self) {
        let mut queue = self.queue.lock();
        // What had no room was dropped from the end of the queue.
        let left = queue.heritage.messages.min(queue.messages);
        queue.heritage.messages = left;
        if left > 0 {
            return;
        }
        let followers = std::mem::take(&mut queue.heritage.followers);
        self.leads.store(false, Ordering::Relaxed);
        drop(queue);
        for follower in followers {
            follower.release();
        }
    }
}
