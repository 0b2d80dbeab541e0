use super::*;
use proptest::prelude::*;

fn all(store: &Store) -> Vec<(Vec<u8>, Vec<u8>)> {
    store.with_prefix(b"")
}

#[test]
fn what_was_put_is_there_after_opening_again() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("state");
    let store = Store::open(&path).expect("new");
    store.put(b"a/1", b"one");
    store.put(b"a/2", b"two");
    store.put(b"b", b"");
    store.put(b"a/1", b"uno");
    store.remove(b"a/2");
    store.sync().expect("sync");
    drop(store);
    let store = Store::open(&path).expect("again");
    assert_eq!(store.get(b"a/1").as_deref(), Some(&b"uno"[..]));
    assert_eq!(store.get(b"a/2"), None);
    assert_eq!(store.with_prefix(b"a/"), [(b"a/1".to_vec(), b"uno".to_vec())]);
    assert_eq!(all(&store).len(), 2);
}

#[test]
fn other_files_are_left_alone() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("state");
    std::fs::write(&path, "something else").expect("write");
    assert!(Store::open(&path).is_err());
    assert_eq!(std::fs::read(&path).expect("read"), b"something else");
}

#[test]
fn a_file_that_has_grown_is_written_anew() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("state");
    let store = Store::open(&path).expect("new");
    let value = vec![7; 1000];
    for _ in 0..3 * REWRITE_MIN / 1000 {
        store.put(b"name", &value);
    }
    assert!(std::fs::metadata(&path).expect("there").len() <= REWRITE_MIN + 2000);
    drop(store);
    assert_eq!(Store::open(&path).expect("again").get(b"name"), Some(value));
}

/// Whichever bit of the file is flipped and wherever it ends: a store is opened, and the file that cannot be
/// read is kept.
#[test]
fn no_damage_keeps_it_from_opening() {
    let dir = tempfile::tempdir().expect("folder");
    let path = dir.path().join("state");
    let store = Store::open(&path).expect("new");
    store.put(b"name", b"value");
    store.put(b"other", b"value");
    drop(store);
    let good = std::fs::read(&path).expect("read");
    let check = |bytes: &[u8], what: &str| {
        std::fs::write(&path, bytes).expect("write");
        let store = Store::open_or_begin(&path).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(all(&store).len() <= 2);
        store.put(b"new", b"value");
        drop(store);
        assert!(Store::open(&path).expect("again").get(b"new").is_some(), "{what}");
    };
    for at in 0..good.len() {
        for bit in 0..8 {
            let mut bytes = good.clone();
            bytes[at] ^= 1 << bit;
            check(&bytes, &format!("bit {bit} of byte {at}"));
        }
        check(&good[..at], &format!("cut to {at}"));
    }
    assert_eq!(std::fs::read_dir(dir.path()).expect("folder").count(), 1 + ASIDE_MAX);
    let first = std::fs::read(dir.path().join("state.damaged")).expect("the first one is kept");
    assert_eq!(first[1..], good[1..]);
}

proptest! {
    /// Whatever is cut off or damaged at the end of the file, what stands before it is there.
    #[test]
    fn a_crash_loses_only_the_end(
        changes in prop::collection::vec((0u8..5, prop::option::of(prop::collection::vec(any::<u8>(), 0..20))), 1..30),
        cut in any::<prop::sample::Index>(),
        damage in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().expect("folder");
        let path = dir.path().join("state");
        let store = Store::open(&path).expect("new");
        let mut states = vec![(HEADER.len() as u64, Vec::new())];
        for (name, value) in &changes {
            match value {
                Some(value) => store.put(&[*name], value),
                None => store.remove(&[*name]),
            }
            states.push((std::fs::metadata(&path).expect("there").len(), all(&store)));
        }
        drop(store);
        let mut bytes = std::fs::read(&path).expect("read");
        let at = HEADER.len() + cut.index(bytes.len() - HEADER.len() + 1);
        match bytes.get_mut(at) {
            Some(byte) if damage => *byte ^= 0x40,
            _ => bytes.truncate(at),
        }
        std::fs::write(&path, &bytes).expect("write");
        let expected = states.iter().rev().find(|(length, _)| *length <= at as u64).map(|(_, s)| s.clone());
        let store = Store::open(&path).expect("again");
        prop_assert_eq!(all(&store), expected.unwrap_or_default());
        // And it goes on from there.
        store.put(b"new", b"value");
        drop(store);
        let found = Store::open(&path).expect("a third time").get(b"new");
        prop_assert_eq!(found.as_deref(), Some(&b"value"[..]));
    }
}

#[test]
fn one_process_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s");
    let first = Store::open(&path).expect("open");
    first.put(b"a", b"1");
    let kind = |store: std::io::Result<Store>| store.map(drop).map_err(|e| e.kind());
    assert_eq!(kind(Store::open(&path)), Err(std::io::ErrorKind::WouldBlock));
    assert_eq!(Store::look(&path).expect("everybody may look"), [(b"a".to_vec(), b"1".to_vec())]);
    first.release().expect("release");
    let second = Store::open(&path).expect("it is free");
    assert!(first.resume().is_err(), "the other one has it");
    // What the first one still learns stays its own.
    first.put(b"a", b"2");
    second.put(b"b", b"3");
    assert_eq!(second.get(b"a").expect("a"), b"1");
    drop(second);
    first.resume().expect("it is free again");
    assert_eq!((first.get(b"a").expect("a"), first.get(b"b").expect("b")), (b"1".to_vec(), b"3".to_vec()));
    first.put(b"c", b"4");
    drop(first);
    assert_eq!(Store::open(&path).expect("open").with_prefix(b"").len(), 3);
}
