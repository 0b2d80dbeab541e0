//! What of a block is counted at `stats(level(3))`: evaluations of its expressions, by kind and name.

use parsers::scanners::metrics::{self, Cell};
use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};

/// The `stats(level())` from which evaluations are counted.
pub const COUNTED_FROM: u8 = 3;

/// Expressions of one kind and name: `("getattr", "user")`. The name is empty where the kind has none.
pub(crate) type Counted = (&'static str, Box<str>);

#[derive(Default)]
pub(crate) struct Tally {
    pub counted: Box<[Counted]>,
    /// What is evaluated with each statement, condition and operand that is counted: places among `counted`.
    pub taken: Box<[Box<[u32]>]>,
    /// Their counters, made when the block is run first.
    pub cells: OnceLock<Box<[Option<Arc<Cell>>]>>,
}

impl Tally {
    pub fn new(counted: Vec<Counted>, taken: Vec<Vec<u32>>) -> Tally {
        let taken = taken.into_iter().map(Vec::into_boxed_slice).collect();
        Tally { counted: counted.into(), taken, cells: OnceLock::new() }
    }

    /// Adds how often each of `taken` was come to, and sets that to zero.
    pub fn settle(&self, times: &mut [u64]) {
        let cells = self.cells.get_or_init(|| self.counted.iter().map(cell).collect());
        let mut sums = vec![0u64; self.counted.len()];
        for (taken, times) in self.taken.iter().zip(times) {
            let times = std::mem::take(times);
            for at in taken {
                if let Some(sum) = sums.get_mut(*at as usize) {
                    *sum += times;
                }
            }
        }
        for (cell, sum) in cells.iter().zip(sums).filter(|(_, sum)| *sum > 0) {
            match cell {
                Some(cell) => _ = cell.fetch_add(sum, Ordering::Relaxed),
                None => metrics::left_out(),
            }
        }
    }
}

fn cell((kind, name): &Counted) -> Option<Arc<Cell>> {
    let labels = if name.is_empty() { Vec::new() } else { vec![("name".into(), name.to_string())] };
    metrics::cell(&format!("fx_{kind}_evals_total").into(), labels, COUNTED_FROM)
}
