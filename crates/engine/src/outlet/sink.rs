//! The end of the way: what a destination has to offer its outlets.

use crate::chunk::{Chunk, Whole};
use crate::ledger::{DestinationCounters, Reason};
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// What a sink says after it was asked to write.
#[derive(Debug, PartialEq, Eq)]
pub enum Status {
    /// Took everything.
    Done,
    /// Took what it could; its readiness event will call again.
    Blocked,
    /// More follows, and what it left is better written together with that.
    Later,
    /// Cannot write now; call again after this long.
    Retry(Duration),
    /// Took what it could and all is well: call again after this long, or when its event or more messages
    /// come before.
    Wait(Duration),
}

/// What comes to an outlet while a batch waits to become full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Supply {
    /// More, as long as the sources can read: see [`Chunk::keeps_waiting`].
    #[default]
    Sources,
    /// More in any case: the disk takes what the sources bring.
    Disk,
    /// Nothing until some of what is here is finished: there is no room for it.
    Ended,
}

/// Counts what a sink finished, and sends the buffers home.
pub struct Progress<'a> {
    pub counters: &'a DestinationCounters,
    /// More is on its way: what makes a poor write may stay, and the sink will be asked again for it.
    pub more: bool,
    /// The disk keeps account of what is finished: a sink that nobody answers comes back after each chunk, so
    /// that a kill doubles no more than that.
    pub by_chunk: bool,
    pub supply: Supply,
}

impl<'a> Progress<'a> {
    /// Of what is written by itself: nothing more comes.
    pub fn new(counters: &'a DestinationCounters) -> Progress<'a> {
        Progress { counters, more: false, by_chunk: false, supply: Supply::default() }
    }

    /// Everything in a chunk was reported as delivered or dropped: its tickets are settled and its buffer
    /// goes home.
    pub fn finished(&mut self, mut chunk: Chunk) {
        chunk.tickets.settle();
        chunk.go_home();
    }

    pub fn delivered(&mut self, whole: Whole) {
        self.counters.delivered(whole);
    }

    pub fn dropped(&mut self, reason: Reason, messages: usize) {
        self.counters.dropped.add(reason, messages);
    }

    /// The destination will never take this message: counts it as dropped, and keeps it where the
    /// configuration says so.
    pub fn refused(&mut self, why: &str, message: &[u8]) {
        self.counters.dropped.add(Reason::Refused, 1);
        self.counters.remains.refused(why, message);
        self.counters.dead_letters.put(why, message);
    }
}

/// What a sink with something to write waits for; of several, the greatest counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Waits {
    /// The rest of a batch: it has sent what it has, or would send it if there were more.
    Rest,
    /// The other end: to take more, to answer, to be there.
    #[default]
    Peer,
    /// Its throttle().
    Rate,
}

/// The end of the way: a file, a connection, a process. Called by one worker at a time.
pub trait Sink: Send {
    /// Writes chunks from the front. A chunk that is complete is popped and given to [`Progress::finished`];
    /// every message is reported once, as delivered or dropped.
    fn write(&mut self, chunks: &mut VecDeque<Chunk>, progress: &mut Progress<'_>) -> Status;

    /// The file descriptor became ready. Finds out about peers that closed.
    fn event(&mut self) {}

    /// SIGUSR1: close and open again.
    fn reopen(&mut self) {}

    /// A reload has kept it. Files are opened anew, as syslog-ng does it: logrotate has moved them, perhaps.
    fn reloaded(&mut self) {}

    /// Whether it only waits, and what it waits for is not late: an answer, the time of a batch, a rate. An
    /// outlet in which nothing moves does not count as stalled then.
    fn is_well(&self, _now: Instant) -> bool {
        false
    }

    /// Where nothing moves, what for.
    fn waits_for(&self) -> Waits {
        Waits::Peer
    }

    /// Whether it may begin anything new; what is on the way goes on in any case.
    fn may_begin(&mut self, _may: bool) {}

    /// Answers are still to come that say what became of messages it has sent: whoever ends it waits for them
    /// for a moment, or they are sent twice.
    fn is_under_way(&self) -> bool {
        false
    }

    /// Called now and then: idle files close, dead processes restart. Returns whether the sink has no further
    /// use for its resources.
    fn tick(&mut self, _now: Instant) {}

    /// Called after each tick: what the destination writes of its own accord, a mark say. It goes to the end
    /// of the queue.
    fn own(&mut self, _now: Instant) -> Option<Chunk> {
        None
    }

    /// The queue is taken away from the sink in the middle of a message: writes the rest of it, waiting for
    /// the peer at most until then. A connection on which that fails is of no use any more and has to be
    /// closed.
    fn finish(&mut self, _chunk: &mut Chunk, _progress: &mut Progress<'_>, _until: Instant) {}

    /// Messages that it reported as dealt with, and that would have to be sent again if it ended now. Asked
    /// only of outlets whose messages are on disk.
    fn unsettled(&self) -> usize {
        0
    }

    /// Copies of those messages, in order, with tickets of their own. `queue` is what waits, the chunk that
    /// is being written at its front.
    fn kept(&self, _queue: &VecDeque<Chunk>) -> Vec<Chunk> {
        Vec::new()
    }

    /// Those messages are safe on disk: nobody waits for them any more.
    fn let_go(&mut self) {}

    /// Finds out which of those messages the peer has. Whether sources wait for others of them.
    fn ask_peer(&mut self) -> bool {
        false
    }

    /// Messages that came over paths with flow-control, have left the queue, and would be put back by
    /// [`Sink::close`].
    fn guarded(&self) -> usize {
        0
    }

    /// Bytes of messages that it was given, and keeps until the peer has them.
    fn kept_bytes(&self) -> usize {
        0
    }

    /// Its receiver knows by numbers what comes again, after whatever: what is not known here to be delivered
    /// may be sent any number of times.
    fn is_numbered(&self) -> bool {
        false
    }

    /// [`Sink::close`] for such an outlet: returns those of the messages it reported that have to be sent
    /// again by another sink.
    fn close_unsettled(&mut self, _queue: &mut VecDeque<Chunk>) -> VecDeque<Chunk> {
        self.close(&mut VecDeque::new());
        VecDeque::new()
    }

    /// Another process goes on: what has left the queue, and that nobody got, is put back to its front.
    /// Connections end in order. It may have to write again all the same, when the other process does not
    /// want what waits.
    fn part(&mut self, _queue: &mut VecDeque<Chunk>) {}

    /// The last call: everything that could be written was. What has left the queue, and that nobody got, is
    /// put back to its front.
    fn close(&mut self, queue: &mut VecDeque<Chunk>);
}
