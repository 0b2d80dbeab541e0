//! The worker's end of a reader of objects: it makes batches of the text that the runtime has brought, as far
//! as there is room for them.

use super::metadata::Metadata;
use engine::hand_over::Part;
use engine::ledger::Reason;
use engine::source::Source;
use engine::worker::{After, Leaving, Port, PortContext};
use engine::{Feed, Read};
use intake::files::{TailOptions, Text};
use record::{Batch, Record};
use s3_client::pull::{Board, Desk, End, Hold, Piece, Pull, Puller};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Pieces in one turn; then the worker's other ports have theirs.
const TURN_PIECES: usize = 8;
/// It is looked so often whether the tasks still run.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// A piece that has so much shows that there is more to come.
const BUSY_BYTES: usize = 64 * 1024;

/// What a reader is made of.
pub struct Parts {
    pub pull: Arc<Pull>,
    pub board: Arc<Board>,
    pub turn: u64,
    /// The tasks that this reader keeps running beside its own.
    pub others: Vec<Puller>,
    /// It waits until the queue has heard of everything.
    pub answers: bool,
    pub tail: Arc<TailOptions>,
    pub metadata: Metadata,
    pub fetch_limit: Option<usize>,
    pub source: Arc<Source>,
}

/// The object that is being read.
struct Current {
    hold: Arc<Hold>,
    text: Text,
}

pub struct ObjectPort {
    board: Arc<Board>,
    turn: u64,
    desk: Arc<Desk>,
    pullers: Vec<Puller>,
    looked: Instant,
    tail: Arc<TailOptions>,
    metadata: Metadata,
    fetch_limit: usize,
    feed: Feed,
    current: Option<Current>,
    answers: bool,
    leaving: Option<Leaving>,
    queued: bool,
}

impl ObjectPort {
    pub fn new(parts: Parts, cx: &PortContext, token: mio::Token) -> ObjectPort {
        let desk = Desk::new(cx.handle.waker(token));
        let mut pullers = parts.others;
        pullers.push(Puller::reader(&parts.pull, (&parts.board, parts.turn), &desk));
        pullers.iter_mut().for_each(Puller::keep);
        ObjectPort {
            board: parts.board,
            turn: parts.turn,
            desk,
            pullers,
            looked: Instant::now(),
            tail: parts.tail,
            metadata: parts.metadata,
            fetch_limit: parts.fetch_limit.unwrap_or(usize::MAX),
            // log-iw-size() is what all readers have together.
            feed: Feed::new(parts.source, None, cx, token),
            current: None,
            answers: parts.answers,
            leaving: None,
            queued: false,
        }
    }

    /// Makes a batch of one piece. Returns how many messages it has.
    fn step(&mut self, cx: &mut PortContext) -> usize {
        match self.desk.take() {
            None => 0,
            Some(Piece::Text(hold, bytes)) => self.read(&hold, Some(&bytes), cx),
            Some(Piece::End(hold, end, why)) => {
                let messages = match end {
                    // What comes before the damage is no whole message.
                    End::Damaged => 0,
                    _ => self.read(&hold, None, cx),
                };
                if let (End::Damaged, Some(why)) = (end, why) {
                    self.dropped(&hold, &why);
                }
                self.current = None;
                hold.ended(end);
                messages
            }
        }
    }

