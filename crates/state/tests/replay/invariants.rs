//! What has to hold whatever a state file holds. Shared by the fuzz target and by the test that replays its
//! seeds.

use state::Store;

/// Returns how many names were found, `None` when the file was refused.
pub fn state(input: &[u8]) -> Option<usize> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("state");
    std::fs::write(&path, input).expect("written");
    let seen = Store::look(&path);
    let Ok(store) = Store::open(&path) else {
        assert!(seen.is_err());
        return None;
    };
    let seen = seen.expect("what can be opened can be looked at");
    assert_eq!(store.with_prefix(b""), seen);
    store.put(b"after", b"all");
    store.sync().expect("synced");
    drop(store);
    let again = Store::open(&path).expect("what was opened once");
    assert_eq!(again.get(b"after").as_deref(), Some(&b"all"[..]));
    assert!(seen.iter().all(|(name, value)| name == b"after" || again.get(name).as_deref() == Some(value)));
    Some(seen.len())
}
