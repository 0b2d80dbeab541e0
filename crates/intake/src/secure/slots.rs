//! How many handshakes a worker may have under way, and go on with in one round.

use std::cell::Cell;

/// Handshakes a worker goes on with in one round. Each may cost a millisecond of signing, and the others'
/// messages wait behind it.
const HANDSHAKES_PER_ROUND: u32 = 4;
/// Handshakes a worker has under way at once; whoever comes then is refused. Each holds some memory for a
/// peer nobody knows yet.
pub(super) const HANDSHAKES_MAX: usize = 1000;

thread_local! {
    /// Handshakes of this worker that are under way.
    static UNDER_WAY: Cell<usize> = const { Cell::new(0) };
    /// The worker's round, and the handshakes it went on with in it.
    static ROUND: Cell<(u64, u32)> = const { Cell::new((0, 0)) };
}

/// One of the handshakes under way, until it is dropped. Ports stay with their worker.
pub(super) struct Slot;

impl Slot {
    pub(super) fn take() -> Option<Slot> {
        let taken = UNDER_WAY.get();
        (taken < HANDSHAKES_MAX).then(|| {
            UNDER_WAY.set(taken + 1);
            Slot
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        UNDER_WAY.set(UNDER_WAY.get().saturating_sub(1));
    }
}

/// Whether another handshake may be gone on with in this round.
pub(super) fn admit(round: u64) -> bool {
    let (seen, count) = ROUND.get();
    let count = if seen == round { count } else { 0 };
    ROUND.set((round, count + 1));
    count < HANDSHAKES_PER_ROUND
}
