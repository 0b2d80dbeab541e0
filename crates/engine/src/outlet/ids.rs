//! Small numbers of outlets. Workers index tables with them, so a number is given out again once its outlet
//! is gone: where files come and go by the million, the tables stay as long as the most outlets there were at
//! once.

use parking_lot::Mutex;

struct Ids {
    next: u32,
    free: Vec<u32>,
}

static IDS: Mutex<Ids> = Mutex::new(Ids { next: 0, free: Vec::new() });

pub(super) fn take() -> u32 {
    let mut ids = IDS.lock();
    if let Some(id) = ids.free.pop() {
        return id;
    }
    ids.next += 1;
    ids.next - 1
}

/// Nobody knows the outlet of this number any more.
pub(super) fn give_back(id: u32) {
    IDS.lock().free.push(id);
}
