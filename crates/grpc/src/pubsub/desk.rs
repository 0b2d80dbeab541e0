//! The desk between the runtime, which speaks with the server, and the worker, which makes messages of what
//! it brings: which deliveries there are, which are dealt with, and which deadline is near.

mod deliveries;

use super::received;
use super::requests::Subscription;
use deliveries::{Deliveries, Delivery};
use engine::worker::Leaving;
use engine::{Acknowledge, Mark, Wake};
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use wire::protobuf::Malformed;

/// A deadline is moved when so much of it is left: 1 / so many.
const LEFT: u32 = 2;
/// It is looked for such deadlines so many times within one.
const LOOKS: u32 = 8;
/// Nothing is to be done before that, unless somebody says something.
const IDLE: Duration = Duration::from_secs(3600);

/// What is asked of the server next.
pub enum Work {
    Ask(Ask),
    /// Nothing until then.
    Rest(Instant),
    /// Nothing any more.
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Acknowledge,
    Extend,
    Release,
}

pub struct Ask {
    pub kind: Kind,
    /// In its frame.
    pub message: Vec<u8>,
    /// The deliveries it is about.
    about: Vec<u64>,
}

pub struct Desk {
    pub subscription: Subscription,
    waker: Arc<dyn Wake>,
    inner: Mutex<Inner>,
    /// Something is to be asked of the server.
    pub work: Notify,
    /// There is room for more, or the end has come.
    pub room: Notify,
}

struct Inner {
    /// Answers of which no batch was made yet, and the deliveries in them.
    waiting: VecDeque<(Range<u64>, Vec<u8>)>,
    /// What was taken since the last mark.
    taken: Range<u64>,
    marks: HashMap<u64, Range<u64>>,
    next_mark: u64,
    deliveries: Deliveries,
    /// Deliveries that are dealt with, or have to come again.
    done: VecDeque<u64>,
    undone: VecDeque<u64>,
    /// When it was looked for deadlines that are near.
    looked: Instant,
    malformed: u64,
    /// Since when nothing more is wanted.
    left: Option<Instant>,
    /// The end of the program waits for it.
    leaving: Option<Leaving>,
    is_reading: bool,
}

impl Desk {
    pub fn new(subscription: Subscription, waker: Arc<dyn Wake>) -> Arc<Desk> {
        let inner = Inner {
            waiting: VecDeque::new(),
            taken: 0..0,
            marks: HashMap::new(),
            next_mark: 0,
            deliveries: Deliveries::default(),
            done: VecDeque::new(),
            undone: VecDeque::new(),
            looked: Instant::now(),
            malformed: 0,
            left: None,
            leaving: None,
            is_reading: false,
        };
        let (work, room) = Default::default();
        Arc::new(Desk { subscription, waker, inner: Mutex::new(inner), work, room })
    }

    /// An answer has come. The error says that it is none.
    pub fn brings(&self, answer: Vec<u8>, now: Instant) -> Result<(), Malformed> {
        let until = now + self.subscription.ack_deadline;
        let read = Delivery::all(received::messages(&answer), until);
        let mut inner = self.inner.lock();
        let read = match read {
            Ok(read) => read,
            Err(malformed) => {
                inner.malformed += 1;
                drop(inner);
                self.waker.wake();
                return Err(malformed);
            }
        };
        let was_empty = inner.deliveries.is_empty();
        let numbers = inner.deliveries.add(read);
        if numbers.is_empty() {
            return Ok(());
        }
        if was_empty {
            // From now on there are deadlines to look for.
            self.work.notify_one();
        }
        if inner.left.is_some() {
            inner.undo(numbers);
            self.work.notify_one();
            return Ok(());
        }
        inner.waiting.push_back((numbers, answer));
        let is_first = inner.waiting.len() == 1;
        drop(inner);
        if is_first {
            self.waker.wake();
        }
        Ok(())
    }

    /// Whether the server may send more. One that obeys sends no more anyway.
    pub fn has_room(&self) -> bool {
        let inner = self.inner.lock();
        let (messages, bytes) = inner.deliveries.held();
        inner.left.is_some()
            || messages < self.subscription.messages_max && bytes < self.subscription.bytes_max
    }

    pub fn is_waiting(&self) -> bool {
        !self.inner.lock().waiting.is_empty()
    }

    /// The next answer to make messages of.
    pub fn take(&self) -> Option<Vec<u8>> {
        let mut inner = self.inner.lock();
        let (numbers, answer) = inner.waiting.pop_front()?;
        // They were brought one after the other.
        let begins = if inner.taken.is_empty() { numbers.start } else { inner.taken.start };
        inner.taken = begins..numbers.end;
        Some(answer)
    }

    /// Of everything that was taken since the last one.
    pub fn mark(self: &Arc<Desk>) -> Mark {
        let mut inner = self.inner.lock();
        let (number, taken) = (inner.next_mark, std::mem::take(&mut inner.taken));
        inner.next_mark += 1;
        inner.marks.insert(number, taken);
        drop(inner);
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }

