//! The file systems that the program writes to: the state, queues on disk, files of destinations. Asks each
//! how much is free, and follows how that shrinks.

use super::bounds::Bounds;
use super::spell::{Manner, Spell, Word, note};
use control::ledger::Disk;
use engine::View;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two looks: nothing here is urgent.
const EVERY: Duration = Duration::from_secs(10);
/// Of so many looks the rate is: ten minutes.
const LOOKS: usize = 60;
const MANNER: Manner = Manner { every: Duration::from_secs(600), quiet: Duration::from_secs(60) };
/// What full_in_seconds says at most: ten years.
const FULL_IN_MAX: u64 = 315_360_000;
/// Users of a file system that are named.
const USERS_MAX: usize = 8;

#[derive(Default)]
pub struct Disks {
    looked: Option<Instant>,
    found: Vec<Disk>,
    /// By the number of the file system.
    known: HashMap<u64, Known>,
}

#[derive(Default)]
struct Known {
    /// Bytes free at the last looks, the newest last.
    free: VecDeque<(Instant, u64)>,
    spell: Option<Spell>,
}

impl Disks {
    pub fn look(
        &mut self,
        view: &View,
        state_dir: Option<&Path>,
        bounds: &Bounds,
        now: Instant,
    ) -> Vec<Disk> {
        if self.looked.is_some_and(|looked| now.saturating_duration_since(looked) < EVERY) {
            // The bounds may be those of another configuration.
            self.found.iter_mut().for_each(|disk| disk.is_low = bounds.finds_low(disk));
            return self.found.clone();
        }
        self.looked = Some(now);
        let mut devices: BTreeMap<u64, (PathBuf, Vec<String>)> = BTreeMap::new();
        for (user, folder) in folders(view, state_dir) {
            let Ok(found) = std::fs::metadata(&folder) else { continue };
            let (_, users) = devices.entry(found.dev()).or_insert_with(|| (folder, Vec::new()));
            if users.len() < USERS_MAX && !users.contains(&user) {
                users.push(user);
            }
        }
        self.known.retain(|device, _| devices.contains_key(device));
        let mut found = Vec::new();
        for (device, (folder, users)) in devices {
            let Ok(stat) = rustix::fs::statvfs(&folder) else { continue };
            let bytes = |blocks: u64| blocks.saturating_mul(stat.f_frsize);
            let (free, size) = (bytes(stat.f_bavail), bytes(stat.f_blocks));
            // Such as /dev and /proc, which nothing fills.
            if size == 0 {
                continue;
            }
            let known = self.known.entry(device).or_default();
            let full_in_seconds = known.full_in(free, now);
            let folder = folder.display().to_string();
            let mut disk = Disk { folder, users, free, size, full_in_seconds, is_low: false };
            disk.is_low = bounds.finds_low(&disk);
            known.say(&disk, now);
            found.push(disk);
        }
        self.found.clone_from(&found);
        found
    }
}

impl Known {
    /// Seconds until nothing is free, once that can be said.
    fn full_in(&mut self, free: u64, now: Instant) -> Option<u64> {
        self.free.push_back((now, free));
        if self.free.len() <= LOOKS {
            return None;
        }
        let (then, before) = self.free.pop_front()?;
        let seconds = now.saturating_duration_since(then).as_secs_f64();
        let rate = before.saturating_sub(free) as f64 / seconds.max(1.0);
        (rate >= 1.0).then(|| ((free as f64 / rate) as u64).min(FULL_IN_MAX))
    }

    fn say(&mut self, disk: &Disk, now: Instant) {
        let (folder, why) = (&disk.folder, disk.sentence());
        match note(&mut self.spell, disk.is_low, MANNER, now) {
            Word::Nothing => {}
            Word::Begins => oplog::warning("A disk will be full", &[("why", &why)]),
            Word::GoesOn => oplog::warning("A disk will still be full", &[("why", &why)]),
            Word::Ended(lasted) => {
                oplog::notice("A disk has room again", &[("folder", folder), ("seconds", &lasted.as_secs())]);
            }
        }
    }
}

/// Who writes where.
fn folders(view: &View, state_dir: Option<&Path>) -> Vec<(String, PathBuf)> {
    let mut folders: Vec<(String, PathBuf)> =
        state_dir.map(|folder| ("state".to_owned(), folder.to_owned())).into_iter().collect();
    for (id, destination) in &view.destinations {
        let outlets = destination.outlets();
        let queues = outlets.iter().filter_map(|outlet| outlet.on_disk()).map(|queue| queue.dir);
        folders.extend(queues.map(|folder| (id.clone(), folder)));
        let (driver, path) = destination.described();
        if driver == "file" {
            folders.extend(folder_of(&path).map(|folder| (id.clone(), folder)));
        }
    }
    folders
}

/// The folder of a file whose name may have macros, as far as it is there.
fn folder_of(path: &str) -> Option<PathBuf> {
    let literal = path.split('$').next().filter(|literal| literal.starts_with('/'))?;
    let folder = match literal.rsplit_once('/')? {
        ("", _) => "/",
        (folder, _) => folder,
    };
    Path::new(folder).ancestors().find(|folder| folder.is_dir()).map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_name_with_macros_is_the_one_that_is_there() {
        let check = |path: &str, expected: Option<&str>| {
            assert_eq!(folder_of(path).as_deref(), expected.map(Path::new), "{path}");
        };
        check("/usr/no-such/$HOST/x", Some("/usr"));
        check("/usr/lib/x-$HOST.log", Some("/usr/lib"));
        check("/x", Some("/"));
        check("$HOST", None);
    }

    #[test]
    fn when_it_is_full_is_said_after_ten_minutes() {
        let begin = Instant::now();
        let mut known = Known::default();
        let mut last = None;
        for look in 0..=LOOKS as u64 {
            assert_eq!(last, None, "too early, at {look}");
            last = known.full_in(1_000_000 - look * 100, begin + EVERY * look as u32);
        }
        // Ten bytes a second, and 994,000 are left.
        assert_eq!(last, Some(99_400));
        assert_eq!(known.full_in(2_000_000, begin + EVERY * (LOOKS as u32 + 1)), None);
    }
}
