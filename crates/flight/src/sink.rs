//! The sink of an outlet whose destination is a [`Client`].

use crate::account::{Account, Next, Source};
use crate::contract::{Client, Outcome, Part};
use crate::limits::Limits;
use crate::trouble::Trouble;
use engine::ledger::DestinationCounters;
use engine::{Chunk, Progress, Sink, Status, Waits};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

pub struct FlightSink<C> {
    client: C,
    account: Account,
    /// Whether batches may be begun.
    begins: bool,
    /// Kept for its room.
    heard: Vec<(u32, Outcome)>,
}

impl<C: Client> FlightSink<C> {
    /// `name` is what the log calls the destination, `id` the number of its outlet.
    pub fn new(
        client: C,
        limits: Limits,
        name: String,
        id: u32,
        counters: &Arc<DestinationCounters>,
    ) -> FlightSink<C> {
        let trouble = Trouble::new(name, Arc::clone(counters));
        let account = Account::new(limits, trouble, u64::from(id), Instant::now());
        FlightSink { client, account, begins: true, heard: Vec::new() }
    }

    /// [`Sink::write`] at a stated time.
    pub(crate) fn write_at(
        &mut self,
        chunks: &mut VecDeque<Chunk>,
        progress: &mut Progress<'_>,
        now: Instant,
    ) -> Status {
        self.listen(now);
        if !self.account.settle(chunks, progress, now) {
            oplog::error("Internal error contained while sending", &[]);
        }
        let at = self.send(chunks, now);
        self.account.status(chunks, at, self.client.due(now), now)
    }

    /// Hears what became of batches.
    fn listen(&mut self, now: Instant) {
        let mut heard = std::mem::take(&mut self.heard);
        self.client.outcomes(&mut heard);
        heard.drain(..).for_each(|(id, outcome)| self.account.land(id, outcome, now));
        self.heard = heard;
    }

    /// Begins batches while there is room. Returns when there is something that may go later.
    fn send(&mut self, chunks: &mut VecDeque<Chunk>, now: Instant) -> Option<Instant> {
        if self.client.shares().is_some() {
            chunks.iter_mut().for_each(Chunk::share);
        }
        while self.begins && self.client.room() > 0 {
            let (cut, source) = match self.account.next(chunks, now) {
                Next::Batch(cut, source) if !cut.messages.is_empty() => (cut, source),
                Next::Batch(..) | Next::Nothing => return None,
                Next::At(at) => return Some(at),
            };
            let id = self.account.sent(cut.messages.len(), source, now);
            let between = self.client.shares().filter(|_| source == Source::Fresh);
            let pieces = between.and_then(|between| cut.pieces(chunks, between));
            let extra = cut.messages.len() * self.account.limits.extra;
            let bytes = cut.bytes.saturating_sub(extra);
            let part = Part {
                messages: &cut.messages,
                bytes,
                key: cut.key,
                number: cut.number,
                numbers: &cut.numbers,
            };
            if !cut.receipts.is_empty() {
                self.client.follow(id, cut.receipts);
            }
            if let Some(pieces) = pieces {
                self.client.share(id, pieces);
            }
            self.client.begin(id, &part);
            for (at, count) in cut.shares {
                if let Some(chunk) = chunks.get_mut(at) {
                    chunk.send(count);
                }
            }
        }
        None
    }
}

impl<C: Client> Sink for FlightSink<C> {
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status {
        self.write_at(chunks, progress, Instant::now())
    }

    fn event(&mut self) {
        self.listen(Instant::now());
    }

    fn reopen(&mut self) {
        self.client.reopen();
        self.account.restart();
    }

    fn is_well(&self, now: Instant) -> bool {
        self.account.is_well(now)
    }

    fn waits_for(&self) -> Waits {
        self.account.waits_for()
    }

    fn may_begin(&mut self, may: bool) {
        self.begins = may;
    }

    fn is_under_way(&self) -> bool {
        self.account.is_under_way()
    }

    fn tick(&mut self, now: Instant) {
        self.client.tick(now);
    }

    fn is_numbered(&self) -> bool {
        self.account.limits.knows_again
    }

    fn kept_bytes(&self) -> usize {
        self.client.held_bytes()
    }

    fn close(&mut self, _queue: &mut VecDeque<Chunk>) {
        self.client.close();
    }
}
