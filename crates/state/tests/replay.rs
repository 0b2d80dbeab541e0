//! The seeds of the fuzz target, as an ordinary test.

mod replay {
    pub mod invariants;
}

#[test]
fn seeds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/state");
    let mut read = std::collections::BTreeMap::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        read.insert(name, replay::invariants::state(&std::fs::read(path).unwrap()));
    }
    // Made after docs/state-format.md.
    assert_eq!(read["two-and-one-removed"], Some(2), "{read:?}");
    assert_eq!(read["torn"], Some(1), "{read:?}");
    assert_eq!(read["another-format"], None, "{read:?}");
    assert_eq!(read["empty"], Some(0), "{read:?}");
}
