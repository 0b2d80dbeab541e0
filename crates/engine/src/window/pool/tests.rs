//! Random takes and returns over many connections, held against what the rules promise.

use super::*;
use crate::window::{Budget, Ticket, Wake};

struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Some connections of one source.
struct Bench {
    pool: Arc<Pool>,
    windows: Vec<Arc<Window>>,
    wakers: Vec<Arc<Woken>>,
    tickets: Vec<Vec<(usize, Ticket)>>,
}

fn bench(messages: usize, seats: usize, fair_min: usize) -> Bench {
    let pool = Arc::new(Pool::default());
    pool.configure(Some(Share { messages, seats, fair_min }));
    let budget = Budget::new(usize::MAX);
    let windows = (0..seats).map(|_| Window::of(&pool, usize::MAX, None, Arc::clone(&budget))).collect();
    Bench {
        pool,
        windows,
        wakers: (0..seats).map(|_| Arc::new(Woken(AtomicUsize::new(0)))).collect(),
        tickets: (0..seats).map(|_| Vec::new()).collect(),
    }
}

impl Bench {
    fn under_way(&self, connection: usize) -> usize {
        self.tickets[connection].iter().map(|(messages, _)| messages).sum()
    }

    fn all_under_way(&self) -> usize {
        (0..self.windows.len()).map(|connection| self.under_way(connection)).sum()
    }

    /// One read that could bring so many messages; how many it was allowed.
    fn read(&mut self, connection: usize, has: usize) -> usize {
        let waker: Arc<dyn Wake> = self.wakers[connection].clone();
        let window = &self.windows[connection];
        if !window.may_read(&waker) {
            return 0;
        }
        let brought = window.ahead().min(has);
        if brought > 0 {
            self.tickets[connection].push((brought, window.ticket(brought, brought)));
        }
        window.end_ahead();
        brought
    }

    /// Reads until nothing more is allowed.
    fn read_all(&mut self, connection: usize) -> usize {
        while self.read(connection, usize::MAX) > 0 {}
        self.under_way(connection)
    }

    fn settle(&mut self, connection: usize, index: usize) {
        self.tickets[connection].swap_remove(index).1.settle();
    }
}

/// Same numbers each time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % sides.max(1)
    }
}

#[test]
fn the_sum_is_within_the_size_nobody_starves_and_all_comes_back() {
    for seed in 0..40 {
        let mut dice = Dice(seed);
        let (messages, seats) = (1 + dice.below(5000), 1 + dice.below(300));
        let mut bench = bench(messages, seats, 1 + dice.below(150));
        let size = messages.max(seats);
        let own = (size / 8 / seats).max(1);
        // These never get anything back before the end.
        let stuck = dice.below(seats);
        for _ in 0..3000 {
            let connection = dice.below(seats);
            if dice.below(2) == 0 {
                let (before, wanted) = (bench.under_way(connection), 1 + dice.below(size));
                let brought = bench.read(connection, wanted);
                let least = own.saturating_sub(before).min(wanted);
                assert!(brought >= least, "seed {seed}: {brought} of at least {least}");
            } else if connection >= stuck && !bench.tickets[connection].is_empty() {
                let index = dice.below(bench.tickets[connection].len());
                bench.settle(connection, index);
            }
            assert!(bench.all_under_way() <= size, "seed {seed}");
            assert_eq!(bench.pool.used(), bench.all_under_way(), "seed {seed}");
        }
        for connection in 0..seats {
            while !bench.tickets[connection].is_empty() {
                bench.settle(connection, 0);
            }
        }
        assert_eq!((bench.pool.used(), bench.pool.state.lock().owned), (0, 0), "seed {seed}");
    }
}

#[test]
fn one_has_nearly_all_and_the_next_its_fair_part_at_once() {
    // The size, who is permitted, the floor of the fair part; what one can have, and what the next one has
    // then.
    for (messages, seats, fair_min, first, second) in [
        (160_000, 2000, 100, 139_910, 100),
        (16_000, 2000, 100, 13_901, 100),
        (1000, 10, 100, 792, 100),
        (1000, 2, 100, 500, 500),
        (100, 10, 100, 91, 1),
        (1, 10, 100, 1, 1),
        (500, 1, 100, 500, 0),
    ] {
        let mut bench = bench(messages, seats, fair_min);
        assert_eq!(bench.read_all(0), first, "{messages} {seats}");
        if seats > 1 {
            assert_eq!(bench.read_all(1), second, "{messages} {seats}");
        }
        // All others too have something, however much the first two hold.
        for connection in 2..seats {
            assert!(bench.read_all(connection) > 0, "{messages} {seats} {connection}");
        }
        assert!(bench.all_under_way() <= messages.max(seats));
    }
}

#[test]
fn a_reload_changes_the_size_and_not_what_is_under_way() {
    let mut bench = bench(100, 2, 1);
    assert_eq!(bench.read_all(0), 50);
    let share = |messages| Some(Share { messages, seats: 2, fair_min: 1 });
    bench.pool.configure(share(1000));
    assert_eq!(bench.read_all(0), 500);
    // What was lent stays lent, and the other has its part once some of it is back.
    bench.pool.configure(share(10));
    assert_eq!((bench.read(0, 1), bench.read(1, 1)), (0, 0));
    while !bench.tickets[0].is_empty() {
        bench.settle(0, 0);
    }
    assert_eq!(bench.wakers[1].0.load(Ordering::SeqCst), 1, "it had nothing that could come back");
    assert_eq!(bench.read_all(1), 5);
    // Without a size nothing is counted, and what was counted comes back all the same.
    bench.pool.configure(None);
    assert!(bench.read(0, 1000) == 1000 && bench.pool.used() == 5);
    bench.pool.configure(share(100));
    bench.settle(0, 0);
    while !bench.tickets[1].is_empty() {
        bench.settle(1, 0);
    }
    assert_eq!(bench.pool.used(), 0);
}

#[test]
fn connections_that_went_and_left_messages_keep_what_they_had() {
    let mut bench = bench(20, 2, 1);
    assert_eq!((bench.read_all(0), bench.read_all(1)), (10, 10));
    let budget = Budget::new(usize::MAX);
    let next = Window::of(&bench.pool, usize::MAX, None, budget);
    let woken = Arc::new(Woken(AtomicUsize::new(0)));
    let waker: Arc<dyn Wake> = woken.clone();
    assert!(!next.may_read(&waker), "the size is the size");
    bench.settle(0, 0);
    assert_eq!(woken.0.load(Ordering::SeqCst), 1);
    assert!(next.may_read(&waker));
}
