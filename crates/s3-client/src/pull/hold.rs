//! The account of an object, and of whoever reads it: batches end in any order, the place in the state file
//! moves over those at the front only.

use super::board::Board;
use super::listing::{Id, Listed};
use super::roll::encode_open;
use engine::{Acknowledge, Mark};
use parking_lot::Mutex;
use state::Store;
use std::collections::VecDeque;
use std::sync::Arc;

/// An object that is to be read, is read, or waits for its last messages to be dealt with.
pub struct Object {
    pub found: Listed,
    pub id: Id,
    store: Arc<Store>,
    /// In the state file.
    name: Vec<u8>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// The number of the batch at the front of `waiting`.
    first: u64,
    /// The place behind each batch, and whether it is dealt with.
    waiting: VecDeque<(u64, bool)>,
    /// Everything before this place was dealt with.
    reached: u64,
    /// Where the reader is.
    read: u64,
    /// Counts its readers: only the last one counts.
    readings: u64,
    end: Option<End>,
}

/// How reading an object ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of it was read.
    Whole,
    /// Some of it cannot be read, now and ever.
    Damaged,
    /// It is there no more, or another one is.
    Gone,
}

impl Object {
    pub fn new((id, found): (Id, Listed), store: &Arc<Store>, name: Vec<u8>, offset: u64) -> Object {
        let inner = Inner { reached: offset, read: offset, ..Inner::default() };
        Object { found, id, store: Arc::clone(store), name, inner: Mutex::new(inner) }
    }

    /// Whether somebody has to read (more of) it.
    pub fn is_unread(&self) -> bool {
        self.inner.lock().end.is_none()
    }

    /// Whether batches of it are not dealt with.
    pub fn is_under_way(&self) -> bool {
        !self.inner.lock().waiting.is_empty()
    }
}

/// One reading of an object: by a reader, on a board.
pub struct Hold {
    pub board: Arc<Board>,
    pub object: Arc<Object>,
    reading: u64,
    /// Where it begins.
    pub begin: u64,
}

impl Hold {
    /// Whoever read it before does not any more.
    pub fn new(board: &Arc<Board>, object: Arc<Object>) -> Arc<Hold> {
        let mut inner = object.inner.lock();
        inner.readings += 1;
        let (reading, begin) = (inner.readings, inner.read);
        drop(inner);
        Arc::new(Hold { board: Arc::clone(board), object, reading, begin })
    }

    pub fn is_current(&self) -> bool {
        self.object.inner.lock().readings == self.reading
    }

    /// A batch was made that ends before this place. `None`: somebody else reads the object now, and the
    /// batch does not count.
    pub fn mark(self: &Arc<Hold>, end: u64) -> Option<Mark> {
        let mut inner = self.object.inner.lock();
        if inner.readings != self.reading {
            return None;
        }
        let number = inner.first + inner.waiting.len() as u64;
        inner.waiting.push_back((end, false));
        inner.read = end;
        drop(inner);
        Some(Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number))
    }

    /// No more batches come.
    pub fn ended(&self, end: End) {
        let mut inner = self.object.inner.lock();
        if inner.readings != self.reading {
            return;
        }
        inner.end = Some(end);
        let is_over = inner.waiting.is_empty();
        drop(inner);
        if is_over {
            self.board.finished(&self.object, end);
        }
    }
}

impl Acknowledge for Hold {
    fn done(&self, number: u64) {
        let mut inner = self.object.inner.lock();
        let at = number.checked_sub(inner.first);
        if let Some(batch) = at.and_then(|at| inner.waiting.get_mut(at as usize)) {
            batch.1 = true;
        }
        let mut reached = None;
        while let Some((place, true)) = inner.waiting.front() {
            reached = Some(*place);
            inner.waiting.pop_front();
            inner.first += 1;
        }
        let Some(reached) = reached else { return };
        let over = inner.end.filter(|_| inner.waiting.is_empty());
        if inner.reached != reached {
            inner.reached = reached;
            if over.is_none() {
                let object = &self.object;
                object.store.put(&object.name, &encode_open(&object.found, reached));
            }
        }
        drop(inner);
        if let Some(end) = over {
            self.board.finished(&self.object, end);
        }
    }

    /// The place stays where it is, and somebody has to read on from there.
    fn undone(&self, number: u64) {
        let mut inner = self.object.inner.lock();
        if number.checked_sub(inner.first).is_none_or(|at| at as usize >= inner.waiting.len()) {
            return;
        }
        inner.first += inner.waiting.len() as u64;
        inner.waiting.clear();
        inner.read = inner.reached;
        inner.readings += 1;
        inner.end = None;
        drop(inner);
        self.board.read_again(&self.object);
    }
}
