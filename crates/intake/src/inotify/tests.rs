//! Events of a watched folder, more of them than are taken at once.

use super::*;
use std::collections::HashSet;

/// Turn by turn, until nothing more is there.
fn all(watch: &mut Watch) -> Vec<Event> {
    let mut all = Vec::new();
    loop {
        let (events, more) = watch.events();
        all.extend(events);
        if !more {
            return all;
        }
    }
}

#[test]
fn none_of_many_events_is_left_out() {
    const FILES: usize = 6000;
    let dir = tempfile::tempdir().expect("folder");
    let mut watch = Watch::new(Method::Inotify, dir.path(), Duration::from_secs(1)).expect("inotify");
    assert!(watch.folder(dir.path()));
    // Names of different lengths: buffers end at different numbers of events.
    let path = |n: usize| dir.path().join(format!("{}{n}", "x".repeat(n * 7 % 150)));
    (0..FILES).for_each(|n| drop(std::fs::File::create(path(n)).expect("create")));
    let came: HashSet<PathBuf> = all(&mut watch)
        .into_iter()
        .filter_map(|event| match event {
            Event::Changed(path) => Some(path),
            _ => None,
        })
        .collect();
    assert_eq!((0..FILES).find(|n| !came.contains(&path(*n))), None);
}

#[test]
fn the_halves_of_a_renaming_stay_together() {
    const FILES: usize = 3000;
    let dir = tempfile::tempdir().expect("folder");
    let path = |n: usize, to: &str| dir.path().join(format!("{n}{to}"));
    (0..FILES).for_each(|n| drop(std::fs::File::create(path(n, "")).expect("create")));
    let mut watch = Watch::new(Method::Inotify, dir.path(), Duration::from_secs(1)).expect("inotify");
    assert!(watch.folder(dir.path()));
    (0..FILES).for_each(|n| std::fs::rename(path(n, ""), path(n, ".1")).expect("rename"));
    let events = all(&mut watch);
    let whole: HashSet<(&Path, &Path)> = events
        .windows(2)
        .filter_map(|pair| match pair {
            [Event::Renamed { from, to }, Event::Changed(path)] if from == path => {
                Some((from.as_path(), to.as_path()))
            }
            _ => None,
        })
        .collect();
    let wanted = |n: &usize| whole.contains(&(path(*n, "").as_path(), path(*n, ".1").as_path()));
    assert_eq!((0..FILES).find(|n| !wanted(n)), None);
}
