//! Files that no path leads to any more and whose writers may still be there: they are read for a while
//! longer.

use crate::files::identity::FileId;
use record::Seed;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

/// For late writers of more files nobody waits.
const WAITED_FOR_MAX: usize = 64;

#[derive(Default)]
pub struct Left {
    next: u64,
    /// Those that are waited for, in the order in which they were let go.
    order: BTreeMap<u64, FileId>,
    /// All of them, with their number and the path they had.
    all: HashMap<FileId, (u64, Arc<Path>), Seed>,
    /// The last one that was at a path.
    last_at: HashMap<Arc<Path>, FileId, Seed>,
}

impl Left {
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// Takes in a file that had this path. Returns the one that is waited for no longer, when there are too
    /// many.
    pub fn push(&mut self, id: FileId, path: Arc<Path>) -> Option<FileId> {
        self.remove(id);
        self.order.insert(self.next, id);
        self.last_at.insert(Arc::clone(&path), id);
        self.all.insert(id, (self.next, path));
        self.next += 1;
        if self.order.len() > WAITED_FOR_MAX { self.order.pop_first().map(|(_, id)| id) } else { None }
    }

    pub fn remove(&mut self, id: FileId) {
        let Some((number, path)) = self.all.remove(&id) else { return };
        self.order.remove(&number);
        // One that was there before it was read to its end before this one began.
        if self.last_at.get(&path) == Some(&id) {
            self.last_at.remove(&path);
        }
    }

    /// The file that was at this path last.
    pub fn last_at(&self, path: &Path) -> Option<FileId> {
        self.last_at.get(path).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_are_not_waited_for_and_the_last_at_a_path_is_known() {
        let (mut left, id) = (Left::default(), |ino| FileId { dev: 1, ino });
        let path = |n: u64| -> Arc<Path> { Path::new(&format!("/{}", n % 10)).into() };
        let most = WAITED_FOR_MAX as u64;
        assert!((0..most).all(|n| left.push(id(n), path(n)).is_none()));
        left.remove(id(0));
        assert_eq!(left.push(id(100), path(0)), None);
        assert_eq!(left.push(id(101), path(1)), Some(id(1)));
        assert_eq!(
            (left.count(), left.last_at(&path(0)), left.last_at(&path(1))),
            (65, Some(id(100)), Some(id(101)))
        );
        left.remove(id(1));
        assert_eq!(left.last_at(&path(1)), Some(id(101)), "a later one stays");
        left.remove(id(101));
        assert_eq!(left.last_at(&path(1)), None);
    }
}
