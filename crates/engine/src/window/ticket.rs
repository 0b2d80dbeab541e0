//! Tickets: what a batch has taken from its source's window, held by everybody who has messages of it, and
//! how each of them ends.
//!
//! Every holder says what became of its messages: [`Ticket::settle`] or [`Ticket::give_up`]. The source hears
//! that the batch is done once all holders have settled, and not otherwise. A ticket that dies without a word
//! is a fault of ours: the window gets its bytes back, so that nothing jams, and the source hears that it has
//! to bring the batch again.

use super::Window;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use store::{Load, Origin};

/// Whoever wants to know what became of a batch. Batches end in any order, each in one of these ways.
pub trait Acknowledge: Send + Sync {
    /// Everything made from it is dealt with.
    fn done(&self, number: u64);

    /// A part of it was neither delivered nor kept: it has to come again, from wherever it came. Never
    /// followed by `done`.
    fn undone(&self, number: u64);
}

/// A batch of a source that wants to hear what becomes of it. One that is dropped without [`Mark::done`] is
/// undone.
pub struct Mark {
    to: Option<Arc<dyn Acknowledge>>,
    number: u64,
    origin: Option<Origin>,
}

impl Mark {
    pub fn new(to: Arc<dyn Acknowledge>, number: u64) -> Mark {
        Mark { to: Some(to), number, origin: None }
    }

    /// The messages of the batch can be counted: what of them is on disk is left out when they come again
    /// after a crash.
    pub fn counted(mut self, origin: Origin) -> Mark {
        self.origin = Some(origin);
        self
    }

    /// Tells the source that the batch is dealt with.
    pub fn done(mut self) {
        if let Some(to) = self.to.take() {
            to.done(self.number);
        }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        if let Some(to) = self.to.take() {
            to.undone(self.number);
        }
    }
}

/// What a batch has taken.
pub(super) struct Taken {
    pub bytes: usize,
    pub messages: usize,
    /// Messages of what its source's connections have together.
    pub pooled: usize,
}

/// What the holders of a batch's tickets share. Goes with the last of them.
struct Credit {
    window: Arc<Window>,
    taken: Taken,
    mark: Option<Mark>,
    received: Instant,
    /// A holder has not settled.
    undone: AtomicBool,
}

impl Drop for Credit {
    fn drop(&mut self) {
        let mark = self.mark.take();
        match *self.undone.get_mut() {
            // Dropping it says so.
            true => drop(mark),
            false => mark.into_iter().for_each(Mark::done),
        }
        self.window.give_back(&self.taken);
    }
}

/// One holder's part in a batch.
#[must_use]
pub struct Ticket(Option<Arc<Credit>>);

impl Ticket {
    pub(super) fn new(window: &Arc<Window>, taken: Taken, mark: Option<Mark>) -> Ticket {
        Ticket(Some(Arc::new(Credit {
            window: Arc::clone(window),
            taken,
            mark,
            received: Instant::now(),
            undone: AtomicBool::new(false),
        })))
    }

    /// A ticket for another holder of messages of the same batch.
    pub fn another(&self) -> Ticket {
        Ticket(self.0.clone())
    }

    /// Its messages are delivered, kept where they are safe, or dropped and counted: as far as this holder
    /// goes, the batch is done.
    pub fn settle(mut self) {
        self.0.take();
    }

    /// Its messages are not delivered here, and nobody keeps them: the source has to bring the batch again.
    pub fn give_up(mut self) {
        if let Some(credit) = self.0.take() {
            credit.undone.store(true, Ordering::Relaxed);
        }
    }

    /// How long its batch has been under way.
    pub(crate) fn age(&self) -> Duration {
        self.0.as_ref().map_or(Duration::ZERO, |credit| credit.received.elapsed())
    }

    /// It comes back when a log has made its messages safe.
    pub(crate) fn waits_for(&self, load: &Arc<Load>) {
        if let Some(credit) = &self.0 {
            credit.window.load.get_or_init(|| Some(Arc::clone(load)));
        }
    }

    /// Whether its source may be made to wait: of others, what is not read soon is lost.
    pub(crate) fn can_wait(&self) -> bool {
        self.0.as_ref().is_some_and(|credit| !matches!(credit.window.load.get(), Some(None)))
    }

    /// Whether a source cannot read on until batches such as its own are dealt with.
    pub(crate) fn keeps_waiting(&self) -> bool {
        self.0.as_ref().is_some_and(|credit| credit.window.keeps_waiting())
    }

    /// Whether its source waits to hear that the batch is dealt with. Others only count what is under way.
    pub fn is_marked(&self) -> bool {
        self.0.as_ref().is_some_and(|credit| credit.mark.is_some())
    }

    pub(crate) fn origin(&self) -> Option<&Origin> {
        self.0.as_ref()?.mark.as_ref()?.origin.as_ref()
    }

    /// How many hold the batch.
    #[cfg(test)]
    pub(crate) fn holders(&self) -> usize {
        self.0.as_ref().map_or(0, Arc::strong_count)
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let Some(credit) = self.0.take() else { return };
        credit.undone.store(true, Ordering::Relaxed);
        credit.window.budget.forgotten.fetch_add(1, Ordering::Relaxed);
        oplog::limited(
            "forgotten-ticket",
            oplog::Level::Critical,
            "Internal error: messages ended without a word of what became of them, their source has to bring them again; please report it",
            &[("messages_of_their_batch", &credit.taken.messages)],
        );
    }
}

/// The tickets of the messages in one chunk.
#[derive(Default)]
pub struct Tickets(Vec<Ticket>);

impl Tickets {
    pub fn push(&mut self, ticket: Ticket) {
        self.0.push(ticket);
    }

    pub fn append(&mut self, mut other: Tickets) {
        self.0.append(&mut other.0);
    }

