//! The desk between a reader, which brings the text of objects, and the worker that makes messages of it.

use super::hold::{End, Hold};
use engine::Wake;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::Notify;

/// Bytes of text on a desk; a reader waits beyond.
const DESK_BYTES: usize = 1 << 20;

/// What comes next of an object.
pub enum Piece {
    Text(Arc<Hold>, Vec<u8>),
    /// `Some` with [`End::Damaged`]: why the rest cannot be read.
    End(Arc<Hold>, End, Option<String>),
}

pub struct Desk {
    waker: Arc<dyn Wake>,
    inner: Mutex<Inner>,
    /// The worker has taken something, or nothing more is wanted.
    room: Notify,
}

#[derive(Default)]
struct Inner {
    pieces: VecDeque<Piece>,
    bytes: usize,
    has_left: bool,
}

impl Desk {
    pub fn new(waker: Arc<dyn Wake>) -> Arc<Desk> {
        Arc::new(Desk { waker, inner: Mutex::default(), room: Notify::new() })
    }

    /// Lays a piece down, when there is room. `false`: nothing more is wanted of its object.
    pub async fn lay(&self, piece: Piece) -> bool {
        let hold = match &piece {
            Piece::Text(hold, _) | Piece::End(hold, ..) => Arc::clone(hold),
        };
        loop {
            {
                let mut inner = self.inner.lock();
                if inner.has_left || !hold.is_current() {
                    return false;
                }
                if inner.bytes < DESK_BYTES {
                    if let Piece::Text(_, text) = &piece {
                        inner.bytes += text.len();
                    }
                    inner.pieces.push_back(piece);
                    let is_first = inner.pieces.len() == 1;
                    drop(inner);
                    if is_first {
                        self.waker.wake();
                    }
                    return true;
                }
            }
            self.room.notified().await;
        }
    }

    pub fn is_waiting(&self) -> bool {
        !self.inner.lock().pieces.is_empty()
    }

    /// The next piece.
    pub fn take(&self) -> Option<Piece> {
        let mut inner = self.inner.lock();
        let piece = inner.pieces.pop_front()?;
        if let Piece::Text(_, text) = &piece {
            inner.bytes = inner.bytes.saturating_sub(text.len());
        }
        drop(inner);
        self.room.notify_one();
        Some(piece)
    }

    /// Nothing more is wanted; what lies there goes back.
    pub fn leave(&self) {
        let mut inner = self.inner.lock();
        inner.has_left = true;
        let left = std::mem::take(&mut inner.pieces);
        inner.bytes = 0;
        drop(inner);
        for piece in left {
            let (Piece::Text(hold, _) | Piece::End(hold, ..)) = piece;
            hold.board.give_back(&hold);
        }
        self.room.notify_one();
    }

    pub fn has_left(&self) -> bool {
        self.inner.lock().has_left
    }
}
