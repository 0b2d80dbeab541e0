//! Requests between the runtime that receives them and the worker that makes messages of them.

use engine::{Acknowledge, Mark, Wake};
use grpc::otlp::Signal;
use grpc::{Bytes, Code, Service, Status};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// A request for which there is no room within this time is refused: its client comes again.
const FULL_WAIT: Duration = Duration::from_secs(3);
/// After so long.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// What all connections of a source have together.
pub struct Places {
    places: Arc<Semaphore>,
    message_bytes_max: usize,
}

impl Places {
    pub fn new(requests: usize, message_bytes_max: usize) -> Places {
        Places { places: Arc::new(Semaphore::new(requests)), message_bytes_max }
    }
}

/// What became of a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Everything made from it is dealt with.
    Done,
    /// It has to come again.
    Undone,
    /// It is none.
    Malformed,
}

pub struct Request {
    pub signal: Signal,
    pub message: Bytes,
    answer: oneshot::Sender<Fate>,
    /// Held until a worker has it.
    _place: OwnedSemaphorePermit,
    is_taken: Arc<AtomicBool>,
}

impl Request {
    /// A worker has it, unless its client has given it up: then there is nothing to do.
    pub fn take(self) -> Option<(Signal, Bytes, Answer)> {
        if self.answer.is_closed() || self.is_taken.swap(true, Ordering::AcqRel) {
            return None;
        }
        Some((self.signal, self.message, Answer::new(self.answer)))
    }
}

/// Where the fate of a request goes. The batches that are made of it share this: with the last of them it is
/// done. Otherwise its client has to come again.
pub struct Answer {
    to: Mutex<Option<oneshot::Sender<Fate>>>,
    /// All of its batches are made.
    is_whole: AtomicBool,
}

impl Answer {
    fn new(to: oneshot::Sender<Fate>) -> Answer {
        Answer { to: Mutex::new(Some(to)), is_whole: AtomicBool::new(false) }
    }

    pub fn say(&self, fate: Fate) {
        if let Some(to) = self.to.lock().take() {
            // A client that has gone hears nothing.
            let _ = to.send(fate);
        }
    }

    /// For one of its batches.
    pub fn mark(answer: &Arc<Answer>) -> Mark {
        Mark::new(Arc::clone(answer) as Arc<dyn Acknowledge>, 0)
    }

    /// There is no further batch of it.
    pub fn ends(&self) {
        self.is_whole.store(true, Ordering::Release);
    }
}

impl Acknowledge for Answer {
    /// Others may not be; see what happens when it is dropped.
    fn done(&self, _number: u64) {}

    fn undone(&self, _number: u64) {
        self.say(Fate::Undone);
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if *self.is_whole.get_mut() {
            self.say(Fate::Done);
        }
    }
}

/// Of one connection.
pub struct Inbox {
    room: Arc<Places>,
    requests: Mutex<VecDeque<Request>>,
    waker: Arc<dyn Wake>,
    /// The connection is over.
    has_ended: AtomicBool,
}

impl Inbox {
    pub fn new(room: Arc<Places>, waker: Arc<dyn Wake>) -> Arc<Inbox> {
        let (requests, has_ended) = Default::default();
        Arc::new(Inbox { room, requests, waker, has_ended })
    }

    pub fn next(&self) -> Option<Request> {
        self.requests.lock().pop_front()
    }

    /// Those that wait have to go to somebody else.
    pub fn refuse_all(&self) {
        let waiting = std::mem::take(&mut *self.requests.lock());
        drop(waiting);
    }

    pub fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
        self.waker.wake();
    }

    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }
}

fn again(message: &str) -> Status {
    Status { code: Code::UNAVAILABLE, message: message.to_owned(), retry_after: Some(RETRY_AFTER) }
}

const FULL: &str = "what is there already has to be delivered first";

impl Service for Inbox {
    type Place = OwnedSemaphorePermit;

    fn message_bytes_max(&self) -> usize {
        self.room.message_bytes_max
    }

    fn knows(&self, path: &str) -> bool {
        Signal::of_path(path).is_some()
    }

    async fn admit(&self) -> Result<OwnedSemaphorePermit, Status> {
        let place = Arc::clone(&self.room.places).acquire_owned();
        match tokio::time::timeout(FULL_WAIT, place).await {
            Ok(Ok(place)) => Ok(place),
            _ => Err(again(FULL)),
        }
    }

    async fn call(&self, place: OwnedSemaphorePermit, path: &str, message: Bytes) -> Result<Vec<u8>, Status> {
        let signal = Signal::of_path(path).unwrap_or(Signal::Logs);
        let (answer, mut fate) = oneshot::channel();
        let is_taken = Arc::new(AtomicBool::new(false));
        let request = Request { signal, message, answer, _place: place, is_taken: Arc::clone(&is_taken) };
        let was_empty = {
            let mut requests = self.requests.lock();
            requests.push_back(request);
            requests.len() == 1
        };
        if was_empty {
            self.waker.wake();
        }
        let heard = match tokio::time::timeout(FULL_WAIT, &mut fate).await {
            Ok(heard) => heard,
            // No worker has it, and none will.
            Err(_) if !is_taken.swap(true, Ordering::AcqRel) => return Err(again(FULL)),
            // It is on its way.
            Err(_) => fate.await,
        };
        match heard {
            // A message without fields: everything was taken.
            Ok(Fate::Done) => Ok(Vec::new()),
            Ok(Fate::Malformed) => Err(Status {
                code: Code::INVALID_ARGUMENT,
                message: "this is no message of OpenTelemetry".to_owned(),
                retry_after: None,
            }),
            Ok(Fate::Undone) | Err(_) => Err(again("it was not delivered")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request() -> (Arc<Answer>, oneshot::Receiver<Fate>) {
        let (to, fate) = oneshot::channel();
        (Arc::new(Answer::new(to)), fate)
    }

    #[test]
    fn a_request_is_done_with_the_last_of_its_batches() {
        let (answer, mut fate) = request();
        let marks = [Answer::mark(&answer), Answer::mark(&answer)];
        answer.ends();
        drop(answer);
        for mark in marks {
            assert!(fate.try_recv().is_err(), "a batch is under way");
            mark.done();
        }
        assert!(matches!(fate.try_recv(), Ok(Fate::Done)));
    }

    #[test]
    fn a_request_of_which_a_part_is_lost_or_never_made_comes_again() {
        let (answer, mut fate) = request();
        let (lost, done) = (Answer::mark(&answer), Answer::mark(&answer));
        drop(lost);
        assert!(matches!(fate.try_recv(), Ok(Fate::Undone)));
        answer.ends();
        done.done();
        let (answer, mut fate) = request();
        Answer::mark(&answer).done();
        drop(answer);
        assert!(fate.try_recv().is_err_and(|error| error == oneshot::error::TryRecvError::Closed));
    }
}
