//! What a destination has to offer, and what it may say of a batch.

use engine::{Piece, Receipt};
use std::time::{Duration, Instant};

/// Messages that go together: a batch.
#[derive(Debug)]
pub struct Part<'a> {
    /// In the order of the queue, never none. What stands before a message as its key is not part of it.
    pub messages: &'a [&'a [u8]],
    /// The sum of their lengths.
    pub bytes: usize,
    /// What all of them have in common, where messages have keys; see [`crate::enclose`].
    pub key: &'a [u8],
    /// The number of the first message in the queue on disk, when it is there.
    pub number: Option<u64>,
    /// Of each message, where [`crate::Limits::numbered`] asks for them. One without a number stands before
    /// the next one that has one; the last has none only where nothing behind it in its chunk has.
    pub numbers: &'a [Option<u64>],
}

/// What became of a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The server has all of it, and said so.
    Delivered,
    /// One verdict for each message, in their order; those missing are [`Verdict::Again`]. `after`: the
    /// server asks to be left alone so long.
    Judged { verdicts: Vec<Verdict>, after: Option<Duration> },
    /// The server will never take these messages: each becomes a dead letter with these words.
    Refused(String),
    /// The server does not take the batch, because of its size or of something in it: it is halved until that
    /// is alone, and this is refused.
    Split(String),
    /// The same, and the configuration lets go of what is not taken: `named` is the place of the message
    /// that the server found bad. With nothing taken in between, all of a batch is let go of soon.
    LetGo { why: String, named: Option<usize> },
    /// Not now. `after`: not before so long. `counts`: towards [`crate::Limits::retries`], after which the
    /// batch is halved.
    Again { after: Option<Duration>, counts: bool, why: String },
    /// The server could not be reached, or went away before it had all of the batch: nothing was taken.
    Away(String),
    /// Nothing moves until somebody has done something about this: a password, a name, a right. Asked again
    /// after time-reopen().
    Hold(String),
    /// All of it was sent, and no answer came: it is sent again, and may arrive twice.
    Unknown(String),
}

/// What became of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Delivered,
    /// It will never be taken; the server's words.
    Refused(Box<str>),
    /// To be sent again, in its order.
    Again,
    /// The same, and nothing moves until somebody has done something about this: [`Outcome::Hold`].
    Hold(Box<str>),
}

/// What speaks to a server. All calls come from one worker at a time, and none of them may wait.
pub trait Client: Send {
    /// Batches that it could begin now.
    fn room(&self) -> usize;

    /// Begins a batch. There is room. Its outcome is said later under this number, once.
    fn begin(&mut self, id: u32, part: &Part<'_>);

    /// Somebody follows messages of the batch that begins next, of these places in it: their receipts are to
    /// be told where they go. When they are delivered is said by others.
    fn follow(&mut self, _id: u32, _receipts: Vec<(usize, Receipt)>) {}

    /// What stands between messages, where it wants to send them from where they lie.
    fn shares(&self) -> Option<&[u8]> {
        None
    }

    /// All of the batch that begins next, as it lies in the queue: each message with what stands between it
    /// and the next one, the last one too.
    fn share(&mut self, _id: u32, _pieces: Vec<Piece>) {}

    /// Appends what became of batches since the last call. Whenever there is something to say, the outlet
    /// gets an event.
    fn outcomes(&mut self, out: &mut Vec<(u32, Outcome)>);

    /// Bytes of batches that it holds copies of.
    fn held_bytes(&self) -> usize {
        0
    }

    /// The first time after `now` at which it wants to be asked for outcomes although there was no event:
    /// something that it waits for is due then.
    fn due(&self, _now: Instant) -> Option<Instant> {
        None
    }

    /// Now and then.
    fn tick(&mut self, _now: Instant) {}

    /// SIGUSR1, or a reload that asks for new connections: those in use are left when nothing is on the way.
    fn reopen(&mut self) {}

    /// The last call: nothing more is wanted of what is on the way.
    fn close(&mut self);
}