    /// Reads the next bytes of an object, or, without any, what is left of it.
    fn read(&mut self, hold: &Arc<Hold>, bytes: Option<&[u8]>, cx: &mut PortContext) -> usize {
        let began = Instant::now();
        if self.current.as_ref().is_none_or(|current| !Arc::ptr_eq(&current.hold, hold)) {
            let text = Text::new(&self.tail, hold.begin);
            self.current = Some(Current { hold: Arc::clone(hold), text });
        }
        let Some(Current { text: reader, .. }) = &mut self.current else { return 0 };
        let mut batch = cx.batch();
        let Batch { text, records, .. } = &mut batch;
        let begins = reader.position();
        match bytes {
            Some(bytes) => reader.take(bytes, text, |span| records.push(Record::new(span))),
            None => reader.finish(text, |span| records.push(Record::new(span))),
        }
        self.feed.source.counters.truncated.add(reader.take_truncated() as usize);
        // Without a mark somebody else reads the object, and what is here does not count.
        let Some(mark) = hold.mark(reader.position()) else {
            cx.recycle(batch);
            return 0;
        };
        let offset = reader.is_as_read().then_some(begins);
        self.metadata.add(&mut batch, &self.feed.source, &hold.object.found, offset);
        let (messages, bytes) = (batch.records.len(), bytes.map_or(0, <[u8]>::len));
        let busy = bytes >= BUSY_BYTES && self.desk.is_waiting();
        self.feed.run_marked(batch, Read { bytes, busy, began, mark: Some(mark) }, cx);
        messages
    }

    /// The rest of an object cannot be read: it counts as one message.
    fn dropped(&mut self, hold: &Arc<Hold>, why: &str) {
        if !hold.is_current() {
            return;
        }
        let mut rest = Vec::new();
        if let Some(current) = &mut self.current {
            current.text.finish(&mut rest, |_| {});
        }
        let counters = &self.feed.source.counters;
        counters.received.add(1);
        counters.dropped.add(Reason::Framing, 1);
        let found = &hold.object.found;
        let note = format!("{}/{}: {why}; ", self.metadata.bucket(), found.key);
        let note = [note.as_bytes(), &rest].concat();
        counters.remains.keep(Reason::Framing, 1, std::iter::once(note.as_slice()));
        let fields: [oplog::Field<'_>; 3] =
            [("bucket", &self.metadata.bucket()), ("key", &found.key), ("reason", &why)];
        let text = "An object of S3 cannot be unpacked to its end, the rest of it is left out";
        oplog::limited("s3-unreadable", oplog::Level::Error, text, &fields);
    }
}

impl Port for ObjectPort {
    fn turn(&mut self, cx: &mut PortContext) -> After {
        let now = Instant::now();
        if now.saturating_duration_since(self.looked) >= LOOK_EVERY {
            self.looked = now;
            self.pullers.iter_mut().for_each(Puller::keep);
        }
        if self.leaving.is_some() {
            return if self.board.is_told() { After::Close } else { After::Idle };
        }
        let mut fetched = 0;
        for _ in 0..TURN_PIECES {
            if !self.desk.is_waiting() || !self.feed.may_read() {
                return After::Idle;
            }
            if fetched >= self.fetch_limit {
                break;
            }
            fetched += self.step(cx);
        }
        After::Again
    }

    fn queued(&mut self) -> &mut bool {
        &mut self.queued
    }

    /// The tasks are looked after.
    fn retry(&self) -> bool {
        true
    }

    fn tick(&mut self, now: Instant) -> bool {
        self.leaving.as_ref().is_none_or(|leaving| !leaving.is_over(now))
    }

    /// The queue hears of what is finished, and gets back what is not.
    fn leave(&mut self, cx: &mut PortContext) -> bool {
        if !self.answers {
            return false;
        }
        self.board.leave(self.turn);
        self.desk.leave();
        self.leaving = Some(cx.shared.leaving());
        true
    }

    fn part(&mut self, _cx: &mut PortContext) -> Part {
        if self.leaving.is_some() { Part::Stays } else { Part::Closes }
    }

    fn parts(&self) -> bool {
        true
    }

    /// What is not read yet is for whoever comes next, or for the next start.
    fn closed(&mut self, _cx: &mut PortContext) {
        self.board.leave(self.turn);
        self.desk.leave();
    }

    fn source(&self) -> Option<&Arc<Source>> {
        self.leaving.is_none().then_some(&self.feed.source)
    }
}
