//! The first look at files: those of stored positions that have other names now come before what is at their
//! paths.

use super::open::{Folders, Refused, say_starved};
use super::{Opened, Opener, Roster, Seen};
use crate::files::followed::Followed;
use crate::files::identity::{FileId, Position, Record};
use crate::files::tail::Begin;
use crate::files::wanted::{Listed, regular};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// Behind the key of a source in the state file: with `read-old-records(no)`, it has looked at its files
/// before.
const BEGUN: &str = "begun";

/// A position of an earlier run.
pub struct Stored {
    pub id: FileId,
    pub position: Position,
    /// Files of one path were opened in the order of their numbers.
    pub number: u64,
    /// The path the file had.
    pub path: Arc<Path>,
}

impl Roster {
    /// The first look: `listed` is what is there. Files that were renamed while nobody looked are read to
    /// their ends.
    pub fn start(&mut self, listed: &[Listed], opener: &mut dyn Opener) {
        let elsewhere = self.stored_elsewhere(listed);
        let before = self.find_renamed(elsewhere, opener);
        for one in listed {
            match before.get(one.path.as_path()) {
                Some(after) => self.examine_after(&one.path, Some(Arc::clone(after)), opener),
                None => self.arrived(one, opener),
            }
        }
        self.started = true;
    }

    /// Positions of files that are not listed.
    fn stored_elsewhere(&mut self, listed: &[Listed]) -> Vec<Stored> {
        let prefix = format!("{}/", self.options.key);
        let stored = self.store.with_prefix(prefix.as_bytes());
        if !self.options.read_old {
            // Only at the first start of all: what has come since the last one is read whole.
            let begun = format!("{prefix}{BEGUN}").into_bytes();
            self.options.read_old = !stored.is_empty();
            self.store.put(&begun, b"");
        }
        let looked_at = if stored.is_empty() { &[] } else { listed };
        let there: HashSet<FileId> =
            looked_at.iter().filter_map(|one| regular(&one.path)).map(|meta| FileId::of(&meta)).collect();
        let decoded = stored.iter().filter_map(|(name, value)| {
            let (id, Record { position, number, path }) = (FileId::from_name(name)?, Record::decode(value)?);
            self.numbered = self.numbered.max(number);
            Some(Stored { id, position, number, path: Path::new(OsStr::from_bytes(path)).into() })
        });
        decoded.filter(|stored| !there.contains(&stored.id)).collect()
    }

    /// Opens the files of these positions under the names they have now; the last one of each path. What
    /// there are no descriptors for is tried again with [`Roster::retry`].
    pub(super) fn find_renamed(
        &mut self,
        stored: Vec<Stored>,
        opener: &mut dyn Opener,
    ) -> HashMap<Arc<Path>, Arc<Followed>> {
        let (mut found, mut folders) = (Vec::new(), Folders::default());
        for one in stored.into_iter().filter(|one| !self.files.contains_key(&one.id)) {
            match folders.renamed(&one, self.descriptors_max) {
                Ok(Some((changed, file))) => found.push((changed, one, file)),
                // The folder is there and the file is not: nobody will ask for its position again.
                Ok(None) if folders.has_files(&one.path) => {
                    self.store.remove(&one.id.name(&self.options.key))
                }
                Ok(None) | Err(Refused::Other(_)) => {}
                Err(Refused::Descriptors) => self.renamed.push(one),
            }
        }
        if let Some(first) = self.renamed.first() {
            if !self.starved && self.waiting.is_empty() {
                say_starved(&self.options.key, &first.path);
            }
            self.starved = true;
        }
        // Of several generations the oldest is read first. Their times do not tell it for sure: the kernel's
        // clock goes in steps of some milliseconds, and somebody may still write into the oldest.
        found.sort_by_key(|(changed, one, _)| (one.number, *changed, one.id));
        let mut last: HashMap<Arc<Path>, Arc<Followed>> = HashMap::new();
        for (_, Stored { id, position, path, .. }, file) in found {
            let after = last.get(&path).cloned();
            let found = Opened { id, file, path: &path, seen: Seen::default() };
            let followed = self.add(found, Begin::At(position), after, opener);
            self.leave(id);
            last.insert(path, followed);
        }
        last
    }
}
