//! A reader: it takes objects from the board, one after the other, brings their bytes and lays their text on
//! its desk. While one part is being unpacked the next one is on its way.

use super::Pull;
use super::desk::{Desk, Piece};
use super::fetch::{Missed, PART_BYTES, part};
use super::hold::{End, Hold};
use super::puller::Said;
use super::unpack::{MAGIC_BYTES, Packed, Unpacker};
use crate::speaker::Speaker;
use guest::Pauses;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

/// Text that is laid down at once.
const PIECE_BYTES: usize = 128 * 1024;
/// It is looked so often at least whether there is something to do.
const LOOK_EVERY: Duration = Duration::from_secs(1);

pub struct Reader {
    pub pull: Arc<Pull>,
    pub desk: Arc<Desk>,
    speaker: Speaker,
    pauses: Pauses,
    said: Said,
}

/// Why an object is not read on.
enum Stop {
    /// Nobody wants it from here.
    Unwanted,
    Aside(String),
    Gone(String),
    Damaged(String),
}

impl Reader {
    pub fn new(pull: &Arc<Pull>, desk: &Arc<Desk>) -> Reader {
        let pauses = Pauses::new(pull.pause_max);
        let speaker = Speaker::of_objects(&pull.server);
        Reader { pull: Arc::clone(pull), desk: Arc::clone(desk), speaker, pauses, said: Said::default() }
    }

    /// Reads until its turn is over.
    pub async fn run(mut self, board: Arc<super::Board>, turn: u64) {
        while board.is_turn(turn) && !self.desk.has_left() {
            match board.take(turn, Instant::now()) {
                Some(hold) => self.read(hold).await,
                None => {
                    let _ = tokio::time::timeout(LOOK_EVERY, board.work.notified()).await;
                }
            }
        }
    }

