//! The seeds of the fuzz target, as an ordinary test.

mod replay {
    pub mod invariants;
}

#[test]
fn seeds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/store");
    let mut read = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        read.insert(name, replay::invariants::store(&std::fs::read(path).unwrap()));
    }
    // Written by hand after docs/store-format.md: 3 messages of one queue, 1 of another, 1 of a third.
    assert_eq!(read["closed-and-open"], 5, "{read:?}");
    // Of 4 messages the last lies behind the waypoint: it is what the file held before.
    assert_eq!(read["begun"], 3, "{read:?}");
    // Of the same, one is noted as done. The other files in it hold nothing.
    assert_eq!(read["with-progress"], 4, "{read:?}");
    assert!(read["damaged"] >= 3 && read["sparse-and-empty"] == 2, "{read:?}");
}
