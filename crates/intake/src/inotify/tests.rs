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

#[test]
fn paths_that_lead_elsewhere_are_followed() {
    let dir = tempfile::tempdir().expect("folder");
    let (base, link) = (dir.path().join("above/folder"), dir.path().join("link"));
    let made = |name: &str| {
        std::fs::create_dir_all(&base).expect("folder");
        std::fs::write(base.join(name), "x").expect("write");
    };
    made("a");
    let mut watch = Watch::new(Method::Inotify, &base, Duration::from_secs(1)).expect("inotify");
    assert!(watch.folder(&base));
    let mut later = Instant::now();
    let mut look = |watch: &mut Watch| {
        later += Duration::from_secs(1);
        watch.led_astray(later)
    };
    assert!(!look(&mut watch));
    // The folder above has another name, and there is another one.
    std::fs::rename(dir.path().join("above"), dir.path().join("old")).expect("rename");
    made("b");
    assert!(look(&mut watch) && !look(&mut watch));
    all(&mut watch);
    std::fs::write(dir.path().join("old/folder/a"), "y").expect("write");
    std::fs::write(base.join("b"), "y").expect("write");
    assert_eq!(all(&mut watch), [Event::Modified(base.join("b"))]);
    // It is gone: that has to be said, since nobody is told when it comes again.
    std::fs::rename(dir.path().join("above"), dir.path().join("older")).expect("rename");
    assert!(look(&mut watch) && !look(&mut watch) && !watch.folder(&base));
    made("c");
    assert!(watch.folder(&base));
    // A link that leads nowhere, then somewhere, then elsewhere by another link on the way.
    std::os::unix::fs::symlink("way/file", &link).expect("link");
    assert!(!watch.link(&link) && !look(&mut watch));
    std::fs::create_dir_all(dir.path().join("one")).expect("folder");
    std::fs::create_dir_all(dir.path().join("two")).expect("folder");
    std::fs::write(dir.path().join("one/file"), "x").expect("write");
    std::fs::write(dir.path().join("two/file"), "x").expect("write");
    std::os::unix::fs::symlink("one", dir.path().join("way")).expect("link");
    assert!(look(&mut watch) && !look(&mut watch));
    std::fs::remove_file(dir.path().join("way")).expect("remove");
    std::os::unix::fs::symlink("two", dir.path().join("way")).expect("link");
    assert!(look(&mut watch) && !look(&mut watch));
    all(&mut watch);
    std::fs::write(dir.path().join("one/file"), "y").expect("write");
    std::fs::write(dir.path().join("two/file"), "y").expect("write");
    assert_eq!(all(&mut watch), [Event::Modified(link)]);
}
