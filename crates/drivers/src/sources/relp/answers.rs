//! Which messages of a RELP peer are answered: batches are dealt with in any order, their answers go out in
//! the order of arrival.

use engine::reader::Input;
use engine::{Acknowledge, Mark, Wake};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use wire::relp;

/// Consecutive transaction numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    pub first: u32,
    pub count: u32,
}

/// Adds a number to runs.
pub fn push(runs: &mut Vec<Run>, txnr: u32) {
    match runs.last_mut() {
        Some(run) if run.first.checked_add(run.count) == Some(txnr) => run.count += 1,
        _ => runs.push(Run { first: txnr, count: 1 }),
    }
}

pub struct Answers {
    inner: Mutex<Inner>,
    waker: Arc<dyn Wake>,
}

#[derive(Default)]
struct Inner {
    /// The number of the batch at the front of `waiting`.
    first: u64,
    /// The messages of each batch, and whether it is dealt with.
    waiting: VecDeque<(Vec<Run>, bool)>,
    /// To be answered.
    ready: Vec<Run>,
    /// The port looks for answers by itself when its turn ends.
    in_turn: bool,
    /// A batch was given up: it will never be answered, and so nothing behind it.
    undone: bool,
}

impl Answers {
    pub fn new(waker: Arc<dyn Wake>) -> Arc<Answers> {
        Arc::new(Answers { inner: Mutex::default(), waker })
    }

    /// A batch was read with these messages.
    pub fn mark(self: &Arc<Answers>, runs: Vec<Run>) -> Mark {
        let mut inner = self.inner.lock();
        let number = inner.first + inner.waiting.len() as u64;
        inner.waiting.push_back((runs, false));
        drop(inner);
        Mark::new(Arc::clone(self) as Arc<dyn Acknowledge>, number)
    }

    /// The port's turn begins.
    pub fn begin(&self) {
        self.inner.lock().in_turn = true;
    }

    /// Whether something will never be answered: the connection has to be closed, so that the peer sends it
    /// again.
    pub fn is_undone(&self) -> bool {
        self.inner.lock().undone
    }

    /// The port's turn ends: writes the answers that are due. Whether none is to come.
    pub fn end(&self, out: &mut Vec<u8>) -> bool {
        let mut inner = self.inner.lock();
        inner.in_turn = false;
        inner.write(out);
        inner.waiting.is_empty()
    }
}

impl Inner {
    fn write(&mut self, out: &mut Vec<u8>) {
        for run in self.ready.drain(..) {
            for at in 0..run.count {
                relp::response(out, run.first + at);
            }
        }
    }
}

/// Sends what the peer takes now. `false` when the connection is of no use any more.
pub fn send(input: &mut dyn Input, out: &mut Vec<u8>) -> bool {
    let mut at = 0;
    let outcome = loop {
        let rest = out.get(at..).unwrap_or_default();
        match input.send(rest) {
            Ok(_) if rest.is_empty() => break true,
            Ok(n) => at += n,
            Err(error) => match error.kind() {
                std::io::ErrorKind::Interrupted => {}
                std::io::ErrorKind::WouldBlock => break true,
                _ => break false,
            },
        }
    };
    out.drain(..at.min(out.len()));
    outcome
}

impl Acknowledge for Answers {
    /// The peer sends again whatever has no answer, once it has lost its connection.
    fn undone(&self, _number: u64) {
        let mut inner = self.inner.lock();
        inner.undone = true;
        let wake = !inner.in_turn;
        drop(inner);
        if wake {
            self.waker.wake();
        }
    }

    fn done(&self, number: u64) {
        let mut inner = self.inner.lock();
        let Inner { first, waiting, ready, .. } = &mut *inner;
        if let Some(batch) = number.checked_sub(*first).and_then(|at| waiting.get_mut(at as usize)) {
            batch.1 = true;
        }
        let before = ready.len();
        let mut moved = false;
        while let Some((runs, true)) = waiting.front_mut() {
            ready.append(runs);
            waiting.pop_front();
            *first += 1;
            moved = true;
        }
        if !moved {
            return;
        }
        let wake = before == 0 && !inner.in_turn;
        drop(inner);
        if wake {
            self.waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Wakes;

    fn runs(numbers: &[u32]) -> Vec<Run> {
        let mut runs = Vec::new();
        numbers.iter().for_each(|n| push(&mut runs, *n));
        runs
    }

    #[test]
    fn numbers_that_follow_each_other_are_one_run() {
        let expected =
            [Run { first: 5, count: 3 }, Run { first: relp::TXNR_MAX, count: 1 }, Run { first: 1, count: 2 }];
        assert_eq!(runs(&[5, 6, 7, relp::TXNR_MAX, 1, 2]), expected);
    }

    fn taken(answers: &Answers) -> String {
        let mut out = Vec::new();
        answers.begin();
        answers.end(&mut out);
        String::from_utf8(out).expect("text")
    }

    #[test]
    fn answers_go_out_in_the_order_of_arrival() {
        let wakes = Arc::new(Wakes::default());
        let answers = Answers::new(wakes.clone());
        let marks = [answers.mark(runs(&[2, 3])), answers.mark(runs(&[4])), answers.mark(runs(&[5]))];
        let [one, two, three] = marks;
        two.done();
        assert_eq!((taken(&answers), wakes.count()), (String::new(), 0));
        one.done();
        assert_eq!(wakes.count(), 1);
        assert_eq!(taken(&answers), "2 rsp 6 200 OK\n3 rsp 6 200 OK\n4 rsp 6 200 OK\n");
        answers.begin();
        three.done();
        assert_eq!(wakes.count(), 1, "the port looks by itself");
        assert_eq!(taken(&answers), "5 rsp 6 200 OK\n");
    }

    #[test]
    fn a_batch_that_is_given_up_is_never_answered_and_ends_the_connection() {
        let wakes = Arc::new(Wakes::default());
        let answers = Answers::new(wakes.clone());
        let [one, two, three] = [1, 2, 3].map(|number| answers.mark(runs(&[number])));
        one.done();
        assert_eq!((taken(&answers), answers.is_undone()), ("1 rsp 6 200 OK\n".to_owned(), false));
        drop(two);
        three.done();
        assert_eq!((taken(&answers), answers.is_undone(), wakes.count()), (String::new(), true, 2));
    }
}
