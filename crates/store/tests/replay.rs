//! The seeds of the fuzz target, as an ordinary test.

mod replay {
    pub mod invariants;
}

#[test]
fn seeds() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/store");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        replay::invariants::store(&std::fs::read(entry.unwrap().path()).unwrap());
        count += 1;
    }
    assert!(count >= 3, "{count} seeds");
}
