//! What several use under one name of the state file: there is one of it as long as anybody has it, so that
//! whoever comes meanwhile, after a reload say, goes on with it and not with what the file says.

use crate::Store;
use parking_lot::Mutex;
use record::Seed;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Weak};

/// Of each name at most one is alive. Names are those of one state file; tests have several.
pub struct Live<T>(LazyLock<Mutex<HashMap<Key, Weak<T>, Seed>>>);

/// The state file, by its address, and the name.
type Key = (usize, Vec<u8>);

fn key(store: &Arc<Store>, name: Vec<u8>) -> Key {
    (Arc::as_ptr(store) as usize, name)
}

impl<T> Live<T> {
    #[expect(clippy::new_without_default, reason = "one made by Default could not be a static")]
    pub const fn new() -> Live<T> {
        Live(LazyLock::new(Mutex::default))
    }

    /// The one under this name, or the one that is made now.
    pub fn open(&self, store: &Arc<Store>, name: &[u8], make: impl FnOnce() -> Arc<T>) -> Arc<T> {
        let mut live = self.0.lock();
        let place = live.entry(key(store, name.to_vec())).or_default();
        place.upgrade().unwrap_or_else(|| {
            let made = make();
            *place = Arc::downgrade(&made);
            made
        })
    }

    /// The one under this name is dropped right now.
    pub fn close(&self, store: &Arc<Store>, name: Vec<u8>) {
        let key = key(store, name);
        let mut live = self.0.lock();
        // Another one may have taken the place already.
        if live.get(&key).is_some_and(|one| one.strong_count() == 0) {
            live.remove(&key);
        }
    }

    /// All there are. None may be dropped under the lock: its end takes that too.
    pub fn all(&self) -> Vec<Arc<T>> {
        self.0.lock().values().filter_map(Weak::upgrade).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_each_name_and_file() {
        let live = Live::new();
        let stores = [0, 1].map(|_| Arc::new(Store::in_memory()));
        let one = live.open(&stores[0], b"a", || Arc::new(1));
        let same = live.open(&stores[0], b"a", || Arc::new(2));
        let others =
            [live.open(&stores[0], b"b", || Arc::new(3)), live.open(&stores[1], b"a", || Arc::new(4))];
        assert_eq!((*same, others.each_ref().map(|n| **n), live.all().len()), (1, [3, 4], 3));
        drop((one, same));
        let next = live.open(&stores[0], b"a", || Arc::new(5));
        live.close(&stores[0], b"a".to_vec());
        assert_eq!((*next, live.all().len()), (5, 3), "the name is another one's now");
        drop((next, others));
        live.close(&stores[0], b"a".to_vec());
        assert!(live.all().is_empty());
    }
}
