//! Many sequences, and those that failed once.

use super::sequence::Sequence;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Seeds that found something.
const FOUND: [u64; 23] = [
    357, 391, 533, 571, 762, 1115, 1323, 1423, 1459, 1725, 2095, 2332, 4807, 6021, 7312, 8809, 8988, 9756,
    17224, 69147, 122158, 104375, 75792,
];
const SEQUENCES: u64 = 20_000;

fn run(seed: u64) {
    let mut sequence = Sequence::new(seed);
    let outcome = catch_unwind(AssertUnwindSafe(|| sequence.run()));
    if let Err(panic) = outcome {
        eprintln!("{}\nthis was seed {seed}", sequence.trail.join("\n"));
        std::mem::forget(sequence);
        std::panic::resume_unwind(panic);
    }
}

/// `STORE_SEEDS=FROM..TO` runs others.
#[test]
fn sequences() {
    oplog::set_stderr(false);
    let text = std::env::var("STORE_SEEDS").unwrap_or_default();
    let given = text.split_once("..").and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
    let (from, to) = given.unwrap_or((0, SEQUENCES));
    let next = std::sync::atomic::AtomicU64::new(from);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    if seed >= to {
                        return;
                    }
                    run(seed);
                }
            });
        }
    });
}

#[test]
fn what_was_found_stays_mended() {
    oplog::set_stderr(false);
    FOUND.into_iter().for_each(run);
}
