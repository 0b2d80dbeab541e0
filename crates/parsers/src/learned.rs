//! Names learned from messages, where any may be read: a worker's own table, so that the process's, which is behind a lock, is asked
//! once for each key.

use record::{NameId, Seed, intern};
use std::collections::HashMap;

/// Keys remembered; a table that is full starts anew.
const KEYS_MAX: usize = 1 << 14;
/// Longer names are not made.
const NAME_BYTES_MAX: usize = 255;

pub struct Learned {
    keys: HashMap<Box<[u8]>, Option<NameId>, Seed>,
}

impl Default for Learned {
    fn default() -> Learned {
        Learned { keys: HashMap::with_hasher(Seed::random()) }
    }
}

impl Learned {
    /// The name `prefix` + `key`, made when it is new; `None` when it is too long, no UTF-8, or the process's table is full.
    #[inline]
    pub fn name(&mut self, prefix: &str, key: &[u8]) -> Option<NameId> {
        match self.keys.get(key) {
            Some(name) => *name,
            None => self.learn(prefix, key),
        }
    }

    #[cold]
    fn learn(&mut self, prefix: &str, key: &[u8]) -> Option<NameId> {
        if self.keys.len() >= KEYS_MAX {
            self.keys.clear();
        }
        let name = std::str::from_utf8(key).ok().filter(|k| prefix.len() + k.len() <= NAME_BYTES_MAX);
        let name = name.map(|k| format!("{prefix}{k}")).filter(|n| !n.is_empty());
        // Other spellings of MESSAGE and HOST are macros: a value of such a name could not be read.
        let name = name.filter(|n| !matches!(n.as_str(), "MSG" | "MSGONLY" | "FULLHOST"));
        let name = name.and_then(|n| intern(&n));
        if key.len() <= NAME_BYTES_MAX {
            self.keys.insert(key.into(), name);
        }
        name
    }
}
