//! Every way out of a queue: whatever happens in whatever order, what a source was told to be done is with
//! the receiver, and nobody forgets a ticket.

use super::*;
use crate::window::{Acknowledge, Mark};
use std::collections::BTreeMap;

/// What the source was told of each message.
#[derive(Default)]
struct Told(Mutex<BTreeMap<u64, bool>>);

impl Acknowledge for Told {
    fn done(&self, number: u64) {
        assert_eq!(self.0.lock().insert(number, true), None, "{number} ends once");
    }

    fn undone(&self, number: u64) {
        assert_eq!(self.0.lock().insert(number, false), None, "{number} ends once");
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// A desk with a source that keeps account.
struct Bench {
    desk: Desk,
    told: Arc<Told>,
    budget: Arc<Budget>,
    window: Arc<Window>,
}

impl Bench {
    fn new(desk: Desk) -> Bench {
        let budget = Budget::new(1 << 30);
        Bench { desk, told: Arc::default(), window: Window::new(1 << 30, None, Arc::clone(&budget)), budget }
    }

    /// Each message is a batch of its own, and some of these share a chunk.
    fn push(&mut self, count: usize) {
        let mut chunk = Chunk::default();
        for n in self.desk.next..self.desk.next + count {
            chunk.bytes.extend_from_slice(format!("{n}\n").as_bytes());
            chunk.ends.push(chunk.bytes.len() as u32);
            let mark = Mark::new(Arc::clone(&self.told) as Arc<dyn Acknowledge>, n as u64);
            chunk.tickets.push(self.window.marked(1, 1, Some(mark)));
        }
        self.desk.next += count;
        chunk.flow_control = true;
        self.desk.outlet().push_new(chunk);
        self.desk.pump();
    }

    fn done(&self) -> Vec<usize> {
        self.told.0.lock().iter().filter(|(_, done)| **done).map(|(n, _)| *n as usize).collect()
    }

    /// All is delivered that was not given up, once each and in order. Returns how many were given up.
    #[track_caller]
    fn check(&self) -> usize {
        *self.desk.room.lock() = usize::MAX;
        wait_until(|| {
            self.desk.pump();
            self.desk.outlet().waiting() == 0
        });
        wait_until(|| self.window.used() == 0);
        let delivered = self.desk.delivered();
        assert!(delivered.is_sorted_by(|a, b| a < b), "once, and in order");
        let lost: Vec<usize> =
            self.done().into_iter().filter(|n| delivered.binary_search(n).is_err()).collect();
        assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
        assert_eq!(self.budget.forgotten(), 0, "tickets that nobody ended");
        self.told.0.lock().values().filter(|done| !**done).count()
    }
}

#[test]
fn a_reload_at_capacity_loses_nothing_whatever_it_changes() {
    let changes: [fn(&mut DiskBuffer); 5] = [
        |_| (),
        |options| options.capacity_bytes *= 2,
        |options| options.capacity_bytes /= 2,
        |options| options.reliable = !options.reliable,
        |options| options.memory_messages = Some(5),
    ];
    for change in changes {
        both(|reliable| {
            let mut bench = Bench::new(small(reliable));
            for _ in 0..30 {
                bench.push(9);
            }
            bench.desk.reload(change);
            bench.push(9);
            bench.desk.reload(|_| ());
            assert_eq!(bench.check(), 0);
            assert_eq!(bench.desk.delivered().len(), 279);
        });
    }
}

#[test]
fn a_clean_end_at_capacity_acknowledges_what_is_on_disk_and_nothing_else() {
    both(|reliable| {
        let mut bench = Bench::new(small(reliable));
        for _ in 0..30 {
            bench.push(9);
        }
        bench.desk.stop();
        // A chunk of which a part found no room is not done.
        let done = bench.done().len();
        assert_eq!(done, 90);
        bench.desk.start();
        assert_eq!(bench.check(), 270 - done);
        assert_eq!(bench.desk.delivered().len(), 93);
    });
}

#[test]
fn ends_and_reloads_in_any_order() {
    for seed in 1..=60 {
        let mut random = Random(0x9e37_79b9_7f4a_7c15 ^ (seed << 20));
        let desk = if random.below(3) == 0 { Desk::new(true) } else { small(random.below(2) == 0) };
        let mut bench = Bench::new(desk);
        bench.desk.blocks.store(random.below(2) == 0, Ordering::SeqCst);
        for _ in 0..40 {
            match random.below(10) {
                0..4 => bench.push(1 + random.below(30) as usize),
                4..6 => bench.desk.let_through(random.below(40) as usize),
                6 => bench.desk.outlet().tick(Instant::now()),
                7 => bench.desk.running.as_ref().expect("running").shared.durable.settle(),
                8 => {
                    let change = random.below(5);
                    bench.desk.reload(|options| match change {
                        0 => options.reliable = !options.reliable,
                        1 => options.capacity_bytes = 500,
                        2 => options.capacity_bytes = 5000,
                        3 => options.reserve_bytes = 200,
                        _ => options.reserve_bytes = 0,
                    });
                }
                _ => {
                    bench.desk.stop();
                    bench.desk.start();
                }
            }
        }
        bench.check();
    }
}

#[test]
fn what_waits_goes_along_to_another_folder_and_another_name() {
    for reliable in [true, false] {
        let other = tempfile::tempdir().expect("a folder");
        let mut desk = Desk::new(reliable);
        desk.blocks.store(true, Ordering::SeqCst);
        desk.push(50, true, None);
        desk.let_through(10);
        desk.reload(|options| options.dir = Some(other.path().to_owned()));
        assert_eq!(desk.outlet().waiting(), 40, "reliable({reliable})");
        // Of one that is behind the engine knows whether its heir has the same place.
        wait_until(|| desk.outlet().is_settling());
        desk.push(5, true, None);
        desk.reload(|options| options.key = "e".into());
        assert_eq!(desk.outlet().waiting(), 45, "reliable({reliable})");
        desk.check_all();
    }
}
