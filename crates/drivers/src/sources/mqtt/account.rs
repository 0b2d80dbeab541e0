//! Which messages were dealt with: batches end in any order, answers go in the order of the messages.

use engine::{Acknowledge, Mark, Wake};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;

pub struct Account {
    inner: Mutex<Inner>,
    waker: Arc<dyn Wake>,
}

#[derive(Default)]
struct Inner {
    /// The number of the batch at the front of `waiting`.
    first: u64,
    /// The number behind the last message of each batch, and whether the batch is dealt with.
    waiting: VecDeque<(u64, bool)>,
    /// All messages before this number are dealt with.
    reached: u64,
    /// A batch has come back.
    undone: bool,
}

impl Account {
    pub fn new(waker: Arc<dyn Wake>) -> Arc<Account> {
        Arc::new(Account { inner: Mutex::default(), waker })
    }

    /// A batch was read that ends before the message with this number.
    pub fn mark(self: &Arc<Account>, end: u64) -> Mark {
        let mut inner = self.inner.lock();
        let number = inner.first + inner.waiting.len() as u64;
        if !inner.undone {
            inner.waiting.push_back((end, false));
        }
        drop(inner);
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }

    pub fn reached(&self) -> u64 {
        self.inner.lock().reached
    }

    /// Whether something has come back: everything from [`Account::reached`] on is to come again.
    pub fn take_undone(&self) -> bool {
        std::mem::take(&mut self.inner.lock().undone)
    }
}

impl Acknowledge for Account {
    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        let at = number.checked_sub(inner.first);
        if let Some(batch) = at.and_then(|at| inner.waiting.get_mut(at as usize)) {
            batch.1 = true;
        }
        let before = inner.reached;
        while let Some((end, true)) = inner.waiting.front() {
            inner.reached = *end;
            inner.waiting.pop_front();
            inner.first += 1;
        }
        // The server waits for the answers.
        if inner.reached != before {
            self.waker.wake();
        }
    }

    fn undone(&self, number: u64) {
        let mut inner = self.inner.lock();
        let at = number.checked_sub(inner.first);
        if at.is_some_and(|at| (at as usize) < inner.waiting.len()) {
            inner.first += inner.waiting.len() as u64;
            inner.waiting.clear();
            inner.undone = true;
            self.waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoWake;
    impl Wake for NoWake {
        fn wake(&self) {}
    }

    #[test]
    fn messages_are_dealt_with_in_order_and_what_comes_back_is_said() {
        let account = Account::new(Arc::new(NoWake));
        let (one, two, three) = (account.mark(5), account.mark(9), account.mark(12));
        two.done();
        assert_eq!(account.reached(), 0);
        one.done();
        assert_eq!((account.reached(), account.take_undone()), (9, false));
        drop(three);
        assert_eq!((account.take_undone(), account.take_undone(), account.reached()), (true, false, 9));
        account.mark(20).done();
        assert_eq!(account.reached(), 20);
    }
}