    /// Answers since the last time that were none.
    pub fn take_malformed(&self) -> u64 {
        std::mem::take(&mut self.inner.lock().malformed)
    }

    /// Nothing more is wanted: what nobody has begun with goes back, what is under way is waited for. The end
    /// of the program waits for `leaving`, a moment.
    pub fn leave(&self, now: Instant, leaving: Option<Leaving>) {
        let mut inner = self.inner.lock();
        if inner.left.is_some() {
            return;
        }
        (inner.left, inner.leaving) = (Some(now), leaving);
        while let Some((numbers, _)) = inner.waiting.pop_front() {
            inner.undo(numbers);
        }
        let taken = std::mem::take(&mut inner.taken);
        inner.undo(taken);
        drop(inner);
        self.work.notify_one();
        self.room.notify_one();
    }

    pub fn has_left(&self) -> bool {
        self.inner.lock().left.is_some()
    }

    /// Whether the server has heard of everything.
    pub fn is_over(&self) -> bool {
        self.inner.lock().is_over()
    }

    /// Somebody reads from the server, or does not any more.
    pub fn reads(&self, is_reading: bool) {
        self.inner.lock().is_reading = is_reading;
        if !is_reading {
            self.work.notify_one();
            self.waker.wake();
        }
    }

    /// What to ask of the server now.
    pub fn work(&self, now: Instant) -> Work {
        let mut inner = self.inner.lock();
        let inner = &mut *inner;
        if inner.is_over() {
            inner.leaving = None;
            return Work::Over;
        }
        let between = self.subscription.ack_deadline / LOOKS;
        if now >= inner.looked + between {
            let near = now + self.subscription.ack_deadline / LEFT;
            let about = inner.deliveries.near(near);
            if !about.is_empty() {
                let message = self.subscription.extend(inner.deliveries.ids(&about));
                return Work::Ask(Ask { kind: Kind::Extend, message, about });
            }
            inner.looked = now;
        }
        for (kind, queue) in [(Kind::Acknowledge, &inner.done), (Kind::Release, &inner.undone)] {
            let about = inner.deliveries.some(queue);
            if about.is_empty() {
                continue;
            }
            let ids = inner.deliveries.ids(&about);
            let message = match kind {
                Kind::Release => self.subscription.release(ids),
                _ => self.subscription.acknowledge(ids),
            };
            return Work::Ask(Ask { kind, message, about });
        }
        let is_idle = inner.deliveries.is_empty();
        Work::Rest(if is_idle { now + IDLE } else { inner.looked + between })
    }

    /// The server has taken what was asked at `asked`, or never will: then these messages come again.
    pub fn heard(&self, ask: &Ask, asked: Instant) {
        let mut inner = self.inner.lock();
        match ask.kind {
            Kind::Extend => inner.deliveries.extend(&ask.about, asked + self.subscription.ack_deadline),
            Kind::Acknowledge => inner.forget(&ask.about, |inner| &mut inner.done),
            Kind::Release => inner.forget(&ask.about, |inner| &mut inner.undone),
        }
        let is_over = inner.left.is_some() && inner.deliveries.is_empty();
        drop(inner);
        self.room.notify_one();
        if is_over {
            self.waker.wake();
        }
    }

    /// The server does not answer. Where nothing more is wanted it is not asked for ever: what it has not
    /// heard of comes again.
    pub fn not_heard(&self, ask: &Ask, now: Instant) {
        let patience = self.subscription.ack_deadline;
        let gives_up = |left: Instant| now.saturating_duration_since(left) >= patience;
        let is_given_up = self.inner.lock().left.is_some_and(gives_up);
        if is_given_up && ask.kind != Kind::Extend {
            self.heard(ask, now);
        }
    }
}

impl Inner {
    fn is_over(&self) -> bool {
        self.left.is_some() && !self.is_reading && self.deliveries.is_empty()
    }

    fn undo(&mut self, numbers: Range<u64>) {
        self.deliveries.settle(numbers.clone());
        self.undone.extend(numbers);
    }

    /// Strikes off what stands in front of a queue.
    fn forget(&mut self, about: &[u64], queue: impl Fn(&mut Inner) -> &mut VecDeque<u64>) {
        let queue = queue(self);
        queue.drain(..about.len().min(queue.len()));
        self.deliveries.remove(about);
    }
}

impl Acknowledge for Desk {
    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        let Some(numbers) = inner.marks.remove(&number) else { return };
        inner.deliveries.settle(numbers.clone());
        inner.done.extend(numbers);
        drop(inner);
        self.work.notify_one();
    }

    fn undone(&self, number: u64) {
        let mut inner = self.inner.lock();
        let Some(numbers) = inner.marks.remove(&number) else { return };
        inner.undo(numbers);
        drop(inner);
        self.work.notify_one();
    }
}

#[cfg(test)]
mod tests;