    async fn read(&mut self, hold: Arc<Hold>) {
        let (end, why) = match self.bring(&hold).await {
            Ok(()) => (End::Whole, None),
            Err(Stop::Unwanted) => return hold.board.give_back(&hold),
            Err(Stop::Aside(why)) => {
                self.said.say(
                    "An object of S3 cannot be read now, it is tried again",
                    &why,
                    &self.pull,
                    Some(&hold),
                );
                return hold.board.put_aside(&hold, Instant::now() + self.pull.pause_max);
            }
            Err(Stop::Gone(why)) => {
                let text =
                    "An object of S3 changed or vanished while it was to be read; what has come of it stays";
                let fields: [oplog::Field<'_>; 3] =
                    [("bucket", &self.pull.server.bucket), ("key", &hold.object.found.key), ("reason", &why)];
                oplog::limited("s3-gone", oplog::Level::Warning, text, &fields);
                (End::Gone, None)
            }
            Err(Stop::Damaged(why)) if self.pull.holds_unreadable => {
                self.said.say(
                    "An object of S3 cannot be unpacked, it is held and tried again",
                    &why,
                    &self.pull,
                    Some(&hold),
                );
                return hold.board.put_aside(&hold, Instant::now() + self.pull.pause_max);
            }
            Err(Stop::Damaged(why)) => (End::Damaged, Some(why)),
        };
        if !self.desk.lay(Piece::End(Arc::clone(&hold), end, why)).await {
            hold.board.give_back(&hold);
        }
    }

    /// Brings an object from the place on that its hold says.
    async fn bring(&mut self, hold: &Arc<Hold>) -> Result<(), Stop> {
        let size = hold.object.found.size;
        let mut packed = self.pull.packed;
        if packed == Packed::Auto && hold.begin > 0 {
            // What was read before says how to go on.
            packed = Packed::of(&self.part(hold, 0, MAGIC_BYTES as u64).await?);
        }
        let mut unpacker = Unpacker::new(packed);
        // Of something packed, all has to be unpacked again up to the place.
        let (mut at, mut skip) = if packed == Packed::None { (hold.begin, 0) } else { (0, hold.begin) };
        let mut text = Vec::new();
        let mut next = None;
        while at < size || next.is_some() {
            let bytes = match next.take() {
                Some(bytes) => bytes,
                None => {
                    let bytes = self.part(hold, at, PART_BYTES).await?;
                    at += bytes.len() as u64;
                    bytes
                }
            };
            let desk = Arc::clone(&self.desk);
            let laying = lay(&desk, hold, &mut unpacker, &bytes, &mut text, &mut skip);
            if at < size {
                let (laid, fetched) = both(laying, self.part(hold, at, PART_BYTES)).await;
                laid?;
                let fetched = fetched?;
                at += fetched.len() as u64;
                next = Some(fetched);
            } else {
                laying.await?;
            }
        }
        let finished = unpacker.finish(&mut text);
        lay_rest(&self.desk, hold, &mut text, &mut skip, 0).await?;
        finished.map_err(Stop::Damaged)
    }

    /// A part, however long it takes.
    async fn part(&mut self, hold: &Arc<Hold>, from: u64, bytes: u64) -> Result<Vec<u8>, Stop> {
        loop {
            if !hold.is_current() || self.desk.has_left() {
                return Err(Stop::Unwanted);
            }
            match part(&mut self.speaker, &self.pull.server, &hold.object.found, from, bytes).await {
                Ok(part) => {
                    self.pauses.reset();
                    return Ok(part);
                }
                Err(Missed::Aside(why)) => return Err(Stop::Aside(why)),
                Err(Missed::Gone(why)) => return Err(Stop::Gone(why)),
                Err(Missed::Now { why, after }) => {
                    self.said.say(
                        "S3 does not give an object now, it is asked again",
                        &why,
                        &self.pull,
                        Some(hold),
                    );
                    tokio::time::sleep(after.unwrap_or_default().max(self.pauses.take())).await;
                }
            }
        }
    }
}

/// What both come to, while neither waits for the other.
async fn both<A: Future, B: Future>(a: A, b: B) -> (A::Output, B::Output) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut of_a, mut of_b) = (None, None);
    poll_fn(move |cx| {
        if of_a.is_none()
            && let Poll::Ready(output) = a.as_mut().poll(cx)
        {
            of_a = Some(output);
        }
        if of_b.is_none()
            && let Poll::Ready(output) = b.as_mut().poll(cx)
        {
            of_b = Some(output);
        }
        match (of_a.take(), of_b.take()) {
            (Some(a), Some(b)) => Poll::Ready((a, b)),
            (a, b) => {
                (of_a, of_b) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}

/// Unpacks a part and lays its text down.
async fn lay(
    desk: &Desk,
    hold: &Arc<Hold>,
    unpacker: &mut Unpacker,
    bytes: &[u8],
    text: &mut Vec<u8>,
    skip: &mut u64,
) -> Result<(), Stop> {
    let mut rest = bytes;
    while !rest.is_empty() {
        let taken = unpacker.take(rest, text);
        lay_rest(desk, hold, text, skip, if taken.is_ok() { PIECE_BYTES } else { 0 }).await?;
        rest = rest.get(taken.map_err(Stop::Damaged)?..).unwrap_or_default();
    }
    Ok(())
}

/// Lays down what there is, if it is at least so much.
async fn lay_rest(
    desk: &Desk,
    hold: &Arc<Hold>,
    text: &mut Vec<u8>,
    skip: &mut u64,
    least: usize,
) -> Result<(), Stop> {
    if *skip > 0 {
        let known = text.len().min(usize::try_from(*skip).unwrap_or(usize::MAX));
        text.drain(..known);
        *skip -= known as u64;
    }
    if text.is_empty() || text.len() < least {
        return Ok(());
    }
    match desk.lay(Piece::Text(Arc::clone(hold), std::mem::take(text))).await {
        true => Ok(()),
        false => Err(Stop::Unwanted),
    }
}