    /// See [`Ticket::settle`]. The allocation stays.
    pub fn settle(&mut self) {
        self.0.drain(..).for_each(Ticket::settle);
    }

    /// See [`Ticket::give_up`].
    pub fn give_up(&mut self) {
        self.0.drain(..).for_each(Ticket::give_up);
    }

    /// Empty, for new messages. Everybody who had messages here has ended his tickets: one that is left is a
    /// fault.
    pub(crate) fn reset(&mut self) {
        self.0.clear();
    }

    /// Settles those for which nobody has to wait any more, and keeps the others.
    pub fn settle_unless(&mut self, keep: impl Fn(&Ticket) -> bool) {
        self.0.extract_if(.., |ticket| !keep(ticket)).for_each(Ticket::settle);
    }

    /// Tickets for another holder of some of the same messages.
    pub fn another(&self) -> Tickets {
        Tickets(self.0.iter().map(Ticket::another).collect())
    }

    /// The same of those tickets only.
    pub(crate) fn another_of(&self, wanted: impl Fn(&Ticket) -> bool) -> Tickets {
        Tickets(self.0.iter().filter(|ticket| wanted(ticket)).map(Ticket::another).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn first(&self) -> Option<&Ticket> {
        self.0.first()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ticket> {
        self.0.iter()
    }
}

impl From<Ticket> for Tickets {
    fn from(ticket: Ticket) -> Tickets {
        Tickets(vec![ticket])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Budget, Wake};
    use parking_lot::Mutex;

    #[derive(Default)]
    struct Heard(Mutex<Vec<(u64, bool)>>);
    impl Acknowledge for Heard {
        fn done(&self, number: u64) {
            self.0.lock().push((number, true));
        }
        fn undone(&self, number: u64) {
            self.0.lock().push((number, false));
        }
    }

    struct Desk {
        heard: Arc<Heard>,
        budget: Arc<Budget>,
        window: Arc<Window>,
    }

    fn desk() -> Desk {
        let budget = Budget::new(1000);
        Desk { heard: Arc::default(), window: Window::new(100, None, Arc::clone(&budget)), budget }
    }

    impl Desk {
        fn ticket(&self, number: u64) -> Ticket {
            let mark = Mark::new(Arc::clone(&self.heard) as Arc<dyn Acknowledge>, number);
            self.window.marked(10, 1, Some(mark))
        }

        /// What was heard, tickets that nobody ended, and bytes under way.
        fn state(&self) -> (Vec<(u64, bool)>, usize, usize) {
            (std::mem::take(&mut *self.heard.0.lock()), self.budget.forgotten(), self.window.used())
        }
    }

    #[test]
    fn the_source_hears_of_a_batch_once_all_holders_have_settled() {
        let desk = desk();
        let ticket = desk.ticket(5);
        let other = ticket.another();
        ticket.settle();
        assert_eq!(desk.state(), (vec![], 0, 10));
        other.settle();
        assert_eq!(desk.state(), (vec![(5, true)], 0, 0));
    }

    #[test]
    fn one_holder_that_gives_up_is_enough() {
        let desk = desk();
        let ticket = desk.ticket(5);
        ticket.another().give_up();
        assert_eq!(desk.state(), (vec![], 0, 10));
        ticket.settle();
        assert_eq!(desk.state(), (vec![(5, false)], 0, 0));
    }

    #[test]
    fn a_ticket_that_dies_acknowledges_nothing_and_gives_its_bytes_back() {
        let desk = desk();
        let mut tickets = Tickets::from(desk.ticket(1));
        tickets.push(desk.ticket(2));
        let other = tickets.another();
        tickets.settle();
        drop(other);
        assert_eq!(desk.state(), (vec![(1, false), (2, false)], 2, 0));
        let chunk = Tickets::from(desk.ticket(3));
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(move || {
            let _in_hand = chunk;
            std::panic::resume_unwind(Box::new(()));
        }));
        assert!(outcome.is_err());
        assert_eq!(desk.state(), (vec![(3, false)], 3, 0));
    }

    #[test]
    fn some_are_let_go_and_the_others_kept() {
        let desk = desk();
        let mut tickets = Tickets::from(desk.ticket(1));
        tickets.push(desk.window.ticket(10, 1));
        tickets.settle_unless(Ticket::is_marked);
        assert_eq!(desk.state(), (vec![], 0, 10));
        assert_eq!(tickets.another_of(|ticket| !ticket.is_marked()).iter().count(), 0);
        tickets.settle();
        assert_eq!(desk.state(), (vec![(1, true)], 0, 0));
    }

    #[test]
    fn a_mark_that_never_got_a_ticket_is_undone() {
        let desk = desk();
        drop(Mark::new(Arc::clone(&desk.heard) as Arc<dyn Acknowledge>, 1));
        Mark::new(Arc::clone(&desk.heard) as Arc<dyn Acknowledge>, 2).done();
        assert_eq!(desk.state().0, [(1, false), (2, true)]);
    }

    #[test]
    fn a_starved_source_is_woken_whichever_way_a_ticket_ends() {
        struct Woken(Mutex<usize>);
        impl Wake for Woken {
            fn wake(&self) {
                *self.0.lock() += 1;
            }
        }
        let ends: [fn(Ticket); 3] = [Ticket::settle, Ticket::give_up, drop];
        for end in ends {
            let (desk, woken) = (desk(), Arc::new(Woken(Mutex::new(0))));
            let ticket = desk.window.ticket(100, 1);
            let waker: Arc<dyn Wake> = woken.clone();
            assert!(!desk.window.may_read(&waker));
            end(ticket);
            assert_eq!((*woken.0.lock(), desk.window.may_read(&waker)), (1, true));
        }
    }
}
