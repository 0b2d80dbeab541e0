//! Messages that come in requests of HTTP: handed from the server's thread to a port on a worker, and
//! answered once everything made of them is dealt with.

mod asked;
mod port;

pub use asked::Asked;

use engine::{Acknowledge, Mark, Wake};
use http_server::Answer;
use parking_lot::Mutex;
use record::{Batch, Stamp};
use std::collections::{HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

/// Requests that wait for the worker; what comes beyond them waits in its connection.
const WAITING_MAX: usize = 64;

/// What a request brings. Made on the server's thread, read on a worker.
pub trait Load: Send {
    /// Appends the next messages to the batch, as many as `filling` allows. `false`: that was the last.
    fn fill(&mut self, batch: &mut Batch, filling: &Filling<'_>) -> bool;

    /// All is read: the answer, where it does not wait for what becomes of the messages.
    fn taken(&mut self) -> Option<Answer>;

    /// All is dealt with, or will not be. The answer, unless it was given.
    fn settled(self: Box<Self>, fate: Fate) -> Answer;
}

/// How a request ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Everything made of it is delivered, or kept where it is safe.
    Done,
    /// Not all of it, or nobody knows: it has to come again.
    Undone,
}

/// What messages of a batch need to know.
pub struct Filling<'a> {
    pub now: Stamp,
    /// The sender, by name or number.
    pub sender: &'a str,
    pub bytes_max: usize,
    pub messages_max: usize,
    /// Time stamps of messages are believed.
    pub keep_timestamp: bool,
}

impl Filling<'_> {
    /// Whether the batch has enough.
    pub fn is_full(&self, batch: &Batch) -> bool {
        batch.text.len() >= self.bytes_max || batch.records.len() >= self.messages_max
    }
}

/// The two ends of a connection, and the one that a proxy says it speaks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    pub remote: SocketAddr,
    pub local: SocketAddr,
    pub named: Option<IpAddr>,
}

/// A request on its way to the worker.
struct Brought {
    load: Box<dyn Load>,
    ends: Ends,
    tell: oneshot::Sender<Answer>,
    /// Its place among those that wait.
    _place: OwnedSemaphorePermit,
}

struct UnderWay {
    /// Batches that are not dealt with, and one while it is being read.
    open: usize,
    fate: Fate,
    load: Option<Box<dyn Load>>,
    tell: Option<oneshot::Sender<Answer>>,
}

#[derive(Default)]
struct Inner {
    waiting: VecDeque<Brought>,
    under_way: HashMap<u64, UnderWay>,
    next: u64,
    is_closed: bool,
}

/// Where requests are handed over, and where their answers come from.
pub struct Desk {
    inner: Mutex<Inner>,
    places: Arc<Semaphore>,
    /// Of the port, once it is there.
    waker: OnceLock<Arc<dyn Wake>>,
    /// A request is answered after this time, whatever became of it. Zero: it waits for ever.
    answer_time: Duration,
}

impl Desk {
    fn new(answer_time: Duration) -> Arc<Desk> {
        let places = Arc::new(Semaphore::new(WAITING_MAX));
        Arc::new(Desk { inner: Mutex::default(), places, waker: OnceLock::new(), answer_time })
    }

    /// Gives a request to the worker, and waits for its answer. `late` is said when that takes too long, and
    /// `closing` when the source is closed meanwhile.
    pub async fn hand_in(&self, load: Box<dyn Load>, ends: Ends, late: Answer, closing: Answer) -> Answer {
        let answered = async {
            let place = Arc::clone(&self.places).acquire_owned().await.ok()?;
            let (tell, told) = oneshot::channel();
            self.put(Brought { load, ends, tell, _place: place }).then_some(())?;
            told.await.ok()
        };
        if self.answer_time.is_zero() {
            return answered.await.unwrap_or(closing);
        }
        match tokio::time::timeout(self.answer_time, answered).await {
            Ok(answer) => answer.unwrap_or(closing),
            Err(_) => late,
        }
    }

    /// Gives a request to the worker and waits for nothing. `false`: too many wait already, or the source is
    /// closed.
    pub fn leave(&self, load: Box<dyn Load>, ends: Ends) -> bool {
        let Ok(place) = Arc::clone(&self.places).try_acquire_owned() else { return false };
        // Nobody listens: whoever asked is answered otherwise.
        let (tell, _) = oneshot::channel();
        self.put(Brought { load, ends, tell, _place: place })
    }

    fn put(&self, brought: Brought) -> bool {
        let mut inner = self.inner.lock();
        if inner.is_closed {
            return false;
        }
        inner.waiting.push_back(brought);
        drop(inner);
        self.waker.get().inspect(|waker| waker.wake());
        true
    }

    /// The next request, and its number.
    fn take(&self) -> Option<(u64, Brought)> {
        let mut inner = self.inner.lock();
        let brought = inner.waiting.pop_front()?;
        let number = inner.next;
        inner.next += 1;
        Some((number, brought))
    }

    fn begin(&self, number: u64, tell: oneshot::Sender<Answer>) {
        let fresh = UnderWay { open: 1, fate: Fate::Done, load: None, tell: Some(tell) };
        self.inner.lock().under_way.insert(number, fresh);
    }

    /// For another batch of a request.
    fn mark(self: &Arc<Desk>, number: u64) -> Mark {
        if let Some(under_way) = self.inner.lock().under_way.get_mut(&number) {
            under_way.open += 1;
        }
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }

    /// All of it is read.
    fn all_read(&self, number: u64, mut load: Box<dyn Load>) {
        let early = load.taken();
        let mut inner = self.inner.lock();
        if let Some(under_way) = inner.under_way.get_mut(&number) {
            under_way.load = Some(load);
            if let Some(answer) = early {
                let _ = under_way.tell.take().map(|tell| tell.send(answer));
            }
        }
        drop(inner);
        self.one_less(number, Fate::Done);
    }

    fn one_less(&self, number: u64, fate: Fate) {
        let mut inner = self.inner.lock();
        let Some(under_way) = inner.under_way.get_mut(&number) else { return };
        under_way.open = under_way.open.saturating_sub(1);
        if fate == Fate::Undone {
            under_way.fate = Fate::Undone;
        }
        if under_way.open > 0 {
            return;
        }
        let Some(UnderWay { load, tell, fate, .. }) = inner.under_way.remove(&number) else { return };
        drop(inner);
        let Some(load) = load else { return };
        let answer = load.settled(fate);
        // Nobody waits: it was answered, or its client has gone.
        let _ = tell.map(|tell| tell.send(answer));
    }

    /// A request that the worker failed at.
    fn give_up(&self, number: u64) {
        self.inner.lock().under_way.remove(&number);
    }

    /// The source is closed: what was not read is not taken any more. What was read goes on.
    fn close(&self) {
        let mut inner = self.inner.lock();
        inner.is_closed = true;
        inner.waiting.clear();
        drop(inner);
        self.places.close();
    }
}

impl Acknowledge for Desk {
    fn done(&self, number: u64) {
        self.one_less(number, Fate::Done);
    }

    fn undone(&self, number: u64) {
        self.one_less(number, Fate::Undone);
    }
}
