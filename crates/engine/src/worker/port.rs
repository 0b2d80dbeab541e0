//! A port: something with a descriptor that a worker serves: a listener, a connection, a datagram socket, a
//! pipe.

use super::handle::WorkerHandle;
use super::shared::Shared;
use crate::exec::Machine;
use crate::hand_over::Part;
use crate::outbox::Outbox;
use crate::program::Scratch;
use crate::window::Window;
use mio::Token;
use record::{Batch, Stamp, Zone, ZoneCursor};
use std::sync::Arc;
use std::time::Instant;

/// What a port wants after its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Wait for readiness or for credit.
    Idle,
    /// There is more: another turn after the others.
    Again,
    Close,
}

pub trait Port: Send {
    /// Reads or accepts what is there, within a turn's bound.
    fn turn(&mut self, cx: &mut PortContext) -> After;

    /// Its turn is near: a port of which there may be thousands reads from each place in memory that the turn
    /// will need.
    fn approach(&self) {}

    /// The place for the worker's note that this port is in its ready list.
    fn queued(&mut self) -> &mut bool;

    /// The peer has closed: what is there is the last, and its end will not be announced again.
    fn hung_up(&mut self) {}

    /// Once a second; `false` closes the port.
    fn tick(&mut self, _now: Instant) -> bool {
        true
    }

    /// Whether to give it a turn with every tick, because an error may have left something undone.
    fn retry(&self) -> bool {
        false
    }

    /// It is to be closed, by a reload, a hand-over or the end: `true` when it stays to say what is to be
    /// said, and closes by itself then. It is not asked again; [`Port::source`] is none any more, and
    /// [`Port::parts`] is true as long as it is there.
    fn leave(&mut self, _cx: &mut PortContext) -> bool {
        false
    }

    /// Whether it has a part in handing over to another process.
    fn parts(&self) -> bool {
        self.source().is_some()
    }

    /// The last call: takes the descriptor out of the readiness loop and says what is to be said.
    fn closed(&mut self, cx: &mut PortContext);

    /// A turn panicked: counts what was lost.
    fn panicked(&mut self) {}

    /// Another process takes the place of this one: gives away what it serves. See [`Part`].
    fn part(&mut self, _cx: &mut PortContext) -> Part {
        Part::Closes
    }

    /// Whether all it still does is to pass bytes on to the process that has taken over.
    fn passes_on(&self) -> bool {
        false
    }

    /// Asks the peer to go, where the protocol has a word for it.
    fn farewell(&mut self) {}

    /// The source this port belongs to, for reloads.
    fn source(&self) -> Option<&Arc<crate::source::Source>> {
        None
    }
}

/// What a worker lends to the port whose turn it is.
pub struct PortContext {
    pub handle: WorkerHandle,
    pub shared: Arc<Shared>,
    pub token: Token,
    /// Counts the rounds of turns: for ports that share something within a round.
    pub round: u64,
    /// The round after which the worker last waited for something to do.
    pub(super) rested: u64,
    /// Messages taken in since the worker last had nothing to do.
    pub took: usize,
    pub outbox: Outbox,
    /// For batches of lanes: holds one batch's output at a time.
    pub lane_outbox: Outbox,
    pub machine: Machine,
    pub scratch: Scratch,
    /// What contexts have made, which no peer waits for.
    pub(super) made: Arc<Window>,
    zone: ZoneCursor,
    batches: Vec<Batch>,
    /// Memory of them.
    batch_bytes: usize,
}

/// Rounds without a pause after which a worker may have more to do than it can.
const PRESSED_ROUNDS: u64 = 2;
/// Batches a worker keeps for reuse.
const BATCHES_MAX: usize = 8;
/// Their memory; a single one may have more.
const BATCHES_BYTES_MAX: usize = 4 << 20;
/// A batch that has taken more memory gives it back: contexts that end together make a large one now and
/// then.
pub(super) const BATCH_BYTES_KEPT_MAX: usize = 16 << 20;

impl PortContext {
    pub(super) fn new(
        handle: WorkerHandle,
        shared: Arc<Shared>,
        identity: template::Identity,
    ) -> PortContext {
        PortContext {
            made: super::ticks::window(&shared.budget),
            handle,
            shared,
            token: Token(0),
            round: 0,
            rested: 0,
            took: 0,
            outbox: Outbox::default(),
            lane_outbox: Outbox::default(),
            machine: Machine::default(),
            scratch: Scratch::new(identity),
            zone: ZoneCursor::new(Zone::local()),
            batches: Vec::new(),
            batch_bytes: 0,
        }
    }

    /// Whether the worker has had something to do for some rounds on end: that others help it is worth their
    /// while then.
    pub(crate) fn is_pressed(&self) -> bool {
        self.round - self.rested > PRESSED_ROUNDS
    }

    /// Seconds east of UTC of this machine's zone, now.
    pub fn local_offset(&mut self) -> i32 {
        self.now().offset
    }

    /// Now, as messages have it.
    pub fn now(&mut self) -> Stamp {
        let now = Stamp::now(0);
        Stamp { offset: self.zone.offset_at(now.secs), ..now }
    }

    /// An empty batch, with the allocations of an earlier one.
    pub fn batch(&mut self) -> Batch {
        let Some(batch) = self.batches.pop() else {
            return self.shared.spare_batch().unwrap_or_default();
        };
        self.batch_bytes = self.batch_bytes.saturating_sub(batch.capacity());
        batch
    }

    pub fn recycle(&mut self, mut batch: Batch) {
        batch.reset();
        let bytes = batch.capacity();
        let has_room = self.batches.len() < BATCHES_MAX && self.batch_bytes + bytes <= BATCHES_BYTES_MAX;
        if bytes <= BATCH_BYTES_KEPT_MAX && (self.batches.is_empty() || has_room) {
            self.batch_bytes += bytes;
            self.batches.push(batch);
        }
    }
}
